#include "client/remote/grpc_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>

#include "common/hex.h"
#include "tests/unit/remote_link.h"

namespace gridtorrent::client::remote {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using testing::FakeServer;
using testing::FakeState;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TestCa;

TEST_F(Link, NamesTheFileThatDidNotSignTheCertificate) {
  const TestCa other;
  serve(other.issue());
  const std::string line = loss();
  EXPECT_THAT(line, HasSubstr("the certificate of " + server_->address() + " is not signed by " + ca_file_));
}

TEST_F(Link, TakesAnotherCaWhileItRuns) {
  const TestCa other;
  serve(other.issue());
  auto slow = options();
  slow.backoff_min = slow.backoff_max = hours(1);
  std::vector<std::string> proven;  // the link's thread writes before "connected" is recorded, the test reads after
  slow.on_proven_ca = [&](const std::string& file) { proven.push_back(file); };
  Recorder recorder;
  const auto one = link(slow);
  one->start(recorder, 0);
  EXPECT_THAT(recorder.next(), HasSubstr("is not signed by " + ca_file_));
  EXPECT_EQ(one->use_ca(folder_ + "/missing.pem").error().code, Code::kInvalid);
  EXPECT_FALSE(one->ack_task(1));
  ASSERT_TRUE(one->use_ca(write("other.pem", other.pem())));
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(proven, std::vector<std::string>{folder_ + "/other.pem"});
  EXPECT_TRUE(one->ack_task(1));
}

TEST_F(Link, SaysByHowMuchAClockIsBehindACertificate) {
  const WallTime now = clock_.wall();
  serve(ca_.issue("IP:127.0.0.1", now + hours(24 * 3) + std::chrono::minutes(30), now + hours(24 * 365)));
  const std::string line = loss();
  EXPECT_THAT(line, HasSubstr("the clock is behind"));
  EXPECT_THAT(line, HasSubstr("3 d 0 h"));
}

TEST_F(Link, SaysByHowMuchACertificateIsOver) {
  const WallTime now = clock_.wall();
  serve(ca_.issue("IP:127.0.0.1", now - hours(24 * 9), now - hours(24 * 2) - std::chrono::minutes(30)));
  const std::string line = loss();
  EXPECT_THAT(line, HasSubstr("2 d 0 h after that"));
  EXPECT_THAT(line, HasSubstr(server_->address()));
}

TEST_F(Link, NamesTheHostsOfACertificateForOthers) {
  const WallTime now = clock_.wall();
  serve(ca_.issue("DNS:elsewhere.example,IP:198.18.0.9", now - hours(1), now + hours(1)));
  EXPECT_THAT(loss(), HasSubstr("is for elsewhere.example, 198.18.0.9"));
}

TEST_F(Link, RefusesClocksMoreThan48HoursApartAndSaysSoOnEveryCall) {
  serve();
  server_->with([&](FakeState& state) { state.hello.set_time_ms((clock_.wall() + hours(49)).ms); });
  Recorder recorder;
  const auto one = link();
  one->start(recorder, 0);
  EXPECT_THAT(recorder.next(), HasSubstr("2 d 1 h"));
  EXPECT_FALSE(one->is_connected());
  const auto answer = one->content("ann/data");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("48 h"));
}

TEST_F(Link, WorksWithClocks47HoursApartAndKnowsTheOffset) {
  serve();
  server_->with([&](FakeState& state) { state.hello.set_time_ms((clock_.wall() - hours(47)).ms); });
  Recorder recorder;
  const auto one = link();
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(one->clock_offset(), -hours(47));
  EXPECT_TRUE(one->is_connected());
}

TEST_F(Link, RefusesAServerOfAnotherProtocol) {
  serve();
  server_->with([](FakeState& state) {
    state.hello.set_protocol_min(8);
    state.hello.set_protocol_max(9);
  });
  EXPECT_THAT(loss(), HasSubstr("speaks protocol 8 to 9"));
}

TEST_F(Link, RefusesABadAddressAndABadCaFile) {
  serve();
  ServerLinkOptions bad = options();
  bad.server.address = "no-port";
  EXPECT_EQ(make_server_link(bad).error().code, Code::kInvalid);
  bad = options();
  bad.server.ca_file = folder_ + "/missing.pem";
  EXPECT_THAT(make_server_link(bad).error().message, HasSubstr("missing.pem"));
}

