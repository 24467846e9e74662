// The files of a version as people read them, by pages.
#include "metainfo/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/rng.h"

namespace gridtorrent::metainfo {
namespace {

using ::testing::ElementsAre;
using Form = FileTree::Form;

Manifest manifest_of(std::vector<std::pair<std::string, std::int64_t>> below) {
  Manifest manifest{.base_name = "run", .entries = {{.path = "", .kind = EntryKind::kFolder, .mode = 0755}}};
  std::ranges::sort(below);
  for (const auto& [path, size] : below) {
    ManifestEntry entry{.path = path, .kind = size < 0 ? EntryKind::kFolder : EntryKind::kFile};
    entry.size = size < 0 ? 0 : static_cast<std::uint64_t>(size);
    manifest.entries.push_back(entry);
  }
  return manifest;
}

const FileTree& sample() {
  static const FileTree tree(manifest_of(
      {{"a", -1}, {"a-b", 4}, {"a/odd", 2}, {"a/y", -1}, {"a/y/z", 3}, {"b", 1}, {"run", -1}, {"run/c", 7}}));
  return tree;
}

/// "a/y/z 3" a line; folders end in a slash.
std::vector<std::string> lines(const FileTree& tree, std::string_view path, Form form, std::size_t first = 0,
                               std::size_t most = 1000) {
  const auto listing = tree.list(path, form, first, most);
  if (!listing) return {listing.error().message};
  std::vector<std::string> out;
  for (const auto& line : listing->lines) {
    const auto& entry = tree.manifest().entries[line.index];
    const bool folder = entry.kind == EntryKind::kFolder;
    out.push_back(entry.path + (folder ? "/ " : " ") + std::to_string(line.bytes) +
                  (folder ? " in " + std::to_string(line.files) : ""));
  }
  return out;
}

TEST(FileTree, HasNoPathThatTheManifestHasNot) {
  for (const char* path : {"c", "run/d", "a/od", "a/y/z/q", "/a"}) {
    const auto listing = sample().list(path, Form::kFiles, 0, 9);
    ASSERT_FALSE(listing) << path;
    EXPECT_EQ(listing.error().code, Code::kNotFound);
    EXPECT_NE(listing.error().message.find(path), std::string::npos) << listing.error().message;
  }
  EXPECT_FALSE(FileTree(Manifest()).list("", Form::kTree, 0, 9));
}

TEST(FileTree, PutsWhatIsInAFolderBehindIt) {
  EXPECT_THAT(lines(sample(), "", Form::kTree), ElementsAre("/ 17 in 5", "a/ 5 in 2", "a/odd 2", "a/y/ 3 in 1",
                                                            "a/y/z 3", "a-b 4", "b 1", "run/ 7 in 1", "run/c 7"));
  EXPECT_THAT(lines(sample(), "", Form::kFiles), ElementsAre("a/odd 2", "a/y/z 3", "a-b 4", "b 1", "run/c 7"));
  EXPECT_THAT(lines(sample(), "", Form::kFolder), ElementsAre("a/ 5 in 2", "a-b 4", "b 1", "run/ 7 in 1"));
}

TEST(FileTree, ListsBelowAPathWithTheTopsNameOrWithout) {
  for (const char* path : {"a", "a/", "run/a", "run/a//"}) {
    EXPECT_THAT(lines(sample(), path, Form::kFolder), ElementsAre("a/odd 2", "a/y/ 3 in 1")) << path;
  }
  EXPECT_THAT(lines(sample(), "run", Form::kFolder).size(), 4) << "the top itself, though a folder has its name";
  EXPECT_THAT(lines(sample(), "run/run", Form::kFiles), ElementsAre("run/c 7"));
  EXPECT_THAT(lines(sample(), "run/c", Form::kFiles), ElementsAre("run/c 7"));
  for (const Form form : {Form::kFiles, Form::kTree, Form::kFolder})
    EXPECT_THAT(lines(sample(), "a/odd", form), ElementsAre("a/odd 2"));
  EXPECT_EQ(sample().list("a", Form::kFolder, 0, 1)->bytes, 5U);
  EXPECT_EQ(sample().list("a", Form::kFolder, 0, 1)->files, 2U);
}

TEST(FileTree, OfOneFileIsThatFile) {
  const FileTree tree(Manifest{.base_name = "scan.h5", .entries = {{.path = "", .kind = EntryKind::kFile, .size = 7}}});
  for (const Form form : {Form::kFiles, Form::kTree, Form::kFolder}) {
    EXPECT_THAT(lines(tree, "", form), ElementsAre(" 7"));
    EXPECT_THAT(lines(tree, "scan.h5", form), ElementsAre(" 7"));
  }
}

TEST(FileTree, PagesTogetherAreTheWholeList) {
  SeededRng rng(20261126);
  std::set<std::string> folders{""};
  std::vector<std::pair<std::string, std::int64_t>> below;
  for (int i = 0; i < 400; ++i) {
    auto at = folders.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng.next() % folders.size()));
    const std::string name = std::string(1, "-.0aA~"[rng.next() % 6]) + std::to_string(i);
    const std::string path = at->empty() ? name : *at + "/" + name;
    const bool folder = rng.next() % 4 == 0;
    if (folder) folders.insert(path);
    below.emplace_back(path, folder ? -1 : static_cast<std::int64_t>(rng.next() % 1000));
  }
  const FileTree tree(manifest_of(below));
  for (const Form form : {Form::kFiles, Form::kTree, Form::kFolder}) {
    for (const std::string& folder : folders) {
      const auto all = lines(tree, folder, form);
      ASSERT_EQ(tree.list(folder, form, 0, 1)->all_lines, all.size()) << folder;
      std::vector<std::string> joined;
      for (std::size_t first = 0; first <= all.size(); first += 7) {
        const auto page = lines(tree, folder, form, first, 7);
        joined.insert(joined.end(), page.begin(), page.end());
      }
      ASSERT_EQ(joined, all) << folder;
      EXPECT_TRUE(lines(tree, folder, form, all.size() + 3, 7).empty());
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [path, size] : below) bytes += size < 0 ? 0 : static_cast<std::uint64_t>(size);
  EXPECT_EQ(tree.list("", Form::kFiles, 0, 0)->bytes, bytes);
}

}  // namespace
}  // namespace gridtorrent::metainfo
