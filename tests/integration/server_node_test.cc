// Enrolment, swarms, task lists and their streams through gRPC.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/crypto/certificate_request.h"
#include "base/crypto/certificates.h"
#include "base/crypto/digest.h"
#include "common/hex.h"
#include "common/unique_fd.h"
#include "tests/integration/server_lab.h"
#include "tracker/authority/enrollment.h"
#include "tracker/store/sqlite_store.h"

namespace gridtorrent::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// An open WatchNode stream. Reads wait for at most 10 s: the call's deadline.
class Watch {
 public:
  Watch(ServerLab& lab, const std::string& token, std::uint64_t cursor, const std::string& node_name = "")
      : stub_(v1::Tasks::NewStub(lab.channel())) {
    rpc::prepare(context_, std::chrono::seconds(60), token);
    v1::WatchNodeRequest request;
    *request.mutable_hello() = lab.hello();
    request.set_cursor(cursor);
    request.set_node_name(node_name);
    reader_ = stub_->WatchNode(&context_, request);
  }
  std::optional<v1::NodeEvent> next() {
    v1::NodeEvent event;
    if (!reader_->Read(&event)) return std::nullopt;
    return event;
  }
  /// The next that is neither a greeting nor a confirmation.
  std::optional<v1::NodeEvent> next_event() {
    for (;;) {
      auto event = next();
      if (!event || (!event->has_hello() && !event->has_audiences_confirmed())) return event;
    }
  }
  /// The server tells it what happens from now on: it greets before that.
  bool stands() {
    for (auto event = next(); event; event = next()) {
      if (event->has_audiences_confirmed()) return true;
    }
    return false;
  }
  std::uint64_t next_sequence() {
    const auto event = next_event();
    return event && event->has_task() ? event->task().sequence() : 0;
  }
  Error finish() { return rpc::from_grpc(reader_->Finish()); }
  void cut() { context_.TryCancel(); }

 private:
  std::unique_ptr<v1::Tasks::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::NodeEvent>> reader_;
};

class ServerNode : public ::testing::Test {
 protected:
  std::string create_task(const std::string& node, const std::string& token) {
    v1::CreateTaskRequest request;
    request.set_request_id(lab_.request_id());
    request.set_node(node);
    request.mutable_work()->mutable_list_folder()->set_root_path("data:");
    const auto made = lab_.call<v1::Tasks>(&v1::Tasks::Stub::CreateTask, request, token);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? made->task().task_id() : "";
  }
  Status ack(const LabNode& node, std::uint64_t sequence) {
    v1::AckTaskRequest request;
    request.set_sequence(sequence);
    const auto reply = lab_.call<v1::Tasks>(&v1::Tasks::Stub::AckTask, request, node.token);
    return reply.ok() ? Status() : Status(reply.error());
  }
  Result<v1::ReportTaskReply> report(const LabNode& node, const std::string& task, const std::string& state,
                                     std::uint64_t done = 0) {
    v1::ReportTaskRequest request;
    request.set_task_id(task);
    request.set_state(state);
    request.set_done(done);
    request.set_total(100);
    return lab_.call<v1::Tasks>(&v1::Tasks::Stub::ReportTask, request, node.token);
  }
  Result<v1::AnnounceReply> announce(const LabNode& node, const std::string& content, v1::AnnounceRequest::Role role,
                                     std::uint64_t verified) {
    v1::AnnounceRequest request;
    request.set_content_id(content);
    request.set_version(1);
    request.set_role(role);
    request.set_verified_bytes(verified);
    request.set_total_bytes(5);
    return lab_.call<v1::Swarms>(&v1::Swarms::Stub::Announce, request, node.token);
  }

  ServerLab lab_;
  const std::string alice_ = lab_.add_user("alice");
  const LabNode node_ = lab_.enroll(alice_, "n1");
};

