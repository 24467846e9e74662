#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/control_fixture.h"

namespace gridtorrent::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(Control, RefusesTheLoginOfAnybodyButTheOwner) {
  UserId::Bytes other{};
  other[0] = 1;
  const auto stranger = api(UserId(other).str());
  for (const Error& error :
       {stranger->status().error(), stranger->list_transfers().error(), stranger->get({}).error(),
        stranger->seed({}).error(), stranger->publish({}, [](const auto&) { return true; }, {}).error(),
        stranger->verify({}, [](const auto&) { return true; }, {}).error(),
        stranger->pause_transfer(transfer_id(1).str()).error(),
        stranger->explain_transfer(transfer_id(1).str()).error(), stranger->list_tunings().error(),
        stranger->list_history().error(), stranger->forget_history("").error(),
        stranger->watch_transfer(transfer_id(1).str(), [](const auto&) { return true; }, {}).error()}) {
    EXPECT_EQ(error.code, Code::kDenied);
    EXPECT_THAT(error.message, HasSubstr("belongs to user ann"));
  }
}

TEST_F(Control, ServesTheOwnerAndACallerWithoutLogin) {
  for (const std::string& user : {owner_id().str(), std::string()}) {
    const auto status = api(user)->status();
    ASSERT_TRUE(status) << status.error().message;
    EXPECT_EQ(status->owner(), "ann");
    EXPECT_EQ(status->hash_backend(), "test");
    ASSERT_EQ(status->listeners_size(), 1);
    EXPECT_EQ(status->listeners(0).endpoint().port(), 50000U);
    EXPECT_EQ(status->listeners(0).reachability(), v1::REACHABLE);
  }
}

TEST_F(Control, AnotherCredentialIsAskedForByTheOwnerAlone) {
  UserId::Bytes other{};
  other[0] = 1;
  EXPECT_EQ(api(UserId(other).str())->reenroll("gte_x").error().code, Code::kDenied);
  EXPECT_EQ(api()->reenroll("").error().code, Code::kInvalid);
  EXPECT_EQ(api()->reenroll("gte_x").error().code, Code::kUnsupported) << "nobody here keeps one";
  EXPECT_FALSE(api()->status()->credential_refused());
  server_.reset();
  control::ControlOptions keeping;
  keeping.credential_refused = [] { return true; };
  keeping.reenrol = [](const std::string& token) -> Result<control::Reenrolled> {
    if (token != "gte_x") return Error{Code::kUnauthenticated, "used up"};
    return control::Reenrolled{NodeId(), WallTime{5}, true};
  };
  restart(keeping);
  EXPECT_TRUE(api()->status()->credential_refused());
  EXPECT_EQ(api()->reenroll("gte_y").error().code, Code::kUnauthenticated);
  const auto enrolled = api()->reenroll("gte_x");
  ASSERT_TRUE(enrolled) << enrolled.error().message;
  EXPECT_EQ(enrolled->credential_expires_ms(), 5);
  EXPECT_TRUE(enrolled->restart_needed());
}

TEST_F(Control, RefusesWhatIsIncompleteOrOutOfRange) {
  const auto caller = api();
  v1::PublishRequest publish;
  publish.set_path("relative/path");
  publish.set_name("n");
  const auto any = [](const auto&) { return true; };
  EXPECT_EQ(caller->publish(publish, any, {}).error().code, Code::kInvalid);
  publish.set_path("/absolute");
  publish.clear_name();
  EXPECT_THAT(caller->publish(publish, any, {}).error().message, HasSubstr("--name"));

  v1::GetRequest get;
  get.set_content("c");
  get.set_to("here");
  EXPECT_THAT(caller->get(get).error().message, HasSubstr("not absolute"));
  get.set_to("/x");
  get.set_lanes(33);
  EXPECT_THAT(caller->get(get).error().message, HasSubstr("lanes 33 is not between 0 and 32"));
  v1::SetTransferRequest set;
  set.set_transfer_id(transfer_id(1).str());
  set.set_lanes(-1);
  EXPECT_EQ(caller->set_transfer(set).error().code, Code::kInvalid);
  EXPECT_EQ(caller->get_transfer("nonsense").error().code, Code::kInvalid);
  EXPECT_EQ(caller->verify({}, any, {}).error().code, Code::kInvalid);
}

