#include "metainfo/links.h"

#include <gtest/gtest.h>

#include "metainfo/metadata.h"

namespace gridtorrent::metainfo {
namespace {

/// A manifest of BASE "set" from paths: "a/" is a folder, "a -> b" a link, anything else a file.
Manifest tree(const std::vector<std::string>& lines) {
  Manifest manifest{.base_name = "set", .entries = {{.path = "", .kind = EntryKind::kFolder, .mode = 0755}}};
  for (const std::string& line : lines) {
    ManifestEntry entry;
    const std::size_t arrow = line.find(" -> ");
    entry.path = line.substr(0, arrow);
    entry.mode = 0644;
    if (arrow != std::string::npos) {
      entry.kind = EntryKind::kLink;
      entry.mode = 0;
      manifest.targets.emplace(static_cast<std::uint32_t>(manifest.entries.size()), line.substr(arrow + 4));
    } else if (entry.path.ends_with('/')) {
      entry.kind = EntryKind::kFolder;
      entry.path.pop_back();
    }
    manifest.entries.push_back(std::move(entry));
  }
  return manifest;
}

void expect_refused(const std::vector<std::string>& lines, std::string_view part) {
  const Status status = validate(tree(lines));
  ASSERT_FALSE(status) << lines.front() << " should be refused: " << part;
  EXPECT_EQ(status.error().code, Code::kInvalid);
  EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
}

TEST(Links, ThatLeadOutsideAreRefusedByName) {
  expect_refused({"l -> /etc/passwd"}, "'set/l' to '/etc/passwd' leads outside of the content: it is absolute");
  expect_refused({"l -> .."}, "'set/l' to '..' leads outside");
  expect_refused({"l -> ../other"}, "leads outside");
  expect_refused({"l -> ../set/a"}, "leads outside");
  expect_refused({"l -> ././../x"}, "leads outside");
  expect_refused({"a/", "a/l -> ../../x"}, "leads outside");
  expect_refused({"a/", "l -> a/../../x"}, "leads outside");
  expect_refused({"a/", "l -> a//../.."}, "leads outside");
}

TEST(Links, ThatLeadOutsideThroughOthersAreRefused) {
  // By its letters s/d/up/../../.. is the top; on a disk "up" is one folder higher than it looks.
  expect_refused({"l -> s/d/up/../..", "s/", "s/d/", "s/d/up -> .."}, "'set/l' to 's/d/up/../..' leads outside");
  expect_refused({"a -> b/..", "b -> s", "s/", "z -> a/../x"}, "'set/z'");
}

TEST(Links, ThatGoUpFromWhatIsNoFolderHereAreRefused) {
  // On a filesystem that ignores case, "UP" is the link and not a folder that is missing.
  expect_refused({"l -> s/UP/..", "s/", "s/up -> ."}, "goes up from a name that is no folder");
  expect_refused({"f", "l -> f/.."}, "goes up from a name that is no folder");
  expect_refused({"l -> missing/../x"}, "goes up from a name that is no folder");
}

TEST(Links, LoopsAreRefused) {
  expect_refused({"l -> l"}, "loop of links");
  expect_refused({"a -> b", "b -> a"}, "loop of links");
  expect_refused({"a/", "a/l -> ../b", "b -> a/l/x"}, "loop of links");
}

/// Links 0 to `count - 1` in a folder, each of which goes down and up again and leads to the next one; the last one to
/// `end`.
std::vector<std::string> chain(int count, const std::string& end) {
  std::vector<std::string> lines{"a/", "a/b/"};
  for (int i = 0; i < count; ++i) {
    const std::string next = i + 1 < count ? "l" + std::to_string(i + 11) : end;
    lines.push_back("a/l" + std::to_string(i + 10) + " -> b/.././" + next);
  }
  return lines;
}

TEST(Links, AreFollowedFortyTimesAsByTheKernel) {
  EXPECT_TRUE(validate(tree(chain(40, "b"))));
  expect_refused(chain(41, "b"), "loop of links");
  // Also where no link is nested so deep: three links of 14 each in one target.
  std::vector<std::string> lines = chain(13, "b");
  lines.push_back("z -> a/l10/../l10/../l10");
  EXPECT_TRUE(validate(tree(lines))) << "39 and itself";
  lines.back() = "z -> a/l10/../l10/../l10/../l22";
  expect_refused(lines, "loop of links");
}

TEST(Links, CostWhatTheyAreLongWhateverTheyLeadThrough) {
  // Followed anew for each of the links, this took minutes: a hundred thousand times 38 targets of 800 names, in a
  // folder whose path is as long as one may be.
  std::vector<std::string> lines;
  std::string folder;
  for (int i = 0; i < 15; ++i) lines.push_back(folder = folder + std::string(250, 'd') + "/");
  lines.push_back(folder + "a/");
  std::string up_and_down;
  for (int i = 0; i < 400; ++i) up_and_down += "a/../";
  for (int i = 10; i < 48; ++i)
    lines.push_back(folder + "l" + std::to_string(i) + " -> " + up_and_down +
                    (i < 47 ? "l" + std::to_string(i + 1) : "a"));
  for (int i = 100'000; i < 200'000; ++i) lines.push_back("n" + std::to_string(i) + " -> s");
  lines.push_back("s -> " + folder + "l10");
  const Status status = validate(tree(lines));
  EXPECT_TRUE(status) << status.error().message;
}

TEST(Links, WithTargetsThatNoLinkCanHaveAreRefused) {
  expect_refused({"l -> "}, "names nothing");
  expect_refused({"l -> " + std::string(4096, 'x')}, "longer than 4095");
  expect_refused({"l -> " + std::string("a\0b", 3)}, "holds a NUL byte");
}

TEST(Links, NothingLiesBelowALink) {
  expect_refused({"d/", "l -> d", "l/file"}, "is not listed, or is listed as a file or a link");
  expect_refused({"l -> l2", "l"}, "listed twice");
  Manifest top = tree({});
  top.entries.front().kind = EntryKind::kLink;
  top.entries.front().mode = 0;
  top.targets.emplace(0, "x");
  EXPECT_FALSE(validate(top)) << "the top itself";
}

TEST(Links, HaveATargetAndNeitherSizeNorMode) {
  Manifest manifest = tree({"l -> x"});
  manifest.targets.clear();
  EXPECT_FALSE(validate(manifest)) << "no target";
  manifest = tree({"l -> x"});
  manifest.targets.emplace(0, "x");
  EXPECT_FALSE(validate(manifest)) << "a folder with a target";
  manifest = tree({"l -> x"});
  manifest.entries[1].mode = 0777;
  EXPECT_FALSE(validate(manifest));
  manifest = tree({"l -> x"});
  manifest.entries[1].size = 1;
  EXPECT_FALSE(validate(manifest));
}

TEST(Links, ThatStayInsideAreTaken) {
  for (const auto& lines : std::vector<std::vector<std::string>>{
           {"a", "l -> a"},
           {"l -> missing"},
           {"l -> ."},
           {"d/", "d/e/", "d/e/l -> ../../d/./e"},
           {"d/", "d/l -> .."},
           {"a -> b", "b -> c", "c"},
           {"s/", "s/d/", "s/d/up -> ..", "x -> s/d/up/d"},
           {"Data/", "data -> Data"},
           {"l -> \xff\n"},
       }) {
    const Status status = validate(tree(lines));
    EXPECT_TRUE(status) << lines.front() << ": " << (status ? "" : status.error().message);
  }
}

TEST(Links, MakeAFormatThatOlderProgramsRefuseByItsNumber) {
  VersionMetadata metadata;
  metadata.manifest = tree({"a", "b -> a", "c/", "c/d -> ../a", "e"});
  const std::string document = encode(metadata);
  EXPECT_NE(document.find("6:formati2e5:links"), std::string::npos);
  EXPECT_LT(document.find("6:formati2e"), document.find("1:b")) << "links come after what says which format it is";
  const auto decoded = decode(document);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, metadata);
  metadata.manifest = tree({"a"});
  EXPECT_NE(encode(metadata).find("6:formati1e"), std::string::npos) << "as before where there are none";
}

TEST(Links, HaveOneSpellingOnly) {
  VersionMetadata metadata;
  metadata.manifest = tree({"a", "b -> a", "c -> a"});
  const std::string document = encode(metadata);
  const std::string one = "l1:bi0e1:ae", other = "l1:ci0e1:ae";
  std::string swapped = document;
  swapped.replace(swapped.find(one), one.size() + other.size(), other + one);
  EXPECT_FALSE(decode(swapped)) << "out of order";
  std::string none = document;
  none.erase(none.find(one), one.size() + other.size());
  EXPECT_FALSE(decode(none)) << "format 2 without links";
  std::string outside = document;
  outside.replace(outside.find(one), one.size(), "l1:bi0e2:..e");
  const auto refused = decode(outside);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("leads outside"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace gridtorrent::metainfo
