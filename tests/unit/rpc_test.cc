#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <set>

#include "base/crypto/digest.h"
#include "base/rpc/channel.h"
#include "base/rpc/document.h"
#include "base/rpc/executor.h"
#include "base/rpc/hello.h"
#include "base/rpc/limits.h"
#include "base/rpc/server.h"
#include "base/rpc/status.h"
#include "base/rpc/ticker.h"
#include "base/rpc/unix_socket.h"
#include "base/rpc/upload_pace.h"
#include "common/clock.h"
#include "common/hex.h"
#include "common/ids.h"
#include "common/rng.h"
#include "common/version.h"
#include "gridtorrent/v1/control.grpc.pb.h"

namespace gridtorrent::rpc {
namespace {

using ::testing::HasSubstr;

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gt-rpc-XXXXXX").native();
    GT_CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(RpcStatus, EveryCodeComesBackAsItWent) {
  for (const Code code : {Code::kInvalid, Code::kNotFound, Code::kUnauthenticated, Code::kDenied, Code::kUnreachable,
                          Code::kConflict, Code::kCorrupt, Code::kDisk, Code::kTimeout, Code::kCancelled, Code::kBusy,
                          Code::kExhausted, Code::kUnsupported, Code::kInternal}) {
    const Error error{code, "content \"x\" is gone"};
    const grpc::Status status = to_grpc(error, "r-1");
    EXPECT_EQ(from_grpc(status), error) << code_name(code);
    EXPECT_EQ(request_id_of(status), "r-1");
  }
}

TEST(RpcStatus, AForeignStatusIsReadByItsCode) {
  EXPECT_EQ(from_grpc({grpc::StatusCode::ALREADY_EXISTS, "there"}).code, Code::kConflict);
  EXPECT_EQ(from_grpc({grpc::StatusCode::OUT_OF_RANGE, "far"}).code, Code::kInvalid);
  EXPECT_EQ(from_grpc({grpc::StatusCode::UNKNOWN, "?"}).code, Code::kInternal);
  EXPECT_EQ(from_grpc({grpc::StatusCode::NOT_FOUND, "no", "damaged details"}).code, Code::kNotFound);
  EXPECT_FALSE(from_grpc({grpc::StatusCode::ABORTED, ""}).message.empty());
}

TEST(RpcStatus, ControlCharactersOfStrangersAreEscaped) {
  EXPECT_THAT(from_grpc({grpc::StatusCode::NOT_FOUND, "a\x1b[31mb"}).message, ::testing::Not(HasSubstr("\x1b")));
}

TEST(RpcStatus, ALongMessageIsCutSoThatTheHeadersFit) {
  const grpc::Status status = to_grpc({Code::kInternal, std::string(100'000, 'x')});
  EXPECT_LT(status.error_message().size() + status.error_details().size(), 8000u);
}

TEST(RpcHello, ProtocolsMustOverlap) {
  const WallTime now{1'700'000'000'000};
  v1::Hello hello = make_hello(now);
  EXPECT_TRUE(check_hello(hello, now, "the server").ok());
  hello.set_protocol_min(kProtocolMax + 1);
  hello.set_protocol_max(kProtocolMax + 5);
  const Status status = check_hello(hello, now, "the server");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kUnsupported);
  EXPECT_EQ(check_hello(v1::Hello(), now, "the server").error().code, Code::kUnsupported);
}

TEST(RpcHello, ClocksMayBe48HoursApartAndNoMore) {
  const WallTime now{1'700'000'000'000};
  for (const int sign : {-1, 1}) {
    EXPECT_TRUE(check_hello(make_hello(now + sign * std::chrono::hours(48)), now, "the server").ok());
    const Status far = check_hello(make_hello(now + sign * std::chrono::hours(72)), now, "the server");
    ASSERT_FALSE(far.ok());
    EXPECT_THAT(far.error().message,
                HasSubstr(sign > 0 ? "3 d 0 h ahead of this machine's" : "3 d 0 h behind this machine's"));
  }
}

TEST(RpcHello, ATimeThatNoClockShowsIsJustFarAway) {
  const WallTime now{1'700'000'000'000};
  for (const std::int64_t time :
       {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    v1::Hello hello = make_hello(now);
    hello.set_time_ms(time);
    const Status far = check_hello(hello, now, "the client");
    ASSERT_FALSE(far.ok()) << time;
    EXPECT_EQ(far.error().code, Code::kInvalid);
    EXPECT_THAT(far.error().message, HasSubstr(time < 0 ? " behind " : " ahead of "));
  }
}

TEST(StreamPlaces, PeopleAndNodesDoNotTakeEachOthers) {
  ManualClock clock;
  SeededRng rng{42};
  const std::string node = NodeId::make(clock.wall(), rng).str(), other = NodeId::make(clock.wall(), rng).str();
  const std::string user = UserId::make(clock.wall(), rng).str(), friend_ = UserId::make(clock.wall(), rng).str();
  StreamPlaces places({.of_caller = 2, .of_nodes = 3, .of_people = 2});
  EXPECT_TRUE(places.take(user));
  EXPECT_TRUE(places.take(user));
  EXPECT_FALSE(places.take(friend_)) << "two of people in all";
  EXPECT_TRUE(places.take(node));
  EXPECT_TRUE(places.take(node));
  EXPECT_FALSE(places.take(node)) << "two of a caller";
  EXPECT_TRUE(places.take(other)) << "the refusal took no place";
  EXPECT_FALSE(places.take(other)) << "three of nodes in all";
  places.give_back(user);
  EXPECT_TRUE(places.take(friend_));
  places.give_back(node);
  EXPECT_TRUE(places.take(other));
}

TEST(RpcHello, TheServerNamesItsClockForTheOneWhoReads) {
  const WallTime now{1'700'000'000'000};
  const Status far = check_hello(make_hello(now + std::chrono::hours(72)), now, "the client", "the server's");
  ASSERT_FALSE(far.ok());
  EXPECT_THAT(far.error().message, HasSubstr("the clock of the client is 3 d 0 h ahead of the server's"));
}

TEST(RpcHostPort, TakesNamesAndBothKindsOfAddresses) {
  const auto v6 = parse_host_port("[::1]:7443");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 7443);
  EXPECT_EQ(v6->str(), "[::1]:7443");
  EXPECT_EQ(parse_host_port("data.example.org:0")->str(), "data.example.org:0");
  for (const char* wrong : {"", ":1", "host", "host:", "host:65536", "host:12x", "::1:7443", "[]:1", "a b:1"}) {
    EXPECT_FALSE(parse_host_port(wrong).ok()) << wrong;
  }
}

TEST(RpcPeer, AnAddressIsTakenOutOfWhatGrpcSays) {
  EXPECT_EQ(peer_address("ipv4:192.0.2.7:4711"), "192.0.2.7");
  EXPECT_EQ(peer_address("ipv6:%5B2001:db8::1%5D:4711"), "2001:db8::1");
  EXPECT_EQ(peer_address("ipv6:[2001:db8::1]:4711"), "2001:db8::1");
  EXPECT_EQ(peer_address("ipv6:%5B::ffff:192.0.2.7%5D:4711"), "192.0.2.7");
  EXPECT_EQ(peer_address("ipv6:%5Bfe80::1%25eth0%5D:4711"), "fe80::1");
  EXPECT_EQ(peer_address("fd:8"), "fd:8");
  EXPECT_EQ(address_bucket("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(address_bucket("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
}

TEST(RateLimit, RefusesBeyondTheBurstAndRefillsWithTime) {
  ManualClock clock;
  RateLimiter limiter({.rate_per_s = 1, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(limiter.take("search", "alice", clock.mono()).ok());
  const Status refused = limiter.take("search", "alice", clock.mono());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kBusy);
  EXPECT_TRUE(limiter.take("search", "bob", clock.mono()).ok());
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(limiter.take("search", "alice", clock.mono()).ok());
  EXPECT_FALSE(limiter.take("search", "alice", clock.mono()).ok());
}

TEST(RateLimit, HoldsABoundedNumberOfKeys) {
  ManualClock clock;
  RateLimiter limiter({.rate_per_s = 1, .burst = 2, .max_keys = 2});
  EXPECT_TRUE(limiter.take("x", "a", clock.mono()).ok());
  EXPECT_TRUE(limiter.take("x", "b", clock.mono()).ok());
  EXPECT_FALSE(limiter.take("x", "c", clock.mono()).ok());
  clock.advance(std::chrono::seconds(2));
  EXPECT_TRUE(limiter.take("x", "c", clock.mono()).ok()) << "full buckets are forgotten";
}

TEST(ConcurrencyLimit, GivesBack) {
  ConcurrencyLimiter limiter(1);
  EXPECT_TRUE(limiter.take("a"));
  EXPECT_FALSE(limiter.take("a"));
  EXPECT_TRUE(limiter.take("b"));
  limiter.give_back("a");
  EXPECT_TRUE(limiter.take("a"));
}

class ReceivedDocuments : public testing::Test {
 protected:
  static constexpr UploadLimits kSmall{.in_memory = 8,
                                       .memory = 16,
                                       .memory_of_holder = 12,
                                       .disk = 100,
                                       .disk_of_holder = 60,
                                       .checked = 100,
                                       .checked_of_holder = 60};
  std::unique_ptr<UploadSpool> spool(const UploadLimits& limits = kSmall) {
    auto opened = UploadSpool::open(folder_ / "uploads", limits);
    EXPECT_TRUE(opened.ok());
    return std::move(*opened);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_ / "uploads"), {}));
  }
  const Folder folder_;
};

TEST_F(ReceivedDocuments, AreTheSameInMemoryAndOnDisk) {
  const auto spool = this->spool();
  for (const std::size_t parts : {0U, 1U, 2U, 3U, 12U}) {
    ReceivedDocument document(*spool, "alice");
    std::string expected;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::string part(4, static_cast<char>('a' + i));
      ASSERT_TRUE(document.append(part).ok());
      expected += part;
    }
    EXPECT_EQ(document.size(), expected.size());
    EXPECT_EQ(*document.whole(), expected);
    EXPECT_EQ(*document.whole(), expected) << "again";
    EXPECT_EQ(document.sha256_hex(), hex_encode(crypto::sha256(as_bytes(expected))));
    EXPECT_EQ(files(), 0u) << "a file without a name";
  }
}

TEST_F(ReceivedDocuments, KeepWithinTheSharesAndGiveThemBack) {
  const auto spool = this->spool();
  for (int round = 0; round < 2; ++round) {
    ReceivedDocument document(*spool, "alice");
    ASSERT_TRUE(document.append(std::string(60, 'x')).ok());
    const Status more = document.append("y");
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().code, Code::kBusy);
    ReceivedDocument others(*spool, "bob");
    EXPECT_TRUE(others.append(std::string(40, 'x')).ok());
    EXPECT_FALSE(others.append("y").ok()) << "the spool is full";
  }
}

TEST_F(ReceivedDocuments, GoToDiskWhereTheMemoryIsTaken) {
  const auto spool = this->spool();
  ReceivedDocument first(*spool, "alice"), second(*spool, "alice");
  ASSERT_TRUE(first.append("12345678").ok());
  ASSERT_TRUE(second.append("1234").ok());
  ASSERT_TRUE(second.append("5").ok()) << "small, but alice's memory is used up";
  EXPECT_EQ(*second.whole(), "12345");
}

TEST_F(ReceivedDocuments, AreCheckedAFewAtATime) {
  const auto spool = this->spool();
  ReceivedDocument first(*spool, "alice"), second(*spool, "alice");
  ASSERT_TRUE(first.append(std::string(30, 'x')).ok());
  ASSERT_TRUE(second.append(std::string(30, 'x')).ok());
  auto narrow = kSmall;
  narrow.checked_of_holder = 10;
  const auto other = this->spool(narrow);
  ReceivedDocument third(*other, "alice");
  ASSERT_TRUE(third.append(std::string(30, 'x')).ok());
  EXPECT_EQ(third.whole().error().code, Code::kBusy);
  EXPECT_TRUE(first.whole().ok());
  EXPECT_TRUE(second.whole().ok());
}

TEST_F(ReceivedDocuments, OfAProcessThatWasKilledAreRemoved) {
  {
    const auto made = spool();
  }
  std::ofstream(folder_ / "uploads/77-1") << "left";
  {
    const auto again = spool();
  }
  EXPECT_EQ(files(), 0u);
}

TEST(UploadPace, EndsWhoTrickles) {
  using std::chrono::milliseconds;
  UploadPace pace;
  int seconds = 0;
  for (; seconds < 1000 && !pace.is_too_slow(milliseconds(20'000)); seconds += 20) {
    pace.waited(milliseconds(20'000));
    pace.received(1);
  }
  EXPECT_EQ(seconds, 60) << "a byte each 20 s";
}

TEST(UploadPace, LetsTheLeastRateGoOn) {
  UploadPace pace;
  for (int second = 0; second < 10'000; ++second) {
    pace.waited(std::chrono::milliseconds(1000));
    ASSERT_FALSE(pace.is_too_slow(std::chrono::milliseconds(0))) << second;
    pace.received(UploadPace::kLeastBytesPerS);
  }
}

TEST(UploadPace, BearsABreakOfAMinuteHoweverMuchCameBefore) {
  UploadPace pace;
  pace.received(std::size_t{128} << 20);
  EXPECT_FALSE(pace.is_too_slow(UploadPace::kPatience));
  EXPECT_TRUE(pace.is_too_slow(UploadPace::kPatience + std::chrono::milliseconds(1))) << "nobody rests on what came";
  pace.waited(UploadPace::kPatience);
  pace.received(std::size_t{4} << 20);
  EXPECT_FALSE(pace.is_too_slow(UploadPace::kPatience)) << "and again";
}

TEST(MemoryBudget, LeavesRoomForOthers) {
  MemoryBudget budget(10, 6);
  EXPECT_TRUE(budget.take("alice", 4));
  EXPECT_FALSE(budget.take("alice", 3));
  EXPECT_TRUE(budget.take("bob", 6));
  EXPECT_FALSE(budget.take("carol", 1));
  budget.give_back("alice", 4);
  EXPECT_TRUE(budget.take("carol", 4));
}

TEST(Executor, RefusesWhatItsQueueCannotHold) {
  Executor executor("test", 1, 2);
  std::promise<void> started, go;
  ASSERT_TRUE(executor.post([&] {
    started.set_value();
    go.get_future().wait();
  }));
  started.get_future().wait();
  std::atomic<int> ran = 0;
  EXPECT_TRUE(executor.post([&] { ++ran; }));
  EXPECT_TRUE(executor.post([&] { ++ran; }));
  EXPECT_FALSE(executor.post([&] { ++ran; }));
  EXPECT_TRUE(executor.post_always([&] { ++ran; }));
  go.set_value();
  executor.stop();
  EXPECT_EQ(ran, 3) << "what was taken runs";
  EXPECT_FALSE(executor.post_always([] {}));
}

TEST(Ticker, ForgetsTheDead) {
  struct Counter : Ticked {
    void tick(MonoTime) override { ++ticks; }
    std::atomic<int> ticks = 0;
  };
  ManualClock clock;
  Ticker ticker(clock, std::chrono::hours(1));
  auto alive = std::make_shared<Counter>();
  auto dead = std::make_shared<Counter>();
  ticker.add(alive);
  ticker.add(dead);
  dead.reset();
  ticker.tick_now();
  EXPECT_EQ(alive->ticks, 1);
}

/// Says where the call came from.
class EchoControl final : public v1::Control::CallbackService {
  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context, const v1::StatusRequest*,
                                   v1::StatusReply* reply) override {
    reply->set_node_name(context->peer());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

Result<v1::StatusReply> ask(const std::string& path) {
  GT_ASSIGN(const auto channel, connect_unix(path));
  const auto stub = v1::Control::NewStub(channel);
  return call<v1::Control::Stub, v1::StatusRequest, v1::StatusReply>(*stub, &v1::Control::Stub::Status,
                                                                     v1::StatusRequest());
}

TEST(UnixSocket, ServesItsOwnUserFromAGuardedFile) {
  const Folder folder;
  const std::string path = folder / "made/control.sock";
  auto listener = UnixListener::open(path);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat((folder / "made").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0700u);

  EchoControl service;
  const auto server = start_local_server({&service});
  ASSERT_TRUE(server);
  ASSERT_TRUE((*listener)->serve(*server).ok());
  const auto reply = ask(path);
  ASSERT_TRUE(reply.ok()) << reply.error().message;
  EXPECT_THAT(reply->node_name(), HasSubstr("fd:"));
  (*listener)->stop();
  server->Shutdown(std::chrono::system_clock::now());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(ask(path).error().code, Code::kUnreachable);
}

TEST(UnixSocket, IsTakenBeforeAnybodyIsAnswered) {
  const Folder folder;
  const std::string path = folder / "control.sock";
  auto listener = UnixListener::bind(path);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EXPECT_EQ(ask(path).error().code, Code::kUnreachable) << "as where no node runs";
  EchoControl service;
  const auto server = start_local_server({&service});
  ASSERT_TRUE(server);
  ASSERT_TRUE((*listener)->serve(*server).ok());
  EXPECT_TRUE(ask(path).ok());
  (*listener)->stop();
  server->Shutdown(std::chrono::system_clock::now());
}

TEST(UnixSocket, SaysSoWhereAnotherProcessTookItsPathMeanwhile) {
  const Folder folder;
  const std::string path = folder / "control.sock";
  auto first = UnixListener::bind(path);
  ASSERT_TRUE(first.ok());
  const auto second = UnixListener::open(path);
  ASSERT_TRUE(second.ok()) << "nobody answers at the first one yet";
  EchoControl service;
  const auto server = start_local_server({&service});
  ASSERT_TRUE(server);
  const Status served = (*first)->serve(*server);
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().code, Code::kConflict);
}

TEST(UnixSocket, ALiveSocketIsAConflictAndAStaleOneIsReplaced) {
  const Folder folder;
  const std::string path = folder / "control.sock";
  {
    const auto first = UnixListener::open(path);
    ASSERT_TRUE(first.ok());
    const auto second = UnixListener::open(path);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::kConflict);
  }
  {
    // As after kill -9: bound, and nobody listens any more.
    const UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_TRUE(UnixListener::open(path).ok());
}

TEST(UnixSocket, AnswersWhereTheProcessHasNoDescriptorLeft) {
  const Folder folder;
  const std::string path = folder / "control.sock";
  auto listener = UnixListener::open(path);
  ASSERT_TRUE(listener.ok()) << listener.error().message;
  EchoControl service;
  const auto server = start_local_server({&service});
  ASSERT_TRUE(server);
  ASSERT_TRUE((*listener)->serve(*server).ok());
  ASSERT_TRUE(ask(path).ok());

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  std::vector<UniqueFd> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = std::min<rlim_t>(before.rlim_cur, 256);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<UniqueFd> all;
  for (UniqueFd fd(::open("/dev/null", O_RDONLY)); fd; fd.reset(::open("/dev/null", O_RDONLY))) {
    all.push_back(std::move(fd));
  }
  EXPECT_EQ(errno, EMFILE);
  for (const UniqueFd& caller : callers) {
    EXPECT_EQ(::connect(caller.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    pollfd answer{caller.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&answer, 1, 10'000), 1) << "the server's HTTP/2 settings";
  }
  all.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  callers.clear();
  EXPECT_TRUE(ask(path).ok());
  (*listener)->stop();
  server->Shutdown(std::chrono::system_clock::now());
}

TEST(UnixSocket, RefusesWhatIsUnsafeOrTooLong) {
  const Folder folder;
  const auto too_long = UnixListener::open(folder / std::string(108, 'x'));
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().code, Code::kInvalid);
  EXPECT_THAT(too_long.error().message, HasSubstr("107"));

  ASSERT_EQ(::mkdir((folder / "open").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((folder / "open").c_str(), 0777), 0);
  EXPECT_EQ(UnixListener::open(folder / "open/control.sock").error().code, Code::kInvalid);

  std::ofstream(folder / "file") << "precious";
  EXPECT_EQ(UnixListener::open(folder / "file").error().code, Code::kConflict);
  EXPECT_TRUE(std::filesystem::exists(folder / "file"));
}

TEST(Channel, ACaFileThatIsNoneIsRefusedByName) {
  const Folder folder;
  EXPECT_THAT(connect_tls("localhost:1", folder / "missing.pem").error().message, HasSubstr("missing.pem"));
  std::ofstream(folder / "text.pem") << "hello";
  EXPECT_EQ(connect_tls("localhost:1", folder / "text.pem").error().code, Code::kInvalid);
}

TEST(Environment, TracesThatPrintTokensAreRefused) {
  ::setenv("GRPC_TRACE", "http", 1);
  EXPECT_FALSE(check_trace_environment().ok());
  ::setenv("GRPC_TRACE", "channel", 1);
  EXPECT_TRUE(check_trace_environment().ok());
  ::unsetenv("GRPC_TRACE");
  EXPECT_TRUE(check_trace_environment().ok());
}

}  // namespace
}  // namespace gridtorrent::rpc
