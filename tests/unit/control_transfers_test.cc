// All transfers of a node by its control API: how they change, and changing many of them.
#include <gmock/gmock.h>

#include <map>
#include <thread>

#include "client/control/transfer_streams.h"
#include "tests/unit/control_fixture.h"

namespace gridtorrent::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a watcher of all transfers has put together.
struct Seen {
  std::map<std::string, std::string> states;  ///< by id
  int events = 0, snapshots = 0;
  std::string epoch;
  std::uint64_t revision = 0;
  void take(const v1::TransfersEvent& event) {
    ++events;
    if (event.snapshot() && event.last_page()) ++snapshots;
    if (event.revision() > 0) revision = event.revision();
    epoch = event.epoch();
    for (const auto& one : event.changed()) states[one.transfer_id()] = one.state();
    for (const auto& id : event.removed()) states.erase(id);
  }
};

TEST_F(Control, TransfersAreToldInPagesAndThenAsTheyChange) {
  for (int i = 0; i < 255; ++i) {
    for (int j = 0; j < 3; ++j) {
      TransferId::Bytes bytes{};
      bytes[0] = static_cast<std::uint8_t>(i + 1);
      bytes[1] = static_cast<std::uint8_t>(j);
      node_.add(TransferId(bytes), TransferState::kSeeding);
    }
  }
  Seen seen;
  const auto ended = api()->watch_transfers({},
                                            [&](const v1::TransfersEvent& event) {
                                              seen.take(event);
                                              EXPECT_EQ(event.total(), 765U - (seen.events > 3 ? 1 : 0));
                                              EXPECT_LE(event.changed_size(), 500);
                                              if (seen.events == 2) {
                                                EXPECT_TRUE(node_.change(transfer_id(1), TransferState::kPaused));
                                              }
                                              if (seen.events == 3) node_.remove(transfer_id(2));
                                              return seen.events < 4;
                                            },
                                            {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(seen.snapshots, 1);
  EXPECT_EQ(seen.states.size(), 764U);
  EXPECT_EQ(seen.states[transfer_id(1).str()], "paused");
  EXPECT_FALSE(seen.states.contains(transfer_id(2).str()));
}

TEST_F(Control, AWatcherThatComesBackIsToldOnlyWhatChanged) {
  node_.add(transfer_id(1), TransferState::kSeeding);
  node_.add(transfer_id(2), TransferState::kSeeding);
  Seen seen;
  const auto once = [&](const v1::TransfersEvent& event) {
    seen.take(event);
    return false;
  };
  ASSERT_TRUE(api()->watch_transfers({}, once, {}));
  node_.remove(transfer_id(2));
  v1::WatchTransfersRequest since;
  since.set_epoch(seen.epoch);
  since.set_revision(seen.revision);
  ASSERT_TRUE(api()->watch_transfers(since, once, {}));
  EXPECT_EQ(seen.snapshots, 1) << "the second stream began with a snapshot";
  EXPECT_EQ(seen.states.size(), 1U);
  since.set_epoch("of an earlier process");
  ASSERT_TRUE(api()->watch_transfers(since, once, {}));
  EXPECT_EQ(seen.snapshots, 2);
}

TEST_F(Control, ALimitOfTheNodeIsToldWithTheTransfers) {
  node_.limits.send_bits_per_s = 5'000'000;
  std::uint64_t told = 0;
  ASSERT_TRUE(api()->watch_transfers({},
                                     [&](const v1::TransfersEvent& event) {
                                       told = event.limits().upload_bits_per_s();
                                       return false;
                                     },
                                     {}));
  EXPECT_EQ(told, 5'000'000U);
}

/// Watches that go on until the fixture's node ends them. Own mutex.
class Watches {
 public:
  /// One by a program of its own.
  void add(std::unique_ptr<NodeApi> api, bool of_tuning = false) {
    const auto told = [this](const auto&) {
      const std::lock_guard lock(mutex_);
      ++told_;
      changed_.notify_all();
      return true;
    };
    const auto ended = [this](const Status& status) {
      const std::lock_guard lock(mutex_);
      ++ended_;
      if (!status) error_ = status.error();
      changed_.notify_all();
    };
    const std::string id = transfer_id(1).str();
    calls_.push_back(of_tuning ? api->async().watch_tuning(id, told, ended)
                               : api->async().watch_transfer(id, told, ended));
    apis_.push_back(std::move(api));
  }
  bool wait_for(int told, int ended) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [&] { return told_ >= told && ended_ >= ended; });
  }
  std::optional<Error> error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int told_ = 0, ended_ = 0;
  std::optional<Error> error_;
  std::vector<std::unique_ptr<NodeApi>> apis_;
  std::vector<api::Call> calls_;  // end before what they call is gone
};

