// What is kept of a tuner's decisions, for people.
#include "client/core/tuning_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/core/target_told.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TransferId numbered(std::uint8_t number) {
  return TransferId(TransferId::Bytes{number});
}

class TuningLogTest : public ::testing::Test {
 protected:
  /// A look one second after the last: so many lanes carry so much, and the tuner wants `wanted`.
  const TuningDecision* look(int wanted, std::uint64_t bits_per_s = 0, int lanes = 0,
                             const std::string& why = "auto: x", std::uint8_t transfer = 1) {
    return look_after(seconds(1), wanted, bits_per_s, lanes, why, transfer);
  }
  const TuningDecision* look_after(milliseconds pause, int wanted, std::uint64_t bits_per_s = 0, int lanes = 0,
                                   const std::string& why = "auto: x", std::uint8_t transfer = 1) {
    auto input = testing::input_with(1);
    input.transfer = numbered(transfer);
    input.now = now_ += pause;
    input.limit_bits_per_s = limit_;
    input.target_bits_per_s = target_;
    input.mode = mode_;
    input.peers[0].receive_bits_per_s = bits_per_s;
    for (int i = 0; i < lanes; ++i) testing::stands(input.peers[0], 50'000);
    return log_.look("ada/set", input, {{{input.peers[0].node, wanted}}, {Limit::kUnknown, why}, tuners_limit_},
                     findings_, WallTime{1000} + std::chrono::duration_cast<milliseconds>(now_.time_since_epoch()));
  }
  TuningRecord record(std::uint8_t transfer = 1) { return log_.find(numbered(transfer)).value(); }

  /// As a process that starts anew with what this one kept.
  void restart(const std::function<bool(const TransferId&)>& fetches = [](const auto&) { return true; }) {
    std::vector<TuningRecord> kept = log_.unsaved(now_, true);
    log_ = {};
    now_ = MonoTime(seconds(7));
    log_.restore(std::move(kept), fetches);
  }

  TuningLog log_;
  MonoTime now_{};
  std::uint64_t limit_ = 0, target_ = 0, tuners_limit_ = 0;
  TuningMode mode_ = TuningMode::kBalanced;
  Findings findings_;
};

TEST_F(TuningLogTest, OfAnUnknownTransferItNamesTheListOfKnownOnes) {
  const auto found = log_.find(numbered(9));
  EXPECT_EQ(found.error().code, Code::kNotFound);
  EXPECT_THAT(found.error().message, HasSubstr("tune list"));
  log_.ended(numbered(9));
  EXPECT_TRUE(log_.list().empty());
}
TEST_F(TuningLogTest, ADecisionIsAnotherPlanOrAnotherReason) {
  ASSERT_NE(look(4), nullptr);
  EXPECT_EQ(look(4), nullptr);
  ASSERT_NE(look(8), nullptr);
  ASSERT_NE(look(8, 0, 0, "auto: y"), nullptr);
  const auto kept = record();
  EXPECT_EQ(kept.decisions.size(), 3U);
  EXPECT_EQ(kept.decisions[1].lanes_before, 4);
  EXPECT_EQ(kept.decisions[1].lanes, 8);
  EXPECT_EQ(kept.decisions[1].at, milliseconds(2000));
  EXPECT_EQ(kept.tuner, "auto");
}
TEST_F(TuningLogTest, TheModeIsKeptAsItWasLastAskedForWhereTheTunerHeedsOne) {
  look(4);
  EXPECT_EQ(record().mode, TuningMode::kBalanced);
  mode_ = TuningMode::kBackground;
  look(4);
  EXPECT_EQ(record().mode, TuningMode::kBackground);
  EXPECT_EQ(log_.list().front().mode, TuningMode::kBackground);
  look(4, 0, 0, "fixed: 4 lanes");
  EXPECT_EQ(record().mode, std::nullopt);
}
TEST_F(TuningLogTest, ADecisionKnowsTheRateBeforeItAndLaterWhatItBrought) {
  look(4, 9'000'000, 4);
  for (int i = 0; i < 3; ++i) look(4, 30'000'000, 4);
  findings_.limit = Limit::kLoss;
  const auto* decision = look(8, 30'000'000, 4);
  ASSERT_NE(decision, nullptr);
  EXPECT_EQ(decision->bits_per_s, 30'000'000U);
  EXPECT_EQ(decision->limit, Limit::kLoss);
  look(8, 1'000'000, 8);
  look(8, 1'000'000, 8);
  for (int i = 0; i < 2; ++i) look(8, 60'000'000, 8);
  EXPECT_FALSE(record().decisions.back().brought_bits_per_s) << "the five seconds are not over";
  const auto before = record().revision;
  look(8, 60'000'000, 8);
  EXPECT_EQ(record().decisions.back().brought_bits_per_s, 60'000'000U) << "the first two seconds do not count";
  EXPECT_GT(record().decisions.back().revision, before);
}
TEST_F(TuningLogTest, WhatTheNextDecisionCutShortStaysUnknown) {
  look(4, 9'000'000, 4);
  look(4, 9'000'000, 4);
  look(8, 9'000'000, 4);
  for (int i = 0; i < 10; ++i) look(8, 9'000'000, 8);
  EXPECT_FALSE(record().decisions[0].brought_bits_per_s);
  EXPECT_TRUE(record().decisions[1].brought_bits_per_s);
}
TEST_F(TuningLogTest, LooksWithinASecondAreOneSample) {
  look(4);
  now_ -= milliseconds(800);
  look(4);
  EXPECT_EQ(record().samples.size(), 1U);
  look(4);
  EXPECT_EQ(record().samples.size(), 2U);
}
TEST_F(TuningLogTest, DecisionsOfOneSecondAreOneWithTheLastReason) {
  look(16, 0, 0, "auto: 16, nothing known");
  look_after(milliseconds(4), 8, 0, 0, "auto: 8");
  ASSERT_NE(look_after(milliseconds(4), 2, 0, 0, "auto: 2, near"), nullptr) << "the log still has a line for each";
  const auto kept = record();
  ASSERT_EQ(kept.decisions.size(), 1U);
  EXPECT_EQ(kept.decisions[0].lanes_before, 0);
  EXPECT_EQ(kept.decisions[0].lanes, 2);
  EXPECT_EQ(kept.decisions[0].reason, "auto: 2, near");
  EXPECT_EQ(kept.decisions[0].revision, kept.revision);
  look_after(milliseconds(942), 4);
  EXPECT_EQ(record().decisions.size(), 2U);
}
TEST_F(TuningLogTest, ASampleKnowsTheLowestLimitAndTheTargetThen) {
  look(4);
  limit_ = 90;
  target_ = 50;
  look(4);
  tuners_limit_ = 60;
  look(4);
  const auto samples = record().samples;
  EXPECT_EQ(samples[0].limit_bits_per_s, 0U);
  EXPECT_EQ(samples[1].limit_bits_per_s, 90U);
  EXPECT_EQ(samples[2].limit_bits_per_s, 60U);
  EXPECT_EQ(samples[2].target_bits_per_s, 50U);
}
TEST_F(TuningLogTest, WhatRunsIsToBeWrittenEachFiveSecondsAndWhatEndedAtOnce) {
  EXPECT_TRUE(log_.unsaved(now_).empty());
  now_ = MonoTime(seconds(100));
  look(4);
  look(4, 0, 0, "auto: x", 2);
  auto due = log_.unsaved(now_);
  ASSERT_EQ(due.size(), 2U);
  for (const auto& one : due) log_.saved(one, now_);
  look(4);
  log_.ended(numbered(2));
  due = log_.unsaved(now_);
  ASSERT_EQ(due.size(), 1U) << "the other one was written a second ago";
  EXPECT_EQ(due[0].transfer, numbered(2));
  log_.saved(due[0], now_);
  EXPECT_EQ(log_.unsaved(now_, true).size(), 1U) << "at the end of the process all that is new";
  for (int i = 0; i < 4; ++i) look(4);
  EXPECT_EQ(log_.unsaved(now_).size(), 1U);
}
TEST_F(TuningLogTest, WhatChangedWhileItWasWrittenIsWrittenAgain) {
  look(4);
  const auto due = log_.unsaved(now_, true);
  log_.ended(numbered(1));
  log_.saved(due.at(0), now_);
  EXPECT_EQ(log_.unsaved(now_).size(), 1U);
}
TEST_F(TuningLogTest, AfterARestartATransferGoesOnInItsRecord) {
  look(4);
  look(8, 0, 0, "auto: y");
  restart();
  EXPECT_TRUE(record().running);
  EXPECT_TRUE(log_.unsaved(now_, true).empty()) << "it is on disk";
  ASSERT_NE(look(4), nullptr);
  const auto kept = record();
  ASSERT_EQ(kept.decisions.size(), 3U);
  EXPECT_EQ(kept.decisions[2].number, 3);
  EXPECT_EQ(kept.decisions[2].lanes_before, 8);
  EXPECT_EQ(kept.elapsed, seconds(1)) << "the time between the processes does not count";
  EXPECT_EQ(kept.samples.size(), 2U) << "as no time has passed";
  look(4);
  EXPECT_EQ(record().samples.size(), 3U);
}
TEST_F(TuningLogTest, AfterARestartTheTunersFirstDecisionIsToldAlsoWhereItIsTheSame) {
  look(4);
  look(4);
  restart();
  EXPECT_NE(look(4), nullptr);
}
TEST_F(TuningLogTest, AfterARestartWhatNoLongerFetchesHasEndedAndTheOrderIsThatOfTheEnds) {
  for (std::uint8_t i = 1; i <= 3; ++i) look(4, 0, 0, "auto: x", i);
  log_.ended(numbered(3));
  log_.ended(numbered(1));
  restart([](const auto&) { return false; });
  auto all = log_.list();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].transfer, numbered(2));
  EXPECT_EQ(all[1].transfer, numbered(1));
  EXPECT_EQ(all[2].transfer, numbered(3));
  EXPECT_FALSE(all[0].running);
  EXPECT_EQ(log_.unsaved(now_).size(), 1U) << "that it ended";
  look(4, 0, 0, "auto: x", 4);
  log_.ended(numbered(4));
  EXPECT_EQ(log_.list()[0].transfer, numbered(4));
}
TEST_F(TuningLogTest, WhatIsKeptIsBounded) {
  for (int i = 0; i < 700; ++i) look(i % 2 + 1);
  EXPECT_EQ(record().samples.size(), TuningRecord::kSamples);
  EXPECT_EQ(record().decisions.size(), TuningRecord::kDecisions);
  EXPECT_EQ(record().decisions.back().number, 700);
  EXPECT_EQ(record().elapsed, seconds(699));
}
TEST_F(TuningLogTest, TheLastHundredThatEndedAreKeptAndAllThatRun) {
  look(4, 0, 0, "auto: x", 200);
  for (std::uint8_t i = 0; i < 101; ++i) {
    look(4, 0, 0, "auto: x", i);
    log_.ended(numbered(i));
  }
  EXPECT_FALSE(log_.find(numbered(0)).ok());
  EXPECT_TRUE(log_.find(numbered(1)).ok());
  const auto all = log_.list();
  ASSERT_EQ(all.size(), 101U);
  EXPECT_EQ(all[0].transfer, numbered(200));
  EXPECT_EQ(all[1].transfer, numbered(100));
  EXPECT_FALSE(all[1].running);
}
TEST_F(TuningLogTest, ATransferThatFetchesAgainGoesOnInItsRecord) {
  look(4);
  log_.ended(numbered(1));
  look(4);
  EXPECT_TRUE(record().running);
  EXPECT_EQ(record().decisions.size(), 1U);
}

