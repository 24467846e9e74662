// What real engines do to and with the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

/// A seeder and a leecher for one sample.
struct Pair {
  explicit Pair(Sample data, std::function<void(std::uint32_t)> on_piece = {})
      : sample(std::move(data)), leecher("127.0.0.1", std::move(on_piece)) {
    sample.write(folder / "seed");
    seeder.seed(sample, folder / "seed", transfer);
  }
  TorrentSpec spec(DiskTrust trust = DiskTrust::kNothingThere) const {
    return spec_of(sample, folder / "get", transfer, trust);
  }
  bool becomes_whole() {
    return eventually([&] { return is_whole(leecher.snapshot(transfer)); });
  }
  const Folder folder;
  const Sample sample;
  const TransferId transfer = new_transfer();
  Node seeder, leecher;
};

std::size_t entries_below(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    count += entry.is_regular_file() ? 1U : 0U;
  return count;
}

TEST(Names, LandOnDiskByteForByte) {
  Sample sample;
  sample.names = {"plain",
                  "UPPER",
                  "upper",
                  "with space",
                  ".hidden",
                  std::string(255, 'n'),
                  std::string(251, 'm') + "\xc3\xa9zz",
                  "new\nline",
                  "back\\slash",
                  "tab\tand\x01"
                  "control",
                  "invalid \xff\xfe utf-8 \xc3",
                  "\xe2\x80\xae"
                  "bidi",
                  "gr\xc3\xbc\xc3\x9f"
                  "e/\xe6\x97\xa5\xe6\x9c\xac",
                  "c:drive",
                  "deep/\xff/x/" + std::string(255, 'd') + "/y",
                  "deep/plain",
                  "deep/\xff/z",
                  "trailing dot./end ",
                  "?*\"<>|"};
  for (std::size_t i = 0; i < sample.names.size(); ++i) sample.bytes.push_back(random_bytes(10'000 + i * 7'000, i + 1));
  Pair pair(sample);
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_THAT(sample.differing(pair.folder / "get"), IsEmpty());
  EXPECT_EQ(entries_below(pair.folder / "get"), sample.names.size());
}

TEST(Names, ThatLeaveTheFolderAreRefused) {
  const Folder folder;
  Node node;
  for (const char* name : {"../x", "/etc/x", "a/../x", "a//x", "./x", "a/", ""}) {
    Sample sample{{name}, {"bytes"}, 16 * 1024};
    const Status added = node.engine->add(spec_of(sample, folder / "get", new_transfer(), DiskTrust::kNothingThere));
    ASSERT_FALSE(added.ok()) << name;
    EXPECT_EQ(added.error().code, Code::kInvalid);
  }
}

TEST(Adding, RefusesWhatIsNoTorrent) {
  const Folder folder;
  Node node;
  const Sample sample = one_file(100'000);
  TorrentSpec good = spec_of(sample, folder / "get", new_transfer(), DiskTrust::kNothingThere);
  std::vector<TorrentSpec> bad(6, good);
  bad[0].info_dict = "";
  bad[1].info_dict = "i1e";
  bad[2].info_dict.resize(good.info_dict.size() / 2);
  bad[3].file_paths.push_back("one too many");
  bad[4].save_path = "relative";
  bad[5].wanted = {true, false};
  for (auto& spec : bad) {
    spec.id = new_transfer();
    EXPECT_FALSE(node.engine->add(spec).ok()) << spec.info_dict.size();
  }
  ASSERT_TRUE(node.engine->add(good).ok());
  EXPECT_EQ(node.engine->add(good).error().code, Code::kConflict);
  good.id = new_transfer();
  EXPECT_EQ(node.engine->add(good).error().code, Code::kConflict);  // the same data
  EXPECT_FALSE(node.engine->snapshot(good.id).has_value());
}

TEST(Pieces, CanBeReadWhenAnnounced) {
  const Sample sample = one_file(30'000'000);
  std::atomic<int> wrong = 0;
  std::string path;
  Pair pair(sample, [&](std::uint32_t piece) {
    std::ifstream in(path, std::ios::binary);
    const std::size_t start = std::size_t{piece} * sample.piece_bytes;
    std::string bytes(std::min<std::size_t>(sample.piece_bytes, sample.total() - start), '\0');
    in.seekg(static_cast<std::streamoff>(start));
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (bytes != sample.bytes[0].substr(start, bytes.size())) ++wrong;
  });
  path = pair.folder / "get/data.bin";
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(8)});
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_EQ(wrong, 0);
}

