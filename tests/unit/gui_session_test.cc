#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEvent>
#include <QThread>
#include <algorithm>
#include <fstream>

#include "client/profile/profile.h"
#include "gui/session/convert.h"
#include "gui/session/node_session.h"
#include "gui/session/server_session.h"
#include "tests/support/older_node.h"
#include "tests/unit/control_fixture.h"
#include "tests/unit/remote_support.h"

namespace gridtorrent::gui {
namespace {

using testing::FakeServer;
using testing::FakeState;
using ::testing::HasSubstr;
using testing::TestCa;

/// Runs the event loop until it is so; false after 20 s.
bool until(const std::function<bool()>& so) {
  QElapsedTimer timer;
  timer.start();
  while (!so()) {
    if (timer.hasExpired(20'000)) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
  }
  return true;
}

TEST(Retry, ThePausesGrowToEightSeconds) {
  std::vector<std::int64_t> seconds;
  for (int failures = 1; failures <= 6; ++failures) seconds.push_back(pause_after(failures).count());
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{1, 2, 4, 8, 8, 8}));
}

TEST(Retry, WhatNeverAnsweredIsNotThere) {
  Attempts attempts;
  attempts.begin();
  EXPECT_EQ(attempts.link().state, LinkState::kConnecting);
  attempts.failed(5, true);
  EXPECT_EQ(attempts.link().state, LinkState::kNone);
  attempts.begin();
  EXPECT_EQ(attempts.link().state, LinkState::kNone) << "the page does not change with each attempt";
}

TEST(Retry, WhatAnsweredBeforeIsSilentSinceTheFirstFailure) {
  Attempts attempts;
  attempts.answered(5);
  attempts.failed(7, true);
  attempts.failed(9, true);
  EXPECT_EQ(attempts.link().state, LinkState::kSilent);
  EXPECT_EQ(attempts.link().since_ms, 7);
  EXPECT_EQ(attempts.link().again, std::chrono::seconds(2));
  EXPECT_FALSE(attempts.second());
  EXPECT_TRUE(attempts.second());
  attempts.answered(11);
  EXPECT_EQ(attempts.link().state, LinkState::kConnected);
  EXPECT_FALSE(attempts.link().again);
}

TEST(Asking, NothingOfACancelledQuestionArrives) {
  QThreadPool pool;
  int first = 0, second = 0;
  Asking asking;
  asking.run<int>(pool, [] { return 1; }, [&](int value) { first = value; });
  pool.waitForDone();
  asking.run<int>(pool, [] { return 2; }, [&](int value) { second = value; });
  ASSERT_TRUE(until([&] { return second == 2; }));
  EXPECT_EQ(first, 0);
}

TEST(Asking, NothingArrivesAfterItIsGone) {
  QThreadPool pool;
  bool arrived = false;
  {
    Asking asking;
    asking.run<int>(pool, [] { return 1; }, [&](int) { arrived = true; });
    pool.waitForDone();
  }
  QCoreApplication::processEvents();
  EXPECT_FALSE(arrived);
}

TEST(Asking, AnAnswerMayEndItsOwnQuestion) {
  QThreadPool pool;
  Asking asking;
  int answers = 0;
  asking.run<int>(
      pool, [] { return 1; },
      [&](int) {
        ++answers;
        asking.run<int>(pool, [] { return 2; }, [&](int) { ++answers; });
      });
  EXPECT_TRUE(until([&] { return answers == 2; }));
}

/// A call that nobody answers.
client::api::Call unanswered(const client::api::Answer<int>&) {
  return {};
}

TEST(Asking, WhatWaitsWhenAConnectionBreaksIsAnsweredOnceWithTheError) {
  Asking asking;
  std::vector<std::string> told;
  asking.call<int>(unanswered, [&](const Result<int>& answer) { told.push_back(answer.error().message); });
  EXPECT_TRUE(asking.waits());
  asking.fail({Code::kUnreachable, "gone"});
  asking.fail({Code::kUnreachable, "gone again"});
  EXPECT_EQ(told, std::vector<std::string>{"gone"});
  EXPECT_FALSE(asking.waits());
}

TEST(Asking, WhatIsCancelledIsNotAnsweredWhenTheConnectionBreaks) {
  Asking asking;
  bool told = false;
  asking.call<int>(unanswered, [&](const Result<int>&) { told = true; });
  asking.cancel();
  asking.fail({Code::kUnreachable, "gone"});
  EXPECT_FALSE(told);
}

TEST(Asking, AStreamEndsWithTheErrorWhenTheConnectionBreaks) {
  Asking asking;
  std::vector<std::string> told;
  asking.watch<int>(
      [](const std::function<bool(const int&)>&, const client::api::Ended&) { return client::api::Call(); }, [](int) {},
      [&](const Status& ended) { told.push_back(ended.error().message); });
  asking.fail({Code::kUnreachable, "gone"});
  EXPECT_EQ(told, std::vector<std::string>{"gone"});
}

TEST(Asking, AllStepsThatWaitAreAnsweredAndMayAskAnew) {
  Askings steps;
  int told = 0;
  const auto again = [&](const Result<int>&) {
    ++told;
    steps.call<int>(unanswered, [&](const Result<int>&) { told += 100; });
  };
  steps.call<int>(unanswered, again);
  steps.call<int>(unanswered, again);
  steps.fail({Code::kUnreachable, "gone"});
  EXPECT_EQ(told, 2) << "what was asked anew belongs to the next connection";
}

TEST(Converting, AChangedDecisionReplacesTheOneThatWasKnown) {
  v1::Tuning known, news;
  known.add_samples()->set_at_ms(1);
  known.add_decisions()->set_number(4);
  news.add_samples()->set_at_ms(2);
  v1::TuningDecision& changed = *news.add_decisions();
  changed.set_number(4);
  changed.set_brought_bits_per_s(9);
  news.set_limit_word("path");
  merge_tuning(known, news);
  EXPECT_EQ(known.samples_size(), 2);
  ASSERT_EQ(known.decisions_size(), 1);
  EXPECT_EQ(known.decisions(0).brought_bits_per_s(), 9U);
  EXPECT_EQ(known.limit_word(), "path");
}

TEST(Converting, NewRatesJoinThoseThatWereKnown) {
  RateHistory known;
  known.points = {{.at_ms = 1000, .span_ms = 1000, .bits_per_s = 5, .lanes = 2},
                  {.at_ms = 2000, .span_ms = 1000, .bits_per_s = 0, .lanes = 0}};
  RateHistory news;
  news.points = {{.at_ms = 5000, .span_ms = 3000, .bits_per_s = 0, .lanes = 0},
                 {.at_ms = 9000, .span_ms = 1000, .bits_per_s = 0, .lanes = 0}};
  news.decisions = {{.at_ms = 4000, .lanes_before = 1, .lanes = 2, .brought_bits_per_s = {}, .reason = {}}};
  merge_rates(known, news);
  ASSERT_EQ(known.points.size(), 3U);
  EXPECT_EQ(known.points[1].at_ms, 5000) << "a rest that goes on is one point";
  EXPECT_EQ(known.points[1].span_ms, 4000);
  EXPECT_EQ(known.points[2].span_ms, 1000) << "after a gap it is another";
  EXPECT_EQ(known.decisions.size(), 1U);
}

TEST(Converting, WhatIsSentIsNoRest) {
  RateHistory known, news;
  known.points = {{.at_ms = 1000, .span_ms = 1000, .bits_per_s = 0, .lanes = 1, .sent_bits_per_s = 8}};
  news.points = {{.at_ms = 2000, .span_ms = 1000, .bits_per_s = 0, .lanes = 1, .sent_bits_per_s = 9}};
  merge_rates(known, news);
  EXPECT_EQ(known.points.size(), 2U);
}

TEST(Converting, RatesOfMoreThanADayAgoAreDropped) {
  RateHistory known, news;
  known.points = {{.at_ms = 1000, .span_ms = 1000, .bits_per_s = 5, .lanes = 2}};
  news.points = {{.at_ms = 24 * 60 * 60 * 1000 + 1000, .span_ms = 1000, .bits_per_s = 7, .lanes = 2}};
  merge_rates(known, news);
  ASSERT_EQ(known.points.size(), 1U);
  EXPECT_EQ(known.points[0].bits_per_s, 7U);
}

TEST(Converting, ADraftBecomesARequestInTheWordsOfTheNode) {
  PublishDraft draft;
  draft.path = "/data/run-7";
  draft.name = "run-7";
  draft.tags = {"calib", "2026"};
  draft.audience = Audience::kChosen;
  draft.groups = {"lab"};
  draft.strict = true;
  const v1::PublishRequest request = publish_request(draft);
  EXPECT_EQ(request.path(), "/data/run-7");
  EXPECT_EQ(request.access(), "group:lab");
  EXPECT_EQ(request.tags_size(), 2);
  EXPECT_TRUE(request.strict());
}

TEST(Converting, ASearchCountsItsDaysBackFromNow) {
  SearchQuery query;
  query.text = "calib";
  EXPECT_EQ(search_request(query, 1000).since_ms(), 0) << "at any time";
  query.within = std::chrono::days(7);
  EXPECT_EQ(search_request(query, 604'800'500).since_ms(), 500);
}

TEST(Converting, AContentThatIsOneFileHasTheNameOfItsBase) {
  client::api::FileEntry file;
  file.path = "scan.nc";
  file.bytes = 5;
  const FileTree tree = file_tree({file});
  ASSERT_EQ(tree.files(), 1U);
  EXPECT_EQ(tree.file(0).path, "scan.nc");
}

TEST(Converting, FilesOfAFolderHaveTheirPathsBelowItsBase) {
  client::api::FileEntry file, folder;
  folder.path = "run7";
  folder.folder = true;
  file.path = "run7/raw/run7/a.dat";
  const FileTree tree = file_tree({folder, file});
  ASSERT_EQ(tree.files(), 1U);
  EXPECT_EQ(tree.file(0).path, "raw/run7/a.dat");
}

class NodeSide : public client::Control {
 protected:
  NodeSessionOptions options() const { return {.profile = "gui-session-test", .socket = socket_}; }
  void play(NodeSession& session) {
    const auto note = [this](const TransferRow& row) { rows_[row.id] = row; };
    QObject::connect(&session, &NodeSession::snapshot, [this] { ++snapshots_; });
    QObject::connect(&session, &NodeSession::delta, [=, this](const TransferDelta& delta) {
      most_at_once_ = std::max(most_at_once_, delta.changed.size());
      for (const TransferRow& row : delta.changed) note(row);
      for (const std::string& id : delta.removed) rows_.erase(id);
    });
    QObject::connect(&session, &NodeSession::refused, [this](const std::string& message) { refused_ = message; });
    session.start();
  }
  /// Time goes on, and the event loop with it.
  bool until_later(NodeSession& session, const std::function<bool()>& so) {
    return until([&] {
      hands_.advance(std::chrono::seconds(1));
      session.second();
      return so();
    });
  }

