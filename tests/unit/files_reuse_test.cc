#include <functional>

#include "client/files/publish_reuse.h"
#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

using metainfo::EntryKind;
using metainfo::Manifest;

constexpr std::uint32_t kPiece = 16384;
constexpr std::int64_t kAfterAll = INT64_MAX;

/// Two pieces' worth of values: files of some sizes, one after the other, with inodes of their own.
struct Values {
  Manifest manifest;
  std::vector<FileIdentity> identities;

  explicit Values(std::vector<std::pair<std::uint64_t, std::uint64_t>> inodes_and_sizes) {
    manifest.base_name = "set";
    manifest.entries.push_back({.path = "", .kind = EntryKind::kFolder});
    identities.emplace_back();
    for (const auto& [inode, size] : inodes_and_sizes) {
      metainfo::ManifestEntry entry;
      entry.path = "f" + std::to_string(manifest.entries.size());
      entry.size = size;
      entry.mtime_ns = 7;
      if (size > 0) entry.root[0] = static_cast<std::uint8_t>(inode);
      manifest.entries.push_back(entry);
      identities.push_back({inode, size, 7, 9});
    }
  }
  KnownTree known() const {
    KnownTree tree;
    auto metadata = std::make_shared<metainfo::VersionMetadata>();
    metadata->manifest = manifest;
    const std::uint64_t pieces = (manifest.total_bytes() + kPiece - 1) / kPiece;
    if (pieces > 0) metadata->segments.push_back({kPiece, std::string(pieces * 20, 'h')});
    tree.metadata = metadata;
    for (const FileIdentity& identity : identities) tree.inodes.push_back(identity.inode);
    return tree;
  }
  PublishReuse after(const KnownTree& earlier, std::uint32_t piece_bytes = kPiece) const {
    return plan_publish_reuse(identities, Layout(manifest), piece_bytes, earlier, [](auto) { return std::nullopt; });
  }
};

using Pieces = std::vector<std::optional<std::uint64_t>>;
using Ranges = std::vector<Range>;

TEST(PublishReusePlan, TakesNothingOfFilesWhoseSizeTimeOrInodeDiffers) {
  const Values before({{5, kPiece}});
  for (const auto& change : std::vector<std::function<void(Values&)>>{
           [](Values& v) { v.identities[1].inode = 6; }, [](Values& v) { v.identities[1].mtime_ns = 8; },
           [](Values& v) { v.identities[1].size = v.manifest.entries[1].size = kPiece - 1; }}) {
    Values now = before;
    change(now);
    const PublishReuse reuse = now.after(before.known());
    EXPECT_EQ(reuse.pieces, Pieces{std::nullopt});
    EXPECT_EQ(reuse.entries.front(), std::nullopt);
    EXPECT_EQ(reuse.unchanged_files, 0U);
  }
}

TEST(PublishReusePlan, TakesNothingOfAFileThatIsNotToBeReliedOn) {
  const Values before({{5, kPiece}});
  KnownTree known = before.known();
  known.inodes[1] = 0;
  EXPECT_EQ(before.after(known).pieces, Pieces{std::nullopt});
}

TEST(PublishReusePlan, TakesNothingOfAFileThatWasMadeSince) {
  const auto taken = [](std::int64_t ctime_ns, std::optional<std::int64_t> birth_ns) {
    Values files({{5, kPiece}});
    KnownTree known = files.known();
    known.hashed_ns = 1000;
    files.identities[1].ctime_ns = ctime_ns;
    const auto birth_of = [&](std::uint32_t) { return birth_ns; };
    return plan_publish_reuse(files.identities, Layout(files.manifest), kPiece, known, birth_of).unchanged_files == 1;
  };
  EXPECT_TRUE(taken(1000, std::nullopt)) << "nothing was done to it";
  EXPECT_TRUE(taken(1001, 1000)) << "renamed";
  EXPECT_FALSE(taken(1001, 1001)) << "another file with its inode";
  EXPECT_FALSE(taken(1001, std::nullopt)) << "nobody knows";
}