TEST_F(Link, ToldOnceThatTheServerIsDownThenConnectsAgain) {
  serve();
  server_->stop();
  Recorder recorder;
  const auto one = link();
  one->start(recorder, 0);
  const std::string line = recorder.next();
  EXPECT_THAT(line, HasSubstr("no server at " + server_->address()));
  EXPECT_THAT(line, HasSubstr("Connection refused"));
  const auto answer = one->content("ann/data");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::kUnreachable);
  server_->start();
  EXPECT_EQ(recorder.next(), "connected");
  server_->stop();
  EXPECT_THAT(recorder.next(), HasSubstr("lost: "));
  EXPECT_FALSE(one->is_connected());
}

TEST_F(Link, TasksAndHintsArriveInOrderAndTheCursorFollowsAcknowledgements) {
  serve();
  server_->with([](FakeState& state) {
    state.events = {get_task(5), get_task(6)};
    v1::TaskWork& work = *state.events.back().mutable_task()->mutable_work();
    const v1::GetTask get = work.get();
    *work.mutable_chosen_get()->mutable_get() = get;
    work.mutable_chosen_get()->set_base_name("mine");
    work.mutable_chosen_get()->set_if_seeded(true);
    v1::VersionGetTask later;
    *later.mutable_get() = work.chosen_get();
    later.set_version(2);
    later.set_update(true);
    state.events.push_back(get_task(7));
    *state.events.back().mutable_task()->mutable_work()->mutable_version_get() = later;
    v1::VersionPublishTask publish;
    publish.mutable_publish()->mutable_publish()->set_root_path("raw:a");
    publish.mutable_publish()->mutable_rules()->add_exclude("*.tmp");
    publish.set_update("ada/set");
    state.events.push_back(get_task(8));
    *state.events.back().mutable_task()->mutable_work()->mutable_version_publish() = publish;
    state.events.emplace_back().set_task_cancelled(id<TaskId>(1).str());
    v1::PeerChanged& change = *state.events.emplace_back().mutable_peer_changed();
    change.set_content_id(id<ContentId>(2).str());
    change.mutable_peer()->set_node_id(id<NodeId>(3).str());
    state.events.emplace_back();  // of a kind that only a newer server knows
  });
  Recorder recorder;
  const auto one = link();
  one->start(recorder, 4);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 5");
  EXPECT_EQ(recorder.next(), "task 6");
  EXPECT_EQ(recorder.next(), "task 7");
  EXPECT_EQ(recorder.next(), "task 8");
  EXPECT_EQ(recorder.next(), "cancelled " + id<TaskId>(1).str());
  EXPECT_EQ(recorder.next(), "peer " + id<ContentId>(2).str());
  ASSERT_TRUE(std::holds_alternative<GetTask>(recorder.tasks().at(0).work));
  EXPECT_EQ(std::get<GetTask>(recorder.tasks().at(0).work).lanes, 7);
  const WishChange wish{.mode = "of a newer server", .floor_bits_per_s = 8, .by = WallTime{9}};
  EXPECT_EQ(std::get<GetTask>(recorder.tasks().at(0).work).wish, wish);
  const auto chosen = std::get<GetTask>(recorder.tasks().at(1).work);
  EXPECT_EQ(std::tuple(chosen.lanes, chosen.base_name, chosen.if_seeded), std::tuple(7, "mine", true));
  const auto later = std::get<GetTask>(recorder.tasks().at(2).work);
  EXPECT_EQ(std::tuple(later.lanes, later.base_name, later.version, later.update), std::tuple(7, "mine", 2u, true));
  const auto publish = std::get<PublishTask>(recorder.tasks().at(3).work);
  EXPECT_EQ(std::tuple(publish.root_path, publish.publish.name, publish.publish.update),
            std::tuple("raw:a", "ada/set", true));
  EXPECT_THAT(publish.rules.exclude, ElementsAre("*.tmp"));
  ASSERT_TRUE(one->ack_task(5));
  server_->stop();
  EXPECT_THAT(recorder.next(), HasSubstr("lost"));
  server_->start();
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 5");  // of the fake, which ignores the cursor
  const auto cursors = server_->with(
      [](FakeState& state) { return std::pair(state.watches.front().cursor(), state.watches.back().cursor()); });
  EXPECT_EQ(cursors, std::pair(std::uint64_t{4}, std::uint64_t{5}));
}

