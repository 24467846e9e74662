// The door and the streams behind it, with a clock that stands still: what happens to slow, silent, greedy and
// disowned callers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <thread>

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

/// Handlers that misbehave in every way a handler can.
class OddContents final : public v1::Contents::CallbackService {
 public:
  explicit OddContents(Door& door) : door_(door) {}

  std::function<Status(const Call&)> on_get;
  std::size_t chunk_bytes = kChunkBytes;
  std::atomic<std::uint64_t> offered = 0;
  std::atomic<bool> full = false;
  std::promise<void> silent;  ///< kept once a stream that says nothing is open

  grpc::ServerUnaryReactor* GetContent(grpc::CallbackServerContext* context, const v1::GetContentRequest* request,
                                       v1::GetContentReply* reply) override {
    static constexpr Method kMethod{"Odd/GetContent", Need::scope(0), Lane::kNormal, reads()};
    return door_.unary(context, kMethod, request, reply,
                       [this](const Call& call, const auto&, auto&) { return on_get(call); });
  }
  /// As Login: asks for no token, and the handler says whether what is shown instead is good.
  grpc::ServerUnaryReactor* Unpublish(grpc::CallbackServerContext* context, const v1::UnpublishRequest* request,
                                      v1::UnpublishReply* reply) override {
    static constexpr Method kMethod{"Odd/Unpublish", Need::nobody(), Lane::kNormal, reads()};
    return door_.unary(context, kMethod, request, reply,
                       [this](const Call& call, const auto&, auto&) { return on_get(call); });
  }
  /// Says nothing.
  grpc::ServerWriteReactor<v1::MetadataChunk>* GetChecksums(grpc::CallbackServerContext* context,
                                                            const v1::GetMetadataRequest*) override {
    static constexpr Method kMethod{"Odd/GetChecksums", Need::scope(0), Lane::kNormal, reads()};
    using Stream = EventStream<v1::MetadataChunk>;
    return door_.events<v1::MetadataChunk>(context, kMethod,
                                           [this](const Call&, const std::shared_ptr<Stream>&) -> Status {
                                             silent.set_value();
                                             return {};
                                           });
  }
  /// Fills the queue with more than a connection takes in while the client does not read.
  grpc::ServerWriteReactor<v1::MetadataChunk>* GetMetadata(grpc::CallbackServerContext* context,
                                                           const v1::GetMetadataRequest*) override {
    static constexpr Method kMethod{"Odd/GetMetadata", Need::scope(0), Lane::kNormal, reads()};
    using Stream = EventStream<v1::MetadataChunk>;
    return door_.events<v1::MetadataChunk>(context, kMethod,
                                           [this](const Call&, const std::shared_ptr<Stream>& stream) -> Status {
                                             v1::MetadataChunk chunk;
                                             chunk.set_data(std::string(chunk_bytes, 'x'));
                                             while (stream->offer(chunk)) ++offered;
                                             full = true;
                                             return {};
                                           });
  }
  grpc::ServerReadReactor<v1::FinishPublishChunk>* FinishPublish(grpc::CallbackServerContext* context,
                                                                 v1::FinishPublishReply* reply) override {
    static constexpr Method kMethod{"Odd/FinishPublish", Need::scope(0), Lane::kNormal, reads()};
    struct Sink final : UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply> {
      Sink(std::promise<void>& arrived, const std::shared_future<void>& may_end) : first(arrived), ended(may_end) {}
      Status accept(const v1::FinishPublishChunk&) override {
        if (!std::exchange(told, true)) first.set_value();
        return {};
      }
      Status finish(v1::FinishPublishReply&) override {
        if (ended.valid()) ended.wait();
        return {};
      }
      std::promise<void>& first;
      const std::shared_future<void> ended;
      bool told = false;
    };
    return door_.upload<v1::FinishPublishChunk>(
        context, kMethod, reply,
        [this](const Call&) -> Result<std::unique_ptr<UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>> {
          return std::unique_ptr<UploadSink<v1::FinishPublishChunk, v1::FinishPublishReply>>(
              std::make_unique<Sink>(first_chunk, may_end));
        });
  }
  std::promise<void> first_chunk;
  std::shared_future<void> may_end;  ///< what ends an upload waits for it, where there is one