TEST(PublishReusePlan, ReadsNothingWhereNothingChanged) {
  const Values before({{5, kPiece + 10}, {6, 0}, {7, kPiece}});
  const PublishReuse reuse = before.after(before.known());
  EXPECT_EQ(reuse.pieces, (Pieces{0, 1, 2}));
  EXPECT_EQ(reuse.reads, Ranges());
  EXPECT_EQ(reuse.read_bytes, 0U);
  EXPECT_EQ(reuse.unchanged_files, 2U);
  EXPECT_EQ(reuse.entries, (std::vector<std::optional<std::uint32_t>>{1, 3}));
}

TEST(PublishReusePlan, ReadsThePiecesThatAChangedFileTouches) {
  const Values before({{5, 3 * kPiece + 5}, {6, 10}, {7, 3 * kPiece}});
  Values now = before;
  now.identities[2].mtime_ns = 8;
  const PublishReuse reuse = now.after(before.known());
  EXPECT_EQ(reuse.pieces, (Pieces{0, 1, 2, std::nullopt, 4, 5, 6}));
  EXPECT_EQ(reuse.reads, (Ranges{{3 * kPiece, 4 * kPiece}}));
  EXPECT_EQ(reuse.read_bytes, kPiece);
  EXPECT_EQ(reuse.entries[1], std::nullopt);
}

TEST(PublishReusePlan, ReadsAllThatAFileThatGrewMoved) {
  const Values before({{5, 2 * kPiece}, {6, kPiece}, {7, 3 * kPiece}});
  Values now({{5, 2 * kPiece}, {6, kPiece + 1}, {7, 3 * kPiece}});
  now.identities[2].mtime_ns = 8;
  const PublishReuse reuse = now.after(before.known());
  EXPECT_EQ(reuse.pieces[1], 1U);
  EXPECT_EQ(reuse.reads, (Ranges{{2 * kPiece, 6 * kPiece + 1}}));
  EXPECT_EQ(reuse.entries[2], 3U) << "its root stays, though its pieces moved";
}

TEST(PublishReusePlan, FindsPiecesThatMovedByWholePieces) {
  const Values before({{5, kPiece}, {6, 2 * kPiece}, {7, 100}});
  const Values now({{6, 2 * kPiece}, {7, 100}});
  EXPECT_EQ(now.after(before.known()).pieces, (Pieces{1, 2, 3}));
  const Values longer({{8, 4 * kPiece}, {6, 2 * kPiece}});
  EXPECT_EQ(longer.after(before.known()).pieces, (Pieces{{}, {}, {}, {}, 1, 2}));
}

TEST(PublishReusePlan, TakesNoPieceForOneThatIsLonger) {
  const Values before({{5, kPiece}, {6, 100}});
  const Values shorter({{5, kPiece - 0}, {6, 100}, {7, 5}});
  EXPECT_EQ(shorter.after(before.known()).pieces, (Pieces{0, std::nullopt})) << "the last piece goes on now";
  EXPECT_EQ(before.after(shorter.known()).pieces, (Pieces{0, std::nullopt})) << "and ends now";
}

TEST(PublishReusePlan, KeepsRootsWherePiecesAreCutOtherwise) {
  const Values before({{5, 4 * kPiece}});
  const PublishReuse reuse = before.after(before.known(), 2 * kPiece);
  EXPECT_EQ(reuse.pieces, (Pieces{std::nullopt, std::nullopt}));
  EXPECT_EQ(reuse.entries.front(), 1U);
}