TEST_F(Link, ATaskThatIsNotTakenEndsTheStreamAndComesAgain) {
  serve();
  server_->with([](FakeState& state) { state.events = {get_task(5), get_task(6)}; });
  Recorder recorder;
  recorder.refuse_the_next({Code::kDisk, "task 5 is not taken: the disk is full"});
  const auto one = link();
  one->start(recorder, 4);
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 5");
  EXPECT_THAT(recorder.next(), HasSubstr("the disk is full"));
  EXPECT_EQ(recorder.next(), "connected");
  EXPECT_EQ(recorder.next(), "task 5");
  EXPECT_EQ(recorder.next(), "task 6");
  server_->with([](FakeState& state) { EXPECT_EQ(state.watches.back().cursor(), 4U); });
}

TEST_F(Link, AStreamThatFallsSilentIsLost) {
  serve();
  server_->with([](FakeState& state) { state.mute = true; });
  ServerLinkOptions quick = options();
  quick.deadline = milliseconds(100);
  Recorder recorder;
  const auto one = link(quick);
  one->start(recorder, 0);
  EXPECT_THAT(recorder.next(), HasSubstr("nothing heard from it for 0.1 s"));
}

TEST_F(Link, TheStreamComesBackWithTheConnection) {
  serve();
  Recorder recorder;
  ServerLinkOptions slow = options();
  slow.backoff_min = slow.backoff_max = hours(1);
  slow.least_pause = milliseconds(1);
  const auto one = link(slow);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  server_->stop();
  EXPECT_THAT(recorder.next(), HasSubstr("lost"));
  EXPECT_FALSE(one->ack_task(1));  // from this failure on, gRPC tries to connect
  server_->start();
  EXPECT_EQ(recorder.next(), "connected");
}

TEST_F(Link, ANodeThatWasRemovedIsToldOnceAndTriesNoMore) {
  serve();
  server_->with([](FakeState& state) { state.removed = true; });
  Recorder recorder;
  ServerLinkOptions told = options();
  std::promise<std::string> removed;
  told.on_removed = [&](const Error& reason) { removed.set_value(reason.message); };
  const auto one = link(told);
  one->start(recorder, 0);
  EXPECT_EQ(removed.get_future().get(), "this node was removed");
  EXPECT_THAT(recorder.next(), HasSubstr("removed"));
  one->stop();
  EXPECT_EQ(server_->with([](FakeState& state) { return state.watches.size(); }), 1U);
}

TEST_F(Link, AnotherNameOfTheNodeIsKeptAndToldAtTheNextGreeting) {
  serve();
  server_->with([](FakeState& state) {
    state.events.emplace_back().set_node_name("bench");
    state.end_streams = true;
  });
  Recorder recorder;
  ServerLinkOptions named = options();
  named.node_name = "lab";
  std::vector<std::string> names;
  named.on_name = [&](const std::string& name) { names.push_back(name); };
  const auto one = link(named);
  one->start(recorder, 0);
  ASSERT_TRUE(server_->wait([](const FakeState& state) { return state.watches.size() > 1; }));
  one->stop();
  EXPECT_EQ(names.at(0), "bench");
  server_->with([](FakeState& state) {
    EXPECT_EQ(state.watches.at(0).node_name(), "lab");
    EXPECT_EQ(state.watches.at(1).node_name(), "bench");
  });
}

TEST_F(Link, StopEndsAnOpenStreamAndAPause) {
  serve();
  Recorder recorder;
  ServerLinkOptions slow = options();
  slow.backoff_min = slow.backoff_max = hours(1);
  const auto one = link(slow);
  one->start(recorder, 0);
  EXPECT_EQ(recorder.next(), "connected");
  one->stop();
  server_->stop();
  one->start(recorder, 0);
  EXPECT_THAT(recorder.next(), HasSubstr("lost"));
  one->stop();
}

