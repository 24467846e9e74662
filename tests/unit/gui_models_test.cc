#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTextDocument>
#include <algorithm>
#include <random>
#include <set>

#include "common/rng.h"
#include "gui/models/connection.h"
#include "gui/models/files_model.h"
#include "gui/models/peers_model.h"
#include "gui/models/search_model.h"

namespace gridtorrent::gui {
namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;
const QLocale kEnglish(QLocale::English, QLocale::UnitedKingdom);

std::string text(const QModelIndex& index, int role = Qt::DisplayRole) {
  return index.data(role).toString().toStdString();
}

FoundRow found(std::string name) {
  FoundRow row;
  row.name = std::move(name);
  row.owner = "bob";
  row.bytes = 1'500'000;
  row.files = 12;
  row.access = "public";
  row.seeders = 3;
  return row;
}

class Found : public testing::Test {
 protected:
  void SetUp() override { tester_.setUseFetchMore(false); }

  SearchModel model_{Format(kEnglish)};
  QAbstractItemModelTester tester_{&model_, kFatal};
};

TEST_F(Found, PassOverPagesOfAnEarlierSearch) {
  const auto older = model_.start();
  const auto newer = model_.start();
  model_.add(older, {{found("old")}, "more"});
  EXPECT_EQ(model_.rowCount(), 0);
  EXPECT_FALSE(model_.is_answered());
  model_.add(newer, {{found("new")}, {}});
  model_.add(older, {{found("old")}, "more"});
  ASSERT_EQ(model_.rowCount(), 1);
  EXPECT_EQ(model_.at(model_.index(0, 0))->name, "new");
  EXPECT_TRUE(model_.is_answered());
}

TEST_F(Found, StayUntilTheNextSearchIsAnswered) {
  model_.add(model_.start(), {{found("a"), found("b")}, "more"});
  const auto next = model_.start();
  EXPECT_EQ(model_.rowCount(), 2);
  EXPECT_FALSE(model_.canFetchMore({})) << "a page of the search before would be wrong here";
  model_.add(next, {});
  EXPECT_EQ(model_.rowCount(), 0);
}

TEST_F(Found, AskForEachPageOnceAndAgainAfterAFailure) {
  QSignalSpy wanted(&model_, &SearchModel::page_wanted);
  const auto search = model_.start();
  model_.add(search, {{found("a")}, "page 2"});
  model_.fetchMore({});
  model_.fetchMore({});
  EXPECT_EQ(wanted.count(), 1);
  model_.fail(search);
  model_.fetchMore({});
  ASSERT_EQ(wanted.count(), 2);
  EXPECT_EQ(wanted[1][1].value<std::string>(), "page 2");
  model_.add(search, {{found("b")}, {}});
  EXPECT_EQ(model_.rowCount(), 2);
  EXPECT_FALSE(model_.has_more());
}

TEST_F(Found, ShowHostileNamesAndTagsAsPlainText) {
  FoundRow row = found("<h1>x</h1>\xE2\x80\xAE\n");
  row.tags = {"<i>", "\xff"};
  model_.add(model_.start(), {{row}, {}});
  EXPECT_EQ(text(model_.index(0, SearchModel::kName)), "<h1>x</h1>\\u202e\\n");
  EXPECT_EQ(text(model_.index(0, SearchModel::kTags)), "<i>, \\xff");
  QTextDocument tip;
  tip.setHtml(model_.index(0, SearchModel::kName).data(Qt::ToolTipRole).toString());
  EXPECT_EQ(tip.toPlainText().toStdString(), "bob/<h1>x</h1>\\u202e\\n");
}

TEST_F(Found, SayASentenceToScreenReaders) {
  model_.add(model_.start(), {{found("run-7")}, {}});
  EXPECT_EQ(text(model_.index(0, 0), Qt::AccessibleTextRole),
            "run-7 of bob, 1.50 MB in files: 12, access public, seeders: 3.");
}

TEST_F(Found, AreTheNewestSearchsPagesInWhateverOrderTheyCome) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  std::uint64_t newest = 0;
  int expected = 0;
  bool answered = false;
  for (int step = 0; step < 400; ++step) {
    if (rng.below(5) == 0) {
      newest = model_.start();
      answered = false;
    }
    const std::uint64_t search = newest - std::min(rng.below(3), newest);
    FoundPage page{{}, rng.below(2) == 0 ? "more" : ""};
    for (std::uint64_t n = rng.below(4); n > 0; --n) page.rows.push_back(found(std::to_string(search)));
    if (search == newest && newest > 0) {
      expected = static_cast<int>(page.rows.size()) + (answered ? expected : 0);
      answered = true;
    }
    if (search > 0) model_.add(search, std::move(page));
    ASSERT_EQ(model_.rowCount(), expected);
    for (int row = 0; answered && row < expected; ++row)
      ASSERT_EQ(model_.at(model_.index(row, 0))->name, std::to_string(newest));
  }
}

