#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

class Publish : public testing::Test {
 protected:
  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2});
};

TEST_F(Publish, RefusesAMissingPath) {
  expect_error(hash(*work_, temp_ / "nothing"), Code::kNotFound, "nothing' does not exist");
  expect_error(hash(*work_, temp_ / "no/such/folder"), Code::kNotFound, "does not exist");
  expect_error(hash(*work_, "relative"), Code::kInvalid, "absolute");
  expect_error(hash(*work_, "/"), Code::kInvalid, "no name");
}

TEST_F(Publish, RefusesAFolderWithoutEntries) {
  make_folder(temp_ / "set");
  expect_error(hash(*work_, temp_ / "set"), Code::kInvalid, "no entries");
  ASSERT_EQ(::mkfifo((temp_ / "set/fifo").c_str(), 0600), 0);
  expect_error(hash(*work_, temp_ / "set"), Code::kInvalid, "no entries that can be published");
}

TEST_F(Publish, RefusesALinkOrFifoAsTop) {
  write_file(temp_ / "file", "x");
  ASSERT_EQ(::symlink("file", (temp_ / "link").c_str()), 0);
  expect_error(hash(*work_, temp_ / "link"), Code::kInvalid, "symbolic link");
  ASSERT_EQ(::mkfifo((temp_ / "fifo").c_str(), 0600), 0);
  expect_error(hash(*work_, temp_ / "fifo"), Code::kInvalid, "FIFO");
}

TEST_F(Publish, NamesAnUnreadableFileAndFolder) {
  make_folder(temp_ / "set");
  write_file(temp_ / "set/open", "x");
  write_file(temp_ / "set/locked", "x", 0000);
  {
    const AsNobody nobody;
    expect_error(hash(*work_, temp_ / "set"), Code::kDenied, "set/locked' cannot be read");
  }
  ASSERT_EQ(::unlink((temp_ / "set/locked").c_str()), 0);
  make_folder(temp_ / "set/closed", 0000);
  const AsNobody nobody;
  expect_error(hash(*work_, temp_ / "set"), Code::kDenied, "set/closed' cannot be read");
}

TEST_F(Publish, RefusesToCrossIntoAnotherFilesystem) {
  struct stat dev{}, shm{};
  if (::stat("/dev", &dev) != 0 || ::stat("/dev/shm", &shm) != 0 || dev.st_dev == shm.st_dev)
    GTEST_SKIP() << "/dev/shm is no mount point here";
  expect_error(hash(*work_, "/dev"), Code::kInvalid, "another filesystem");
}

TEST_F(Publish, SkipsCountsAndWarnsOfWhatIsNoFile) {
  make_folder(temp_ / "set");
  write_file(temp_ / "set/real", "x");
  ASSERT_EQ(::symlink("..", (temp_ / "set/loop").c_str()), 0);
  ASSERT_EQ(::symlink("loop", (temp_ / "set/self").c_str()), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (temp_ / "set/out").c_str()), 0);
  ASSERT_EQ(::mkfifo((temp_ / "set/fifo").c_str(), 0600), 0);
  make_folder(temp_ / "set/.gridtorrent-x_staging");
  const auto tree = hash(*work_, temp_ / "set");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->skipped, 5U);
  EXPECT_EQ(tree->warnings.size(), 5U);
  EXPECT_EQ(tree->metadata.manifest.entries.size(), 2U);
  expect_error(hash(*work_, temp_ / "set", true), Code::kInvalid, "without --strict");
}

TEST_F(Publish, ScansWithoutReadingAndNamesWhatItWouldRefuse) {
  make_folder(temp_ / "set");
  write_file(temp_ / "set/a", "abc");
  write_file(temp_ / "set/b", "de");
  ASSERT_EQ(::symlink("a", (temp_ / "set/link").c_str()), 0);
  std::vector<ScanFigures> told;
  const auto keep = [&](const ScanFigures& figures) { told.push_back(figures); };
  const auto scanned = work_->scan_tree({temp_ / "set/", ""}, {}, keep, {});
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(scanned->figures, (ScanFigures{.files = 2, .bytes = 5, .skipped = 1}));
  EXPECT_EQ(scanned->base_name, "set");
  ASSERT_EQ(scanned->warnings.size(), 1U);
  EXPECT_NE(scanned->warnings[0].find("set/link"), std::string::npos);
  EXPECT_FALSE(told.empty());

  write_file(temp_ / "set/locked", "x", 0000);
  const AsNobody nobody;
  expect_error(work_->scan_tree({temp_ / "set", ""}, {}, {}, {}), Code::kDenied, "set/locked' cannot be read");
}

TEST_F(Publish, EndsAScanOnRequest) {
  make_folder(temp_ / "set");
  write_file(temp_ / "set/a", "abc");
  std::stop_source stop;
  stop.request_stop();
  expect_error(work_->scan_tree({temp_ / "set", ""}, {}, {}, stop.get_token()), Code::kCancelled, "stopped");
}

