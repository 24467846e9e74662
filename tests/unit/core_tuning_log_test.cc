// What is kept of a tuner's decisions, for people.
#include "client/core/tuning_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    auto input = testing::input_with(1);
    input.transfer = numbered(transfer);
    input.now = now_ += seconds(1);
    input.peers[0].receive_bits_per_s = bits_per_s;
    for (int i = 0; i < lanes; ++i) testing::stands(input.peers[0], 50'000);
    return log_.look("ada/set", input, {{{input.peers[0].node, wanted}}, {Limit::kUnknown, why}}, findings_);
  }
  TuningRecord record(std::uint8_t transfer = 1) { return log_.find(numbered(transfer)).value(); }

  TuningLog log_;
  MonoTime now_{};
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
TEST_F(TuningLogTest, WhatIsKeptIsBounded) {
  for (int i = 0; i < 700; ++i) look(i % 2 + 1);
  EXPECT_EQ(record().samples.size(), TuningLog::kSamples);
  EXPECT_EQ(record().decisions.size(), TuningLog::kDecisions);
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

TEST(RateByLanes, IsTheMedianWithItsRange) {
  const auto sample = [](int lanes, std::uint64_t rate) { return TuningSample{{}, rate, lanes, 1}; };
  EXPECT_THAT(rate_by_lanes({sample(0, 5), sample(4, 30), sample(4, 10), sample(4, 20), sample(2, 7)}),
              ElementsAre(LanesPoint{2, 1, 7, 7, 7}, LanesPoint{4, 3, 10, 20, 30}));
}
TEST(DecisionText, NamesLanesRateLimitAndReason) {
  TuningDecision decision{1, {}, 4, 8, 93'000'000, "auto: 8 lanes to 1 seeder", Limit::kLoss};
  EXPECT_EQ(decision_text(decision), "lanes 4 → 8 at 93.0 Mbit/s, limited by loss: auto: 8 lanes to 1 seeder");
  decision.lanes_before = 8;
  decision.limit = Limit::kUnknown;
  EXPECT_EQ(decision_text(decision), "lanes 8 at 93.0 Mbit/s: auto: 8 lanes to 1 seeder");
}

}  // namespace
}  // namespace gridtorrent::client