LaneRow lane(int port, std::uint64_t down = 0) {
  LaneRow row;
  row.local = "192.0.2.1:50000";
  row.remote = "198.51.100.7:" + std::to_string(port);
  row.state = "open";
  row.down_bits_per_s = down;
  return row;
}

PeerRow peer(const std::string& id, std::vector<LaneRow> lanes) {
  PeerRow row;
  row.node_id = id;
  row.name = id;
  row.address = "198.51.100.7";
  row.lanes = std::move(lanes);
  return row;
}

class Peers : public testing::Test {
 protected:
  PeersModel model_{Format(kEnglish)};
  QAbstractItemModelTester tester_{&model_, kFatal};
};

TEST_F(Peers, KeepWhatIsOpenedWhileTheirLanesChange) {
  model_.set_peers({peer("alpha", {lane(1), lane(2)}), peer("beta", {lane(3)})});
  const QPersistentModelIndex beta = model_.index(1, 0);
  const QPersistentModelIndex second = model_.index(1, 0, model_.index(0, 0));
  model_.set_peers({peer("beta", {lane(3, 5'000'000), lane(4)}), peer("alpha", {lane(2)})});
  EXPECT_EQ(beta.row(), 1);
  EXPECT_EQ(model_.rowCount(beta), 2);
  EXPECT_EQ(second.row(), 0);
  EXPECT_EQ(text(model_.index(0, PeersModel::kDown, beta)), "5.00 Mbit/s");
  model_.set_peers({});
  EXPECT_FALSE(beta.isValid());
  EXPECT_FALSE(second.isValid());
}

TEST_F(Peers, HoldWhatRandomChangesSay) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  for (int step = 0; step < 300 && !HasFatalFailure(); ++step) {
    std::vector<PeerRow> peers;
    for (int id = 0; id < 8; ++id) {
      if (rng.below(3) == 0) continue;
      std::vector<LaneRow> lanes;
      for (int port = 0; port < 8; ++port)
        if (rng.below(2) == 0) lanes.push_back(lane(port, rng.below(3)));
      peers.push_back(peer("n" + std::to_string(id), std::move(lanes)));
    }
    model_.set_peers(peers);
    ASSERT_EQ(static_cast<std::size_t>(model_.rowCount()), peers.size());
    for (int row = 0; row < model_.rowCount(); ++row) {
      const QModelIndex at = model_.index(row, 0);
      const auto expected =
          std::ranges::find_if(peers, [&](const PeerRow& p) { return text(at) == p.name + " (" + p.address + ")"; });
      ASSERT_NE(expected, peers.end());
      ASSERT_EQ(static_cast<std::size_t>(model_.rowCount(at)), expected->lanes.size());
    }
  }
}

TEST_F(Peers, SayWhatIsNotMeasured) {
  model_.set_peers({peer("<b>alpha</b>\n", {lane(1)})});
  EXPECT_EQ(text(model_.index(0, 0)), "<b>alpha</b>\\n (198.51.100.7)");
  EXPECT_EQ(text(model_.index(0, PeersModel::kRoundTrip, model_.index(0, 0))), "unknown");
}

TEST(Files, LieInFoldersOfWhichNothingIsMadeBefore) {
  FilesModel model{Format(kEnglish)};
  QAbstractItemModelTester tester(&model, kFatal);
  tester.setUseFetchMore(false);
  model.set_tree(FileTree({{"raw/b", 2}, {"raw.txt", 1}, {"raw/a/x", 4}, {"raw/a/y", 8}, {"raw-2", 16}}));
  EXPECT_EQ(model.rowCount(), 0);
  model.fetchMore({});
  ASSERT_EQ(model.rowCount(), 3);
  const QModelIndex raw = model.index(0, 0);
  EXPECT_EQ(text(raw), "raw/");
  EXPECT_EQ(text(model.index(0, FilesModel::kSize)), "14 B");
  EXPECT_EQ(text(model.index(0, FilesModel::kFiles)), "3");
  EXPECT_EQ(text(model.index(1, 0)), "raw-2");
  EXPECT_EQ(model.rowCount(raw), 0);
  EXPECT_TRUE(model.hasChildren(raw));
  model.fetchMore(raw);
  ASSERT_EQ(model.rowCount(raw), 2);
  EXPECT_EQ(text(model.index(0, 0, raw)), "a/");
  model.fetchMore(model.index(0, 0, raw));
  EXPECT_EQ(text(model.index(1, 0, model.index(0, 0, raw))), "y");
  EXPECT_FALSE(model.canFetchMore(model.index(1, 0, raw)));
}