 private:
  Door& door_;
};

class ServerDoor : public ::testing::Test {
 protected:
  ServerDoor() {
    auto listener = UnixListener::open(folder_.path() + "/door.sock");
    EXPECT_TRUE(listener.ok());
    listener_ = std::move(*listener);
    server_ = start_local_server({&tasks_rpc_, &odd_});
    EXPECT_TRUE(listener_->serve(*server_).ok());
    channel_ = *connect_unix(listener_->path());
    tasks_ = v1::Tasks::NewStub(channel_);
    tokens_.add("alice", alice_);
    tokens_.add("node", node_);
  }
  ~ServerDoor() override {
    listener_->stop();
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    ticker_.stop();
    executor_.stop();
    reads_.stop();
    documents_.stop();
  }

  Result<v1::GetContentReply> get(const std::string& token = "alice") {
    const auto stub = v1::Contents::NewStub(channel_);
    return call<v1::Contents::Stub, v1::GetContentRequest, v1::GetContentReply>(*stub, &v1::Contents::Stub::GetContent,
                                                                                v1::GetContentRequest(), token);
  }

  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::NodeEvent>> reader;
  };
  std::unique_ptr<Watch> watch(const std::string& token) {
    auto open = std::make_unique<Watch>();
    prepare(open->context, std::chrono::seconds(20), token);
    v1::WatchNodeRequest request;
    *request.mutable_hello() = make_hello(world_.clock.wall());
    open->reader = tasks_->WatchNode(&open->context, request);
    return open;
  }
  /// The next event that is not about lists of who may have what.
  static bool next(Watch& open, v1::NodeEvent& event) {
    while (open.reader->Read(&event)) {
      if (!event.has_audience() && !event.has_audiences_confirmed()) return true;
    }
    return false;
  }
  /// Opens a node's stream and reads until it is settled: greeted, and a task sent by the strand, which starts last.
  std::unique_ptr<Watch> settled_watch() {
    EXPECT_TRUE(world_.tasks.create(alice_, world_.request_id(), "n1", tracker::ListFolderTask{"data:"}).ok());
    auto open = watch("node");
    v1::NodeEvent event;
    EXPECT_TRUE(open->reader->Read(&event) && event.has_hello());
    EXPECT_TRUE(next(*open, event) && event.has_task());
    return open;
  }
  /// Lets so much time pass, as the ticker sees it.
  void pass(std::chrono::seconds time) {
    world_.clock.advance(time);
    ticker_.tick_now();
  }

  sql::TempFolder folder_;
  ServerWorld world_{"memory"};
  const ccm::Actor alice_ = world_.user("alice");
  const ccm::Actor node_ = world_.node(alice_, "n1");
  FakeAuthenticator tokens_;
  metrics::Registry metrics_;
  Executor executor_{"rpc-work", 2, 4};
  Ticker ticker_{world_.clock, std::chrono::hours(1)};  // ticks by hand
  FairExecutor reads_{"rpc-read", 2, {.waiting_of_key = 2, .waiting = 4, .running_of_key = 1}};
  KnownConnections known_;
  FairExecutor documents_{"rpc-document", 1, {.waiting_of_key = 4, .waiting = 4, .running_of_key = 1}};
  Door door_{{tokens_, executor_, executor_, ticker_, world_.clock, world_.rng, metrics_, reads_, nullptr, &known_,
              &documents_}};
  tracker::rpc::TasksRpc tasks_rpc_{
      {door_, world_.tasks, world_.nodes, world_.hub, world_.task_hub, world_.audiences, world_.clock}};
  OddContents odd_{door_};
  std::unique_ptr<UnixListener> listener_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Tasks::Stub> tasks_;
};