TEST_F(Link, EveryCallCarriesTheNodesToken) {
  serve();
  const auto one = link();
  server_->with([](FakeState& state) { state.content.set_content_id(id<ContentId>(2).str()); });
  ASSERT_TRUE(one->content("ann/data"));
  ASSERT_TRUE(one->ack_task(1));
  TaskReport report;
  report.id = id<TaskId>(1);
  report.state = TaskState::kFailed;
  report.error = {Code::kDisk, "disk full"};
  ASSERT_TRUE(one->report_task(report));
  server_->with([](FakeState& state) {
    EXPECT_THAT(state.authorizations, ::testing::Each("Bearer gtn_old"));
    EXPECT_EQ(state.authorizations.size(), 3U);
    ASSERT_EQ(state.reports.size(), 1U);
    EXPECT_EQ(state.reports[0].state(), "failed");
    EXPECT_EQ(state.reports[0].error_code(), "disk");
  });
}

TEST_F(Link, PublishesMetadataInChunksAndReadsItBackChecked) {
  serve();
  server_->with([](FakeState& state) {
    state.content.set_content_id(id<ContentId>(2).str());
    state.content.set_state("published");
  });
  metainfo::VersionMetadata metadata;
  metadata.manifest.base_name = "run7";
  metadata.manifest.entries.push_back({"", metainfo::EntryKind::kFolder, 0, 0755, 1, {}});
  for (int i = 0; i < 4500; ++i) {
    std::string name = "file-with-a-long-name-so-that-there-are-several-chunks-" + std::to_string(100'000 + i);
    metadata.manifest.entries.push_back({name, metainfo::EntryKind::kFile, 0, 0644, 1, {}});
  }
  const auto one = link();
  PublishRequest request;
  request.request_id = "r1";
  request.name = "data";
  request.access = "user:bob,buddies";
  const auto ticket = one->begin_publish(request);
  ASSERT_TRUE(ticket) << ticket.error().message;
  const auto finished = one->finish_publish("r1", *ticket, metadata);
  ASSERT_TRUE(finished) << finished.error().message;
  const std::string document = metainfo::encode(metadata);
  ASSERT_GT(document.size(), 256U * 1024);
  server_->with([&](FakeState& state) {
    EXPECT_EQ(state.uploaded, document);
    EXPECT_EQ(state.first_chunk.request_id(), "r1");
    EXPECT_EQ(state.first_chunk.total_bytes(), document.size());
    EXPECT_EQ(state.begun.access().level(), v1::Access::SHARED);
    EXPECT_THAT(state.begun.access().users(), ElementsAre("bob"));
    state.metadata = document;
    state.metadata_sha256 = state.first_chunk.sha256();
  });
  const auto back = one->metadata(ticket->content, 1);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, metadata);
  server_->with([&](FakeState& state) { state.metadata_sha256 = std::string(64, '0'); });
  EXPECT_EQ(one->metadata(ticket->content, 1).error().code, Code::kCorrupt);
  server_->with([&](FakeState& state) {
    state.metadata = "de";
    state.metadata_sha256 = hex_encode(crypto::sha256(as_bytes(state.metadata)));
  });
  EXPECT_EQ(one->metadata(ticket->content, 1).error().code, Code::kCorrupt) << "nonsense with the right sum";
  const std::string digests(4501 * 32, 'd');
  ASSERT_TRUE(one->add_checksums(ticket->content, 1, digests));
  server_->with([&](FakeState& state) { EXPECT_EQ(state.checksums, digests); });
}

TEST_F(Link, GivesAPublishUpByTheRequestThatBeganIt) {
  serve();
  ASSERT_TRUE(link()->give_up_publish("r1"));
  server_->with([](const FakeState& state) {
    EXPECT_EQ(state.given_up, "r1");
    ASSERT_FALSE(state.request_ids.empty());
    EXPECT_NE(state.request_ids.back(), "r1") << "the step has an id of its own";
  });
}

TEST_F(Link, AnUnknownAccessNeverLeavesTheNode) {
  serve();
  PublishRequest request;
  request.access = "everybody";
  EXPECT_EQ(link()->begin_publish(request).error().code, Code::kInvalid);
  server_->with([](FakeState& state) { EXPECT_TRUE(state.authorizations.empty()); });
}

