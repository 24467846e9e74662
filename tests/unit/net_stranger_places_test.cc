// Who gets a place among the strangers, who loses one, and who waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/net/stranger_places.h"

namespace gridtorrent::net {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Strangers : public ::testing::Test {
 protected:
  void TearDown() override { places_.close(); }
  /// `name` is its address and a number: "a1".
  void come(const std::string& name) {
    places_.wait(name.substr(0, 1), [this, name](const std::shared_ptr<StrangerPlaces::Place>& place) {
      admitted_.push_back(name);
      in_[name] = place;
      place->on_evicted([this, name] { evicted_.push_back(name); });
    });
  }
  void leave(const std::string& name) {
    const auto place = std::move(in_.at(name));
    in_.erase(name);
  }

  ManualClock clock_;
  StrangerPlaces places_{{.at_once = 4, .least = 1s, .most = 10s}, clock_};
  std::map<std::string, std::shared_ptr<StrangerPlaces::Place>> in_;
  std::vector<std::string> admitted_, evicted_;
};

TEST_F(Strangers, AreAdmittedAtOnceWhileThereArePlaces) {
  for (const char* name : {"a1", "a2", "b1", "a3"}) come(name);
  EXPECT_THAT(admitted_, ElementsAre("a1", "a2", "b1", "a3"));
  EXPECT_EQ(places_.taken(), 4u);
  EXPECT_EQ(places_.waiting(), 0u);
}

TEST_F(Strangers, WaitForOneWhoLeavesOrIsKnown) {
  for (const char* name : {"a1", "a2", "a3", "a4", "a5", "a6"}) come(name);
  EXPECT_EQ(places_.waiting(), 2u);
  leave("a2");
  EXPECT_EQ(admitted_.back(), "a5");
  in_.at("a1")->leave();
  in_.at("a1")->leave();
  EXPECT_EQ(admitted_.back(), "a6");
  EXPECT_EQ(places_.taken(), 4u);
}

TEST_F(Strangers, OfTheAddressWithTheFewestComeNext) {
  for (const char* name : {"a1", "a2", "b1", "b2", "a3", "b3", "c1"}) come(name);
  leave("a1");
  EXPECT_EQ(admitted_.back(), "c1");
  leave("b1");
  EXPECT_EQ(admitted_.back(), "a3") << "both have one; it waits longer";
}

TEST_F(Strangers, LoseTheOldestPlaceOfTheAddressWithTheMost) {
  for (const char* name : {"b1", "a1", "a2", "a3"}) come(name);
  clock_.advance(1s);
  come("c1");
  EXPECT_THAT(evicted_, ElementsAre("a1"));
  EXPECT_EQ(places_.waiting(), 1u) << "until it has gone";
  leave("a1");
  EXPECT_EQ(admitted_.back(), "c1");
  come("c2");
  places_.tick();
  EXPECT_THAT(evicted_, ElementsAre("a1")) << "nobody has two more than the others";
}

TEST_F(Strangers, KeepAPlaceForTheLeastTime) {
  for (const char* name : {"a1", "a2", "a3", "a4"}) come(name);
  clock_.advance(999ms);
  come("b1");
  places_.tick();
  EXPECT_THAT(evicted_, IsEmpty());
  clock_.advance(1ms);
  places_.tick();
  EXPECT_THAT(evicted_, ElementsAre("a1"));
  places_.tick();
  EXPECT_THAT(evicted_, ElementsAre("a1")) << "one for each who waits";
}

TEST_F(Strangers, OfOneAddressMakeRoomForEachOtherAfterTheMostTime) {
  for (const char* name : {"a1", "a2", "a3", "a4", "a5"}) come(name);
  clock_.advance(9'999ms);
  places_.tick();
  EXPECT_THAT(evicted_, IsEmpty());
  clock_.advance(1ms);
  places_.tick();
  EXPECT_THAT(evicted_, ElementsAre("a1"));
}

TEST_F(Strangers, WhoAreIdleGoFirst) {
  for (const char* name : {"a1", "b1", "c1", "e1"}) come(name);
  clock_.advance(500ms);
  in_.at("c1")->set_busy(false);
  in_.at("b1")->set_busy(false);
  in_.at("b1")->set_busy(true);
  clock_.advance(999ms);
  come("d1");
  EXPECT_THAT(evicted_, IsEmpty()) << "idle for less than the least time; nobody has two more";
  clock_.advance(1ms);
  places_.tick();
  EXPECT_THAT(evicted_, ElementsAre("c1"));
}

TEST_F(Strangers, KeepTheirPlacesWhereNobodyWaits) {
  for (const char* name : {"a1", "a2", "a3", "a4"}) come(name);
  clock_.advance(1h);
  places_.tick();
  EXPECT_THAT(evicted_, IsEmpty());
}

TEST_F(Strangers, AreToldOfAnEvictionThatCameBeforeTheyAsked) {
  for (const char* name : {"a1", "a2", "a3", "a4"}) come(name);
  clock_.advance(1s);
  come("b1");
  bool told = false;
  in_.at("a1")->on_evicted([&] { told = true; });
  EXPECT_TRUE(told);
  in_.at("a2")->on_evicted([&] { ADD_FAILURE() << "it was not evicted"; });
}

TEST_F(Strangers, WhoLeftWhileWaitingLeavesThePlaceToTheNext) {
  for (const char* name : {"a1", "a2", "a3", "a4"}) come(name);
  places_.wait("b", [](const auto&) {});  // keeps nothing of it
  come("a5");
  leave("a1");
  EXPECT_EQ(admitted_.back(), "a5");
  EXPECT_EQ(places_.taken(), 4u);
}

TEST_F(Strangers, WhoIsForgottenWaitsNoMore) {
  for (const char* name : {"a1", "a2", "a3", "a4"}) come(name);
  const std::uint64_t number = places_.wait("b", [](const auto&) { ADD_FAILURE() << "it was forgotten"; });
  places_.forget("b", number);
  places_.forget("b", number);
  EXPECT_EQ(places_.waiting(), 0u);
  come("a5");
  leave("a1");
  EXPECT_EQ(admitted_.back(), "a5");
}

TEST_F(Strangers, NobodyIsAdmittedAfterTheEnd) {
  for (const char* name : {"a1", "a2", "a3", "a4", "a5"}) come(name);
  places_.close();
  leave("a1");
  come("b1");
  EXPECT_THAT(admitted_, ElementsAre("a1", "a2", "a3", "a4"));
  EXPECT_EQ(places_.waiting(), 0u);
}

}  // namespace
}  // namespace gridtorrent::net