TEST_F(Publish, NoticesEveryChangeWhileHashing) {
  struct Change {
    std::string what;
    std::function<void()> act;
  };
  const std::string file = temp_ / "set/a/file";
  const std::vector<Change> changes = {
      {"grown", [&] { write_file(file, std::string(2 << 20, 'y')); }},
      {"shorter", [&] { ASSERT_EQ(::truncate(file.c_str(), 5), 0); }},
      {"rewritten in the same size and mtime",
       [&] {
         struct stat info{};
         ASSERT_EQ(::stat(file.c_str(), &info), 0);
         write_file(file, std::string(1 << 20, 'z'));
         set_mtime(file, to_ns(info.st_mtim));
       }},
      {"replaced",
       [&] {
         write_file(temp_ / "other", std::string(1 << 20, 'x'));
         ASSERT_EQ(::rename((temp_ / "other").c_str(), file.c_str()), 0);
       }},
      {"replaced by a FIFO",
       [&] {
         ASSERT_EQ(::unlink(file.c_str()), 0);
         ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
       }},
      {"replaced by a link to the same",
       [&] {
         ASSERT_EQ(::rename(file.c_str(), (temp_ / "moved").c_str()), 0);
         ASSERT_EQ(::symlink((temp_ / "moved").c_str(), file.c_str()), 0);
       }},
      {"removed", [&] { ASSERT_EQ(::unlink(file.c_str()), 0); }},
      {"joined by a new one", [&] { write_file(temp_ / "set/a/new", "n"); }},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.what);
    make_folder(temp_ / "set");
    make_folder(temp_ / "set/a");
    write_file(file, std::string(1 << 20, 'x'));
    write_file(temp_ / "set/big", std::string(8 << 20, 'b'));
    // Long ago, so that no tick of the clock can hide a change.
    for (const auto* path : {"set/a/file", "set/big", "set/a", "set"})
      set_mtime(temp_ / path, 1'600'000'000'000'000'000);
    bool changed = false;
    const auto tree = hash(*work_, temp_ / "set", false, {}, [&](std::uint64_t, std::uint64_t) {
      if (!std::exchange(changed, true)) change.act();
    });
    EXPECT_TRUE(changed);
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, Code::kConflict) << tree.error().message;
    EXPECT_NE(tree.error().message.find("set/a"), std::string::npos) << tree.error().message;
    const UniqueFd parent(::open(temp_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(remove_tree(parent.get(), "set", "set"));
  }
}

TEST_F(Publish, StopsOnRequest) {
  write_file(temp_ / "file", std::string(32 << 20, 'x'));
  std::stop_source stop;
  const auto tree = hash(
      *work_, temp_ / "file", false, {}, [&](std::uint64_t, std::uint64_t) { stop.request_stop(); }, stop.get_token());
  expect_error(tree, Code::kCancelled, "request");
}