TEST_F(ServerNode, AnEnrolmentTokenIsGoodOnce) {
  v1::CreateEnrollTokenRequest wish;
  wish.set_request_id(lab_.request_id());
  const auto token = lab_.call<v1::Nodes>(&v1::Nodes::Stub::CreateEnrollToken, wish, alice_);
  ASSERT_TRUE(token.ok());
  const auto enroll = [&](const std::string& name) {
    const auto key = crypto::EcKey::make();
    v1::EnrollRequest request;
    *request.mutable_hello() = lab_.hello();
    request.set_request_id(lab_.request_id());
    request.set_name(name);
    request.set_public_key(key->public_der());
    request.set_proof(*key->sign(tracker::authority::kEnrollProofLabel + token->token()));
    return lab_.call<v1::Nodes>(&v1::Nodes::Stub::Enroll, request, token->token());
  };
  EXPECT_TRUE(enroll("first").ok());
  const auto second = enroll("second");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kUnauthenticated);
}

TEST_F(ServerNode, ANodeGetsACertificateForItsOwnKeyAlone) {
  const auto certify = [&](const std::string& key_pem, const std::string& token) {
    v1::CertifyRequest request;
    request.set_certificate_request(*crypto::make_certificate_request(*crypto::EcKey::from_pem(key_pem)));
    return lab_.call<v1::Nodes>(&v1::Nodes::Stub::Certify, request, token);
  };
  const auto own = certify(node_.key_pem, node_.token);
  ASSERT_TRUE(own.ok()) << own.error().message;
  ASSERT_EQ(own->certificates_size(), 1);
  const v1::NodeCertificate& one = own->certificates(0);
  EXPECT_EQ(one.generation(), 1u);
  EXPECT_TRUE(*crypto::is_signed_by(one.certificate_pem(), one.data_ca_pem()));
  EXPECT_GT(one.expires_ms(), lab_.hello().time_ms());

  const LabNode other = lab_.enroll(alice_, "n2");
  EXPECT_EQ(certify(other.key_pem, node_.token).error().code, Code::kDenied) << "another node's key";
  EXPECT_EQ(certify(node_.key_pem, alice_).error().code, Code::kDenied) << "a person is no node";
  EXPECT_EQ(certify(node_.key_pem, "").error().code, Code::kUnauthenticated);
}

TEST_F(ServerNode, WithoutItsSealingKeyTheServerServesPublicContentAlone) {
  lab_.stop();
  ASSERT_TRUE(std::filesystem::remove(lab_.data_dir() + "/sealing-key"));
  lab_.restart();
  lab_.publish(alice_, "open", v1::Access::PUBLIC);
  v1::BeginPublishRequest begin;
  begin.set_request_id(lab_.request_id());
  begin.set_name("closed");
  begin.mutable_access()->set_level(v1::Access::PRIVATE);
  const auto refused = lab_.call<v1::Contents>(&v1::Contents::Stub::BeginPublish, begin, alice_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("sealing-key"));
}

TEST_F(ServerNode, EnrollingNeedsProofOfTheKey) {
  v1::CreateEnrollTokenRequest wish;
  wish.set_request_id(lab_.request_id());
  const auto token = lab_.call<v1::Nodes>(&v1::Nodes::Stub::CreateEnrollToken, wish, alice_);
  ASSERT_TRUE(token.ok());
  const auto key = crypto::EcKey::make();
  const auto other = crypto::EcKey::make();
  v1::EnrollRequest request;
  *request.mutable_hello() = lab_.hello();
  request.set_request_id(lab_.request_id());
  request.set_name("thief");
  request.set_public_key(key->public_der());
  request.set_proof(*other->sign(tracker::authority::kEnrollProofLabel + token->token()));
  const auto enrolled = lab_.call<v1::Nodes>(&v1::Nodes::Stub::Enroll, request, token->token());
  ASSERT_FALSE(enrolled.ok());
  EXPECT_EQ(enrolled.error().code, Code::kInvalid);
}