  QThreadPool pool_;
  ManualClock hands_;
  std::map<std::string, TransferRow> rows_;
  int snapshots_ = 0;
  std::size_t most_at_once_ = 0;
  std::string refused_;
};

TEST_F(NodeSide, ANodeThatIsNotThereIsToldAndFoundLater) {
  server_.reset();
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kNone; }));
  EXPECT_THAT(session.problem(), HasSubstr("no node answers at " + socket_));
  restart();
  EXPECT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kConnected; }));
  EXPECT_EQ(session.problem(), "");
}

TEST_F(NodeSide, ItsTransfersAreShownAndFollowed) {
  node_.add(client::transfer_id(1), client::TransferState::kFetching);
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected && rows_.size() == 1; }));
  EXPECT_EQ(session.status().node_name(), "lab-1");
  EXPECT_EQ(rows_.begin()->second.state, TransferState::kFetching);
  session.change({client::transfer_id(1).str()}, "pause");
  EXPECT_TRUE(until_later(session, [&] { return rows_.begin()->second.state == TransferState::kPaused; }));
  EXPECT_EQ(refused_, "");
}

TEST_F(NodeSide, AfterABreakItIsToldOnlyWhatChanged) {
  node_.add(client::transfer_id(1), client::TransferState::kSeeding);
  node_.add(client::transfer_id(2), client::TransferState::kSeeding);
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected && rows_.size() == 2; }));
  server_.reset();
  ASSERT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kSilent; }));
  node_.remove(client::transfer_id(2));
  ASSERT_TRUE(node_.change(client::transfer_id(1), client::TransferState::kPaused).ok());
  restart();
  ASSERT_TRUE(until_later(session, [&] { return rows_.size() == 1; }));
  EXPECT_TRUE(until([&] { return rows_.begin()->second.state == TransferState::kPaused; }));
  EXPECT_EQ(snapshots_, 1);
}