TEST_F(Control, AnUnreachableServerIsNotTakenForALostNode) {
  const auto caller = api();
  node_.seed_error = Error{Code::kUnreachable, "no server at lab:7443"};
  v1::SeedRequest request;
  request.set_content("c");
  request.set_from("/data");
  const auto answer = caller->seed(request);
  EXPECT_EQ(answer.error(), *node_.seed_error);
}

TEST_F(Control, AMissingTransferIsNotFound) {
  const auto missing = api()->get_transfer(transfer_id(42).str());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr(transfer_id(42).str()));
}

TEST_F(Control, PublishTellsProgressWarningsAndTheContent) {
  v1::PublishRequest request;
  request.set_path("/data/\xfe");
  request.set_name("n");
  std::vector<v1::PublishEvent> events;
  const Status done = api()->publish(request,
                                     [&](const v1::PublishEvent& event) {
                                       events.push_back(event);
                                       return true;
                                     },
                                     {});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].hashing().total_bytes(), 4U);
  EXPECT_EQ(events[1].warning(), "skipped link\\xff");
  EXPECT_EQ(events[2].published().name(), "n");
  EXPECT_EQ(node_.published().path, "/data/\xfe");
  EXPECT_FALSE(node_.published().request.request_id.empty());
}

TEST_F(Control, AScanTellsFiguresAndThenWhatIsSkipped) {
  const auto caller = api();
  std::vector<v1::ScanPublishEvent> events;
  const auto keep = [&](const v1::ScanPublishEvent& event) {
    events.push_back(event);
    return true;
  };
  EXPECT_EQ(caller->scan_publish("relative", keep, {}).error().code, Code::kInvalid);
  EXPECT_EQ(caller->scan_publish("/gone", keep, {}).error().code, Code::kNotFound);
  EXPECT_TRUE(events.empty());
  const Status done = caller->scan_publish("/data", keep, {});
  ASSERT_TRUE(done) << done.error().message;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].progress().bytes(), 2U);
  const v1::ScannedFiles& result = events[1].result();
  EXPECT_EQ(result.files(), 3U);
  EXPECT_EQ(result.skipped(), 1U);
  EXPECT_EQ(result.name(), "da\\xff") << "a protobuf string is UTF-8";
  ASSERT_EQ(result.warnings_size(), 1);
  EXPECT_EQ(result.warnings(0), "skipped '/x/link\\xff'");
}

TEST_F(Control, AScanEndsWithItsCaller) {
  node_.scan_until_stopped = true;
  const auto caller = api();
  EXPECT_TRUE(caller->scan_publish("/data", [](const auto&) { return false; }, {}));
  node_.wait_until(node_.scan_stopped);
}

TEST_F(Control, AStartedPublishIsATransferThatTellsItsPhase) {
  const auto caller = api();
  v1::PublishRequest request;
  request.set_path("relative");
  request.set_name("n");
  EXPECT_EQ(caller->start_publish(request).error().code, Code::kInvalid);
  request.set_path("/data/\xfe");
  request.set_request_id("r1");
  request.set_strict(true);
  const auto started = caller->start_publish(request);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_EQ(started->state(), "hashing");
  EXPECT_EQ(started->content_id(), "") << "the server has not given one yet";
  EXPECT_EQ(started->publish().request_id(), "r1");
  EXPECT_EQ(started->publish().phase(), "scan");
  EXPECT_EQ(started->publish().files(), 7U);
  EXPECT_EQ(started->publish().bits_per_s(), 8U);
  EXPECT_EQ(node_.published().path, "/data/\xfe");
  EXPECT_TRUE(node_.published().strict);
}