TEST_F(ServerDoor, KnowsAConnectionByAGoodTokenOrAGoodLoginAlone) {
  int known = 0;
  std::shared_ptr<void> entry;
  const auto stranger = [&] {
    entry.reset();
    entry = known_.add(0, [&] { ++known; });  // the number of all that come by a Unix socket
  };
  const auto log_in = [&] {
    const auto stub = v1::Contents::NewStub(channel_);
    return call<v1::Contents::Stub, v1::UnpublishRequest, v1::UnpublishReply>(*stub, &v1::Contents::Stub::Unpublish,
                                                                              v1::UnpublishRequest(), "");
  };
  stranger();
  odd_.on_get = [](const Call&) -> Status { return Error{Code::kUnauthenticated, "wrong password"}; };
  EXPECT_FALSE(log_in().ok());
  EXPECT_FALSE(get("a wrong token").ok());
  EXPECT_EQ(known, 0);
  odd_.on_get = [](const Call&) -> Status { return {}; };
  EXPECT_TRUE(log_in().ok());
  EXPECT_EQ(known, 1);
  EXPECT_TRUE(log_in().ok());
  EXPECT_EQ(known, 1) << "it was told already";
  stranger();
  EXPECT_TRUE(get().ok());
  EXPECT_EQ(known, 2);
}

TEST_F(ServerDoor, HandlersRunOnOurThreadsAndNotOnThoseOfGrpc) {
  std::promise<std::string> name;
  odd_.on_get = [&](const Call&) -> Status {
    std::array<char, 32> buffer{};
    pthread_getname_np(pthread_self(), buffer.data(), buffer.size());
    name.set_value(buffer.data());
    return {};
  };
  ASSERT_TRUE(get().ok());
  EXPECT_THAT(name.get_future().get(), HasSubstr("rpc-work"));
}

TEST_F(ServerDoor, AnExceptionIsOurFaultAndEndsTheCallAlone) {
  odd_.on_get = [](const Call&) -> Status { throw std::runtime_error("/secret/path"); };
  const auto reply = get();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kInternal);
  EXPECT_THAT(reply.error().message, ::testing::Not(HasSubstr("secret")));
  odd_.on_get = [](const Call&) -> Status { return {}; };
  EXPECT_TRUE(get().ok());
}

TEST_F(ServerDoor, WhatWaitedTooLongIsNotDoneAnyMore) {
  std::promise<void> go;
  const std::shared_future<void> gate = go.get_future().share();
  // Both threads are busy: what comes now waits.
  std::atomic<int> busy = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(executor_.post([gate, &busy] {
      ++busy;
      gate.wait();
    }));
  }
  while (busy < 2) std::this_thread::yield();
  std::atomic<bool> ran = false;
  odd_.on_get = [&](const Call&) -> Status {
    ran = true;
    return {};
  };
  auto waiting = std::async(std::launch::async, [&] { return get(); });
  while (executor_.queued() == 0) std::this_thread::yield();
  world_.clock.advance(Door::kMaxUnaryTime + std::chrono::seconds(1));
  go.set_value();
  const auto reply = waiting.get();
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Code::kTimeout);
  EXPECT_FALSE(ran);
}

TEST_F(ServerDoor, AHeartbeatConfirmsTheListsThatNothingIsRungForAndNoOthers) {
  const ccm::Actor bob = world_.user("bob");
  const ccm::Content own = world_.publish(alice_, "own", ccm::AccessLevel::kPrivate);
  ccm::Content for_bob = own;
  for_bob.id = ContentId::make(world_.clock.wall(), world_.rng);
  for_bob.access = {ccm::AccessLevel::kShared, {}, {"bob"}, false};
  const auto quiet = world_.audiences.follow(node_.node, own);
  const auto rung = world_.audiences.follow(node_.node, for_bob);
  ASSERT_TRUE(quiet.ok() && rung.ok() && world_.audiences.refresh().ok());
  const auto stream = settled_watch();
  const auto confirmed = [&] {
    pass(std::chrono::seconds(30));
    std::set<std::string> ids;
    v1::NodeEvent event;
    while (stream->reader->Read(&event) && !event.has_audiences_confirmed()) {
    }
    for (const v1::AudienceRef& ref : event.audiences_confirmed().audiences()) ids.insert(ref.audience_id());
    return ids;
  };
  world_.audiences.ring(bob.user);
  EXPECT_THAT(confirmed(), ::testing::UnorderedElementsAre((*quiet)->id));
  ASSERT_TRUE(world_.audiences.refresh().ok());
  EXPECT_THAT(confirmed(), ::testing::UnorderedElementsAre((*quiet)->id, (*rung)->id));
}

