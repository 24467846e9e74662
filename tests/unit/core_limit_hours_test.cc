// Limits of some hours: which hold, and until when.
#include <gmock/gmock.h>

#include "client/core/limit_hours.h"
#include "tests/support/node_fixture.h"
#include "tests/support/zone.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kMbit = 1'000'000;

LimitHours hours(const char* text) {
  return parse_limit_hours(text).value();
}

WallTime at(const char* time) {
  return parse_rfc3339(time).value();
}

/// Clocks an hour ahead of UTC, two in summer. 2026-11-25 is a Wednesday.
class Hours : public ::testing::Test {
 protected:
  /// "up down until", Mbit/s and UTC.
  static std::string said(const NodeLimits& always, const std::vector<LimitHours>& entries, const char* now) {
    const LimitsNow held = limits_at(always, entries, at(now));
    return std::to_string(held.limits.send_bits_per_s / kMbit) + " " +
           std::to_string(held.limits.receive_bits_per_s / kMbit) + " " +
           (held.why.until ? to_rfc3339(*held.why.until).substr(0, 16) : "-");
  }
  test::InZone zone_{test::kCentralEurope};
};

TEST(LimitHoursText, IsRefusedWithTheRightForm) {
  const auto refusal = [](const char* text) {
    const auto parsed = parse_limit_hours(text);
    return parsed.ok() ? std::string("taken") : parsed.error().message;
  };
  EXPECT_THAT(refusal(""), HasSubstr("limits nothing: give up or down a rate; write it like from=08:00 to=18:00"));
  EXPECT_THAT(refusal("from=08:00"), HasSubstr("limits nothing"));
  EXPECT_THAT(refusal("from=8 up=5Mbit"), StartsWith("from: '8' is no time of day"));
  EXPECT_THAT(refusal("to=24:01 up=5Mbit"), StartsWith("to: '24:01' is no time of day"));
  EXPECT_THAT(refusal("from=24:00 up=5Mbit"), HasSubstr("begins where it ends"));
  EXPECT_THAT(refusal("from=08:00 to=08:00 up=5Mbit"), HasSubstr("begins where it ends"));
  EXPECT_THAT(refusal("days=mo-fr up=5Mbit"), StartsWith("days: 'mo-fr' names no days"));
  EXPECT_THAT(refusal("days= up=5Mbit"), StartsWith("days: '' names no days"));
  EXPECT_THAT(refusal("up=quick"), StartsWith("up: 'quick' is no rate"));
  EXPECT_THAT(refusal("up=0"), StartsWith("up=0 is no limit: leave it out"));
  EXPECT_THAT(refusal("up=10kbit"), HasSubstr("too low"));
  EXPECT_THAT(refusal("up=5Mbit up=6Mbit"), StartsWith("'up=6Mbit' comes twice"));
  EXPECT_THAT(refusal("form=08:00 up=5Mbit"), StartsWith("'form=08:00' is none of from, to, days, up and down"));
}

TEST(LimitHoursText, LeavesOutAllDayAndEveryDay) {
  const LimitHours all = hours("up=5Mbit");
  EXPECT_EQ(all.from_minute, 0);
  EXPECT_EQ(all.to_minute, 24 * 60);
  EXPECT_TRUE(all.days.all());
  EXPECT_EQ(all.text, "00:00-24:00");
  const LimitHours some = hours("days=Sat-mon,wed from=8:05 to=18:00 down=25MB");
  EXPECT_EQ(some.days.to_string(), "1100101") << "Sunday first";
  EXPECT_EQ(some.from_minute, 485);
  EXPECT_EQ(some.limits, (NodeLimits{0, 200 * kMbit}));
  EXPECT_EQ(some.text, "08:05-18:00 sat-mon,wed");
}

TEST_F(Hours, HoldFromTheFirstToTheLastMinute) {
  const std::vector entries{hours("from=08:00 to=18:00 days=mon-fri up=50Mbit")};
  EXPECT_EQ(said({}, entries, "2026-11-25T06:59:59Z"), "0 0 2026-11-25T07:00");
  EXPECT_EQ(said({}, entries, "2026-11-25T07:00:00Z"), "50 0 2026-11-25T17:00");
  EXPECT_EQ(said({}, entries, "2026-11-25T16:59:59Z"), "50 0 2026-11-25T17:00");
  EXPECT_EQ(said({}, entries, "2026-11-25T17:00:00Z"), "0 0 2026-11-26T07:00");
  EXPECT_EQ(said({}, entries, "2026-11-27T17:00:00Z"), "0 0 2026-11-30T07:00") << "over the weekend";
}

TEST_F(Hours, PastMidnightBelongToTheDayOnWhichTheyBegin) {
  const std::vector entries{hours("from=22:00 to=06:00 days=fri down=20Mbit")};
  EXPECT_EQ(said({}, entries, "2026-11-27T20:59:00Z"), "0 0 2026-11-27T21:00");
  EXPECT_EQ(said({}, entries, "2026-11-28T04:59:00Z"), "0 20 2026-11-28T05:00") << "Saturday morning";
  EXPECT_EQ(said({}, entries, "2026-11-27T04:59:00Z"), "0 0 2026-11-27T21:00") << "Friday morning";
}