TEST_F(Control, ThoseThatWaitForATransferTakeNoThreadAndAllSeeItsEnd) {
  control::ControlOptions few;
  few.max_calls = 1;
  restart(few);
  node_.add(transfer_id(1), TransferState::kFetching);
  Watches watches;
  for (int i = 0; i < 40; ++i) watches.add(api());
  ASSERT_TRUE(watches.wait_for(40, 0));
  EXPECT_TRUE(api()->status()) << "a call is served beside them";
  EXPECT_TRUE(node_.change(transfer_id(1), TransferState::kSeeding));
  EXPECT_TRUE(watches.wait_for(80, 40));
  EXPECT_FALSE(watches.error());
}

TEST_F(Control, ThoseThatFollowATuningTakeNoThreadAndAllSeeItsEnd) {
  control::ControlOptions few;
  few.max_calls = 1;
  restart(few);
  node_.tuned.transfer = transfer_id(1);
  node_.tuned.revision = 1;
  const auto running = std::make_shared<std::atomic<bool>>(true);
  node_.on_tuning = [this, running] { node_.tuned.running = running->load(); };  // on the one thread that looks
  Watches watches;
  for (int i = 0; i < 40; ++i) watches.add(api(), true);
  ASSERT_TRUE(watches.wait_for(40, 0));
  EXPECT_TRUE(api()->status()) << "a call is served beside them";
  *running = false;
  EXPECT_TRUE(watches.wait_for(40, 40)) << "an end that is no news is told, too";
  EXPECT_FALSE(watches.error());
}

TEST_F(Control, ThoseThatWaitHaveABound) {
  control::ControlOptions few;
  few.max_watches = 1;
  restart(few);
  node_.add(transfer_id(1), TransferState::kFetching);
  Watches watches;
  watches.add(api());
  ASSERT_TRUE(watches.wait_for(1, 0));
  watches.add(api());
  ASSERT_TRUE(watches.wait_for(1, 1));
  EXPECT_EQ(watches.error()->code, Code::kExhausted);
  EXPECT_THAT(watches.error()->message, HasSubstr("transfers are watched by 1 program"));
}

TEST_F(Control, ATransferThatIsForgottenEndsWhatWatchesIt) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const auto caller = api();
  const auto remove = [&](const auto&) {
    node_.remove(transfer_id(1));
    return true;
  };
  EXPECT_EQ(caller->watch_transfer(transfer_id(1).str(), remove, {}).error().code, Code::kNotFound);
  EXPECT_EQ(caller->watch_transfer("nonsense", remove, {}).error().code, Code::kInvalid);
  UserId::Bytes stranger{};
  stranger[0] = 99;
  EXPECT_EQ(api(UserId(stranger).str())->watch_transfer(transfer_id(1).str(), remove, {}).error().code, Code::kDenied);
}

TEST_F(Control, StreamsOfTransfersHaveABoundOfTheirOwn) {
  control::ControlOptions few;
  few.max_transfer_streams = 1;
  few.max_calls = 2;
  restart(few);
  Status second = Error{Code::kInternal, "not tried"};
  ASSERT_TRUE(api()->watch_transfers({},
                                     [&](const v1::TransfersEvent&) {
                                       second = api()->watch_transfers({}, [](const auto&) { return false; }, {});
                                       return false;
                                     },
                                     {}));
  EXPECT_EQ(second.error().code, Code::kExhausted);
  EXPECT_THAT(second.error().message, HasSubstr("close one"));
}

TEST_F(Control, StoppingTheServerEndsAWatchOfTransfers) {
  const auto caller = api();
  std::jthread stopper;
  const Status ended = caller->watch_transfers({},
                                               [&](const auto&) {
                                                 stopper = std::jthread([&] { server_.reset(); });
                                                 return true;
                                               },
                                               {});
  EXPECT_FALSE(ended);
}