TEST_F(Control, ANewVersionIsPublishedByTheRulesOfTheOneBeforeUnlessOthersAreGiven) {
  const auto caller = api();
  v1::PublishRequest request;
  request.set_path("/data");
  request.set_request_id("r1");
  const auto is_as_before = [&] {
    EXPECT_TRUE(caller->start_publish(request));
    return node_.published().as_before;
  };
  request.set_name("n");
  request.set_as_before(true);
  EXPECT_FALSE(is_as_before()) << "there is none before";
  request.clear_name();
  request.set_update("n");
  request.mutable_rules()->set_links("skip");
  EXPECT_TRUE(is_as_before()) << "these rules are a habit";
  request.set_as_before(false);
  EXPECT_FALSE(is_as_before());
  request.clear_rules();
  EXPECT_TRUE(is_as_before()) << "of a program that knows nothing of it";

  v1::ScanPublishRequest scan;
  scan.set_path("/data");
  scan.set_as_before("n");
  EXPECT_TRUE(caller->scan_chosen(scan, [](const auto&) { return true; }, {}));
  EXPECT_EQ(node_.scan_as_before, "n");
}

TEST_F(Control, CancellingAPublishStopsTheHashing) {
  node_.hash_until_stopped = true;
  v1::PublishRequest request;
  request.set_path("/data");
  request.set_name("n");
  std::stop_source stop;
  const auto caller = api();
  std::jthread canceller([&] {
    node_.wait_until(node_.hashing_started);
    stop.request_stop();
  });
  const Status ended = caller->publish(request, [](const auto&) { return true; }, stop.get_token());
  EXPECT_EQ(ended.error().code, Code::kCancelled);
  node_.wait_until(node_.publish_stopped);
}