TEST_F(ServerNode, AClockFarOffIsNamedWithItsOffset) {
  v1::RenewNodeRequest request;
  *request.mutable_hello() = lab_.hello();
  request.mutable_hello()->set_time_ms(request.hello().time_ms() + std::int64_t{47} * 3'600'000);
  EXPECT_TRUE(lab_.call<v1::Nodes>(&v1::Nodes::Stub::RenewNode, request, node_.token).ok());
  request.mutable_hello()->set_time_ms(request.hello().time_ms() + std::int64_t{24} * 3'600'000);
  const auto reply = lab_.call<v1::Nodes>(&v1::Nodes::Stub::RenewNode, request, node_.token);
  ASSERT_FALSE(reply.ok());
  EXPECT_THAT(reply.error().message, HasSubstr("2 d 2"));
}

TEST_F(ServerNode, ARemovedNodeIsToldSoWhateverItAsks) {
  Watch watch(lab_, node_.token, 0);
  ASSERT_TRUE(watch.stands());
  v1::RemoveNodeRequest remove;
  remove.set_request_id(lab_.request_id());
  remove.set_node("n1");
  const std::string bob = lab_.add_user("bob");
  EXPECT_EQ(lab_.call<v1::Nodes>(&v1::Nodes::Stub::RemoveNode, remove, bob).error().code, Code::kNotFound);
  EXPECT_EQ(lab_.call<v1::Nodes>(&v1::Nodes::Stub::RemoveNode, remove, node_.token).error().code, Code::kDenied);
  const auto removed = lab_.call<v1::Nodes>(&v1::Nodes::Stub::RemoveNode, remove, alice_);
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->node_id(), node_.id);
  while (watch.next()) {
  }
  EXPECT_EQ(watch.finish().code, Code::kUnreachable) << "it is to ask again";
  Watch again(lab_, node_.token, 0);
  EXPECT_FALSE(again.next());
  const Error reason = again.finish();
  EXPECT_EQ(reason.code, Code::kDenied);
  EXPECT_THAT(reason.message, HasSubstr("was removed"));
  EXPECT_EQ(ack(node_, 1).error().code, Code::kDenied);
}

TEST_F(ServerNode, ARevokedCredentialIsNotTakenForARemovedNode) {
  v1::ListTokensRequest list;
  const auto tokens = lab_.call<v1::Accounts>(&v1::Accounts::Stub::ListTokens, list, alice_);
  ASSERT_TRUE(tokens.ok());
  for (const v1::TokenInfo& token : tokens->tokens()) {
    if (token.kind() != "node") continue;
    v1::RevokeTokenRequest revoke;
    revoke.set_request_id(lab_.request_id());
    revoke.set_token_id(token.token_id());
    ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::RevokeToken, revoke, alice_).ok());
  }
  const auto refused = ack(node_, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnauthenticated);
  EXPECT_THAT(refused.error().message, HasSubstr("node reenroll"));
}

TEST_F(ServerNode, ARenamedNodeHearsItsNameAtOnceAndAtTheNextGreeting) {
  Watch watch(lab_, node_.token, 0);
  ASSERT_TRUE(watch.stands());
  v1::RenameNodeRequest rename;
  rename.set_request_id(lab_.request_id());
  rename.set_node("n1");
  rename.set_name("bench");
  const auto renamed = lab_.call<v1::Nodes>(&v1::Nodes::Stub::RenameNode, rename, alice_);
  ASSERT_TRUE(renamed.ok()) << renamed.error().message;
  EXPECT_EQ(watch.next_event()->node_name(), "bench");
  Watch later(lab_, node_.token, 0, "n1");
  ASSERT_TRUE(later.next()->has_hello());
  EXPECT_EQ(later.next()->node_name(), "bench");
}

