// The TLS terminator with a backend of the test's own and no protocol at all: bytes, ends, limits, descriptors.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "base/crypto/certificates.h"
#include "base/net/tls_terminator.h"
#include "common/hex.h"
#include "tests/support/tls_client.h"

namespace gridtorrent::net {
namespace {

using test::TlsClient;
using namespace std::chrono_literals;

std::string server_pem() {
  const auto authority = crypto::make_authority("test", SystemClock().wall());
  const auto key = crypto::EcKey::make();
  const auto leaf = crypto::issue_server_certificate(*authority, *key, {"127.0.0.1"}, SystemClock().wall());
  return key->private_pem() + *leaf + authority->certificate_pem;
}

/// Refuses what contains a forbidden word.
class WordFilter final : public Filter {
 public:
  std::optional<Reason> from_caller(std::span<const std::uint8_t> bytes, MonoTime) override {
    if (as_chars(bytes).find("forbidden") != std::string_view::npos) return "word";
    return std::nullopt;
  }
  std::optional<Reason> from_server(std::span<const std::uint8_t> bytes, MonoTime) override {
    if (as_chars(bytes).find("secret") != std::string_view::npos) return "leak";
    return std::nullopt;
  }
  std::optional<Reason> check_time(MonoTime) override { return std::nullopt; }
  bool is_busy() const override { return true; }
  std::string farewell(Reason reason) override { return "goodbye: " + std::string(reason); }
};

class Terminator : public ::testing::Test {
 protected:
  void start(ConnectionLimits::Limits limits = {}, StrangerPlaces::Limits strangers = {}) {
    context_ = *crypto::TlsServerContext::from_pem(server_pem(), "test");
    TlsTerminator::Options options;
    options.host = "127.0.0.1";
    options.protocol = "test";
    options.limits = limits;
    options.strangers = strangers;
    options.tls = [this] { return context_; };
    options.make_filter = [this](const PeerAddress&, EndConnection end, MonoTime) {
      const std::lock_guard lock(mutex_);
      end_last_ = std::move(end);
      return std::make_unique<WordFilter>();
    };
    options.open_backend = [this](const PeerAddress& caller, std::function<void()> known) {
      return open_backend(caller, std::move(known));
    };
    options.refused = [this](Reason reason, const PeerAddress&) {
      const std::lock_guard lock(mutex_);
      ++refused_[std::string(reason)];
      changed_.notify_all();
    };
    options.each_second = [](std::size_t) {};
    auto started = TlsTerminator::start(std::move(options), clock_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    terminator_ = std::move(*started);
  }
  Result<Backend> open_backend(const PeerAddress& caller, std::function<void()> known) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
      return Error{Code::kExhausted, "no socket pair"};
    }
    ::fcntl(ends[1], F_SETFL, 0);  // the test blocks on its end
    const std::lock_guard lock(mutex_);
    backends_.push_back(UniqueFd(ends[1]));
    last_caller_ = caller;
    known_last_ = std::move(known);
    changed_.notify_all();
    return Backend{UniqueFd(ends[0]), nullptr};
  }
  UniqueFd next_backend() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 20s, [this] { return !backends_.empty(); })) return UniqueFd();
    UniqueFd backend = std::move(backends_.front());
    backends_.pop_front();
    return backend;
  }
  int wait_refused(const std::string& reason) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 20s, [&] { return refused_[reason] > 0; });
    return refused_[reason];
  }
  std::unique_ptr<TlsClient> connect(std::string_view alpn = "\x04test", const char* from = "127.0.0.1") {
    return std::make_unique<TlsClient>(terminator_->port(), alpn, from, 20);
  }
  UniqueFd connect_silently(const char* from) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = [](const char* ip, std::uint16_t port) {
      sockaddr_in out{};
      out.sin_family = AF_INET;
      out.sin_port = htons(port);
      ::inet_pton(AF_INET, ip, &out.sin_addr);
      return out;
    };
    const sockaddr_in source = address(from, 0), target = address("127.0.0.1", terminator_->port());
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&source), sizeof source), 0);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target), 0);
    return socket;
  }
  static std::string read_some(int fd) {
    std::array<char, 65'536> buffer{};
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  static std::string read_exactly(int fd, std::size_t bytes) {
    std::string all;
    while (all.size() < bytes) {
      const std::string more = read_some(fd);
      if (more.empty()) break;
      all += more;
    }
    return all;
  }

  SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<UniqueFd> backends_;
  std::map<std::string, int> refused_;
  EndConnection end_last_;
  PeerAddress last_caller_;
  std::function<void()> known_last_;
  std::shared_ptr<const crypto::TlsServerContext> context_;
  std::unique_ptr<TlsTerminator> terminator_;
};

TEST_F(Terminator, OpensTheBackendWithTheFirstBytesAndNotBefore) {
  start();
  const auto client = connect("\x04test", "127.0.0.7");
  ASSERT_TRUE(client->connected());
  {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(backends_.empty());
  }
  ASSERT_TRUE(client->send("hello"));
  const UniqueFd backend = next_backend();
  EXPECT_EQ(read_exactly(backend.get(), 5), "hello");
  EXPECT_EQ(last_caller_.ip, "127.0.0.7");
  ASSERT_EQ(::send(backend.get(), "world", 5, 0), 5);
  EXPECT_EQ(client->receive(), "world");
  EXPECT_EQ(terminator_->connections(), 1u);
}

