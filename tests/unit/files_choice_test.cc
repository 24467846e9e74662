#include "client/files/choice.h"

#include <gmock/gmock.h>

#include "tests/unit/files_fixture.h"

namespace gridtorrent::client::files {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> paths_of(const Result<HashedTree>& tree) {
  std::vector<std::string> paths;
  if (!tree) return {tree.error().message};
  for (const auto& entry : tree->metadata.manifest.entries) paths.push_back(entry.path);
  return paths;
}

TEST(IgnoreFile, RefusesWhatItDoesNotUnderstandByItsLine) {
  expect_error(IgnoreFile::parse("ok\n[ab]c\n"), Code::kInvalid, "line 2 of .gridtorrentignore holds '['");
  expect_error(IgnoreFile::parse("\\#x"), Code::kInvalid, "line 1 of .gridtorrentignore holds '\\'");
}

TEST(IgnoreFile, TheLastLineThatMeansAPathCounts) {
  const auto file = IgnoreFile::parse("# notes\n\n*.log \n!keep.log\r\nbuild/\n/top\na/*/c\n**/cache\n").value();
  const auto line = [&](std::string_view path, bool folder = false) {
    return file.ignored_by(path, folder).value_or(0);
  };
  EXPECT_EQ(line("x.log"), 3U);
  EXPECT_EQ(line("deep/er/x.log"), 3U);
  EXPECT_EQ(line("keep.log"), 0U);
  EXPECT_EQ(line("build", true), 5U);
  EXPECT_EQ(line("sub/build", true), 5U) << "a slash at the end does not bind it to the top";
  EXPECT_EQ(line("build"), 0U) << "a file of that name";
  EXPECT_EQ(line("top"), 6U);
  EXPECT_EQ(line("sub/top"), 0U);
  EXPECT_EQ(line("a/b/c"), 7U);
  EXPECT_EQ(line("a/b/b/c"), 0U);
  EXPECT_EQ(line("p/q/cache"), 8U);
  EXPECT_EQ(line("cached"), 0U);
}

class Chosen : public testing::Test {
 protected:
  void SetUp() override {
    make_folder(temp_ / "set");
    for (const char* folder : {"raw", "raw/old", "tmp"}) make_folder(temp_ / (std::string("set/") + folder));
    for (const char* file : {"a.h5", "a.tmp", "raw/b.h5", "raw/old/c.h5", "raw/notes", "tmp/x"})
      write_file(temp_ / (std::string("set/") + file), file);
  }
  Result<HashedTree> published(WalkRules rules) {
    return work_->hash_tree({.path = Place(temp_ / "set"), .rules = std::move(rules)}, {}, {});
  }

  TempFolder temp_;
  std::unique_ptr<FileWork> work_ = make_file_work({.hash_threads = 2});
};

TEST_F(Chosen, WhereNothingIsLeftThereIsNothingToPublish) {
  expect_error(published({.exclude = {"*"}}), Code::kInvalid, "no entries that can be published");
  expect_error(published({.include = {"*.csv"}}), Code::kInvalid, "no entries that can be published");
  write_file(temp_ / "set/.gridtorrentignore", "[");
  expect_error(published({}), Code::kInvalid, "line 1 of .gridtorrentignore");
}

TEST_F(Chosen, WhatIsExcludedIsNotLookedInto) {
  EXPECT_THAT(paths_of(published({.exclude = {"*.tmp", "tmp", "raw/old"}})),
              ElementsAre("", "a.h5", "raw", "raw/b.h5", "raw/notes"));
}

TEST_F(Chosen, OnlyWhatIsIncludedComesWithItsFolders) {
  EXPECT_THAT(paths_of(published({.include = {"*.h5"}})),
              ElementsAre("", "a.h5", "raw", "raw/b.h5", "raw/old", "raw/old/c.h5"));
  EXPECT_THAT(paths_of(published({.exclude = {"old"}, .include = {"raw"}})),
              ElementsAre("", "raw", "raw/b.h5", "raw/notes"));
}

TEST_F(Chosen, TheIgnoreFileCountsAndIsPublishedItself) {
  write_file(temp_ / "set/.gridtorrentignore", "*.tmp\ntmp/\nraw/*\n!raw/notes\n");
  EXPECT_THAT(paths_of(published({})), ElementsAre("", ".gridtorrentignore", "a.h5", "raw", "raw/notes"));
}

TEST_F(Chosen, AScanSaysWhatIsLeftOutAndWhy) {
  write_file(temp_ / "set/.gridtorrentignore", "raw\n");
  ASSERT_EQ(::symlink("a.h5", (temp_ / "set/link").c_str()), 0);
  const auto scanned = work_->scan_tree(Place(temp_ / "set"), {.links = LinkRule::kKeep, .exclude = {"*.tmp"}}, {}, {});
  ASSERT_TRUE(scanned) << scanned.error().message;
  EXPECT_EQ(scanned->figures.files, 3U);
  EXPECT_EQ(scanned->figures.links, 1U);
  EXPECT_EQ(scanned->figures.excluded, 2U);
  EXPECT_EQ(scanned->figures.skipped, 0U);
  ASSERT_EQ(scanned->excluded.size(), 2U);
  const std::string all = scanned->excluded[0] + "\n" + scanned->excluded[1];
  EXPECT_THAT(all, HasSubstr("set/raw': ignored by line 1 of .gridtorrentignore"));
  EXPECT_THAT(all, HasSubstr("set/a.tmp': excluded by '*.tmp'"));
}

}  // namespace
}  // namespace gridtorrent::client::files