TEST_F(ServerNode, TheStreamGreetsFirstAndTheNodeIsOnline) {
  Watch watch(lab_, node_.token, 0);
  const auto first = watch.next();
  ASSERT_TRUE(first && first->has_hello());
  EXPECT_FALSE(first->hello().program_version().empty());
  v1::GetNodeRequest request;
  request.set_node("n1");
  const auto node = lab_.call<v1::Nodes>(&v1::Nodes::Stub::GetNode, request, alice_);
  ASSERT_TRUE(node.ok());
  EXPECT_TRUE(node->node().online());
}

TEST_F(ServerNode, TasksComeInOrderAndAgainFromTheCursorWithoutGap) {
  for (int i = 0; i < 10; ++i) create_task("n1", alice_);
  {
    Watch watch(lab_, node_.token, 0);
    for (std::uint64_t sequence = 1; sequence <= 6; ++sequence) EXPECT_EQ(watch.next_sequence(), sequence);
    EXPECT_TRUE(ack(node_, 4).ok());
    watch.cut();
  }
  for (int i = 0; i < 3; ++i) create_task("n1", alice_);
  Watch again(lab_, node_.token, 4);
  for (std::uint64_t sequence = 5; sequence <= 13; ++sequence) EXPECT_EQ(again.next_sequence(), sequence);
  create_task("n1", alice_);
  EXPECT_EQ(again.next_sequence(), 14u) << "a task made while the stream is open is pushed";
}

TEST_F(ServerNode, ManyMoreTasksThanTheQueueHoldsAllArrive) {
  constexpr std::uint64_t kTasks = 700;  // the stream's queue holds 256
  for (std::uint64_t i = 0; i < kTasks; ++i) create_task("n1", alice_);
  Watch watch(lab_, node_.token, 0);
  for (std::uint64_t sequence = 1; sequence <= kTasks; ++sequence) ASSERT_EQ(watch.next_sequence(), sequence);
}

TEST_F(ServerNode, TasksSurviveARestartOfTheServer) {
  create_task("n1", alice_);
  create_task("n1", alice_);
  lab_.restart();
  Watch watch(lab_, node_.token, 1);
  EXPECT_EQ(watch.next_sequence(), 2u);
}

TEST_F(ServerNode, AfterARestoreTheNodeGetsWhatIsNewAndWhatHasNotEnded) {
  const std::string backup = lab_.data_dir() + "-backup";
  const std::string open = create_task("n1", alice_);
  ASSERT_TRUE(tracker::store::backup(lab_.data_dir(), backup).ok());
  create_task("n1", alice_);
  create_task("n1", alice_);
  std::uint64_t cursor = 3;
  ASSERT_TRUE(ack(node_, cursor).ok());
  for (int round = 1; round <= 2; ++round) {  // the same file twice: the second list must not go back to the first
    lab_.stop();
    const Status restored = tracker::store::restore(lab_.data_dir(), backup, SystemClock().wall());
    ASSERT_TRUE(restored.ok()) << restored.error().message;
    lab_.restart();
    const std::string fresh = create_task("n1", alice_);
    Watch watch(lab_, node_.token, cursor);
    for (const std::string& expected : {open, fresh}) {
      const auto event = watch.next_event();
      ASSERT_TRUE(event && event->has_task()) << round;
      EXPECT_EQ(event->task().task_id(), expected) << round;
      EXPECT_GT(event->task().sequence(), cursor) << round;
      cursor = event->task().sequence();
      EXPECT_TRUE(ack(node_, cursor).ok());
    }
  }
}

TEST_F(ServerNode, ANewStreamDisplacesTheOld) {
  Watch old(lab_, node_.token, 0);
  ASSERT_TRUE(old.stands());
  Watch fresh(lab_, node_.token, 0);
  ASSERT_TRUE(fresh.stands());
  EXPECT_FALSE(old.next_event());
  EXPECT_EQ(old.finish().code, Code::kConflict);
  create_task("n1", alice_);
  EXPECT_EQ(fresh.next_sequence(), 1u);
}