class ToldOfATarget : public ::testing::Test {
 protected:
  std::optional<TargetTold::Line> look(bool held, seconds later) {
    std::optional<TargetTold::Line> line;
    for (auto each = seconds(0); each < later; each += seconds(1)) {
      now_ += seconds(1);
      TargetState state;
      state.held = held;
      state.wanted_bits_per_s = wanted_;
      state.text = held ? "holds 30 Mbit/s" : "7 % short of 30 Mbit/s";
      if (auto said = told_.look(now_, state)) line = std::move(said);
    }
    return line;
  }
  MonoTime now_{std::chrono::hours(1)};
  double wanted_ = 30e6;
  TargetTold told_;
};
TEST_F(ToldOfATarget, SaysNothingAtOnceAfterAPauseOrOfAnotherTarget) {
  look(false, seconds(9));
  now_ += std::chrono::hours(1);
  EXPECT_EQ(look(false, seconds(9)), std::nullopt) << "it gets up speed again";
  wanted_ = 60e6;
  EXPECT_EQ(look(false, seconds(9)), std::nullopt);
  EXPECT_TRUE(look(false, seconds(9)));
  wanted_ = 10e6;
  EXPECT_EQ(look(true, seconds(9)), std::nullopt) << "that one was never missed";
}
TEST_F(ToldOfATarget, SaysOnceThatItIsMissed) {
  EXPECT_EQ(look(false, seconds(1)), std::nullopt);
  EXPECT_EQ(look(false, seconds(9)), std::nullopt) << "new lanes may hold it";
  EXPECT_EQ(look(false, seconds(1)), (TargetTold::Line{false, "7 % short of 30 Mbit/s"}));
  EXPECT_EQ(look(false, seconds(100)), std::nullopt);
}
TEST_F(ToldOfATarget, SaysThatItIsKeptAgainWhereItSaidThatItIsMissed) {
  EXPECT_EQ(look(false, seconds(1)), std::nullopt);
  EXPECT_EQ(look(true, seconds(9)), std::nullopt);
  EXPECT_EQ(look(false, seconds(1)), std::nullopt);
  EXPECT_TRUE(look(false, seconds(10)));
  EXPECT_EQ(look(true, seconds(1)), (TargetTold::Line{true, "holds 30 Mbit/s"}));
}
TEST_F(ToldOfATarget, SaysSoOnceAMinuteWhereItComesAndGoes) {
  look(false, seconds(1));
  EXPECT_TRUE(look(false, seconds(10)));
  EXPECT_TRUE(look(true, seconds(1)));
  look(false, seconds(1));
  EXPECT_EQ(look(false, seconds(30)), std::nullopt);
  EXPECT_TRUE(look(false, seconds(30)));
}
TEST_F(ToldOfATarget, SaysNothingWhereNobodyAskedForOne) {
  EXPECT_EQ(told_.look(now_, std::nullopt), std::nullopt);
}