TEST_F(Publish, CarriesOddNamesModesTimesAndEmptyThings) {
  make_folder(temp_ / "b\xff\nse", 0750);
  const std::string top = temp_ / "b\xff\nse";
  std::int64_t time = 1'500'000'000'123'456'789;
  for (const std::string& name : odd_names()) {
    make_folder(top + "/d-" + name.substr(0, 250), 0700);
    write_file(top + "/" + name, "content of " + name, 0640);
    set_mtime(top + "/" + name, ++time);
  }
  make_folder(top + "/empty folder", 0555);
  write_file(top + "/empty file", "", 0400);
  set_mtime(top + "/empty folder", -1'000'000'001);
  set_mtime(top, time);
  const auto tree = hash(*work_, top + "//");
  ASSERT_TRUE(tree) << tree.error().message;
  const metainfo::Manifest& manifest = tree->metadata.manifest;
  EXPECT_TRUE(metainfo::validate(manifest));
  EXPECT_EQ(manifest.base_name, "b\xff\nse");
  EXPECT_EQ(tree->parent, temp_.path());
  EXPECT_EQ(manifest.entries[0].mode, 0750U);
  EXPECT_EQ(manifest.entries[0].mtime_ns, time);
  EXPECT_EQ(manifest.entries.size(), 1 + 2 * odd_names().size() + 2);
  for (const metainfo::ManifestEntry& entry : manifest.entries) {
    const std::string path = temp_.path() + "/" + metainfo::full_path(manifest, entry);
    struct stat info{};
    ASSERT_EQ(::lstat(path.c_str(), &info), 0);
    EXPECT_EQ(entry.mode, info.st_mode & 07777);
    EXPECT_EQ(entry.mtime_ns, to_ns(info.st_mtim));
    if (entry.kind == metainfo::EntryKind::kFile) {
      EXPECT_EQ(entry.root, reference_root(read_file(path)));
    }
  }
}

/// Everything against the plainest possible hashing, over sizes around the borders of blocks, subtrees and pieces.
TEST_F(Publish, HashesAsAPlainProgramWould) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  const std::vector<std::size_t> borders = {0,      1,      16383,   16384,         16385,   262143,
                                            262144, 262145, 1 << 20, (1 << 20) + 1, 3 << 20, (5 << 20) - 7};
  for (int round = 0; round < 6; ++round) {
    TempFolder temp;
    make_folder(temp / "set");
    std::map<std::string, std::string> contents;
    const std::uint64_t count = 1 + rng.below(25);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t size = rng.below(2) == 0 ? borders[rng.below(borders.size())] : rng.below(700'000);
      contents["f" + std::to_string(rng.below(1000))] = random_bytes(rng, size);
    }
    std::string stream;
    for (const auto& [name, content] : contents) {
      write_file(temp / ("set/" + name), content);
      stream += content;
    }
    const auto work = make_file_work({.hash_threads = 1 + static_cast<unsigned>(rng.below(4)),
                                      .hash_memory_bytes = std::uint64_t{1} << (20 + rng.below(6))});
    const auto tree = hash(*work, temp / "set");
    ASSERT_TRUE(tree) << tree.error().message;
    for (const metainfo::ManifestEntry& entry : tree->metadata.manifest.entries) {
      if (entry.kind == metainfo::EntryKind::kFolder) continue;
      ASSERT_EQ(entry.root, reference_root(contents[entry.path])) << entry.path << " of " << entry.size;
    }
    if (stream.empty()) continue;
    const metainfo::Segment& segment = tree->metadata.segments.at(0);
    EXPECT_EQ(segment.piece_bytes, metainfo::choose_piece_bytes(stream.size()));
    EXPECT_EQ(segment.piece_hashes, reference_pieces(stream, segment.piece_bytes));
    const auto decoded = metainfo::decode(metainfo::encode(tree->metadata));
    ASSERT_TRUE(decoded) << decoded.error().message;
  }
}

TEST_F(Publish, TellsProgressUpToTheEnd) {
  write_file(temp_ / "file", std::string(20 << 20, 'x'));
  std::uint64_t last = 0, total = 0;
  const auto tree = hash(*work_, temp_ / "file", false, {}, [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  });
  ASSERT_TRUE(tree);
  EXPECT_EQ(last, 20U << 20);
  EXPECT_EQ(total, 20U << 20);
}

class Resume : public Publish {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    SeededRng rng(7);
    for (const char* name : {"a", "b", "c"})
      write_file(temp_ / (std::string("set/") + name), random_bytes(rng, 5'345'678));
  }
  /// Stops after the first batch; what is done is noted.
  void interrupt() {
    std::stop_source stop;
    const auto tree = hash(
        *work_, temp_ / "set", false, checkpoint(), [&](std::uint64_t, std::uint64_t) { stop.request_stop(); },
        stop.get_token());
    ASSERT_FALSE(tree);
    ASSERT_EQ(tree.error().code, Code::kCancelled);
  }
  std::string checkpoint() const { return temp_ / "checkpoint"; }
  metainfo::VersionMetadata fresh() { return hash(*work_, temp_ / "set").value().metadata; }
};

TEST_F(Resume, GoesOnWhereItWasAndTidiesUp) {
  interrupt();
  ASSERT_TRUE(exists(checkpoint()));
  const auto tree = hash(*work_, temp_ / "set", false, checkpoint());
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_GT(tree->resumed_bytes, 0U);
  EXPECT_EQ(tree->metadata, fresh());
  EXPECT_FALSE(exists(checkpoint()));
}

TEST_F(Resume, HashesAChangedFileAgain) {
  interrupt();
  SeededRng rng(8);
  for (const char* name : {"set/a", "set/b", "set/c"}) write_file(temp_ / name, random_bytes(rng, 5'345'678));
  const auto tree = hash(*work_, temp_ / "set", false, checkpoint());
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->resumed_bytes, 0U);
  EXPECT_EQ(tree->metadata, fresh());
}

TEST_F(Resume, IsNeverMisledByADamagedCheckpoint) {
  interrupt();
  const std::string good = read_file(checkpoint());
  const metainfo::VersionMetadata expected = fresh();
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  for (int round = 0; round < 12; ++round) {
    std::string damaged = good;
    if (round % 2 == 0) damaged.resize(rng.below(damaged.size()));
    if (round % 2 == 1) damaged[rng.below(damaged.size())] ^= static_cast<char>(1 + rng.below(255));
    write_file(checkpoint(), damaged);
    const auto tree = hash(*work_, temp_ / "set", false, checkpoint());
    ASSERT_TRUE(tree) << tree.error().message;
    ASSERT_EQ(tree->metadata, expected);
  }
}

}  // namespace
}  // namespace gridtorrent::client::files
