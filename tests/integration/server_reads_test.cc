// Reads that scan, behind the door: they have threads of their own, turns by user and a deadline, and hold up nothing
// else. What is bounded here is order, not time: every wait is for an event.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/rpc/channel.h"
#include "base/rpc/door.h"
#include "base/rpc/hello.h"
#include "base/rpc/server.h"
#include "base/rpc/unix_socket.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tests/support/fake_authenticator.h"
#include "tests/support/server_world.h"
#include "tracker/rpc/tasks_rpc.h"

namespace gridtorrent::rpc {
namespace {

using ::testing::HasSubstr;
using testing_support::FakeAuthenticator;
using testing_support::ServerWorld;

/// A search that does what a test wants, in the lane of reads.
class ScanningContents final : public v1::Contents::CallbackService {
 public:
  explicit ScanningContents(Door& door) : door_(door) {}
  std::function<Status(const Call&)> on_search;

  grpc::ServerUnaryReactor* Search(grpc::CallbackServerContext* context, const v1::SearchRequest* request,
                                   v1::SearchReply* reply) override {
    static constexpr Method kMethod{"Scanning/Search", Need::scope(0), Lane::kReads, reads()};
    return door_.unary(context, kMethod, request, reply,
                       [this](const Call& call, const auto&, auto&) { return on_search(call); });
  }
  /// A quick read.
  grpc::ServerUnaryReactor* GetContent(grpc::CallbackServerContext* context, const v1::GetContentRequest* request,
                                       v1::GetContentReply* reply) override {
    static constexpr Method kMethod{"Scanning/GetContent", Need::scope(0), Lane::kNormal, reads()};
    return door_.unary(context, kMethod, request, reply, [](const Call&, const auto&, auto&) { return Status(); });
  }
  /// A write, three at once and one a second.
  grpc::ServerUnaryReactor* Unpublish(grpc::CallbackServerContext* context, const v1::UnpublishRequest* request,
                                      v1::UnpublishReply* reply) override {
    static constexpr Method kMethod{
        "Scanning/Unpublish", Need::scope(0), Lane::kNormal, {.burst = 3, .own_rate = "writes-per-hour"}};
    return door_.unary(context, kMethod, request, reply, [](const Call&, const auto&, auto&) { return Status(); });
  }

 private:
  Door& door_;
};

struct SetRates final : OwnRates {
  std::map<UserId, std::uint64_t> rates;
  Result<std::optional<std::uint64_t>> calls_per_hour(const UserId& user, std::string_view) override {
    const auto found = rates.find(user);
    return found == rates.end() ? std::nullopt : std::optional(found->second);
  }
};

class ServerReads : public ::testing::Test {
 protected:
  static constexpr std::size_t kWaitingOfAUser = 2;

  ServerReads() {
    auto listener = UnixListener::open(folder_.path() + "/door.sock");
    EXPECT_TRUE(listener.ok());
    listener_ = std::move(*listener);
    server_ = start_local_server({&tasks_rpc_, &contents_});
    EXPECT_TRUE(listener_->serve(*server_).ok());
    channel_ = *connect_unix(listener_->path());
    stub_ = v1::Contents::NewStub(channel_);
    tasks_ = v1::Tasks::NewStub(channel_);
    for (const char* name : {"alice", "bob", "carol"}) tokens_.add(name, world_.user(name));
    const ccm::Actor alice = world_.user("alice");
    tokens_.add("node", world_.node(alice, "n1"));
  }
  ~ServerReads() override {
    go();
    for (auto& search : searches_) search.wait();
    listener_->stop();
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    ticker_.stop();
    executor_.stop();
    reads_.stop();
  }

  template <class Request, class Reply, class Stub>
  Result<Reply> ask(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, const std::string& token) {
    return call<Stub, Request, Reply>(stub, method, request, token);
  }
  Result<v1::SearchReply> search(const std::string& token) {
    return ask(*stub_, &v1::Contents::Stub::Search, v1::SearchRequest(), token);
  }
  Result<v1::UnpublishReply> write(const std::string& token) {
    return ask(*stub_, &v1::Contents::Stub::Unpublish, v1::UnpublishRequest(), token);
  }
  void search_in_background(const std::string& token) {
    searches_.push_back(std::async(std::launch::async, [this, token] { (void)search(token); }));
  }
  /// Searches block until go(), and say who runs.
  void block_searches() {
    contents_.on_search = [this](const Call& call) -> Status {
      {
        const std::lock_guard lock(mutex_);
        order_.push_back(call.principal.user_name);
      }
      gate_.wait();
      return {};
    };
  }
  void go() {
    if (!std::exchange(open_, true)) go_.set_value();
  }
  std::vector<std::string> began() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  void wait_until_began(std::size_t count) {
    while (began().size() < count) std::this_thread::yield();
  }
  void wait_until_queued(std::size_t count) {
    while (reads_.queued() < count) std::this_thread::yield();
  }

  sql::TempFolder folder_;
  ServerWorld world_{"sqlite"};
  FakeAuthenticator tokens_;
  metrics::Registry metrics_;
  Executor executor_{"rpc-work", 2, 16};
  Ticker ticker_{world_.clock, std::chrono::hours(1)};
  FairExecutor reads_{"rpc-read", 2, {.waiting_of_key = kWaitingOfAUser, .waiting = 3, .running_of_key = 1}};
  SetRates own_rates_;
  Door door_{{tokens_, executor_, executor_, ticker_, world_.clock, world_.rng, metrics_, reads_, &own_rates_}};
  tracker::rpc::TasksRpc tasks_rpc_{
      {door_, world_.tasks, world_.nodes, world_.hub, world_.task_hub, world_.audiences, world_.clock}};
  ScanningContents contents_{door_};
  std::unique_ptr<UnixListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Contents::Stub> stub_;
  std::unique_ptr<v1::Tasks::Stub> tasks_;