TEST_F(Terminator, CarriesAllBytesBothWaysThroughSlowReaders) {
  start();
  const auto client = connect();
  std::string sent(20 << 20, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 2654435761u >> 16);
  auto sending = std::async(std::launch::async, [&] { return client->send(sent); });
  const UniqueFd backend = next_backend();
  std::this_thread::sleep_for(100ms);  // everything in between is full now
  EXPECT_EQ(read_exactly(backend.get(), sent.size()), sent);
  ASSERT_TRUE(sending.get());
  auto answering = std::async(std::launch::async, [&] {
    std::size_t done = 0;
    while (done < sent.size()) {
      const ssize_t count = ::send(backend.get(), sent.data() + done, sent.size() - done, MSG_NOSIGNAL);
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    ::shutdown(backend.get(), SHUT_WR);
  });
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(client->receive_all(), sent);
}

TEST_F(Terminator, WaitsWithoutWorkForTheRestOfATlsRecord) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("x"));
  const UniqueFd backend = next_backend();
  ASSERT_EQ(read_exactly(backend.get(), 1), "x");
  const std::string text(10'000, 'r'), record = client->encrypt(text);
  ASSERT_TRUE(client->raw_send(record.substr(0, 5'000)));
  timespec before{}, after{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  std::this_thread::sleep_for(400ms);
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const double used_s =
      static_cast<double>(after.tv_sec - before.tv_sec) + static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e9;
  EXPECT_LT(used_s, 0.1) << "a busy loop";
  ASSERT_TRUE(client->raw_send(record.substr(5'000)));
  EXPECT_EQ(read_exactly(backend.get(), text.size()), text);
}

TEST_F(Terminator, PassesTheEndOfOneDirectionOnAndKeepsTheOther) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("last words"));
  client->end_sending();
  const UniqueFd backend = next_backend();
  EXPECT_EQ(read_exactly(backend.get(), 11), "last words") << "then the end";
  ASSERT_EQ(::send(backend.get(), "answer", 6, 0), 6);
  EXPECT_EQ(client->receive(), "answer");
  ::shutdown(backend.get(), SHUT_RDWR);
  EXPECT_EQ(client->receive(), "");
}

TEST_F(Terminator, DeliversWhatTheBackendSaidBeforeItClosed) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("x"));
  UniqueFd backend = next_backend();
  ASSERT_EQ(read_some(backend.get()), "x");
  const std::string answer(100'000, 'a');
  ASSERT_EQ(::send(backend.get(), answer.data(), answer.size(), 0), static_cast<ssize_t>(answer.size()));
  backend.reset();
  EXPECT_EQ(client->receive_all(), answer);
}

TEST_F(Terminator, PassesNothingOnOfWhatTheFilterRefusesAndSaysGoodbye) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("good"));
  const UniqueFd backend = next_backend();
  ASSERT_EQ(read_exactly(backend.get(), 4), "good");
  ASSERT_TRUE(client->send("a forbidden thing"));
  EXPECT_EQ(client->receive_all(), "goodbye: word");
  EXPECT_EQ(read_some(backend.get()), "");
  EXPECT_EQ(wait_refused("word"), 1);
}

TEST_F(Terminator, EndsAConnectionFromOutside) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("x"));
  const UniqueFd backend = next_backend();
  end_last_("evicted");
  EXPECT_EQ(client->receive_all(), "goodbye: evicted");
  end_last_("evicted");  // it is gone: nothing happens
  EXPECT_EQ(wait_refused("evicted"), 1);
}

TEST_F(Terminator, RefusesOtherProtocolsAndOldTls) {
  start();
  EXPECT_FALSE(connect("\x02h2")->connected());
  const auto none = connect("");
  EXPECT_EQ(none->receive(), "");
  EXPECT_EQ(wait_refused("alpn"), 1);
  EXPECT_GE(connect()->protocol_version(), TLS1_2_VERSION);
}

TEST_F(Terminator, BoundsConnectionsByAddressAndInAll) {
  start({.by_address = 2, .in_all = 3});
  const auto first = connect(), second = connect();
  ASSERT_TRUE(first->connected() && second->connected());
  EXPECT_FALSE(connect()->connected());
  EXPECT_EQ(wait_refused("connections_by_address"), 1);
  const auto third = connect("\x04test", "127.0.0.2");
  EXPECT_TRUE(third->connected());
  EXPECT_FALSE(connect("\x04test", "127.0.0.3")->connected());
  EXPECT_EQ(wait_refused("connections_in_all"), 1);
}