TEST_F(NodeSide, ASnapshotOfManyIsTakenInPageByPage) {
  for (std::uint16_t number = 1; number <= 1200; ++number) {
    TransferId::Bytes bytes{};
    bytes[0] = static_cast<std::uint8_t>(number % 256);
    bytes[1] = static_cast<std::uint8_t>(number / 256);
    node_.add(TransferId(bytes), client::TransferState::kSeeding);
  }
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return snapshots_ == 1; }));
  EXPECT_EQ(rows_.size(), 1200U);
  EXPECT_LE(most_at_once_, client::kTransfersPage);
}

TEST_F(NodeSide, WhatASnapshotLacksIsGone) {
  for (const int tag : {1, 2, 3})
    node_.add(client::transfer_id(static_cast<std::uint8_t>(tag)), client::TransferState::kSeeding);
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected && rows_.size() == 3; }));
  server_.reset();
  ASSERT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kSilent; }));
  client::FakeNode fresh;  // it has seen fewer changes than the window: another process
  fresh.add(client::transfer_id(2), client::TransferState::kSeeding);
  client::control::ControlOptions control;
  control.socket_path = socket_;
  control.clock = &clock_;
  const auto server = client::control::ControlServer::start(control, fresh);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(until_later(session, [&] { return rows_.size() == 1; }));
  EXPECT_TRUE(rows_.contains(client::transfer_id(2).str()));
  EXPECT_EQ(session.subject_of(client::transfer_id(1).str()).content, "");
}

