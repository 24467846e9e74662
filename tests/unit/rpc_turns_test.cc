// Who is served next, and who is refused, where turns are dear.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rpc/turns.h"

namespace gridtorrent::rpc {
namespace {

using ::testing::ElementsAre;

class Turns : public ::testing::Test {
 protected:
  /// The name of whoever has no place then, or "".
  std::string push(Rank rank, const std::string& key, const std::string& name) {
    displaced_.clear();
    const auto without_place =
        queue_.push({rank, key, [this, name] { served_.push_back(name); }, [this, name] { displaced_ = name; }});
    if (without_place) without_place->refused();
    return displaced_;
  }
  std::string stranger(const std::string& address, const std::string& name) {
    return push(Rank::kStranger, address, name);
  }
  std::string known(const std::string& user, const std::string& name) { return push(Rank::kKnown, user, name); }
  std::vector<std::string> serve_all() {
    served_.clear();
    while (const auto turn = queue_.pop()) turn->work();
    return served_;
  }

  TurnQueue queue_{{.of_rank = 6, .of_key = 2, .of_known_key = 2}};
  std::vector<std::string> served_;
  std::string displaced_;
};

TEST_F(Turns, NobodyWaitsAtFirst) {
  EXPECT_FALSE(queue_.pop());
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(Turns, KnownCallersComeBeforeStrangersThatWaitAlready) {
  EXPECT_EQ(stranger("a", "s1"), "");
  EXPECT_EQ(stranger("b", "s2"), "");
  EXPECT_EQ(known("alice", "k1"), "");
  EXPECT_THAT(serve_all(), ElementsAre("k1", "s1", "s2"));
}

TEST_F(Turns, AStrangerIsServedAfterThreeKnownCallers) {
  stranger("a", "s1");
  stranger("b", "s2");
  for (const char* user : {"k1", "k2", "k3", "k4", "k5"}) known(user, user);
  EXPECT_THAT(serve_all(), ElementsAre("k1", "k2", "k3", "s1", "k4", "k5", "s2"));
}

TEST_F(Turns, KeysTakeTurns) {
  known("alice", "a1");
  known("alice", "a2");
  known("bob", "b1");
  EXPECT_THAT(serve_all(), ElementsAre("a1", "b1", "a2"));
}

TEST_F(Turns, AKeyHasSoManyPlacesAndNoMore) {
  EXPECT_EQ(stranger("a", "a1"), "");
  EXPECT_EQ(stranger("a", "a2"), "");
  EXPECT_EQ(stranger("a", "a3"), "a3");
  EXPECT_EQ(queue_.size(), 2u);
  EXPECT_EQ(known("a", "k1"), "") << "ranks are counted apart";
}

TEST_F(Turns, FewAddressesThatFillTheQueueMakeRoomForAnother) {
  for (const char* address : {"a", "b", "c"}) {
    stranger(address, address + std::string("1"));
    stranger(address, address + std::string("2"));
  }
  EXPECT_EQ(stranger("d", "d1"), "a2") << "the newest of one that holds most";
  EXPECT_EQ(stranger("d", "d2"), "d2") << "who has a place displaces nobody";
  EXPECT_EQ(stranger("e", "e1"), "b2");
  EXPECT_EQ(stranger("f", "f1"), "c2");
  EXPECT_EQ(stranger("g", "g1"), "g1") << "all hold one";
  EXPECT_EQ(queue_.size(), 6u);
  EXPECT_EQ(known("alice", "k1"), "") << "strangers take no place of a known caller";
  EXPECT_THAT(serve_all(), ElementsAre("k1", "a1", "b1", "c1", "d1", "e1", "f1"));
}

TEST_F(Turns, PlacesAreFreeAgainOnceServed) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(stranger("a", "a1"), "");
    EXPECT_EQ(stranger("a", "a2"), "");
    EXPECT_THAT(serve_all(), ElementsAre("a1", "a2"));
    EXPECT_EQ(queue_.size(), 0u);
  }
}

TEST(TurnsOfKnownCallers, HaveMorePlacesOfAKeyThanThoseOfStrangers) {
  TurnQueue queue({.of_rank = 8, .of_key = 1, .of_known_key = 3});
  const auto taken = [&](Rank rank) { return !queue.push({rank, "mia", [] {}, [] {}}).has_value(); };
  EXPECT_TRUE(taken(Rank::kStranger));
  EXPECT_FALSE(taken(Rank::kStranger));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(taken(Rank::kKnown));
  EXPECT_FALSE(taken(Rank::kKnown));
}

}  // namespace
}  // namespace gridtorrent::rpc