/// Real files, hashed with what an earlier version tells and without.
class PublishAgain : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    for (int i = 0; i < 8; ++i) write(i, random_bytes(rng_, 50'000 + static_cast<std::size_t>(i) * 7'001));
    make_folder(temp_ / "set/empty");
    write_file(temp_ / "set/nothing", "");
  }
  std::string path(int file) const { return temp_ / ("set/file" + std::to_string(file)); }
  void write(int file, const std::string& bytes) { write_file(path(file), bytes); }
  HashedTree hashed(const std::shared_ptr<const KnownTree>& known = nullptr,
                    std::int64_t settled_before_ns = kAfterAll) {
    HashRequest request;
    request.path = {temp_ / "set", ""};
    request.known = known;
    request.settled_before_ns = settled_before_ns;
    auto tree = work_->hash_tree(request, {}, {});
    EXPECT_TRUE(tree) << tree.error().message;
    return tree ? std::move(*tree) : HashedTree();
  }
  static std::shared_ptr<const KnownTree> known_of(const HashedTree& tree, std::int64_t hashed_ns = kAfterAll) {
    return std::make_shared<KnownTree>(
        KnownTree{std::make_shared<metainfo::VersionMetadata>(tree.metadata), tree.inodes, tree.sums, hashed_ns});
  }

  SeededRng rng_{test_seed()};
  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2});
};

TEST_F(PublishAgain, GivesWhatReadingAllOfItGives) {
  const std::vector<std::function<void()>> changes = {
      [] {},
      [this] {
        write(3, random_bytes(rng_, 71'003));
        set_mtime(path(3), 1'600'000'000'000'000'000);  // the clock of files may not have ticked in between
      },
      [this] { write(0, random_bytes(rng_, 50'001)); },
      [this] { ASSERT_EQ(::unlink(path(2).c_str()), 0); },
      [this] { write_file(temp_ / "set/added", random_bytes(rng_, 12'345)); },
      [this] { ASSERT_EQ(::rename(path(7).c_str(), (temp_ / "set/a-moved").c_str()), 0); },
  };
  HashedTree before = hashed();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    HashedTree now = hashed(known_of(before));
    EXPECT_EQ(now.metadata, hashed().metadata) << "change " << i;
    if (i == 0) {
      EXPECT_EQ(now.read_bytes, 0U);
    }
    EXPECT_LE(now.read_bytes, now.metadata.manifest.total_bytes());
    before = std::move(now);
  }
}

TEST_F(PublishAgain, ReadsLittleWhereOneFileChangedInPlace) {
  const HashedTree before = hashed();
  const std::size_t size = 71'003;
  write(3, random_bytes(rng_, size));
  set_mtime(path(3), 1'600'000'000'000'000'000);  // the clock of files may not have ticked in between
  const HashedTree now = hashed(known_of(before));
  EXPECT_EQ(now.unchanged_files, 7U);
  EXPECT_LE(now.read_bytes, size + 2 * std::uint64_t{now.metadata.segments.front().piece_bytes});
}

TEST_F(PublishAgain, ReadsAFileThatWasMadeSinceWhateverItsTimeAndInode) {
  const HashedTree before = hashed();
  struct stat info{};
  ASSERT_EQ(::stat(path(3).c_str(), &info), 0);
  const std::int64_t made_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec;
  EXPECT_EQ(hashed(known_of(before, made_ns - 1'000'000'000)).unchanged_files, 0U);
}

TEST_F(PublishAgain, DoesNotRelyOnAFileThatWasWrittenAMomentBefore) {
  const std::int64_t old = 1'000'000'000, recent = 2'000'000'000;
  for (int i = 0; i < 8; ++i) set_mtime(path(i), i == 3 ? recent : old);
  const HashedTree before = hashed(nullptr, recent);
  write(3, random_bytes(rng_, 71'003));
  set_mtime(path(3), recent);  // as of a clock that did not tick in between
  const HashedTree now = hashed(known_of(before), recent);
  EXPECT_EQ(now.metadata, hashed().metadata);
  EXPECT_EQ(now.unchanged_files, 7U);
}

}  // namespace
}  // namespace gridtorrent::client::files