TEST_F(ServerNode, ATaskIsSeenThroughByWhoAsked) {
  const std::string task = create_task("n1", alice_);
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::seconds(60), alice_);
  v1::GetTaskRequest request;
  request.set_task_id(task);
  const auto stub = v1::Tasks::NewStub(lab_.channel());
  const auto reader = stub->WatchTask(&context, request);
  v1::GetTaskReply state;
  ASSERT_TRUE(reader->Read(&state));
  EXPECT_EQ(state.task().state(), "queued");
  ASSERT_TRUE(ack(node_, 1).ok());
  ASSERT_TRUE(reader->Read(&state));
  EXPECT_EQ(state.task().state(), "delivered");
  ASSERT_TRUE(report(node_, task, "running", 40).ok());
  ASSERT_TRUE(reader->Read(&state));
  EXPECT_EQ(state.task().done(), 40u);
  ASSERT_TRUE(report(node_, task, "done", 100).ok());
  ASSERT_TRUE(reader->Read(&state));
  EXPECT_EQ(state.task().state(), "done");
  EXPECT_FALSE(reader->Read(&state));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ServerNode, ListsAreWatchedAsTheyChange) {
  const auto stub = v1::Tasks::NewStub(lab_.channel());
  const auto nodes = v1::Nodes::NewStub(lab_.channel());
  grpc::ClientContext task_context, node_context;
  rpc::prepare(task_context, std::chrono::seconds(60), alice_);
  rpc::prepare(node_context, std::chrono::seconds(60), alice_);
  const auto tasks = stub->WatchTasks(&task_context, v1::ListTasksRequest());
  const auto own = nodes->WatchNodes(&node_context, v1::ListNodesRequest());
  v1::ListTasksReply list;
  ASSERT_TRUE(tasks->Read(&list));
  EXPECT_EQ(list.tasks_size(), 0);
  v1::ListNodesReply shown;
  ASSERT_TRUE(own->Read(&shown));
  ASSERT_GE(shown.nodes_size(), 1);
  EXPECT_FALSE(shown.nodes(0).has_roots()) << "nobody told";

  const std::string task = create_task("n1", alice_);
  ASSERT_TRUE(tasks->Read(&list));
  ASSERT_EQ(list.tasks_size(), 1);
  EXPECT_EQ(list.tasks(0).task_id(), task);
  v1::UpdateEndpointsRequest update;
  update.mutable_roots()->add_downloads("in");
  ASSERT_TRUE(lab_.call<v1::Swarms>(&v1::Swarms::Stub::UpdateEndpoints, update, node_.token).ok());
  const auto has_root = [&] {
    return std::any_of(shown.nodes().begin(), shown.nodes().end(), [](const auto& node) {
      return node.roots().downloads_size() == 1 && node.roots().downloads(0) == "in";
    });
  };
  while (!has_root()) ASSERT_TRUE(own->Read(&shown));
  task_context.TryCancel();
  node_context.TryCancel();
}

TEST_F(ServerNode, AWatchedListOfAnothersNodeIsRefused) {
  const std::string bob = lab_.add_user("bob");
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::seconds(60), bob);
  v1::ListTasksRequest request;
  request.set_node(node_.id);
  const auto stub = v1::Tasks::NewStub(lab_.channel());
  const auto reader = stub->WatchTasks(&context, request);
  v1::ListTasksReply list;
  EXPECT_FALSE(reader->Read(&list));
  EXPECT_EQ(rpc::from_grpc(reader->Finish()).code, Code::kNotFound);
}

TEST_F(ServerNode, ACancelledTaskReachesTheNode) {
  const std::string task = create_task("n1", alice_);
  Watch watch(lab_, node_.token, 0);
  ASSERT_EQ(watch.next_sequence(), 1u);
  ASSERT_TRUE(ack(node_, 1).ok());
  v1::CancelTaskRequest cancel;
  cancel.set_request_id(lab_.request_id());
  cancel.set_task_id(task);
  ASSERT_TRUE(lab_.call<v1::Tasks>(&v1::Tasks::Stub::CancelTask, cancel, alice_).ok());
  const auto event = watch.next_event();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->task_cancelled(), task);
  const auto reply = report(node_, task, "running", 1);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(reply->cancel_requested());
}