TEST(Files, WithHostileNamesAreShownAsPlainText) {
  FilesModel model{Format(kEnglish)};
  QAbstractItemModelTester tester(&model, kFatal);
  tester.setUseFetchMore(false);
  model.set_tree(FileTree({{"<b>\xE2\x80\xAE/\xff\n", 1}, {"", 1}, {"/", 1}, {"a//b", 1}}));
  model.fetchMore({});
  std::vector<std::string> names;
  for (int row = 0; row < model.rowCount(); ++row) names.push_back(text(model.index(row, 0)));
  EXPECT_EQ(names, (std::vector<std::string>{"", "/", "<b>\\u202e/", "a/"}));
  model.fetchMore(model.index(2, 0));
  EXPECT_EQ(text(model.index(0, 0, model.index(2, 0))), "\\xff\\n");
}

/// Opens all below an index and collects the paths of files.
void collect(FilesModel& model, const QModelIndex& at, const std::string& path, std::multiset<std::string>& files) {
  while (model.canFetchMore(at)) model.fetchMore(at);
  for (int row = 0; row < model.rowCount(at); ++row) {
    const QModelIndex child = model.index(row, 0, at);
    if (model.hasChildren(child))
      collect(model, child, path + text(child), files);
    else
      files.insert(path + text(child));
  }
}

TEST(Files, OfRandomTreesAreAllFoundAgain) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  for (int round = 0; round < 30 && !HasFatalFailure(); ++round) {
    std::multiset<std::string> expected;
    std::vector<FileRow> rows;
    for (std::uint64_t n = rng.below(60); n > 0; --n) {
      std::string path;
      for (std::uint64_t depth = rng.below(4); depth > 0; --depth)
        path += std::string(1 + rng.below(2), "a-.b"[rng.below(4)]) + "/";
      path += std::string(1 + rng.below(2), "a-.b"[rng.below(4)]);
      expected.insert(path);
      rows.push_back({path, 1});
    }
    FilesModel model{Format(kEnglish)};
    QAbstractItemModelTester tester(&model, kFatal);
    tester.setUseFetchMore(false);
    model.set_tree(FileTree(std::move(rows)));
    std::multiset<std::string> files;
    collect(model, {}, "", files);
    ASSERT_EQ(files, expected);
  }
}

TEST(Files, OfAMillionComeSomeHundredsAtOnce) {
  std::vector<FileRow> files;
  for (int i = 0; i < 1'000'000; ++i) files.push_back({"d" + std::to_string(i % 1000) + "/" + std::to_string(i), 1});
  FilesModel model{Format(kEnglish)};
  model.set_tree(FileTree(std::move(files)));
  model.fetchMore({});
  EXPECT_EQ(model.rowCount(), 500);
  EXPECT_TRUE(model.canFetchMore({}));
  model.fetchMore({});
  EXPECT_EQ(model.rowCount(), 1000);
  EXPECT_FALSE(model.canFetchMore({}));
  EXPECT_EQ(text(model.index(999, FilesModel::kFiles)), "1,000");
  EXPECT_EQ(model.tree().bytes(), 1'000'000U);
}

TEST(TheWindow, SaysWhichSideDoesNotAnswerAndWhatGoesOn) {
  Connections connections;
  EXPECT_EQ(missing(connections), Missing::kLogin);
  connections.server.state = LinkState::kConnected;
  EXPECT_EQ(missing(connections), Missing::kNode);
  connections.node.state = LinkState::kConnected;
  EXPECT_EQ(missing(connections), Missing::kNothing);
  EXPECT_TRUE(notice_text(connections, Format(kEnglish)).isEmpty());
  connections.server = {LinkState::kSilent, 0, std::chrono::seconds(8)};
  EXPECT_EQ(notice_text(connections, Format(kEnglish)).toStdString(),
            "The server does not answer since unknown. Transfers go on. Trying again in 8 s.");
  connections.problem = "no answer from lab:7443";
  EXPECT_EQ(notice_text(connections, Format(kEnglish)).toStdString(),
            "The server does not answer since unknown. Transfers go on. No answer from lab:7443. Trying again in 8 s.");
  EXPECT_EQ(server_text(connections).toStdString(), "⚠ Server does not answer");
  connections.login_command = "gridtorrent login";
  EXPECT_EQ(server_text(connections).toStdString(), "⚠ Login has ended") << "it is the login, not the server";
}

}  // namespace
}  // namespace gridtorrent::gui