TEST_F(Link, AnnouncesAndLearnsPeersAndReachability) {
  serve();
  server_->with([](FakeState& state) { state.renewal.set_node_id(id<NodeId>(3).str()); });
  const auto one = link();
  AnnounceRequest request;
  request.content = id<ContentId>(2);
  request.role = SwarmRole::kSeeding;
  request.traffic = {{id<NodeId>(4), 10, 20}, {NodeId(), 1, 2}};
  const auto reply = one->announce(request);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->next, milliseconds(5000));
  ASSERT_EQ(reply->peers.size(), 1U);
  EXPECT_EQ(reply->peers[0].endpoints.at(0).port, 50000);
  server_->with([](FakeState& state) {
    EXPECT_EQ(state.announced.role(), v1::AnnounceRequest::SEEDING);
    ASSERT_EQ(state.announced.traffic_size(), 2);
    EXPECT_EQ(state.announced.traffic(1).node_id(), "");
  });
  const auto reached = one->update_endpoints({{"198.18.0.1", 50000, false, ""}, {"198.18.0.1", 50001, false, ""}},
                                             {{"raw"}, {"in", "out"}});
  ASSERT_TRUE(reached);
  EXPECT_THAT(*reached, ElementsAre(Reachability::kReachable, Reachability::kUnreachable));
  server_->with([](FakeState& state) {
    EXPECT_TRUE(state.endpoints.declared());
    EXPECT_THAT(state.endpoints.roots().shares(), ElementsAre("raw"));
    EXPECT_THAT(state.endpoints.roots().downloads(), ElementsAre("in", "out"));
  });
  ASSERT_TRUE(one->update_endpoints({{"", 50000, false, ""}}, {}));
  server_->with([](FakeState& state) { EXPECT_FALSE(state.endpoints.declared()); });
}

TEST_F(Link, RemembersHowLongABusyServerWishesToBeLeftAlone) {
  serve();
  const auto one = link();
  server_->with([](FakeState& state) { state.pushback = "-1"; });
  EXPECT_EQ(one->ack_task(1).error().code, Code::kExhausted);
  EXPECT_EQ(one->asked_pause(), milliseconds(0));
  server_->with([](FakeState& state) { state.pushback = "6000"; });
  EXPECT_EQ(one->ack_task(1).error().code, Code::kExhausted);
  EXPECT_EQ(one->asked_pause(), milliseconds(6000));
  clock_.advance(milliseconds(5000));
  EXPECT_EQ(one->asked_pause(), milliseconds(1000));
  clock_.advance(milliseconds(5000));
  EXPECT_EQ(one->asked_pause(), milliseconds(0));
}

TEST_F(Link, EnrolsByTheTokenAndKeepsWhatItGets) {
  serve();
  server_->with([](FakeState& state) {
    state.renewal.set_node_id(id<NodeId>(3).str());
    state.renewal.set_owner_id(id<UserId>(4).str());
  });
  const EnrollRequest request{"gte_once", "r1", "lab-1", "key", "proof"};
  const auto enrolled = enroll({server_->address(), ca_file_}, request, clock_);
  ASSERT_TRUE(enrolled) << enrolled.error().message;
  EXPECT_EQ(enrolled->node, id<NodeId>(3));
  EXPECT_EQ(enrolled->node_name, "lab-1-x") << "the server's word, not the wish";
  EXPECT_EQ(enrolled->owner, "ann");
  EXPECT_EQ(enrolled->credential.token, "gtn_first");
  EXPECT_EQ(enrolled->credential.issued, clock_.wall());
  server_->with([](FakeState& state) {
    EXPECT_THAT(state.authorizations, ElementsAre("Bearer gte_once"));
    EXPECT_EQ(state.enrolled.proof(), "proof");
  });
  EXPECT_EQ(enroll_proof_text("gte_once"), "gridtorrent-enroll:gte_once");
  server_->stop();
  EXPECT_THAT(enroll({server_->address(), ca_file_}, request, clock_).error().message, HasSubstr(server_->address()));
}

}  // namespace
}  // namespace gridtorrent::client::remote