TEST_F(ServerNode, AnothersNodeAndTasksDoNotExist) {
  const std::string bob = lab_.add_user("bob");
  const std::string task = create_task("n1", alice_);
  v1::CreateTaskRequest create;
  create.set_request_id(lab_.request_id());
  create.set_node(node_.id);
  create.mutable_work()->mutable_list_folder()->set_root_path("data:");
  EXPECT_EQ(lab_.call<v1::Tasks>(&v1::Tasks::Stub::CreateTask, create, bob).error().code, Code::kNotFound);
  v1::GetTaskRequest get;
  get.set_task_id(task);
  EXPECT_EQ(lab_.call<v1::Tasks>(&v1::Tasks::Stub::GetTask, get, bob).error().code, Code::kNotFound);
}

TEST_F(ServerNode, PeersHearOfEachOther) {
  const std::string content = lab_.publish(alice_, "data", v1::Access::PUBLIC);
  const LabNode other = lab_.enroll(lab_.add_user("bob"), "n2");
  Watch watch(lab_, node_.token, 0);
  ASSERT_TRUE(watch.stands());
  ASSERT_TRUE(announce(node_, content, v1::AnnounceRequest::SEEDING, 5).ok());
  const auto peers = announce(other, content, v1::AnnounceRequest::FETCHING, 0);
  ASSERT_TRUE(peers.ok()) << peers.error().message;
  ASSERT_EQ(peers->peers_size(), 1);
  EXPECT_EQ(peers->peers(0).node_id(), node_.id);
  const auto key = crypto::EcKey::from_pem(node_.key_pem);
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(peers->peers(0).key_sha256(), as_chars(crypto::sha256(as_bytes(key->public_der()))));
  EXPECT_TRUE(peers->peers(0).complete());
  EXPECT_GT(peers->next_ms(), 0u);
  const auto event = watch.next_event();
  ASSERT_TRUE(event && event->has_peer_changed());
  EXPECT_EQ(event->peer_changed().peer().node_id(), other.id);
  v1::ListReplicasRequest list;
  list.set_content_id(content);
  const auto replicas = lab_.call<v1::Contents>(&v1::Contents::Stub::ListReplicas, list, alice_);
  ASSERT_TRUE(replicas.ok());
  EXPECT_GE(replicas->replicas_size(), 1);
}

TEST_F(ServerNode, NodesAreToldWhoMayHaveRestrictedContentAndWhenThatChanges) {
  const std::string content = lab_.publish(alice_, "secret", v1::Access::PRIVATE);
  const auto announced = announce(node_, content, v1::AnnounceRequest::SEEDING, 5);
  ASSERT_TRUE(announced.ok()) << announced.error().message;
  EXPECT_EQ(announced->generation(), 1u);
  Watch watch(lab_, node_.token, 0);
  const auto next = [&](v1::NodeEvent::EventCase kind) {
    for (auto event = watch.next(); event; event = watch.next()) {
      if (event->event_case() == kind) return *event;
    }
    ADD_FAILURE() << "the stream ended";
    return v1::NodeEvent();
  };
  const v1::Audience first = next(v1::NodeEvent::kAudience).audience();
  EXPECT_EQ(first.audience_id(), announced->audience_id());
  ASSERT_EQ(first.members_size(), 1);
  EXPECT_EQ(first.members(0).node_id(), node_.id);
  const auto key = crypto::EcKey::from_pem(node_.key_pem);
  EXPECT_EQ(first.members(0).key_sha256(), as_chars(crypto::sha256(as_bytes(key->public_der()))));
  const v1::AudiencesConfirmed confirmed = next(v1::NodeEvent::kAudiencesConfirmed).audiences_confirmed();
  ASSERT_EQ(confirmed.audiences_size(), 1);
  EXPECT_EQ(confirmed.audiences(0).version(), first.version());

  const LabNode second = lab_.enroll(alice_, "n2");
  const v1::Audience grown = next(v1::NodeEvent::kAudience).audience();
  EXPECT_EQ(grown.audience_id(), first.audience_id()) << "the same, of a newer version";
  EXPECT_GT(grown.version(), first.version());
  EXPECT_EQ(grown.members_size(), 2);

  v1::SetAccessRequest open;
  open.set_request_id(lab_.request_id());
  open.set_content_id(content);
  open.mutable_access()->set_level(v1::Access::PUBLIC);
  ASSERT_TRUE(lab_.call<v1::Contents>(&v1::Contents::Stub::SetAccess, open, alice_).ok());
  EXPECT_EQ(next(v1::NodeEvent::kContentChanged).content_changed().content_id(), content);
  const auto moved = announce(node_, content, v1::AnnounceRequest::SEEDING, 5);
  EXPECT_EQ(moved->generation(), 0u);
  EXPECT_EQ(moved->audience_id(), "");
}