TEST_F(Terminator, EndsWhoOnlyWaitsForOneOfAnAddressWithFewer) {
  start({.by_address = 3, .in_all = 3});
  const auto known = connect();
  ASSERT_TRUE(known->send("known"));
  const UniqueFd backend = next_backend();
  const UniqueFd silent = connect_silently("127.0.0.2"), silent_too = connect_silently("127.0.0.2");
  // Once both are known to wait, and not only accepted.
  while (!connect("\x04test", "127.0.0.3")->connected()) std::this_thread::yield();
  EXPECT_GE(wait_refused("connections_in_all"), 1);
  ASSERT_TRUE(known->send(" goes on"));
  EXPECT_EQ(read_exactly(backend.get(), 13), "known goes on");
}

TEST_F(Terminator, LetsAStrangerWaitUntilAnotherIsKnown) {
  start({}, {.at_once = 1});
  const auto first = connect();
  ASSERT_TRUE(first->send("first"));
  const UniqueFd backend = next_backend();
  std::unique_ptr<TlsClient> second;
  // Connecting includes the handshake, for which there is no place.
  auto connecting = std::async(std::launch::async, [&] { second = connect(); });
  known_last_();
  connecting.get();
  ASSERT_TRUE(second->send("second"));
  const UniqueFd other = next_backend();
  EXPECT_EQ(read_exactly(other.get(), 6), "second");
  ASSERT_TRUE(first->send(" goes on"));
  EXPECT_EQ(read_exactly(backend.get(), 13), "first goes on");
}

TEST_F(Terminator, EndsAStrangerForOneOfAnAddressWithFewer) {
  start({}, {.at_once = 2, .least = 0ms});
  const auto first = connect();
  ASSERT_TRUE(first->send("first"));
  const UniqueFd backend = next_backend();
  const auto second = connect();
  const auto other = connect("\x04test", "127.0.0.2");
  ASSERT_TRUE(other->send("other"));
  const UniqueFd others = next_backend();
  EXPECT_EQ(read_exactly(others.get(), 5), "other");
  EXPECT_EQ(wait_refused("strangers"), 1);
  EXPECT_EQ(read_some(backend.get()), "first");
  EXPECT_EQ(read_some(backend.get()), "") << "its backend was let go";
}

TEST_F(Terminator, IsNotDeafAfterDescriptorsRanOut) {
  start();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // A client's socket is made first: afterwards nobody gets a descriptor.
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(terminator_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  pollfd wait{socket.get(), POLLIN, 0};
  ::poll(&wait, 1, 500);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const auto client = connect();
  EXPECT_TRUE(client->connected());
}

TEST_F(Terminator, RefusesAtOnceWhileDescriptorsAreShort) {
  start();
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // All descriptors below the limit are taken; the reserve is what is left to accept with.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<UniqueFd> fillers;
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (UniqueFd one(::open("/dev/null", O_RDONLY)); one; one = UniqueFd(::open("/dev/null", O_RDONLY))) {
    fillers.push_back(std::move(one));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(terminator_->port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_GE(wait_refused("descriptors"), 1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Terminator, FinishWaitsForConnectionsThatStand) {
  start();
  const auto client = connect();
  ASSERT_TRUE(client->send("x"));
  UniqueFd backend = next_backend();
  ASSERT_EQ(read_some(backend.get()), "x");
  terminator_->stop_accepting();
  EXPECT_FALSE(connect()->connected());
  auto finished = std::async(std::launch::async, [this] { terminator_->finish(20s); });
  ASSERT_EQ(::send(backend.get(), "bye", 3, 0), 3);
  backend.reset();
  EXPECT_EQ(client->receive_all(), "bye");
  EXPECT_EQ(finished.wait_for(20s), std::future_status::ready);
}

TEST(AcceptFailures, AreNeverDeaf) {
  EXPECT_EQ(on_accept_failure(EMFILE), AcceptFailure::kUseReserve);
  EXPECT_EQ(on_accept_failure(ENFILE), AcceptFailure::kUseReserve);
  EXPECT_EQ(on_accept_failure(ENOBUFS), AcceptFailure::kPause);
  EXPECT_EQ(on_accept_failure(EAGAIN), AcceptFailure::kWait);
  for (const int error : {ECONNABORTED, EINTR, EPROTO, ENETDOWN, EHOSTUNREACH}) {
    EXPECT_EQ(on_accept_failure(error), AcceptFailure::kTryNext);
  }
}

TEST(Listening, NamesAPortInUse) {
  const auto first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first.ok());
  EXPECT_NE(first->port, 0);
  const auto second = listen_tcp("127.0.0.1", first->port);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_FALSE(listen_tcp("192.0.2.1", 0).ok());
  EXPECT_EQ(listen_tcp("no.such.host.invalid", 0).error().code, Code::kInvalid);
}

TEST(Listening, TakesBothFamiliesForAnyAddress) {
  for (const char* host : {"0.0.0.0", "::"}) {
    const auto any = listen_tcp(host, 0);
    ASSERT_TRUE(any.ok());
    const auto connects = [&](const char* ip) {
      const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(any->port);
      inet_pton(AF_INET, ip, &address.sin_addr);
      return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    };
    EXPECT_TRUE(connects("127.0.0.1")) << host;
  }
}

}  // namespace
}  // namespace gridtorrent::net