TEST(Resuming, FetchesOnlyWhatIsMissing) {
  Pair pair(one_file(30'000'000));
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.engine->set_rate_limit(pair.transfer, 40'000'000, 0);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(4)});
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).verified_bytes > 5'000'000; }));
  const auto resume = pair.leecher.engine->resume_data(pair.transfer);
  ASSERT_TRUE(resume.ok()) << resume.error().message;
  const std::uint64_t before = pair.leecher.snapshot(pair.transfer).verified_bytes;
  pair.leecher.engine->remove(pair.transfer);
  EXPECT_FALSE(pair.leecher.engine->snapshot(pair.transfer).has_value());

  Node reborn;
  TorrentSpec spec = pair.spec(DiskTrust::kResumeData);
  spec.resume_data = *resume;
  ASSERT_TRUE(reborn.engine->add(spec).ok());
  ASSERT_TRUE(eventually([&] { return reborn.snapshot(pair.transfer).state != TorrentState::kChecking; }));
  EXPECT_GT(reborn.snapshot(pair.transfer).verified_bytes, 5'000'000U);
  EXPECT_LE(reborn.snapshot(pair.transfer).verified_bytes, before);
  reborn.plan(pair.transfer, {pair.seeder.peer(4)});
  ASSERT_TRUE(eventually([&] { return is_whole(reborn.snapshot(pair.transfer)); }));
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), IsEmpty());
  EXPECT_TRUE(eventually([&] { return reborn.snapshot(pair.transfer).received_payload_bytes > 0; }));
  EXPECT_LT(reborn.snapshot(pair.transfer).received_payload_bytes, pair.sample.total() - 4'000'000);
}

TEST(Resuming, ChecksTheDiskWhereTheResumeDataIsDamaged) {
  Pair pair(one_file(5'000'000));
  std::filesystem::copy(pair.folder / "seed", pair.folder / "get");
  TorrentSpec spec = pair.spec(DiskTrust::kResumeData);
  spec.resume_data = "gtresume1\nnonsense";
  ASSERT_TRUE(pair.leecher.engine->add(spec).ok());
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_THAT(pair.leecher.recorder.warnings(), testing::Contains(HasSubstr("resume data is damaged")));
}

TEST(Rechecking, BelievesOnlyWhatHashesRight) {
  Pair pair(one_file(5'000'000));
  std::string altered = pair.sample.bytes[0];
  altered[1'000'000] = static_cast<char>(altered[1'000'000] ^ 1);
  write_file(pair.folder / "get/data.bin", altered);
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec(DiskTrust::kRecheck)).ok());
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).state == TorrentState::kFetching; }));
  EXPECT_EQ(pair.leecher.snapshot(pair.transfer).verified_bytes, pair.sample.total() - pair.sample.piece_bytes);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(1)});
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), IsEmpty());
}

TEST(Seeding, RefusesFilesOfAnotherSizeAndNeverWritesToThem) {
  const Folder folder;
  const Sample sample = one_file(500'000);
  Node node;
  const auto add = [&] {
    return node.engine->add(spec_of(sample, folder.path(), new_transfer(), DiskTrust::kComplete));
  };
  EXPECT_THAT(add().error().message, HasSubstr("No such file"));
  write_file(folder / "data.bin", "short");
  EXPECT_THAT(add().error().message, HasSubstr("5 bytes, not the published 500000"));
  EXPECT_EQ(read_file(folder / "data.bin"), "short");
}

TEST(Seeding, EndsInAnErrorWhenTheFileIsGone) {
  Pair pair(one_file(20'000'000));
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.engine->set_rate_limit(pair.transfer, 16'000'000, 0);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).verified_bytes > 0; }));
  std::filesystem::resize_file(pair.folder / "seed/data.bin", 1000);
  ASSERT_TRUE(eventually([&] { return pair.seeder.snapshot(pair.transfer).state == TorrentState::kError; }));
  EXPECT_EQ(pair.seeder.snapshot(pair.transfer).error.code, Code::kDisk);
  EXPECT_EQ(std::filesystem::file_size(pair.folder / "seed/data.bin"), 1000U);
}

