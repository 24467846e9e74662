#include <sys/uio.h>

#include <algorithm>
#include <numeric>

#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

class Verify : public testing::Test {
 protected:
  void SetUp() override {
    SeededRng rng(3);
    make_folder(temp_ / "set");
    make_folder(temp_ / "set/sub");
    make_folder(temp_ / "set/empty");
    write_file(temp_ / "set/big", random_bytes(rng, 9'000'001));
    write_file(temp_ / "set/none", "");
    for (int i = 0; i < 40; ++i)
      write_file(temp_ / ("set/sub/" + std::to_string(100 + i)), random_bytes(rng, rng.below(60'000) + 1));
    tree_ = hash(*work_, temp_ / "set").value();
  }

  const metainfo::Manifest& manifest() const { return tree_.metadata.manifest; }
  VerifyReport verify(const std::vector<bool>& wanted = {}) {
    return work_->verify(temp_.path(), manifest(), wanted, {}, {}).value();
  }
  std::vector<bool> only(const std::string& path) const {
    std::vector<bool> wanted(manifest().entries.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = manifest().entries[i].path == path;
    return wanted;
  }
  static void expect_fault(const VerifyReport& report, std::string_view path, std::string_view reason) {
    ASSERT_EQ(report.fault_count, 1U);
    EXPECT_EQ(report.faults.at(0).path, path);
    EXPECT_NE(report.faults.at(0).reason.find(reason), std::string::npos) << report.faults.at(0).reason;
  }
  void flip(const std::string& path, off_t at) {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    char c = 0;
    ASSERT_EQ(::pread(fd.get(), &c, 1, at), 1);
    c = static_cast<char>(~c);
    ASSERT_EQ(::pwrite(fd.get(), &c, 1, at), 1);
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2});
  HashedTree tree_;
};

TEST_F(Verify, ReportsWhatIsMissing) {
  ASSERT_EQ(::unlink((temp_ / "set/sub/100").c_str()), 0);
  expect_fault(verify(), "set/sub/100", "missing");
}

/// Whether its first bytes are in memory; nothing where the filesystem cannot say.
std::optional<bool> is_cached(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char byte = 0;
  const iovec one{&byte, 1};
  const ssize_t got = ::preadv2(fd.get(), &one, 1, 0, RWF_NOWAIT);
  if (got == 1) return true;
  return errno == EAGAIN ? std::optional(false) : std::nullopt;
}

TEST_F(Verify, ReadsFromTheDiskWhatWasDroppedFromMemory) {
  for (const char* path : {"set/big", "set/sub/100"}) {
    const UniqueFd fd(::open((temp_ / path).c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::fdatasync(fd.get()), 0);
    if (is_cached(temp_ / path) != true) GTEST_SKIP() << "the filesystem does not say what is in memory";
  }
  work_->drop_cached(temp_.path(), manifest(), only("big"));
  if (is_cached(temp_ / "set/big") != false) GTEST_SKIP() << "the filesystem keeps all in memory";
  EXPECT_EQ(is_cached(temp_ / "set/sub/100"), true) << "it was not named";
  EXPECT_EQ(verify().fault_count, 0U);
}

TEST_F(Verify, AQuickLookTellsWhatIsThereAndWhatCannotBeRight) {
  const auto look = [&](const Place& parent) { return work_->look_at(parent, manifest(), {}).value(); };
  EXPECT_EQ(look(temp_.path()).files, manifest().file_count());
  EXPECT_EQ(look(temp_ / "elsewhere").missing, manifest().file_count());
  ASSERT_EQ(::unlink((temp_ / "set/sub/100").c_str()), 0);
  flip(temp_ / "set/big", 0);
  EXPECT_EQ(look(temp_.path()).missing, 1U);
  EXPECT_FALSE(look(temp_.path()).difference) << "bytes are not read";
  write_file(temp_ / "set/none", "x");
  ASSERT_TRUE(look(temp_.path()).difference);
  EXPECT_EQ(look(temp_.path()).difference->path, "set/none");
  EXPECT_EQ(look(temp_.path()).difference->reason, "size 1, not 0");
}

TEST_F(Verify, ReportsAMissingParentAsAllMissing) {
  const auto report = work_->verify(temp_ / "elsewhere", manifest(), {}, {}, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->fault_count, manifest().entries.size());
}

TEST_F(Verify, ReportsAWrongSize) {
  ASSERT_EQ(::truncate((temp_ / "set/big").c_str(), 9'000'000), 0);
  expect_fault(verify(), "set/big", "size 9000000, not 9000001");
}

TEST_F(Verify, ReportsOneFlippedByteAnywhere) {
  for (const off_t at : {off_t{0}, off_t{4'500'000}, off_t{9'000'000}}) {
    flip(temp_ / "set/big", at);
    expect_fault(verify(), "set/big", "differs");
    flip(temp_ / "set/big", at);
  }
  flip(temp_ / "set/sub/110", 0);
  expect_fault(verify(), "set/sub/110", "differs");
}

TEST_F(Verify, FollowsNoLinkThatStandsInForAFileOrFolder) {
  ASSERT_EQ(::rename((temp_ / "set/big").c_str(), (temp_ / "big").c_str()), 0);
  ASSERT_EQ(::symlink("../big", (temp_ / "set/big").c_str()), 0);
  expect_fault(verify(), "set/big", "no regular file");
  ASSERT_EQ(::rename((temp_ / "set/sub").c_str(), (temp_ / "sub").c_str()), 0);
  ASSERT_EQ(::symlink("../sub", (temp_ / "set/sub").c_str()), 0);
  EXPECT_EQ(verify().fault_count, 1U + 1U + 40U);
}

TEST_F(Verify, ReportsAnUnreadableFileAndGoesOn) {
  ASSERT_EQ(::chmod((temp_ / "set/sub/105").c_str(), 0000), 0);
  const AsNobody nobody;
  expect_fault(verify(), "set/sub/105", "cannot be read");
}

TEST_F(Verify, FindsNothingWrongWithWhatWasPublished) {
  const VerifyReport report = verify();
  EXPECT_EQ(report.fault_count, 0U);
  EXPECT_EQ(report.files, 42U);
  EXPECT_EQ(report.bytes, manifest().total_bytes());
}

TEST_F(Verify, LooksOnlyAtWantedFiles) {
  ASSERT_EQ(::unlink((temp_ / "set/big").c_str()), 0);
  const VerifyReport report = verify(only("sub/100"));
  EXPECT_EQ(report.fault_count, 0U);
  EXPECT_EQ(report.files, 1U);
  expect_fault(verify(only("big")), "set/big", "missing");
}

TEST_F(Verify, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  expect_error(work_->verify(temp_.path(), manifest(), {}, {}, stop.get_token()), Code::kCancelled, "request");
}

class RootCheck : public Verify {
 protected:
  std::vector<std::uint32_t> shuffled_pieces(SeededRng& rng) const {
    std::vector<std::uint32_t> pieces(tree_.metadata.segments.at(0).piece_count());
    std::iota(pieces.begin(), pieces.end(), 0U);
    for (std::size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[rng.below(i)]);
    return pieces;
  }
};

TEST_F(RootCheck, FindsDamageWhetherSeenEarlyOrAtTheEnd) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  flip(temp_ / "set/big", 8'000'000);
  for (const std::size_t told : {0U, 10U, 1000U}) {
    const auto verifier = work_->make_root_verifier(temp_.path(), tree_.metadata, {});
    const auto pieces = shuffled_pieces(rng);
    for (std::size_t i = 0; i < std::min(told, pieces.size()); ++i) verifier->piece_verified(pieces[i]);
    expect_fault(verifier->finish({}, {}).value(), "set/big", "differs");
  }
}

TEST_F(RootCheck, ReportsMissingAndShortFilesOnce) {
  ASSERT_EQ(::truncate((temp_ / "set/big").c_str(), 10), 0);
  const auto verifier = work_->make_root_verifier(temp_.path(), tree_.metadata, {});
  SeededRng rng(1);
  for (const std::uint32_t piece : shuffled_pieces(rng)) verifier->piece_verified(piece);
  expect_fault(verifier->finish({}, {}).value(), "set/big", "size 10, not 9000001");
}

TEST_F(RootCheck, IgnoresPiecesThatDoNotExistAndRepeats) {
  const auto verifier = work_->make_root_verifier(temp_.path(), tree_.metadata, {});
  verifier->piece_verified(0);
  verifier->piece_verified(0);
  verifier->piece_verified(4'000'000'000U);
  EXPECT_EQ(verifier->finish({}, {}).value().fault_count, 0U);
}

TEST_F(RootCheck, AcceptsWhatIsSoundInAnyOrder) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  for (int round = 0; round < 5; ++round) {
    const auto verifier = work_->make_root_verifier(temp_.path(), tree_.metadata, {});
    for (const std::uint32_t piece : shuffled_pieces(rng))
      if (rng.below(10) != 0) verifier->piece_verified(piece);
    std::uint64_t last = 0;
    const auto report = verifier->finish({}, [&](std::uint64_t done, std::uint64_t) { last = done; });
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->fault_count, 0U);
    EXPECT_EQ(report->files, 42U);
    EXPECT_EQ(last, manifest().total_bytes());
  }
}

TEST_F(RootCheck, NeedsOnlyWantedFiles) {
  ASSERT_EQ(::unlink((temp_ / "set/big").c_str()), 0);
  const auto verifier = work_->make_root_verifier(temp_.path(), tree_.metadata, only("sub/101"));
  for (std::uint32_t piece = 0; piece < tree_.metadata.segments[0].piece_count(); ++piece)
    verifier->piece_verified(piece);
  const auto report = verifier->finish({}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->fault_count, 0U);
  EXPECT_EQ(report->files, 1U);
}

TEST_F(Verify, FlatSumsEqualPlainSha256) {
  const auto sums = work_->flat_sha256(temp_.path(), manifest(), {}, {}, {});
  ASSERT_TRUE(sums) << sums.error().message;
  for (std::size_t i = 0; i < manifest().entries.size(); ++i) {
    const auto& entry = manifest().entries[i];
    ASSERT_EQ((*sums)[i].has_value(), entry.kind == metainfo::EntryKind::kFile);
    if (!(*sums)[i]) continue;
    EXPECT_EQ(*(*sums)[i], crypto::sha256(as_bytes(read_file(temp_ / metainfo::full_path(manifest(), entry)))));
  }
  ASSERT_EQ(::truncate((temp_ / "set/big").c_str(), 10), 0);
  expect_error(work_->flat_sha256(temp_.path(), manifest(), {}, {}, {}), Code::kConflict, "no longer");
}

TEST(Space, RefusesByFreeAndNeededBytes) {
  expect_error(check_free_space({.free_bytes = 1000, .total_bytes = 5000}, 1001, "/data"), Code::kDisk, "1001 bytes");
  EXPECT_TRUE(check_free_space({.free_bytes = 1000, .total_bytes = 5000}, 1000, "/data"));
  const TempFolder temp;
  const auto space = make_file_work()->disk_space(temp / "still/to/come");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_GT(space->total_bytes, 0U);
  EXPECT_LE(space->free_bytes, space->total_bytes);
}

}  // namespace
}  // namespace gridtorrent::client::files
