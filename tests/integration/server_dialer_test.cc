// The dial-back over real sockets of this host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "common/rng.h"
#include "tests/support/dialled_port.h"
#include "tracker/rpc/dialer.h"

namespace gridtorrent::tracker::rpc {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing_support::DialledPort;

constexpr std::chrono::hours kNever{24};

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
  static NodeEndpoint at(const DialledPort& port) { return {{"127.0.0.1", port.number(), false, ""}, {}, false}; }
  static bool is_ready(Verdicts& verdicts, std::chrono::seconds within) {
    return verdicts.wait_for(within) == std::future_status::ready;
  }

  SystemClock clock_;
  SeededRng rng_{3};
  const DialledPort open_ = DialledPort::open(), closed_ = DialledPort::closed(), silent_ = DialledPort::silent();
};

TEST_F(ServerDialer, TellsOpenFromClosed) {
  Dialer dialer(clock_, {{}, {.timeout = kNever}});
  auto verdicts = judge(dialer, user(), {at(open_), at(closed_), at(open_)});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(),
              ElementsAre(Reachability::kReachable, Reachability::kUnreachable, Reachability::kReachable));
}

TEST_F(ServerDialer, NobodyWaitsForTheSilentAddressesOfOthers) {
  std::vector<Verdicts> silent;
  {
    Dialer dialer(clock_, {{}, {.patience = kNever, .timeout = kNever}});
    for (int i = 0; i < 3; ++i) {
      silent.push_back(judge(dialer, user(), std::vector<NodeEndpoint>(64, at(silent_))));
    }
    auto verdicts = judge(dialer, user(), {at(closed_), at(open_)});
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
  auto verdicts = judge(dialer, user(), {at(silent_)});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnreachable));
}

TEST_F(ServerDialer, WhatFindsNoPlaceInTimeIsUnknown) {
  Dialer dialer(clock_,
                {{}, {.at_once_of_user = 1, .patience = std::chrono::seconds(3), .timeout = std::chrono::seconds(6)}});
  auto verdicts = judge(dialer, user(), {at(silent_), at(silent_)});
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(20)));
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnreachable, Reachability::kUnknown));
}

TEST_F(ServerDialer, WhatMayNotBeDialledIsUnknownAtOnce) {
  Dialer dialer(clock_, {});
  auto verdicts = judge(dialer, user(), {at(open_)}, "198.18.0.1");
  ASSERT_TRUE(is_ready(verdicts, std::chrono::seconds(0))) << "on this thread";
  EXPECT_THAT(verdicts.get(), ElementsAre(Reachability::kUnknown));
}

}  // namespace
}  // namespace gridtorrent::tracker::rpc
