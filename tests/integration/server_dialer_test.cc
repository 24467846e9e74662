// The dial-back over real sockets of this host.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <future>
#include <vector>

#include "common/rng.h"
#include "common/unique_fd.h"
#include "tracker/rpc/dialer.h"

namespace gridtorrent::tracker::rpc {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr std::chrono::hours kNever{24};

/// A port of this host that answers, refuses, or keeps silent.
class Port {
 public:
  static Port open() { return Port(16); }
  static Port closed() { return Port(-1); }
  /// Its queue of connections is full, so that the kernel drops what else comes.
  static Port silent() {
    Port port(0);
    for (int i = 0; i < 4; ++i) {
      port.fill_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      static_cast<void>(
          ::connect(port.fill_.back().get(), reinterpret_cast<const sockaddr*>(&port.address_), sizeof port.address_));
    }
    return port;
  }
  NodeEndpoint endpoint() const { return {{"127.0.0.1", ntohs(address_.sin_port), false, ""}, {}, false}; }

 private:
  explicit Port(int backlog) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address_), size), 0);
    if (backlog >= 0) {
      EXPECT_EQ(::listen(socket_.get(), backlog), 0);
    }
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }
  UniqueFd socket_;
  sockaddr_in address_{};
  std::vector<UniqueFd> fill_;
};

class ServerDialer : public testing::Test {
 protected:
  using Verdicts = std::future<std::vector<Reachability>>;

  UserId user() { return UserId::make({1}, rng_); }
  Verdicts judge(Dialer& dialer, const UserId& user, std::vector<NodeEndpoint> endpoints,
                 const std::string& observed = "127.0.0.1") {
    auto promise = std::make_shared<std::promise<std::vector<Reachability>>>();
    dialer.judge({user, NodeId::make({1}, rng_), std::move(endpoints), observed}, [promise](auto judged) {
      std::vector<Reachability> verdicts;
      for (const NodeEndpoint& endpoint : judged) verdicts.push_back(endpoint.reachability);
      promise->set_value(std::move(verdicts));
    });
    return promise->get_future();
  }
  static bool is_ready(Verdicts& verdicts, std::chrono::seconds within) {
    return verdicts.wait_for(within) == std::future_status::ready;
  }

  SystemClock clock_;
  SeededRng rng_{3};
  const Port open_ = Port::open(), closed_ = Port::closed(), silent_ = Port::silent();
};

TEST_F(ServerDialer, TellsOpenFromClosed) {
  Dialer dialer(clock_, {{}, {.timeout = kNever}});
  auto verdicts = judge(dialer, user(), {open_.endpoint(), closed_.endpoint(), open_.endpoint()});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(),
              ElementsAre(Reachability::kReachable, Reachability::kUnreachable, Reachability::kReachable));
}

TEST_F(ServerDialer, NobodyWaitsForTheSilentAddressesOfOthers) {
  std::vector<Verdicts> silent;
  {
    Dialer dialer(clock_, {{}, {.patience = kNever, .timeout = kNever}});
    for (int i = 0; i < 3; ++i) {
      silent.push_back(judge(dialer, user(), std::vector<NodeEndpoint>(64, silent_.endpoint())));
    }
    auto verdicts = judge(dialer, user(), {closed_.endpoint(), open_.endpoint()});
    ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
    EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnreachable, Reachability::kReachable));
    for (Verdicts& one : silent) EXPECT_FALSE(is_ready(one, std::chrono::seconds(0)));
  }
  for (Verdicts& one : silent) {
    ASSERT_TRUE(is_ready(one, std::chrono::seconds(0))) << "the end of the dialer is the end of what it dials";
    EXPECT_THAT(one.get(), Each(Reachability::kUnknown));
  }
}

TEST_F(ServerDialer, WhoDoesNotAnswerInTimeIsUnreachable) {
  Dialer dialer(clock_, {{}, {.timeout = std::chrono::milliseconds(1)}});
  auto verdicts = judge(dialer, user(), {silent_.endpoint()});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnreachable));
}

TEST_F(ServerDialer, WhatFindsNoPlaceInTimeIsUnknown) {
  Dialer dialer(
      clock_,
      {{},
       {.at_once_of_user = 1, .patience = std::chrono::milliseconds(500), .timeout = std::chrono::milliseconds(2000)}});
  auto verdicts = judge(dialer, user(), {silent_.endpoint(), silent_.endpoint()});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnreachable, Reachability::kUnknown));
}

TEST_F(ServerDialer, WhatMayNotBeDialledIsUnknownAtOnce) {
  Dialer dialer(clock_, {});
  auto verdicts = judge(dialer, user(), {open_.endpoint()}, "198.18.0.1");
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(0))) << "on this thread";
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnknown));
}

}  // namespace
}  // namespace gridtorrent::tracker::rpc
