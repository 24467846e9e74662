#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <algorithm>
#include <random>

#include "common/rng.h"
#include "common/text.h"
#include "gui/models/file_choice.h"
#include "gui/models/files_model.h"
#include "metainfo/glob.h"
#include "metainfo/manifest.h"

namespace gridtorrent::gui {
namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;
const Format kFormat(QLocale(QLocale::English, QLocale::UnitedKingdom));

Qt::CheckState box(const QModelIndex& index) {
  return static_cast<Qt::CheckState>(index.data(Qt::CheckStateRole).toInt());
}

class Choice : public testing::Test {
 protected:
  Choice() { tester_.setUseFetchMore(false); }
  void show(std::vector<FileRow> files) {
    model_.set_tree(FileTree(std::move(files)));
    model_.fetchMore({});
  }
  bool tick(const QModelIndex& index, bool on) {
    return model_.setData(index, on ? Qt::Checked : Qt::Unchecked, Qt::CheckStateRole);
  }
  std::vector<std::string> globs() const { return globs_of(model_.tree(), model_.chosen()).globs; }

  FilesModel model_{kFormat, FilesModel::Boxes::kToChoose};
  QAbstractItemModelTester tester_{&model_, kFatal};
};

TEST_F(Choice, IsAllOfThemAtFirstWhichTakesNoPattern) {
  show({{"raw/a", 2}, {"log", 1}});
  EXPECT_EQ(model_.chosen_bytes(), 3U);
  EXPECT_EQ(box(model_.index(0, 0)), Qt::Checked);
  EXPECT_TRUE(globs().empty());
}

TEST_F(Choice, OfAFolderIsSomeWhereFilesBelowItDiffer) {
  show({{"raw/a", 2}, {"raw/b", 4}, {"log", 1}});
  const QModelIndex raw = model_.index(1, 0);
  ASSERT_EQ(raw.data().toString(), QStringLiteral("raw/"));
  model_.fetchMore(raw);
  EXPECT_TRUE(tick(model_.index(0, 0, raw), false));
  EXPECT_EQ(box(raw), Qt::PartiallyChecked);
  EXPECT_EQ(model_.chosen_bytes(), 5U);
  EXPECT_EQ(globs(), (std::vector<std::string>{"/log", "/raw/b"}));
  EXPECT_TRUE(tick(raw, false));
  EXPECT_EQ(box(raw), Qt::Unchecked);
  EXPECT_EQ(box(model_.index(1, 0, raw)), Qt::Unchecked);
  EXPECT_EQ(globs(), (std::vector<std::string>{"/log"}));
}

TEST_F(Choice, OfWhatAFilterHidesStaysAsItWas) {
  show({{"raw/a.nc", 2}, {"raw/b.log", 4}, {"c.NC", 8}});
  model_.set_filter(".nc");
  model_.fetchMore({});
  EXPECT_EQ(model_.rowCount(), 2);
  model_.choose(false);
  EXPECT_EQ(model_.chosen_bytes(), 4U);
  model_.set_filter({});
  model_.fetchMore({});
  EXPECT_EQ(box(model_.index(1, 0)), Qt::PartiallyChecked);
  EXPECT_EQ(globs(), (std::vector<std::string>{"/raw/b.log"}));
}

TEST_F(Choice, IsToldToViewsOnceForEachTick) {
  show({{"a", 1}, {"b", 1}});
  const QSignalSpy changes(&model_, &FilesModel::choice_changed);
  tick(model_.index(0, 0), false);
  EXPECT_EQ(changes.count(), 1);
}

TEST(AModelThatIsOnlyLookedAt, HasNoBoxes) {
  FilesModel model(kFormat);
  model.set_tree(FileTree({{"a", 1}}));
  model.fetchMore({});
  EXPECT_FALSE(model.index(0, 0).data(Qt::CheckStateRole).isValid());
  EXPECT_FALSE(model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
}

TEST(Globs, NameAFileThatWouldComeUnwanted) {
  const FileTree tree({{"a*", 1}, {"ab", 1}, {"x", 1}});
  const GlobChoice choice = globs_of(tree, {true, false, true});
  EXPECT_EQ(choice.globs, (std::vector<std::string>{"/a?", "/x"}));
  EXPECT_EQ(choice.unwanted, "ab");
  EXPECT_FALSE(globs_of(tree, {true, true, false}).unwanted);
}

TEST(Globs, AreNoneWhereTheyAreTooMany) {
  std::vector<FileRow> files;
  std::vector<bool> chosen;
  for (int i = 0; i < 4000; ++i) {
    files.push_back({"d/" + std::to_string(10'000 + i), 1});
    chosen.push_back(i % 2 == 0);
  }
  const GlobChoice choice = globs_of(FileTree(std::move(files)), chosen);
  EXPECT_TRUE(choice.too_many);
  EXPECT_TRUE(choice.globs.empty());
}

/// Names with every byte that has a meaning in patterns, or is no UTF-8.
std::string random_path(Rng& rng) {
  constexpr std::string_view kBytes = "ab*?-\xFF";
  std::string path;
  for (std::uint64_t parts = 1 + rng.below(3); parts > 0; --parts) {
    if (!path.empty()) path += '/';
    for (std::uint64_t n = 1 + rng.below(2); n > 0; --n) path += kBytes[rng.below(kBytes.size())];
  }
  return path;
}

/// No file is at the same time a folder, as in manifests.
std::vector<FileRow> random_files(Rng& rng) {
  std::vector<std::string> paths;
  for (std::uint64_t n = 2 + rng.below(20); n > 0; --n) paths.push_back(random_path(rng));
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::vector<FileRow> files;
  for (const std::string& path : paths) {
    const auto below = [&](const std::string& other) { return other.starts_with(path + "/"); };
    if (std::ranges::none_of(paths, below)) files.push_back({path, 1});
  }
  return files;
}

TEST(Globs, MeanToTheNodeExactlyTheFilesThatWereChosen) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  for (int round = 0; round < 2000; ++round) {
    const FileTree tree(random_files(rng));
    std::vector<bool> chosen;
    for (std::size_t i = 0; i < tree.files(); ++i) chosen.push_back(rng.below(2) == 0);
    if (std::ranges::count(chosen, true) == 0) continue;
    const GlobChoice choice = globs_of(tree, chosen);
    bool more = false;
    for (std::size_t i = 0; i < tree.files(); ++i) {
      const bool comes = choice.globs.empty() || std::ranges::any_of(choice.globs, [&](const std::string& glob) {
                           return metainfo::glob_matches(glob, tree.file(i).path);
                         });
      if (chosen[i]) {
        ASSERT_TRUE(comes) << escape_for_display(tree.file(i).path);
      }
      more = more || (comes && !chosen[i]);
    }
    ASSERT_EQ(more, choice.unwanted.has_value());
    for (const std::string& glob : choice.globs) ASSERT_TRUE(is_valid_utf8(glob));
  }
}

TEST(AMillionFiles, AreChosenAndFilteredWhileSomebodyWaits) {
  std::vector<FileRow> files;
  for (int i = 0; i < 1'000'000; ++i) files.push_back({"d" + std::to_string(i % 1000) + "/" + std::to_string(i), 1});
  FilesModel model(kFormat, FilesModel::Boxes::kToChoose);
  model.set_tree(FileTree(std::move(files)));
  model.fetchMore({});
  QElapsedTimer timer;
  const auto say = [&](const char* what) {
    std::printf("  %s: %.1f ms\n", what, static_cast<double>(timer.nsecsElapsed()) / 1e6);
    timer.restart();
  };
  timer.start();
  model.setData(model.index(0, 0), Qt::Unchecked, Qt::CheckStateRole);
  say("a folder ticked off");
  EXPECT_EQ(globs_of(model.tree(), model.chosen()).globs.size(), 999U);
  say("patterns of 999 folders");
  model.set_filter("77");
  say("a filter");
  EXPECT_EQ(model.chosen_files(), 999'000U);
}

}  // namespace
}  // namespace gridtorrent::gui