TEST(WantedFiles, AreAllThatIsFetched) {
  Sample sample;
  for (int i = 0; i < 6; ++i) {
    sample.names.push_back("part" + std::to_string(i));
    sample.bytes.push_back(random_bytes(300'000, static_cast<std::uint64_t>(i)));
  }
  Pair pair(sample);
  TorrentSpec spec = pair.spec();
  spec.wanted = {false, true, false, false, true, false};
  ASSERT_TRUE(pair.leecher.engine->add(spec).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_EQ(pair.leecher.snapshot(pair.transfer).state, TorrentState::kComplete);
  EXPECT_EQ(sample.differing(pair.folder / "get"), (std::vector<std::string>{"part0", "part2", "part3", "part5"}));

  // Moved away, they are served from the new place, and only they lie there.
  std::filesystem::create_directories(pair.folder / "new");
  for (const char* name : {"part1", "part4"}) {
    std::filesystem::rename((pair.folder / "get/") + name, (pair.folder / "new/") + name);
  }
  ASSERT_TRUE(pair.leecher.engine->set_save_path(pair.transfer, pair.folder / "new").ok());
  ASSERT_TRUE(pair.becomes_whole());
  Node third;
  const std::string third_place = pair.folder / "third";
  ASSERT_TRUE(third.engine->add(spec_of(sample, third_place, pair.transfer, DiskTrust::kNothingThere)).ok());
  third.plan(pair.transfer, {pair.leecher.peer(2)});
  ASSERT_TRUE(eventually([&] { return third.snapshot(pair.transfer).verified_bytes >= 7 * sample.piece_bytes; }));
  EXPECT_EQ(pair.leecher.snapshot(pair.transfer).state, TorrentState::kComplete);
  EXPECT_EQ(entries_below(pair.folder / "new"), 2U);
  third.plan(pair.transfer, {pair.leecher.peer(1), pair.seeder.peer(1)});
  ASSERT_TRUE(eventually([&] { return is_whole(third.snapshot(pair.transfer)); }));
  EXPECT_THAT(sample.differing(third_place), IsEmpty());
}

TEST(WantedFiles, CanBeOthersFromThenOnAndWhatStaysWantedIsNotFetchedAgain) {
  Sample sample;
  for (int i = 0; i < 4; ++i) {
    sample.names.push_back("part" + std::to_string(i));
    sample.bytes.push_back(random_bytes(1'000'000, static_cast<std::uint64_t>(i)));
  }
  Pair pair(sample);
  TorrentSpec spec = pair.spec();
  spec.wanted = {true, false, true, false};
  ASSERT_TRUE(pair.leecher.engine->add(spec).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(pair.becomes_whole());
  pair.leecher.engine->pause(pair.transfer);
  const std::vector<bool> next{true, true, false, false};
  const auto resume = pair.leecher.engine->resume_data_for(pair.transfer, next);
  ASSERT_TRUE(resume.ok()) << resume.error().message;
  pair.leecher.engine->remove(pair.transfer);
  ASSERT_TRUE(eventually([&] { return std::filesystem::remove(pair.folder / "get/part2"); }));

  spec.wanted = next;
  spec.trust = DiskTrust::kResumeData;
  spec.resume_data = *resume;
  ASSERT_TRUE(eventually([&] { return pair.leecher.engine->add(spec).ok(); }));
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).state != TorrentState::kChecking; }));
  const std::uint64_t kept = pair.leecher.snapshot(pair.transfer).verified_bytes;
  EXPECT_GE(kept, 1'000'000 - 2 * sample.piece_bytes) << "of part0 all but the piece that it shares with part1";
  EXPECT_LT(kept, 1'000'000U);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(pair.becomes_whole());
  EXPECT_EQ(sample.differing(pair.folder / "get"), (std::vector<std::string>{"part2", "part3"}));
  EXPECT_LE(pair.leecher.snapshot(pair.transfer).received_payload_bytes, 1'000'000 + 3 * sample.piece_bytes);
}