TEST_F(NodeSide, AStepForManyIsOneCallWhoseFailuresAreTold) {
  node_.add(client::transfer_id(1), client::TransferState::kFetching);
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected && rows_.size() == 1; }));
  session.change({client::transfer_id(8).str(), client::transfer_id(1).str(), client::transfer_id(9).str()}, "pause");
  ASSERT_TRUE(until_later(session, [&] { return rows_.begin()->second.state == TransferState::kPaused; }));
  ASSERT_TRUE(until([&] { return !refused_.empty(); }));
  EXPECT_THAT(refused_, HasSubstr("(and 1 others)"));
}

TEST_F(NodeSide, AnOlderNodeIsListedAndChangedOneByOne) {
  server_.reset();
  client::OlderNode older(socket_);
  older.put("x_1", "fetching");
  older.put("x_2", "seeding");
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected && rows_.size() == 2; }));
  session.change({"x_1", "x_9"}, "pause");
  EXPECT_TRUE(until_later(session, [&] { return rows_["x_1"].state == TransferState::kPaused; }));
  EXPECT_TRUE(until([&] { return !refused_.empty(); }));
  older.remove("x_2");
  EXPECT_TRUE(until_later(session, [&] { return rows_.size() == 1; }));
}

TEST_F(NodeSide, AStepThatTheNodeRefusesIsTold) {
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected; }));
  session.change({client::transfer_id(9).str()}, "pause");
  ASSERT_TRUE(until([&] { return !refused_.empty(); }));
  EXPECT_THAT(refused_, HasSubstr("no transfer"));
}