  std::promise<void> go_;
  const std::shared_future<void> gate_ = go_.get_future().share();
  bool open_ = false;
  std::mutex mutex_;
  std::vector<std::string> order_;
  std::vector<std::future<void>> searches_;
};

TEST_F(ServerReads, NothingElseWaitsWhileSearchesHoldAllTheirThreads) {
  block_searches();
  search_in_background("alice");
  search_in_background("bob");
  wait_until_began(2);
  EXPECT_TRUE(ask(*stub_, &v1::Contents::Stub::GetContent, v1::GetContentRequest(), "carol").ok());
  v1::CreateTaskRequest task;
  task.set_request_id(world_.request_id());
  task.set_node("n1");
  task.mutable_work()->mutable_list_folder();
  EXPECT_TRUE(ask(*tasks_, &v1::Tasks::Stub::CreateTask, task, "alice").ok()) << "not even for who searches";
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "node");
  v1::WatchNodeRequest watch;
  *watch.mutable_hello() = make_hello(world_.clock.wall());
  const auto stream = tasks_->WatchNode(&context, watch);
  v1::NodeEvent event;
  EXPECT_TRUE(stream->Read(&event) && event.has_hello());
  while (stream->Read(&event) && event.has_audiences_confirmed()) {
  }
  EXPECT_TRUE(event.has_task());
  EXPECT_EQ(began().size(), 2u) << "the searches run all the while";
  context.TryCancel();
  (void)stream->Finish();
}

TEST_F(ServerReads, OneUsersSearchesLeaveAThreadToOthers) {
  block_searches();
  search_in_background("alice");
  wait_until_began(1);
  for (std::size_t i = 0; i < kWaitingOfAUser; ++i) search_in_background("alice");
  wait_until_queued(kWaitingOfAUser);
  search_in_background("bob");
  wait_until_began(2);
  EXPECT_THAT(began(), ::testing::ElementsAre("alice", "bob"));
}

TEST_F(ServerReads, WhoAsksForTooMuchIsRefusedAndOthersAreNot) {
  block_searches();
  search_in_background("alice");
  wait_until_began(1);
  for (std::size_t i = 0; i < kWaitingOfAUser; ++i) search_in_background("alice");
  wait_until_queued(kWaitingOfAUser);
  const auto refused = search("alice");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr("too many of your searches"));
  search_in_background("bob");
  wait_until_began(2);
  search_in_background("bob");
  wait_until_queued(kWaitingOfAUser + 1);
  const auto full = search("carol");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kBusy);
}

/// A query that does not end by itself; `began` is told once it runs.
Status search_for_ever(tracker::store::SqliteStore& store, std::atomic<bool>& began) {
  began = true;
  return store.database().read([](sql::Transaction& tx) {
    return tx.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
  });
}

TEST_F(ServerReads, AQueryIsInterruptedAtItsDeadlineAndSaysSo) {
  std::atomic<bool> began = false;
  contents_.on_search = [&](const Call&) { return search_for_ever(world_.store.sqlite(), began); };
  auto reply = std::async(std::launch::async, [&] { return search("alice"); });
  while (!began) std::this_thread::yield();
  world_.clock.advance(Door::kMaxReadTime + std::chrono::seconds(1));
  const auto ended = reply.get();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, Code::kTimeout);
  EXPECT_THAT(ended.error().message, HasSubstr("after 10 s: ask for less"));
}

TEST_F(ServerReads, AQueryEndsWhenItsCallerGoesAway) {
  std::atomic<bool> began = false;
  std::promise<Status> end;
  contents_.on_search = [&](const Call&) {
    const Status status = search_for_ever(world_.store.sqlite(), began);
    end.set_value(status);
    return status;
  };
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  v1::SearchReply reply;
  auto asked = std::async(std::launch::async, [&] { return stub_->Search(&context, v1::SearchRequest(), &reply); });
  while (!began) std::this_thread::yield();
  context.TryCancel();
  EXPECT_EQ(end.get_future().get().error().code, Code::kCancelled);
  EXPECT_FALSE(asked.get().ok());
}

TEST_F(ServerReads, AWriteHasItsDeclaredRateForEachAccount) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(write("alice").ok());
  const auto refused = write("alice");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_THAT(refused.error().message, HasSubstr("Unpublish: too often; try again in 1.0 s"));
  EXPECT_TRUE(write("bob").ok());
  world_.clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(write("alice").ok());
  EXPECT_FALSE(write("alice").ok());
}

TEST_F(ServerReads, ARateThatIsSetForAnAccountTakesThePlaceOfTheDeclaredOne) {
  own_rates_.rates[world_.user("alice").user] = 36'000;
  own_rates_.rates[world_.user("bob").user] = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(write("alice").ok());
  EXPECT_FALSE(write("alice").ok());
  world_.clock.advance(std::chrono::milliseconds(100));
  EXPECT_TRUE(write("alice").ok()) << "ten a second";
  EXPECT_EQ(write("bob").error().code, Code::kExhausted) << "no waiting helps";
}

}  // namespace
}  // namespace gridtorrent::rpc