TEST(SavePaths, ChangeUnderARunningTorrent) {
  Pair pair(one_file(20'000'000));
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 40'000'000);
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(pair.becomes_whole());
  Node third;
  ASSERT_TRUE(
      third.engine->add(spec_of(pair.sample, pair.folder / "third", pair.transfer, DiskTrust::kNothingThere)).ok());
  third.plan(pair.transfer, {pair.leecher.peer(2)});
  ASSERT_TRUE(eventually([&] { return third.snapshot(pair.transfer).verified_bytes > 0; }));
  std::filesystem::create_directories(pair.folder / "target");
  std::filesystem::rename(pair.folder / "get/data.bin", pair.folder / "target/data.bin");
  ASSERT_TRUE(pair.leecher.engine->set_save_path(pair.transfer, pair.folder / "target").ok());
  ASSERT_TRUE(eventually([&] { return is_whole(third.snapshot(pair.transfer)); }));
  EXPECT_THAT(pair.sample.differing(pair.folder / "third"), IsEmpty());
  EXPECT_THAT(pair.sample.differing(pair.folder / "target"), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(pair.folder / "get/data.bin"));
  EXPECT_TRUE(is_whole(pair.leecher.snapshot(pair.transfer)));
}

TEST(Pausing, StopsAndGoesOn) {
  Pair pair(one_file(20'000'000));
  TorrentSpec spec = pair.spec();
  spec.paused = true;
  ASSERT_TRUE(pair.leecher.engine->add(spec).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(2)});
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).state == TorrentState::kPaused; }));
  EXPECT_TRUE(stays([&] { return pair.leecher.snapshot(pair.transfer).verified_bytes == 0; }, seconds(2)));
  pair.leecher.engine->set_rate_limit(pair.transfer, 16'000'000, 0);
  pair.leecher.engine->resume(pair.transfer);
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).verified_bytes > 0; }));
  pair.leecher.engine->pause(pair.transfer);
  ASSERT_TRUE(eventually([&] { return open_lanes(pair.seeder.snapshot(pair.transfer), pair.leecher.id) == 0; }));
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  pair.leecher.engine->resume(pair.transfer);
  ASSERT_TRUE(pair.becomes_whole());
}

/// A small file system of its own, where the test may mount one.
struct SmallDisk {
  explicit SmallDisk(const std::string& where) : path(where) {
    std::filesystem::create_directories(path);
    mounted = ::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=8m") == 0;
  }
  ~SmallDisk() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }
  const std::string path;
  bool mounted = false;
};

TEST(FullDisk, PausesNamesTheNeedAndGoesOnWhenThereIsRoom) {
  Pair pair(one_file(20'000'000));
  const SmallDisk disk(pair.folder / "get");
  if (!disk.mounted) GTEST_SKIP() << "needs root to mount a small file system";
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(4)});
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).state == TorrentState::kError; }));
  const auto stuck = pair.leecher.snapshot(pair.transfer);
  EXPECT_EQ(stuck.error.code, Code::kDisk);
  EXPECT_THAT(stuck.error.message, HasSubstr("is full"));
  EXPECT_LE(stuck.verified_bytes, 8U << 20);
  ASSERT_EQ(::mount("tmpfs", disk.path.c_str(), "tmpfs", MS_REMOUNT, "size=64m"), 0);
  pair.leecher.engine->resume(pair.transfer);
  ASSERT_TRUE(pair.becomes_whole()) << "state " << static_cast<int>(pair.leecher.snapshot(pair.transfer).state) << ", "
                                    << pair.leecher.snapshot(pair.transfer).verified_bytes << " verified, "
                                    << open_lanes(pair.leecher.snapshot(pair.transfer), pair.seeder.id) << " lanes, "
                                    << pair.leecher.snapshot(pair.transfer).error.message;
  EXPECT_THAT(pair.sample.differing(pair.folder / "get"), IsEmpty());
}

TEST(ReadOnlyDisk, IsAnError) {
  Pair pair(one_file(2'000'000));
  const SmallDisk disk(pair.folder / "get");
  if (!disk.mounted) GTEST_SKIP() << "needs root to mount a small file system";
  ASSERT_EQ(::mount("tmpfs", disk.path.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=8m"), 0);
  ASSERT_TRUE(pair.leecher.engine->add(pair.spec()).ok());
  pair.leecher.plan(pair.transfer, {pair.seeder.peer(1)});
  ASSERT_TRUE(eventually([&] { return pair.leecher.snapshot(pair.transfer).state == TorrentState::kError; }));
  EXPECT_EQ(pair.leecher.snapshot(pair.transfer).error.code, Code::kDisk);
  EXPECT_THAT(pair.leecher.snapshot(pair.transfer).error.message, HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