TEST_F(NodeSide, PublishingWithoutANodeSaysWhy) {
  server_.reset();
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kNone; }));
  std::string published, scanned;
  session.publish({}, [&](const Result<v1::Transfer>& transfer) { published = transfer.error().message; });
  session.scan(
      "/data", [](const v1::ScanPublishEvent&) {}, [&](const Status& ended) { scanned = ended.error().message; });
  EXPECT_THAT(published, HasSubstr("no node answers"));
  EXPECT_EQ(scanned, published);
}

TEST_F(NodeSide, ANodeThatEndsIsSilentUntilItIsBack) {
  NodeSession session(options(), pool_, hands_);
  play(session);
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected; }));
  std::vector<bool> could_be_used;
  QObject::connect(&session, &Session::lost, [&] { could_be_used.push_back(session.api() != nullptr); });
  server_.reset();
  ASSERT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kSilent; }));
  ASSERT_TRUE(until_later(session, [&] { return session.link().again == std::chrono::seconds(4); }));
  EXPECT_EQ(could_be_used, std::vector<bool>{true}) << "who holds the API is told once, before it goes";
  EXPECT_NE(session.link().since_ms, 0);
  restart();
  EXPECT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kConnected; }));
}

class ServerSide : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gtgui-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ::setenv("XDG_CONFIG_HOME", (folder_ + "/config").c_str(), 1);
    ::setenv("XDG_STATE_HOME", (folder_ + "/state").c_str(), 1);
    std::ofstream(folder_ + "/ca.pem") << ca_.pem();
    server_ = std::make_unique<FakeServer>(ca_.issue());
  }
  void TearDown() override {
    pool_.waitForDone();
    std::filesystem::remove_all(folder_);
  }
  void log_in(const std::string& token) {
    const auto store = client::ProfileStore::open("default", [this](const std::string& name) {
      return std::optional(folder_ + (name == "XDG_CONFIG_HOME" ? "/config" : "/state"));
    });
    ASSERT_TRUE(store);
    const auto saved = store->save({server_->address(), folder_ + "/ca.pem", "ann", "u_1"}, token);
    ASSERT_TRUE(saved) << saved.error().message;
  }
  bool until_later(ServerSession& session, const std::function<bool()>& so) {
    return until([&] {
      hands_.advance(std::chrono::seconds(1));
      session.second();
      return so();
    });
  }

  TestCa ca_;
  std::string folder_;
  std::unique_ptr<FakeServer> server_;
  QThreadPool pool_;
  ManualClock hands_;
};

TEST_F(ServerSide, WithoutALoginThereIsNoSessionUntilThereIsOne) {
  ServerSession session("default", pool_, hands_);
  session.start();
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kNone; }));
  EXPECT_EQ(session.account(), "");
  log_in("gtp_good");
  EXPECT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kConnected; }));
  EXPECT_EQ(session.account(), "ann @ " + server_->address());
}

TEST_F(ServerSide, AServerThatEndsIsSilentUntilItIsBack) {
  log_in("gtp_good");
  ServerSession session("default", pool_, hands_);
  session.start();
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kConnected; }));
  server_->stop();
  ASSERT_TRUE(until_later(session, [&] { return !session.problem().empty(); }));
  EXPECT_EQ(session.link().state, LinkState::kSilent);
  EXPECT_THAT(session.problem(), HasSubstr(server_->address()));
  server_->start();
  EXPECT_TRUE(until_later(session, [&] { return session.link().state == LinkState::kConnected; }));
}

TEST_F(ServerSide, ASearchWithoutAServerSaysWhy) {
  log_in("gtp_good");
  server_->stop();
  ServerSession session("default", pool_, hands_);
  session.start();
  ASSERT_TRUE(until([&] { return session.link().state == LinkState::kSilent; }));
  std::string told;
  session.search({}, [&](const Result<v1::SearchReply>& reply) { told = reply.error().message; });
  EXPECT_THAT(told, HasSubstr(server_->address()));
  std::string preview;
  session.preview({}, [&](const Result<v1::PreviewAccessReply>& reply) { preview = reply.error().message; });
  EXPECT_EQ(preview, told);
  server_->start();
}

}  // namespace
}  // namespace gridtorrent::gui
