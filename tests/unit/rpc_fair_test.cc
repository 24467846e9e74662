#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "base/rpc/fair_executor.h"
#include "base/rpc/fair_queue.h"

namespace gridtorrent::rpc {
namespace {

using ::testing::ElementsAre;
using Queue = FairQueue<std::string>;

/// Takes all that may run, without ending any.
std::vector<std::string> take_all(Queue& queue) {
  std::vector<std::string> jobs;
  while (const auto turn = queue.take()) jobs.push_back(turn->job);
  return jobs;
}

TEST(FairQueue, RefusesMoreThanAKeysShareAndMoreThanAll) {
  Queue queue({.waiting_of_key = 2, .waiting = 3, .running_of_key = 1});
  EXPECT_EQ(queue.put("alice", "a1"), Queue::Put::kTaken);
  EXPECT_EQ(queue.put("alice", "a2"), Queue::Put::kTaken);
  EXPECT_EQ(queue.put("alice", "a3"), Queue::Put::kKeyIsFull);
  EXPECT_EQ(queue.put("bob", "b1"), Queue::Put::kTaken);
  EXPECT_EQ(queue.put("carol", "c1"), Queue::Put::kIsFull);
  EXPECT_EQ(queue.waiting(), 3u);
}

TEST(FairQueue, KeysTakeTurnsHoweverMuchOneOfThemWants) {
  Queue queue({.waiting_of_key = 10, .waiting = 100, .running_of_key = 10});
  for (const char* job : {"a1", "a2", "a3", "a4"}) ASSERT_EQ(queue.put("alice", job), Queue::Put::kTaken);
  for (const char* job : {"b1", "b2"}) ASSERT_EQ(queue.put("bob", job), Queue::Put::kTaken);
  ASSERT_EQ(queue.put("carol", "c1"), Queue::Put::kTaken);
  EXPECT_THAT(take_all(queue), ElementsAre("a1", "b1", "c1", "a2", "b2", "a3", "a4"));
}

TEST(FairQueue, WhoComesLaterWaitsForOneTurnOfEachAndNoMore) {
  Queue queue({.waiting_of_key = 10, .waiting = 100, .running_of_key = 10});
  for (const char* job : {"a1", "a2", "a3"}) ASSERT_EQ(queue.put("alice", job), Queue::Put::kTaken);
  EXPECT_EQ(queue.take()->job, "a1");
  ASSERT_EQ(queue.put("bob", "b1"), Queue::Put::kTaken);
  EXPECT_THAT(take_all(queue), ElementsAre("a2", "b1", "a3"));
}

TEST(FairQueue, AKeyRunsNoMoreAtOnceThanItMay) {
  Queue queue({.waiting_of_key = 10, .waiting = 100, .running_of_key = 1});
  for (const char* job : {"a1", "a2"}) ASSERT_EQ(queue.put("alice", job), Queue::Put::kTaken);
  EXPECT_THAT(take_all(queue), ElementsAre("a1"));
  ASSERT_EQ(queue.put("bob", "b1"), Queue::Put::kTaken);
  EXPECT_THAT(take_all(queue), ElementsAre("b1")) << "alice's second must not hold up bob";
  queue.done("alice");
  EXPECT_THAT(take_all(queue), ElementsAre("a2"));
}

TEST(FairQueue, AnIdleKeyHoldsNoPlaceAndLosesNone) {
  Queue queue({.waiting_of_key = 1, .waiting = 1, .running_of_key = 1});
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(queue.put("alice", "a"), Queue::Put::kTaken);
    ASSERT_TRUE(queue.take().has_value());
    queue.done("alice");
    EXPECT_FALSE(queue.take().has_value());
  }
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(FairExecutor, OneUserNeverHoldsAllThreads) {
  FairExecutor executor("test-read", 2, {.waiting_of_key = 4, .waiting = 8, .running_of_key = 1});
  std::promise<void> go, bob_ran;
  const std::shared_future<void> gate = go.get_future().share();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(executor.post("alice", [gate] { gate.wait(); }), FairExecutor::Queue::Put::kTaken);
  }
  ASSERT_EQ(executor.post("bob", [&] { bob_ran.set_value(); }), FairExecutor::Queue::Put::kTaken);
  bob_ran.get_future().wait();
  EXPECT_EQ(executor.queued(), 2u) << "alice's first runs, two wait";
  go.set_value();
}

TEST(FairExecutor, RunsWhatItTookBeforeItStops) {
  std::atomic<int> ran = 0;
  FairExecutor executor("test-read", 2, {.waiting_of_key = 100, .waiting = 100, .running_of_key = 1});
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(executor.post("alice", [&] { ++ran; }), FairExecutor::Queue::Put::kTaken);
  }
  executor.stop();
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(executor.post("alice", [] {}), FairExecutor::Queue::Put::kIsFull);
}

TEST(FairExecutor, ItsThreadsGiveWayToAllOthers) {
  FairExecutor executor("test-read", 1, {});
  std::promise<int> nice;
  ASSERT_EQ(executor.post("alice", [&] { nice.set_value(::getpriority(PRIO_PROCESS, 0)); }),
            FairExecutor::Queue::Put::kTaken);
  EXPECT_GT(nice.get_future().get(), ::getpriority(PRIO_PROCESS, static_cast<id_t>(::getpid())));
}

}  // namespace
}  // namespace gridtorrent::rpc