TEST_F(ServerDoor, AListThatIsRungForGoesToNoNewStreamBeforeItIsRead) {
  const ccm::Actor bob = world_.user("bob");
  ccm::Content for_bob = world_.publish(alice_, "own", ccm::AccessLevel::kPrivate);
  for_bob.access = {ccm::AccessLevel::kShared, {}, {"bob"}, false};
  const auto rung = world_.audiences.follow(node_.node, for_bob);
  ASSERT_TRUE(rung.ok() && world_.audiences.refresh().ok());
  world_.audiences.ring(bob.user);
  const auto stream = settled_watch();
  const auto lists_until_confirmed = [&] {
    pass(std::chrono::seconds(30));
    std::set<std::string> ids;
    v1::NodeEvent event;
    while (stream->reader->Read(&event) && !event.has_audiences_confirmed()) {
      if (event.has_audience()) ids.insert(event.audience().audience_id());
    }
    return ids;
  };
  EXPECT_THAT(lists_until_confirmed(), ::testing::IsEmpty()) << "it would count as confirmed";
  ASSERT_TRUE(world_.audiences.refresh().ok());
  v1::NodeEvent event;  // at once, without another heartbeat
  ASSERT_TRUE(stream->reader->Read(&event) && event.has_audience());
  EXPECT_EQ(event.audience().audience_id(), (*rung)->id);
}

TEST_F(ServerDoor, AFullQueueRefusesAtOnceAndSaysWhenToComeAgain) {
  std::promise<void> go;
  const std::shared_future<void> gate = go.get_future().share();
  int taken = 0;
  // Two run, four wait; how soon the first two begin is not ours to say.
  while (taken < 6) {
    if (executor_.post([gate] { gate.wait(); })) ++taken;
    std::this_thread::yield();
  }
  grpc::ClientContext context;
  v1::GetContentReply reply;
  const auto status = v1::Contents::NewStub(channel_)->GetContent(&context, v1::GetContentRequest(), &reply);
  go.set_value();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(from_grpc(status).code, Code::kBusy);
  const auto pause = context.GetServerTrailingMetadata().find("grpc-retry-pushback-ms");
  ASSERT_NE(pause, context.GetServerTrailingMetadata().end());
  EXPECT_EQ(pause->second, "1000");
}

TEST_F(ServerDoor, AStreamGreetsAgainEach30Seconds) {
  const auto open = settled_watch();
  v1::NodeEvent event;
  pass(std::chrono::seconds(29));
  pass(std::chrono::seconds(1));
  ASSERT_TRUE(next(*open, event) && event.has_hello());
  EXPECT_EQ(event.hello().time_ms(), world_.clock.wall().ms) << "one greeting, and not before its time";
}

TEST_F(ServerDoor, ARevokedTokenEndsItsStreamBeforeTheNextMessage) {
  const auto open = settled_watch();
  v1::NodeEvent event;
  tokens_.remove("node");
  pass(Door::kMessageRecheck);
  ASSERT_TRUE(world_.tasks.create(alice_, world_.request_id(), "n1", tracker::ListFolderTask{"data:"}).ok());
  EXPECT_FALSE(next(*open, event)) << event.ShortDebugString();
  EXPECT_EQ(from_grpc(open->reader->Finish()).code, Code::kUnauthenticated);
}

TEST_F(ServerDoor, ARevokedTokenEndsASilentStreamWithinAMinute) {
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  const auto contents = v1::Contents::NewStub(channel_);
  const auto reader = contents->GetChecksums(&context, v1::GetMetadataRequest());
  odd_.silent.get_future().wait();
  tokens_.remove("alice");
  pass(Door::kTokenRecheck);
  v1::MetadataChunk chunk;
  EXPECT_FALSE(reader->Read(&chunk));
  EXPECT_EQ(from_grpc(reader->Finish()).code, Code::kUnauthenticated);
}