TEST_F(Control, AStrangersWatchOfTransfersIsDenied) {
  UserId::Bytes bytes{};
  bytes[0] = 99;
  const auto ended = api(UserId(bytes).str())->watch_transfers({}, [](const auto&) { return false; }, {});
  EXPECT_EQ(ended.error().code, Code::kDenied);
}

TEST_F(Control, FollowingATransferGoesOnWhileItSeedsUntilItIsGone) {
  node_.add(transfer_id(1), TransferState::kFetching);
  std::vector<std::string> states;
  const Status ended = api()->follow_transfer(transfer_id(1).str(),
                                              [&](const v1::Transfer& transfer) {
                                                states.push_back(transfer.state());
                                                if (states.size() == 1) {
                                                  EXPECT_TRUE(node_.change(transfer_id(1), TransferState::kSeeding));
                                                }
                                                if (states.size() == 2) node_.remove(transfer_id(1));
                                                return true;
                                              },
                                              {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(states, ElementsAre("fetching", "seeding"));
}

v1::ChangeTransfersRequest step_for(const std::string& step, const std::vector<std::string>& ids) {
  v1::ChangeTransfersRequest request;
  request.set_step(step);
  for (const auto& id : ids) request.add_transfer_ids(id);
  return request;
}

TEST_F(Control, AStepForManyIsRefusedAsAWholeWhereItIsNoStep) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const std::string id = transfer_id(1).str();
  const auto unknown = api()->change_transfers(step_for("explode", {id}));
  EXPECT_EQ(unknown.error().code, Code::kInvalid);
  EXPECT_THAT(unknown.error().message, HasSubstr("give pause, resume, cancel, stop-seeding, forget, verify or set"));
  EXPECT_EQ(api()->change_transfers(step_for("pause", {})).error().code, Code::kInvalid);
  EXPECT_EQ(api()->change_transfers(step_for("pause", {id, "nonsense"})).error().code, Code::kInvalid);
  EXPECT_EQ(node_.transfer(transfer_id(1))->state, TransferState::kFetching);
}

TEST_F(Control, AStepForMoreThanFiftyThousandIsRefused) {
  const auto reply = api()->change_transfers(step_for("pause", std::vector<std::string>(50'001, transfer_id(1).str())));
  EXPECT_EQ(reply.error().code, Code::kInvalid);
  EXPECT_THAT(reply.error().message, HasSubstr("50001"));
}

TEST_F(Control, AStrangersStepIsDenied) {
  UserId::Bytes bytes{};
  bytes[0] = 99;
  const auto reply = api(UserId(bytes).str())->change_transfers(step_for("pause", {transfer_id(1).str()}));
  EXPECT_EQ(reply.error().code, Code::kDenied);
}

TEST_F(Control, OfAStepForManyTheFirstHundredFailuresAreNamed) {
  node_.add(transfer_id(1), TransferState::kFetching);
  std::vector<std::string> ids(150, transfer_id(9).str());
  ids.push_back(transfer_id(1).str());
  const auto reply = api()->change_transfers(step_for("pause", ids));
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->changed(), 1U);
  EXPECT_EQ(reply->failed(), 150U);
  ASSERT_EQ(reply->failures_size(), 100);
  EXPECT_EQ(reply->failures(0).transfer_id(), transfer_id(9).str());
  EXPECT_EQ(reply->failures(0).error_code(), "not_found");
  EXPECT_EQ(node_.transfer(transfer_id(1))->state, TransferState::kPaused);
}

TEST_F(Control, SettingsForManyReachEachOfThem) {
  node_.add(transfer_id(1), TransferState::kFetching);
  auto request = step_for("set", {transfer_id(1).str()});
  request.mutable_settings()->set_limit_bits_per_s(7);
  EXPECT_EQ(api()->change_transfers(request)->changed(), 1U);
  EXPECT_EQ(node_.last_settings.limit_bits_per_s, 7U);
  request.mutable_settings()->set_lanes(99);
  EXPECT_EQ(api()->change_transfers(request).error().code, Code::kInvalid);
}

TEST_F(Control, FilesAreChosenByPatternsOrPlaces) {
  node_.add(transfer_id(1), TransferState::kFetching);
  v1::ChooseFilesRequest request;
  request.set_transfer_id(transfer_id(1).str());
  request.add_globs("*.nc");
  request.add_entries(7);
  const auto chosen = api()->choose_files(request);
  ASSERT_TRUE(chosen) << chosen.error().message;
  EXPECT_EQ(chosen->transfer_id(), transfer_id(1).str());
  EXPECT_THAT(node_.last_choice.globs, testing::ElementsAre("*.nc"));
  EXPECT_THAT(node_.last_choice.entries, testing::ElementsAre(7U));
  const auto listed = api()->list_chosen_files(transfer_id(1).str());
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(listed->entries(), testing::ElementsAre(1U, 3U));
  request.set_transfer_id(transfer_id(9).str());
  EXPECT_EQ(api()->choose_files(request).error().code, Code::kNotFound);
  EXPECT_EQ(api()->list_chosen_files("nonsense").error().code, Code::kInvalid);
}

TEST_F(Control, RatesAreToldAsTheyAreKept) {
  node_.add(transfer_id(1), TransferState::kSeeding);
  node_.rated.points = {{WallTime{5000}, milliseconds(1000), 7, 8, 3, 2}};
  TuningDecision decision;
  decision.number = 4;
  decision.lanes = 6;
  node_.rated.decisions = {decision};
  node_.rated.decisions_from = WallTime{4000};
  v1::RateHistoryRequest request;
  request.set_transfer_id(transfer_id(1).str());
  request.set_from_ms(3000);
  const auto reply = api()->rate_history(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(node_.rates_asked_from, WallTime{3000});
  ASSERT_EQ(reply->points_size(), 1);
  EXPECT_EQ(reply->points(0).at_ms(), 5000);
  EXPECT_EQ(reply->points(0).span_ms(), 1000U);
  EXPECT_EQ(reply->points(0).down_bits_per_s(), 7U);
  EXPECT_EQ(reply->points(0).up_bits_per_s(), 8U);
  EXPECT_EQ(reply->points(0).lanes(), 3U);
  EXPECT_EQ(reply->points(0).sources(), 2U);
  ASSERT_EQ(reply->decisions_size(), 1);
  EXPECT_EQ(reply->decisions(0).lanes(), 6U);
  EXPECT_EQ(reply->decisions_from_ms(), 4000);
  request.set_transfer_id(transfer_id(9).str());
  EXPECT_EQ(api()->rate_history(request).error().code, Code::kNotFound);
}

TEST(TickPace, LooksAtOnceAndThenOnceInAPause) {
  control::TickPace pace{milliseconds(250)};
  MonoTime now{std::chrono::seconds(1)};
  EXPECT_FALSE(pace.due(now, 0)) << "nothing has changed yet";
  EXPECT_TRUE(pace.due(now, 1));
  EXPECT_FALSE(pace.due(now + milliseconds(249), 2));
  EXPECT_TRUE(pace.due(now + milliseconds(250), 2));
  EXPECT_FALSE(pace.due(now + std::chrono::hours(1), 2)) << "nothing new";
}

TEST(TickPace, RestsLongerTheMoreThereIsToTell) {
  control::TickPace pace{milliseconds(250)};
  MonoTime now{std::chrono::seconds(1)};
  ASSERT_TRUE(pace.due(now, 1));
  pace.worked(std::chrono::microseconds(1'000));
  EXPECT_EQ(pace.next(), now + milliseconds(250)) << "a hundred times as long is less than the pause";
  pace.worked(std::chrono::microseconds(4'000));
  EXPECT_EQ(pace.next(), now + milliseconds(500)) << "pages add up";
  EXPECT_FALSE(pace.due(now + milliseconds(499), 2));
  now = now + milliseconds(500);
  ASSERT_TRUE(pace.due(now, 2));
  EXPECT_EQ(pace.next(), now + milliseconds(250)) << "the work before is forgotten";
  pace.worked(std::chrono::seconds(30));
  EXPECT_EQ(pace.next(), now + control::TickPace::kLongest);
}

}  // namespace
}  // namespace gridtorrent::client