TEST_F(ServerNode, OfPrivateContentNobodyElseGetsPeers) {
  const std::string content = lab_.publish(alice_, "secret", v1::Access::PRIVATE);
  const LabNode other = lab_.enroll(lab_.add_user("bob"), "n2");
  EXPECT_EQ(announce(other, content, v1::AnnounceRequest::FETCHING, 0).error().code, Code::kNotFound);
}

TEST_F(ServerNode, TheServerDialsBack) {
  // One port listens, the other is bound, too, but takes no connections.
  const auto bound = [](bool listening) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
    if (listening && ::listen(socket.get(), 4) != 0) ADD_FAILURE() << "listen";
    EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    return std::pair(std::move(socket), static_cast<std::uint32_t>(ntohs(address.sin_port)));
  };
  const auto [open, open_port] = bound(true);
  const auto [closed, closed_port] = bound(false);
  v1::UpdateEndpointsRequest request;
  for (const std::uint32_t port : {open_port, closed_port}) request.add_endpoints()->set_port(port);
  const auto reply = lab_.call<v1::Swarms>(&v1::Swarms::Stub::UpdateEndpoints, request, node_.token);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_EQ(reply->observed_address(), "127.0.0.1");
  std::map<std::uint32_t, v1::Reachability> verdicts;
  for (const auto& endpoint : reply->endpoints()) {
    EXPECT_EQ(endpoint.endpoint().address(), "127.0.0.1");
    verdicts[endpoint.endpoint().port()] = endpoint.reachability();
  }
  EXPECT_EQ(verdicts[open_port], v1::REACHABLE);
  EXPECT_EQ(verdicts[closed_port], v1::UNREACHABLE);
}

TEST_F(ServerNode, AStreamEndsWhenItsCredentialDoes) {
  Watch watch(lab_, node_.token, 0);
  ASSERT_TRUE(watch.next());
  v1::DisableUserRequest request;
  request.set_request_id(lab_.request_id());
  request.set_user("alice");
  ASSERT_TRUE(lab_.call<v1::Accounts>(&v1::Accounts::Stub::DisableUser, request, lab_.admin_token()).ok());
  Watch again(lab_, node_.token, 0);
  EXPECT_FALSE(again.next());
  EXPECT_EQ(again.finish().code, Code::kUnauthenticated);
}

TEST_F(ServerNode, StoppingTheServerEndsStreams) {
  Watch watch(lab_, node_.token, 0);
  ASSERT_TRUE(watch.next());
  lab_.stop();
  EXPECT_FALSE(watch.next_event());
  EXPECT_EQ(watch.finish().code, Code::kUnreachable);
}

}  // namespace
}  // namespace gridtorrent::test