TEST_F(Hours, OfSeveralTheStrictestCountsForEachDirection) {
  const std::vector entries{hours("from=08:00 to=18:00 up=50Mbit down=300Mbit"), hours("from=12:00 to=14:00 up=80Mbit"),
                            hours("from=17:00 to=20:00 up=20Mbit")};
  const NodeLimits always{100 * kMbit, 200 * kMbit};
  EXPECT_EQ(said(always, entries, "2026-11-25T06:00:00Z"), "100 200 2026-11-25T07:00");
  EXPECT_EQ(said(always, entries, "2026-11-25T11:30:00Z"), "50 200 2026-11-25T16:00") << "80 at noon changes nothing";
  EXPECT_EQ(said(always, entries, "2026-11-25T16:30:00Z"), "20 200 2026-11-25T19:00");
  const LimitsNow held = limits_at(always, entries, at("2026-11-25T11:30:00Z"));
  EXPECT_EQ(held.why.send, "hours 08:00-18:00");
  EXPECT_EQ(held.why.receive, "configuration");
  EXPECT_EQ(limits_at({}, {}, at("2026-11-25T11:30:00Z")).why, LimitsWhy{});
}

TEST_F(Hours, OfEveryHourNeverChange) {
  EXPECT_EQ(said({}, {hours("up=50Mbit")}, "2026-11-25T11:30:00Z"), "50 0 -");
  EXPECT_EQ(said({10 * kMbit, 0}, {hours("from=08:00 to=18:00 up=50Mbit")}, "2026-11-25T11:30:00Z"), "10 0 -");
}

TEST_F(Hours, FollowClocksThatAreChanged) {
  const std::vector night{hours("from=00:00 to=06:00 up=50Mbit")};
  EXPECT_EQ(said({}, night, "2026-03-28T23:00:00Z"), "50 0 2026-03-29T04:00") << "five hours long";
  EXPECT_EQ(said({}, night, "2026-10-24T22:00:00Z"), "50 0 2026-10-25T05:00") << "seven hours long";
  const std::vector day{hours("from=08:00 to=18:00 up=50Mbit")};
  EXPECT_EQ(said({}, day, "2026-03-28T18:00:00Z"), "0 0 2026-03-29T06:00") << "08:00 in summer";
  EXPECT_EQ(said({}, day, "2026-10-24T18:00:00Z"), "0 0 2026-10-25T07:00") << "08:00 in winter";
}

TEST_F(Hours, SetByHandHoldUntilTheHoursNextChangeThem) {
  HeldLimits held;
  held.configure({}, {hours("from=08:00 to=18:00 up=50Mbit")}, at("2026-11-25T09:00:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 50 * kMbit);
  held.set_by_hand({200 * kMbit, 0}, at("2026-11-25T10:00:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 200 * kMbit);
  EXPECT_EQ(held.now().why.send, "hand");
  EXPECT_EQ(held.now().why.until, at("2026-11-25T17:00:00Z"));
  EXPECT_FALSE(held.follow(at("2026-11-25T16:59:59Z")));
  EXPECT_TRUE(held.follow(at("2026-11-25T17:00:00Z")));
  EXPECT_EQ(held.now().limits, NodeLimits{});
  EXPECT_EQ(held.now().why.send, "");
  held.set_by_hand({200 * kMbit, 0}, at("2026-11-26T07:30:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 200 * kMbit) << "a change that nobody looked at takes nothing back";
}

TEST_F(Hours, SetByHandHoldUntilTheConfigurationHasOthers) {
  const std::vector day{hours("from=08:00 to=18:00 up=50Mbit")};
  HeldLimits held;
  held.configure({10 * kMbit, 0}, day, at("2026-11-25T20:00:00Z"));
  held.set_by_hand({200 * kMbit, 0}, at("2026-11-25T20:00:00Z"));
  held.configure({10 * kMbit, 0}, day, at("2026-11-25T20:01:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 200 * kMbit) << "read again, and the same";
  held.configure({20 * kMbit, 0}, day, at("2026-11-25T20:02:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 20 * kMbit);
  held.set_by_hand({200 * kMbit, 0}, at("2026-11-25T20:03:00Z"));
  held.configure({20 * kMbit, 0}, {}, at("2026-11-25T20:04:00Z"));
  EXPECT_EQ(held.now().limits.send_bits_per_s, 20 * kMbit) << "without hours";
}

class NodeByHours : public testing::NodeFixture {
 protected:
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  test::InZone zone_{test::kCentralEurope};
};

TEST_F(NodeByHours, TakesTheLimitsOfTheHourByItself) {
  clock_.set_wall(at("2026-11-25T16:59:59Z"));
  node_->reconfigure({{}, {}, 2, {100 * kMbit, 0}, {hours("from=08:00 to=18:00 up=50Mbit")}});
  EXPECT_EQ(engine_->node_limit(), Pair(0, 50 * kMbit));
  EXPECT_EQ(node_->status().limits_why.until, at("2026-11-25T17:00:00Z"));
  clock_.set_wall(at("2026-11-25T17:00:00Z"));
  EXPECT_TRUE(eventually([&] { return engine_->node_limit() == Pair(0, 100 * kMbit); }));
  EXPECT_EQ(node_->status().limits_why.send, "configuration");
}

}  // namespace
}  // namespace gridtorrent::client