TEST_F(Control, AWatchShowsChangesUntilTheTransferSeeds) {
  node_.add(transfer_id(1), TransferState::kFetching);
  std::vector<std::string> states;
  const Status ended = api()->watch_transfer(transfer_id(1).str(),
                                             [&](const v1::Transfer& transfer) {
                                               states.push_back(transfer.state());
                                               EXPECT_EQ(transfer.path(), "/data/\xff");
                                               const auto next = states.size() == 1 ? TransferState::kVerifying
                                                                                    : TransferState::kSeeding;
                                               EXPECT_TRUE(node_.change(transfer_id(1), next));
                                               return true;
                                             },
                                             {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(states, ElementsAre("fetching", "verifying", "seeding"));
}

TEST_F(Control, AnEndIsToldAtOnceAlsoSoonAfterAnotherChange) {
  control::ControlOptions seldom;
  seldom.watch_pause = std::chrono::hours(1);
  restart(seldom);
  node_.add(transfer_id(1), TransferState::kFetching);
  std::atomic<int> waits = 0;
  node_.on_wait = [&] {
    const auto next = ++waits == 1 ? TransferState::kVerifying : TransferState::kSeeding;
    if (waits <= 2) {
      EXPECT_TRUE(node_.change(transfer_id(1), next));
    }
  };
  std::vector<std::string> states;
  const auto ended = api()->watch_transfer(transfer_id(1).str(),
                                           [&](const v1::Transfer& transfer) {
                                             states.push_back(transfer.state());
                                             return true;
                                           },
                                           {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(states, ElementsAre("fetching", "seeding"));  // "verifying", had it been written first
}

TEST_F(Control, AWatchSendsAtMostTenChangesASecond) {
  node_.add(transfer_id(1), TransferState::kFetching);
  std::atomic<int> received = 0;
  std::jthread busy([&] {
    for (int i = 0; i < 2000 && received < 4; ++i) {
      ASSERT_TRUE(node_.change(transfer_id(1), TransferState::kFetching));
      std::this_thread::yield();
    }
    while (received < 4) ASSERT_TRUE(node_.change(transfer_id(1), TransferState::kFetching));
  });
  const auto began = std::chrono::steady_clock::now();
  const auto ended = api()->watch_transfer(transfer_id(1).str(), [&](const auto&) { return ++received < 4; }, {});
  EXPECT_TRUE(ended);
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds(290));
}

TEST_F(Control, StoppingTheServerEndsAWatch) {
  node_.add(transfer_id(1), TransferState::kPaused);
  const auto caller = api();
  std::jthread stopper;
  const Status ended = caller->watch_transfer(transfer_id(1).str(),
                                              [&](const auto&) {
                                                stopper = std::jthread([&] { server_.reset(); });
                                                return true;
                                              },
                                              {});
  EXPECT_FALSE(ended);
}

TEST_F(Control, AWatchOfTuningTellsAllAndThenWhatIsNew) {
  node_.tuned.transfer = transfer_id(1);
  node_.tuned.revision = 2;
  node_.tuned.samples = {{milliseconds(0), 5, 4, 1, Limit::kUnknown, 1},
                         {milliseconds(1000), 9, 4, 1, Limit::kLoss, 2}};
  node_.tuned.decisions = {{1, milliseconds(0), 0, 4, 0, "auto: 4", Limit::kUnknown, std::nullopt, 1}};
  int looks = 0;
  node_.on_tuning = [&] {
    if (++looks == 2) {
      node_.tuned.revision = 3;
      node_.tuned.decisions[0].brought_bits_per_s = 9;
      node_.tuned.decisions[0].revision = 3;
    }
    if (looks == 3) {
      node_.tuned.running = false;
      ++node_.tuned.revision;
    }
  };
  std::vector<v1::Tuning> told;
  const auto ended = api()->watch_tuning(transfer_id(1).str(),
                                         [&](const v1::Tuning& tuning) {
                                           told.push_back(tuning);
                                           return true;
                                         },
                                         {});
  ASSERT_TRUE(ended) << ended.error().message;
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].samples_size(), 2);
  EXPECT_EQ(told[0].samples(1).limit_word(), "loss");
  EXPECT_FALSE(told[0].decisions(0).has_brought_bits_per_s());
  EXPECT_EQ(told[1].samples_size(), 0);
  ASSERT_EQ(told[1].decisions_size(), 1);
  EXPECT_EQ(told[1].decisions(0).brought_bits_per_s(), 9U);
  EXPECT_EQ(told[1].curve(0).median_bits_per_s(), 9U) << "the curve is of all samples";
  EXPECT_EQ(told[2].decisions_size(), 0);
  EXPECT_FALSE(told[2].running());
}

TEST_F(Control, TuningOfATransferIsAskedForByItsId) {
  node_.tuned.transfer = transfer_id(1);
  const auto caller = api();
  EXPECT_EQ(caller->explain_transfer(transfer_id(1).str())->transfer_id(), transfer_id(1).str());
  EXPECT_EQ(caller->explain_transfer(transfer_id(2).str()).error().code, Code::kNotFound);
  EXPECT_EQ(caller->explain_transfer("nonsense").error().code, Code::kInvalid);
  EXPECT_EQ(caller->list_tunings()->tunings_size(), 1);
}

TEST_F(Control, EstimatesTellOfTheirProbeAndThenTheResultInPlainWords) {
  const auto caller = api();
  v1::EstimateRequest request;
  const auto ask = [&](std::vector<v1::EstimateEvent>& events) {
    return caller->estimate(request,
                            [&](const v1::EstimateEvent& event) {
                              events.push_back(event);
                              return true;
                            },
                            {});
  };
  std::vector<v1::EstimateEvent> events;
  EXPECT_EQ(ask(events).error().code, Code::kInvalid) << "no content";
  request.set_content("nowhere");
  EXPECT_EQ(ask(events).error().code, Code::kInvalid) << "no folder";
  request.set_to("/home/in/");
  EXPECT_EQ(ask(events).error().code, Code::kUnreachable);
  EXPECT_TRUE(events.empty());
  request.set_content("run42");
  request.add_globs("*.nc");
  request.set_no_probe(true);
  ASSERT_TRUE(ask(events).ok());
  EXPECT_EQ(node_.estimated.target, "/home/in");
  EXPECT_THAT(node_.estimated.globs, ElementsAre("*.nc"));
  EXPECT_FALSE(node_.estimated.may_probe);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].probing().done_bytes(), 1U);
  const auto& result = events[1].result();
  EXPECT_EQ(result.basis(), "probe");
  EXPECT_EQ(result.likely_ms(), 60'000U);
  EXPECT_EQ(result.text(),
            "1.20 GB from 3 seeders over paths that are mostly unknown: probed for 3 s (41.0 MB, kept for the get): "
            "about 1 min (40 s to 1 min 50 s), 160 Mbit/s. Limited by loss. 'gridtorrent get' to the "
            "same folder goes on, 'gridtorrent transfer cancel " +
                transfer_id(1).str() + "' discards what is kept.");
}