TEST_F(ServerDoor, AStreamWhoseTokenIsGoodGoesOn) {
  const auto open = settled_watch();
  v1::NodeEvent event;
  for (int i = 0; i < 10; ++i) {
    pass(std::chrono::seconds(30));
    ASSERT_TRUE(next(*open, event) && event.has_hello());
  }
  ASSERT_TRUE(world_.tasks.create(alice_, world_.request_id(), "n1", tracker::ListFolderTask{"data:"}).ok());
  ASSERT_TRUE(next(*open, event) && event.has_task());
  EXPECT_EQ(event.task().sequence(), 2u);
}

TEST_F(ServerDoor, HintsThatAreDroppedAreMadeGoodFromTheStore) {
  const auto open = watch("node");
  v1::NodeEvent event;
  ASSERT_TRUE(open->reader->Read(&event));
  const auto task = world_.tasks.create(alice_, world_.request_id(), "n1", tracker::ListFolderTask{"data:"});
  ASSERT_TRUE(task.ok());
  ASSERT_TRUE(world_.tasks.ack(node_, 1).ok());
  // Far more at once than the queue of hints holds.
  const ContentId content = ContentId::make(world_.clock.wall(), world_.rng);
  for (std::size_t i = 0; i < 4 * tracker::NodeStream::kMaxHints; ++i) {
    world_.hub.push(node_.node, tracker::PeerChanged{content, 1, {}});
  }
  ASSERT_TRUE(world_.tasks.cancel(alice_, world_.request_id(), task->id).ok());
  bool cancelled = false;
  while (!cancelled && open->reader->Read(&event)) cancelled = event.task_cancelled() == task->id.str();
  EXPECT_TRUE(cancelled);
}