TEST(RateByLanes, IsTheMedianWithItsRange) {
  const auto sample = [](int lanes, std::uint64_t rate) { return TuningSample{{}, rate, lanes, 1}; };
  EXPECT_THAT(rate_by_lanes({sample(0, 5), sample(4, 30), sample(4, 10), sample(4, 20), sample(2, 7)}),
              ElementsAre(LanesPoint{2, 1, 7, 7, 7}, LanesPoint{4, 3, 10, 20, 30}));
}
TEST(DecisionText, NamesLanesRateLimitAndReason) {
  TuningDecision decision{1, {}, 4, 8, 93'000'000, "auto: 8 lanes to 1 seeder", Limit::kLoss};
  EXPECT_EQ(decision_text(decision), "lanes 4 → 8 at 93.0 Mbit/s, limited by loss: auto: 8 lanes to 1 seeder");
  decision.lanes_before = 0;
  EXPECT_EQ(decision_text(decision), "lanes 0 → 8, limited by loss: auto: 8 lanes to 1 seeder");
  decision.lanes_before = 8;
  decision.limit = Limit::kUnknown;
  EXPECT_EQ(decision_text(decision), "lanes 8 at 93.0 Mbit/s: auto: 8 lanes to 1 seeder");
}

}  // namespace
}  // namespace gridtorrent::client
