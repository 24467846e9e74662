// Pages of a version's files, as the server gives them.
#include "ccm/rpc/file_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"
#include "common/rng.h"
#include "metainfo/metadata.h"
#include "tests/support/memory_store.h"

namespace gridtorrent::ccm::rpc {
namespace {

/// Documents in memory that count how often one is read from its start.
class CountedFiles final : public MetadataFiles {
 public:
  Status put(const std::string& sha256_hex, std::string_view bytes) override { return files_.put(sha256_hex, bytes); }
  Result<std::uint64_t> size(const std::string& sha256_hex) override { return files_.size(sha256_hex); }
  Result<std::string> read(const std::string& sha256_hex, std::uint64_t offset, std::size_t most) override {
    begun += offset == 0 ? 1 : 0;
    return files_.read(sha256_hex, offset, most);
  }
  int begun = 0;

 private:
  testing_support::MemoryFiles files_;
};

class FileListPages : public ::testing::Test {
 protected:
  /// A folder "run" of so many empty files, below so many folders with long names.
  Content content_of(const std::string& sha256_hex, int files, int depth = 0) {
    metainfo::VersionMetadata metadata;
    metadata.manifest.base_name = "run";
    metadata.manifest.entries = {{.path = "", .kind = metainfo::EntryKind::kFolder, .mode = 0755}};
    std::string folder;
    for (int i = 0; i < depth; ++i) {
      folder += std::string(250, 'f');
      metadata.manifest.entries.push_back({.path = folder, .kind = metainfo::EntryKind::kFolder, .mode = 0755});
      folder += "/";
    }
    for (int i = 0; i < files; ++i) {
      metadata.manifest.entries.push_back(
          {.path = folder + std::to_string(10'000 + i).substr(1), .kind = metainfo::EntryKind::kFile, .mode = 0644});
    }
    EXPECT_TRUE(files_.put(sha256_hex, metainfo::encode(metadata)).ok());
    Content content;
    content.metadata_sha256 = sha256_hex;
    return content;
  }
  v1::ListFilesReply page(FileLists& lists, const Content& content, const std::string& page, std::uint32_t limit = 0) {
    v1::ListFilesRequest request;
    request.set_page(page);
    request.set_limit(limit);
    v1::ListFilesReply reply;
    const Status status = lists.list(alice_, content, request, reply);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return reply;
  }

  CountedFiles files_;
  ManualClock clock_;
  SeededRng rng_{1};
  const UserId alice_ = UserId::make(clock_.wall(), rng_), bob_ = UserId::make(clock_.wall(), rng_);
};

TEST_F(FileListPages, AreRefusedWhereTheRequestMakesNoSense) {
  FileLists lists(files_, clock_);
  const Content content = content_of("a", 2);
  v1::ListFilesReply reply;
  for (const char* page : {"-1", "x", "1x", " 1", "99999999999999999999", "1000001"}) {
    v1::ListFilesRequest request;
    request.set_page(page);
    const Status status = lists.list(alice_, content, request, reply);
    ASSERT_FALSE(status.ok()) << page;
    EXPECT_EQ(status.error().code, Code::kInvalid);
  }
  v1::ListFilesRequest request;
  request.set_form(static_cast<v1::ListFilesRequest::Form>(9));
  EXPECT_EQ(lists.list(alice_, content, request, reply).error().code, Code::kInvalid);
  request.Clear();
  request.set_path("none");
  EXPECT_EQ(lists.list(alice_, content, request, reply).error().code, Code::kNotFound);
}

TEST_F(FileListPages, HaveAThousandLinesAtMostAndSayWhereToGoOn) {
  FileLists lists(files_, clock_);
  const Content content = content_of("a", 2'500);
  std::string next;
  std::vector<int> sizes;
  std::string last;
  do {
    const auto reply = page(lists, content, next);
    EXPECT_EQ(reply.total_lines(), 2'500U);
    EXPECT_EQ(reply.total_files(), 2'500U);
    EXPECT_EQ(reply.path(), "run");
    for (const v1::FileLine& line : reply.lines()) {
      EXPECT_LT(last, line.path());
      last = line.path();
    }
    sizes.push_back(reply.lines_size());
    next = reply.next_page();
  } while (!next.empty());
  EXPECT_THAT(sizes, ::testing::ElementsAre(1000, 1000, 500));
  EXPECT_EQ(files_.begun, 1) << "what was read is kept";
  const auto few = page(lists, content, "2498", 5);
  EXPECT_EQ(few.lines_size(), 2);
  EXPECT_EQ(few.next_page(), "");
}

TEST_F(FileListPages, AreCutWhereLongPathsMakeThemLarge) {
  FileLists lists(files_, clock_);
  const Content content = content_of("a", 3'000, 8);
  std::string next;
  int lines = 0, pages = 0;
  do {
    const auto reply = page(lists, content, next);
    EXPECT_LE(reply.ByteSizeLong(), kMaxPageBytes + 10'000);
    lines += reply.lines_size();
    next = reply.next_page();
    ++pages;
  } while (!next.empty());
  EXPECT_EQ(lines, 3'000);
  EXPECT_GE(pages, 6) << "3,000 paths of 2 kB";
}

TEST_F(FileListPages, KeepNoMoreThanTheirMemory) {
  const Content one = content_of("a", 1'000), two = content_of("b", 1'000), large = content_of("c", 3'000);
  std::size_t of_one = 0;
  {
    const auto metadata = metainfo::decode(*files_.read("a", 0, 1 << 20));
    of_one = metainfo::FileTree(metadata->manifest).memory_bytes();
  }
  FileLists lists(files_, clock_, {.most_bytes = of_one * 3 / 2});
  files_.begun = 0;
  const auto read_for = [&](const Content& content) {
    const int before = files_.begun;
    page(lists, content, "");
    return files_.begun - before;
  };
  EXPECT_EQ(read_for(one), 1);
  EXPECT_EQ(read_for(one), 0);
  EXPECT_EQ(read_for(two), 1);
  EXPECT_EQ(read_for(two), 0);
  EXPECT_EQ(read_for(one), 1) << "the one before gave way";
  EXPECT_EQ(read_for(large), 1);
  EXPECT_EQ(read_for(large), 0) << "the last one is kept however large";
  EXPECT_EQ(read_for(one), 1) << "and is the only one then";
  EXPECT_EQ(read_for(large), 1) << "others do not suffer it longer";
}

class LargeFileLists : public FileListPages {
 protected:
  /// Every list is large, and but one is kept.
  FileLists lists_{files_, clock_, {.most_bytes = 1, .small_bytes = 0}};
  const Content one_ = content_of("a", 10), two_ = content_of("b", 10);

  Status ask(const UserId& caller, const Content& content) {
    v1::ListFilesReply reply;
    return lists_.list(caller, content, {}, reply);
  }
  /// Until it is refused; returns how often a document was read.
  int alternate(const UserId& caller) {
    const int before = files_.begun;
    for (int i = 0; i < 1000; ++i) {
      const Status asked = ask(caller, i % 2 == 0 ? one_ : two_);
      if (asked.ok()) continue;
      EXPECT_EQ(asked.error().code, Code::kBusy);
      break;
    }
    return files_.begun - before;
  }
};

TEST_F(LargeFileLists, AreRefusedToWhoAlternatesBetweenThemAndToNobodyElse) {
  EXPECT_EQ(alternate(alice_), 20);
  EXPECT_TRUE(ask(bob_, one_).ok());
  EXPECT_TRUE(ask(bob_, two_).ok());
  clock_.advance(std::chrono::seconds(30));
  EXPECT_EQ(alternate(alice_), 3) << "six a minute";
}

TEST_F(LargeFileLists, AreReadOnForWhoWasPushedOutByOthers) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ask(alice_, one_).ok());
    ASSERT_TRUE(ask(bob_, two_).ok());
  }
  EXPECT_EQ(files_.begun, 200);
}

TEST_F(LargeFileLists, ArePushedOutByASmallOneForWhoAskedForIt) {
  const Content small = content_of("s", 1);
  FileLists lists(files_, clock_, {.most_bytes = 1, .small_bytes = *files_.size("s")});
  const auto asked = [&](const UserId& caller, const Content& content) {
    v1::ListFilesReply reply;
    return lists.list(caller, content, {}, reply).ok();
  };
  int large = 0;
  while (large < 1000 && asked(alice_, one_) && asked(alice_, small)) ++large;
  EXPECT_EQ(large, 20);
  EXPECT_TRUE(asked(bob_, one_));
}

TEST_F(LargeFileLists, AreThereForAllWhoAskForTheOneThatIsKept) {
  alternate(alice_);
  ASSERT_TRUE(ask(bob_, one_).ok());
  EXPECT_TRUE(ask(alice_, one_).ok());
  EXPECT_TRUE(ask(alice_, one_).ok());
}

}  // namespace
}  // namespace gridtorrent::ccm::rpc