TEST_F(Control, HistoryIsToldAndForgotten) {
  NodeId::Bytes bytes{};
  bytes[3] = 9;
  node_.remembered.facts.node = NodeId(bytes);
  node_.remembered.facts.lanes = 12;
  node_.remembered.facts.limit = Limit::kLoss;
  node_.remembered.transfers = 4;
  const auto caller = api();
  const auto told = caller->list_history();
  ASSERT_TRUE(told.ok());
  EXPECT_EQ(told->paths(0).node_id(), NodeId(bytes).str());
  EXPECT_EQ(told->paths(0).lanes(), 12U);
  EXPECT_EQ(told->paths(0).limit_word(), "loss");
  EXPECT_EQ(told->paths(0).transfers(), 4U);
  EXPECT_EQ(caller->forget_history("nonsense").error().code, Code::kInvalid);
  bytes[3] = 10;
  EXPECT_EQ(caller->forget_history(NodeId(bytes).str()).error().code, Code::kNotFound);
  EXPECT_FALSE(node_.forgot);
  EXPECT_EQ(caller->forget_history("")->paths_size(), 1);
  EXPECT_TRUE(node_.forgot);
}

TEST_F(Control, CommandsReachTheNode) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const auto caller = api();
  const std::string id = transfer_id(1).str();
  EXPECT_EQ(caller->pause_transfer(id)->state(), "paused");
  EXPECT_EQ(caller->resume_transfer(id)->state(), "fetching");
  EXPECT_EQ(caller->cancel_transfer(id)->state(), "cancelled");
  EXPECT_EQ(caller->list_transfers()->transfers_size(), 1);
  v1::SetTransferRequest set;
  set.set_transfer_id(id);
  set.set_lanes(8);
  ASSERT_TRUE(caller->set_transfer(set));
  EXPECT_EQ(node_.last_settings.lanes, 8);
  EXPECT_FALSE(node_.last_settings.priority.has_value());
  v1::GetRequest get;
  get.set_content("ann/data");
  get.set_to("/to\xff");
  get.add_globs("*.h5");
  get.set_lanes(16);
  const auto got = caller->get(get);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_FALSE(got->joined());
  EXPECT_TRUE(caller->get(get)->joined()) << "asked again";
  EXPECT_EQ(node_.got.target, "/to\xff");
  EXPECT_THAT(node_.got.globs, ElementsAre("*.h5"));
  EXPECT_EQ(node_.got.lanes, 16);
  v1::SeedRequest seed;
  seed.set_content("ann/data");
  seed.set_from("/data");
  EXPECT_EQ(caller->seed(seed)->transfer().state(), "verifying");
  EXPECT_EQ(node_.seeded, std::pair(std::string("ann/data"), std::string("/data")));
}

TEST_F(Control, WhatATunerIsAskedReachesTheNode) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const auto caller = api();
  const WallTime soon = SystemClock().wall() + std::chrono::hours(1);
  v1::GetRequest get;
  get.set_content("ann/data");
  get.set_to("/to");
  get.mutable_wish()->set_tuner("later");
  get.mutable_wish()->set_mode("background");
  get.mutable_wish()->set_floor_bits_per_s(3);
  get.mutable_wish()->set_by_ms(soon.ms);
  ASSERT_TRUE(caller->get(get));
  EXPECT_EQ(node_.got.wish, (WishChange{.tuner = "later", .mode = "background", .floor_bits_per_s = 3, .by = soon}));
  v1::SetTransferRequest set;
  set.set_transfer_id(transfer_id(1).str());
  set.mutable_wish()->set_by_ms(0);
  set.mutable_wish()->set_tuner("");
  ASSERT_TRUE(caller->set_transfer(set));
  EXPECT_EQ(node_.last_settings.wish, (WishChange{.tuner = "", .by = WallTime{}}));
}

