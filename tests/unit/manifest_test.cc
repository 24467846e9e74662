#include "metainfo/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "metainfo/glob.h"

namespace gridtorrent::metainfo {
namespace {

ManifestEntry file(std::string path, std::uint64_t size = 3) {
  ManifestEntry entry{.path = std::move(path), .kind = EntryKind::kFile, .size = size, .mode = 0644};
  if (size > 0) entry.root.fill(7);
  return entry;
}

ManifestEntry folder(std::string path) {
  return {.path = std::move(path), .kind = EntryKind::kFolder, .mode = 0755};
}

Manifest tree(std::vector<ManifestEntry> below) {
  Manifest manifest{.base_name = "set", .entries = {folder("")}};
  for (auto& entry : below) manifest.entries.push_back(std::move(entry));
  return manifest;
}

void expect_refused(const Manifest& manifest, std::string_view part) {
  const Status status = validate(manifest);
  ASSERT_FALSE(status) << "should be refused: " << part;
  EXPECT_EQ(status.error().code, Code::kInvalid);
  EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
}

TEST(Manifest, RefusesPathsThatLeaveOrConfuse) {
  for (const std::string_view path : {"/etc/passwd", "..", "../x", "a/..", ".", "./a", "a//b", "a/", "a/./b"})
    expect_refused(tree({folder("a"), file(std::string(path))}), "");
  expect_refused(tree({file(std::string("a\0b", 3))}), "a\\x00b");
  expect_refused(tree({file(std::string(256, 'n'))}), "longer than 255");
  Manifest long_path = tree({});
  std::string path;
  while (path.size() < 4100) {
    path += (path.empty() ? "" : "/") + std::string(200, 'd');
    long_path.entries.push_back(folder(path));
  }
  expect_refused(long_path, "longer than 4096");
}

TEST(Manifest, RefusesABadBaseName) {
  for (const std::string_view name : {"", ".", "..", "a/b"}) {
    Manifest manifest = tree({file("a")});
    manifest.base_name = name;
    EXPECT_FALSE(validate(manifest)) << name;
  }
}

TEST(Manifest, RefusesWrongOrderDuplicatesAndMissingParents) {
  expect_refused(tree({file("b"), file("a")}), "out of order");
  expect_refused(tree({file("a"), file("a")}), "listed twice");
  expect_refused(tree({file("sub/a")}), "not listed");
  expect_refused(tree({file("sub"), file("sub/a")}), "listed as a file");
  expect_refused(tree({}), "no entries");
  Manifest no_base = tree({file("a")});
  no_base.entries.erase(no_base.entries.begin());
  expect_refused(no_base, "first entry");
  expect_refused(Manifest{.base_name = "x", .entries = {}}, "without entries");
  expect_refused(Manifest{.base_name = "x", .entries = {file(""), file("a")}}, "cannot hold");
}

TEST(Manifest, RefusesWrongValues) {
  Manifest manifest = tree({file("a")});
  manifest.entries[1].mode = 04755;
  expect_refused(manifest, "mode bits");
  manifest = tree({file("a", 0)});
  manifest.entries[1].root.fill(1);
  expect_refused(manifest, "Merkle root");
  manifest = tree({folder("a")});
  manifest.entries[1].size = 1;
  expect_refused(manifest, "has a size");
  manifest = tree({folder("a")});
  manifest.entries[1].root.fill(1);
  expect_refused(manifest, "Merkle root");
  manifest = tree({file("a"), file("b")});
  manifest.entries[1].size = manifest.entries[2].size = (std::uint64_t{1} << 60) - 1;
  expect_refused(manifest, "2^60");
  manifest.entries[1].size = UINT64_MAX;
  expect_refused(manifest, "2^60");
}

TEST(Manifest, RefusesMoreEntriesThanTheLimit) {
  Manifest manifest = tree({});
  for (std::uint64_t i = 0; i <= kMaxEntries; ++i) {
    std::string name = std::to_string(i);
    manifest.entries.push_back(file(std::string(8 - name.size(), '0') + name));
  }
  expect_refused(manifest, "1000000");
  manifest.entries.resize(kMaxEntries);
  EXPECT_TRUE(validate(manifest));
}

TEST(Manifest, ShowsHostileNamesEscaped) {
  const Status status = validate(tree({file("a"), file("a\n\x1b[2Jb"), file("a\n")}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(status.error().message.find('\x1b'), std::string::npos);
}

TEST(Manifest, AcceptsOddButLegalNames) {
  Manifest manifest = tree({file("\n"), file("..."), file(".hidden"), file("A"), folder("a"), file("a b"),
                            folder("a/b"), file("a/b/c", 0), file("\\"), file("\xc3\xa4"), file("\xff\xfe")});
  std::sort(manifest.entries.begin(), manifest.entries.end(), [](auto& l, auto& r) { return l.path < r.path; });
  const Status status = validate(manifest);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_TRUE(validate(Manifest{.base_name = "one", .entries = {file("")}}));
  EXPECT_EQ(full_path(manifest, manifest.entries[0]), "set");
  EXPECT_EQ(full_path(manifest, file("a/b/c")), "set/a/b/c");
}

TEST(Manifest, CountsBytesAndFiles) {
  const Manifest manifest = tree({file("a", 5), folder("b"), file("c", 7), file("d", 0)});
  EXPECT_EQ(manifest.total_bytes(), 12U);
  EXPECT_EQ(manifest.file_count(), 3U);
  EXPECT_FALSE(manifest.is_single_file());
}

TEST(Glob, DoesNotMatchBeyondItsRules) {
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("a", ""));
  EXPECT_FALSE(glob_matches("/", "a"));
  EXPECT_FALSE(glob_matches("data/*.nc", "data/sub/x.nc"));
  EXPECT_FALSE(glob_matches("data/?", "data/ab"));
  EXPECT_FALSE(glob_matches("a?b", "a/b"));
  EXPECT_FALSE(glob_matches("sub/x", "other/sub/x"));
  EXPECT_FALSE(glob_matches("*.nc", "x.nc4"));
  EXPECT_FALSE(glob_matches("**/x.nc", "ax.nc"));
  EXPECT_FALSE(glob_matches("sub", "subway"));
  EXPECT_FALSE(glob_matches("a/**/b", "a/xb"));
}

TEST(Glob, MatchesByTheContract) {
  EXPECT_TRUE(glob_matches("*.nc", "x.nc"));
  EXPECT_TRUE(glob_matches("*.nc", "deep/er/x.nc"));
  EXPECT_TRUE(glob_matches("?.nc", "deep/x.nc"));
  EXPECT_TRUE(glob_matches("data/*.nc", "data/x.nc"));
  EXPECT_TRUE(glob_matches("data/**", "data/sub/x.nc"));
  EXPECT_TRUE(glob_matches("data/**.nc", "data/sub/x.nc"));
  EXPECT_TRUE(glob_matches("**/x.nc", "x.nc"));
  EXPECT_TRUE(glob_matches("**/x.nc", "a/b/x.nc"));
  EXPECT_TRUE(glob_matches("a/**/b", "a/b"));
  EXPECT_TRUE(glob_matches("a/**/b", "a/x/y/b"));
  EXPECT_TRUE(glob_matches("sub", "sub"));
  EXPECT_TRUE(glob_matches("sub", "sub/x"));
  EXPECT_TRUE(glob_matches("sub/", "sub/x"));
  EXPECT_TRUE(glob_matches("sub", "above/sub/x"));
  EXPECT_TRUE(glob_matches("above/sub", "above/sub/deep/x"));
  EXPECT_TRUE(glob_matches("/above", "above"));
  EXPECT_TRUE(glob_matches("**", "any/thing"));
  EXPECT_TRUE(glob_matches("\xff*", "\xff\n"));
}

TEST(Glob, MayBeLongerThanAWordOfItsStates) {
  const std::string a(63, 'a'), b(200, 'b');
  const Glob glob(a + "*/?" + b);
  EXPECT_FALSE(glob.matches(a + "/c" + b.substr(1)));
  EXPECT_FALSE(glob.matches(a.substr(1) + "/c" + b));
  EXPECT_TRUE(glob.matches(a + "/c" + b));
  EXPECT_TRUE(glob.matches(a + "xyz/c" + b + "/below"));
  EXPECT_FALSE(glob.matches_itself(a + "xyz/c" + b + "/below"));
}

TEST(Glob, TakesNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a**a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace gridtorrent::metainfo