TEST_F(ServerDoor, AQueueHoldsNoMoreMessagesThanItMayHoweverSmallTheyAre) {
  odd_.chunk_bytes = 100;
  const auto stub = v1::Contents::NewStub(channel_);
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  const auto reader = stub->GetMetadata(&context, v1::GetMetadataRequest());
  while (!odd_.full) std::this_thread::yield();
  EXPECT_GE(odd_.offered, EventStream<v1::MetadataChunk>::kMaxQueue);
  context.TryCancel();
  v1::MetadataChunk chunk;
  while (reader->Read(&chunk)) continue;
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerDoor, WhoDoesNotReadIsCutOffAndHoldsABoundedQueue) {
  const auto stub = v1::Contents::NewStub(channel_);
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  const auto reader = stub->GetMetadata(&context, v1::GetMetadataRequest());
  // The queue is full, and the write under way waits for the client.
  while (!odd_.full) std::this_thread::yield();
  using Stream = EventStream<v1::MetadataChunk>;
  EXPECT_LE(odd_.offered, Stream::kMaxQueueBytes / kChunkBytes + 64) << "what a connection takes in included";
  // However many writes end meanwhile: at last one hangs for longer than allowed.
  v1::MetadataChunk chunk;
  std::atomic<bool> over = false;
  std::thread clock([&] {
    while (!over) {
      pass(Door::kMaxWriteTime + std::chrono::seconds(1));
      std::this_thread::yield();
    }
  });
  // Not one Read until the server has given up: then what had come through is followed by the end.
  while (metrics_.text().find("gridtorrent_rpc_total{code=\"cancelled\"") == std::string::npos) {
    std::this_thread::yield();
  }
  over = true;
  clock.join();
  while (reader->Read(&chunk)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
}

TEST_F(ServerDoor, AnUploadThatFallsSilentIsCutOff) {
  const auto stub = v1::Contents::NewStub(channel_);
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  v1::FinishPublishReply reply;
  const auto writer = stub->FinishPublish(&context, &reply);
  ASSERT_TRUE(writer->Write(v1::FinishPublishChunk()));
  odd_.first_chunk.get_future().wait();
  grpc::Status status;
  std::atomic<bool> over = false;
  std::thread clock([&] {
    while (!over) {
      pass(std::chrono::ceil<std::chrono::seconds>(UploadPace::kPatience) + std::chrono::seconds(1));
      std::this_thread::yield();
    }
  });
  status = writer->Finish();  // without WritesDone: the client says nothing more
  over = true;
  clock.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerDoor, AnUploadThatTricklesIsCutOff) {
  const auto stub = v1::Contents::NewStub(channel_);
  grpc::ClientContext context;
  prepare(context, std::chrono::seconds(20), "alice");
  v1::FinishPublishReply reply;
  const auto writer = stub->FinishPublish(&context, &reply);
  v1::FinishPublishChunk chunk;
  chunk.set_data("x");
  // A byte each 20 s, which is less than the silence that ends an upload.
  while (writer->Write(chunk)) {
    pass(std::chrono::seconds(20));
    std::this_thread::yield();
  }
  EXPECT_EQ(writer->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerDoor, UploadsThatTakeLongToLookAtHoldUpNoOtherCall) {
  std::promise<void> released;
  odd_.may_end = released.get_future().share();
  const auto stub = v1::Contents::NewStub(channel_);
  struct Upload {
    grpc::ClientContext context;
    v1::FinishPublishReply reply;
    std::future<grpc::Status> ended;
  };
  std::vector<Upload> uploads(4);  // more than executor_ has threads
  for (Upload& one : uploads) {
    prepare(one.context, std::chrono::seconds(20), "alice");
    one.ended = std::async(std::launch::async, [&] {
      const auto writer = stub->FinishPublish(&one.context, &one.reply);
      writer->WritesDone();
      return writer->Finish();
    });
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (documents_.queued() < uploads.size() - 1 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_EQ(documents_.queued(), uploads.size() - 1) << "one is looked at, the others wait";
  odd_.on_get = [](const Call&) { return Status(); };
  EXPECT_TRUE(get().ok());
  released.set_value();
  for (Upload& one : uploads) EXPECT_TRUE(one.ended.get().ok());
}

TEST_F(ServerDoor, ACallerHasSoManyStreamsAndNoMore) {
  v1::GetTaskReply reply;
  const auto task = world_.tasks.create(alice_, world_.request_id(), "n1", tracker::ListFolderTask{"data:"});
  ASSERT_TRUE(task.ok());
  v1::GetTaskRequest request;
  request.set_task_id(task->id.str());
  struct TaskWatch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::GetTaskReply>> reader;
  };
  std::vector<std::unique_ptr<TaskWatch>> watches;
  // A connection carries 32 at once: three connections.
  std::vector<std::unique_ptr<v1::Tasks::Stub>> stubs;
  for (int i = 0; i < 3; ++i) stubs.push_back(v1::Tasks::NewStub(*connect_unix(listener_->path())));
  for (std::size_t i = 0; i <= Door::kMaxStreamsPerCaller; ++i) {
    auto& added = watches.emplace_back(std::make_unique<TaskWatch>());
    prepare(added->context, std::chrono::seconds(20), "alice");
    added->reader = stubs[i / 30]->WatchTask(&added->context, request);
    EXPECT_EQ(added->reader->Read(&reply), i < Door::kMaxStreamsPerCaller) << i;
  }
  EXPECT_EQ(from_grpc(watches.back()->reader->Finish()).code, Code::kBusy);

  const auto uploads = v1::Contents::NewStub(*connect_unix(listener_->path()));
  const auto upload = [&](grpc::ClientContext& context) {
    prepare(context, std::chrono::seconds(20), "alice");
    v1::FinishPublishReply finished;
    const auto writer = uploads->FinishPublish(&context, &finished);
    writer->WritesDone();
    return writer->Finish();
  };
  grpc::ClientContext refused;
  EXPECT_EQ(from_grpc(upload(refused)).code, Code::kBusy) << "uploads are streams, too";
  watches.front()->context.TryCancel();
  watches.front()->reader->Finish();
  // The server gives the place back a moment after the client has heard the end.
  grpc::Status taken(grpc::StatusCode::UNKNOWN, "not tried");
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!taken.ok() && std::chrono::steady_clock::now() < deadline) {
    grpc::ClientContext context;
    taken = upload(context);
  }
  EXPECT_TRUE(taken.ok()) << taken.error_message();
}

}  // namespace
}  // namespace gridtorrent::rpc