TEST_F(Control, ATimeThatIsPastIsRefused) {
  node_.add(transfer_id(1), TransferState::kFetching);
  const auto caller = api();
  v1::GetRequest get;
  get.set_content("ann/data");
  get.set_to("/to");
  v1::SetTransferRequest set;
  set.set_transfer_id(transfer_id(1).str());
  for (const std::int64_t ms : {std::int64_t{-1}, std::int64_t{1}, SystemClock().wall().ms - 1}) {
    get.mutable_wish()->set_by_ms(ms);
    set.mutable_wish()->set_by_ms(ms);
    EXPECT_THAT(caller->get(get).error().message, HasSubstr("is past")) << ms;
    EXPECT_EQ(caller->set_transfer(set).error().code, Code::kInvalid) << ms;
  }
}

TEST_F(Control, NamesTheTunersAndWhatTheNodeUses) {
  const auto told = api()->list_tuners();
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->tuners_size(), static_cast<int>(kTuners.size()));
  EXPECT_EQ(told->tuners(0).name(), "auto");
  EXPECT_EQ(told->tuners(0).heeds_size(), 4);
  EXPECT_EQ(told->tuners(1).heeds_size(), 0) << told->tuners(1).name();
  EXPECT_FALSE(told->tuners(0).help().empty());
  EXPECT_THAT(std::vector<std::string>(told->modes().begin(), told->modes().end()),
              ElementsAre("balanced", "greedy", "background"));
  EXPECT_EQ(told->tuner(), "auto");
  EXPECT_EQ(told->mode(), "background");
}

TEST_F(Control, SetsOnlyTheLimitThatIsNamed) {
  node_.limits = {30'000'000, 40'000'000};
  const auto caller = api();
  v1::SetNodeLimitsRequest set;
  EXPECT_EQ(caller->set_limits(set)->upload_bits_per_s(), 30'000'000U) << "naming none, one sees them";
  set.set_upload_bits_per_s(200'000'000);
  const auto now = caller->set_limits(set);
  ASSERT_TRUE(now) << now.error().message;
  EXPECT_EQ(now->upload_bits_per_s(), 200'000'000U);
  EXPECT_EQ(now->download_bits_per_s(), 40'000'000U);
  EXPECT_EQ(caller->status()->limits().upload_bits_per_s(), 200'000'000U);
  EXPECT_EQ(caller->list_transfers()->limits().upload_bits_per_s(), 200'000'000U);
  set.set_upload_bits_per_s(1);
  EXPECT_EQ(caller->set_limits(set).error().code, Code::kInvalid);
  EXPECT_EQ(node_.limits.send_bits_per_s, 200'000'000U);
}

TEST_F(Control, VerifyCarriesMoreDigestsThanGrpcsUsualMessage) {
  node_.digest_count = 60'000;
  v1::VerifyRequest request;
  request.set_content("ann/data");
  request.set_sha256(true);
  v1::VerifyResult result;
  const Status done = api()->verify(request,
                                    [&](const v1::VerifyEvent& event) {
                                      if (event.has_result()) result = event.result();
                                      return true;
                                    },
                                    {});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(result.digests_size(), 60'000);
  ASSERT_EQ(result.faults_size(), 1);
  EXPECT_EQ(result.faults(0).path(), "a\nb");
}

TEST_F(Control, ASecondDaemonOnTheSocketIsAConflict) {
  control::ControlOptions options;
  options.socket_path = socket_;
  options.clock = &clock_;
  const auto second = control::ControlServer::start(options, node_);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr(socket_));
}

TEST_F(Control, NobodyBehindTheSocketIsUnreachableByName) {
  server_.reset();
  const auto none = NodeApi::open({socket_, {}, kLong});
  EXPECT_EQ(none.error().code, Code::kUnreachable);
  EXPECT_THAT(none.error().message, HasSubstr(socket_));
  EXPECT_THAT(none.error().message, HasSubstr("start it with `gridtorrent node start`"));
  EXPECT_EQ(NodeApi::open({std::string(200, 'x'), {}, kLong}).error().code, Code::kInvalid);
}

TEST_F(Control, AfterARestartANewConnectionServes) {
  const auto old = api();
  ASSERT_TRUE(old->status());
  server_.reset();
  const auto gone = old->status();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Code::kUnreachable);
  EXPECT_THAT(gone.error().message, HasSubstr(socket_ + " went away"));
  restart();
  EXPECT_TRUE(api()->status());
}

}  // namespace
}  // namespace gridtorrent::client
