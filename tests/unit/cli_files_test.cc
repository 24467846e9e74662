#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/files_view.h"

namespace gridtorrent::client::cli {
namespace {

api::FileEntry folder(const std::string& path) {
  api::FileEntry entry;
  entry.path = path;
  entry.folder = true;
  return entry;
}
api::FileEntry file(const std::string& path, std::uint64_t bytes) {
  api::FileEntry entry;
  entry.path = path;
  entry.bytes = bytes;
  return entry;
}

/// By path bytes, as manifests are.
const std::vector<api::FileEntry> kFiles{
    folder("run"),     folder("run/a"),      file("run/a-b", 4), file("run/a/odd\nname", 2),
    folder("run/a/y"), file("run/a/y/z", 3), file("run/b", 1)};

std::string text(const FilesWish& wish) {
  const auto page = files_page(kFiles, wish);
  return page ? files_text(*page, wish.tree) : page.error().message;
}

TEST(FilesOfAContent, WithAPathThatIsNoneAreRefused) {
  for (const char* path : {"c", "run/c", "a/", "y"}) {
    const auto page = files_page(kFiles, {.path = path});
    if (std::string(path) == "a/") {
      EXPECT_TRUE(page.ok()) << "a folder may end in a slash";
      continue;
    }
    ASSERT_FALSE(page.ok()) << path;
    EXPECT_EQ(page.error().code, Code::kNotFound);
  }
}

TEST(FilesOfAContent, AreListedByThePathBelowTheTop) {
  EXPECT_EQ(text({}),
            "     2 B  a/odd\\nname\n"
            "     3 B  a/y/z\n"
            "     4 B  a-b\n"
            "     1 B  b\n");
}

TEST(FilesOfAContent, AreATreeWithSums) {
  EXPECT_EQ(text({.tree = true}),
            "    10 B  run/\n"
            "     5 B    a/\n"
            "     2 B      odd\\nname\n"
            "     3 B      y/\n"
            "     3 B        z\n"
            "     4 B    a-b\n"
            "     1 B    b\n");
}

TEST(FilesOfAContent, BelowAPathAsItIsShown) {
  for (const char* path : {"a/y", "run/a/y", "a/y/"}) EXPECT_EQ(text({.path = path}), "     3 B  a/y/z\n") << path;
  EXPECT_EQ(text({.path = "a/odd\\nname"}), "     2 B  a/odd\\nname\n");
  EXPECT_EQ(text({.path = "a/y", .tree = true}), "     3 B  a/y/\n     3 B    z\n");
}

TEST(FilesOfAContent, ComePageByPage) {
  const auto first = files_page(kFiles, {.limit = 3});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->lines.size(), 3u);
  EXPECT_EQ(first->next, 3u);
  EXPECT_EQ(first->files, 4u);
  EXPECT_EQ(first->bytes, 10u);
  const auto last = files_page(kFiles, {.first = first->next, .limit = 3});
  ASSERT_TRUE(last.ok());
  ASSERT_EQ(last->lines.size(), 1u);
  EXPECT_EQ(last->lines.front().path, "b");
  EXPECT_EQ(last->next, 0u);
}

TEST(FilesOfAContent, SayWhereALinkLeads) {
  std::vector<api::FileEntry> entries{file("run42/best", 0)};
  entries.front().link_target = "raw/a\n.h5";
  EXPECT_EQ(files_text(*files_page(entries, {}), false), "     0 B  best -> raw/a\\n.h5\n");
}

TEST(FilesOfAContent, ThatIsASingleFileAreThatFile) {
  const std::vector<api::FileEntry> one{file("scan.h5", 7)};
  EXPECT_EQ(files_text(*files_page(one, {}), false), "     7 B  scan.h5\n");
}

TEST(FilesOfAContent, AreShownAsTheServerListsThem) {
  api::FilePage served;
  served.path = "run/a";
  served.all_lines = 9;
  served.files = 2;
  served.bytes = 5;
  served.lines = {{folder("run/a/y"), 1}, {file("run/a/y/z", 3), 0}};
  served.lines[0].entry.bytes = 3;
  const FilesPage page = files_page(served, {.path = "a", .tree = true, .first = 2, .limit = 2});
  EXPECT_EQ(files_text(page, true), "     3 B    y/\n     3 B      z\n");
  EXPECT_EQ(page.next, 4U);
  EXPECT_EQ(page.bytes, 5U);
  EXPECT_EQ(files_page(served, {.path = "a", .first = 7, .limit = 2}).next, 0U) << "the last page";
}

}  // namespace
}  // namespace gridtorrent::client::cli
