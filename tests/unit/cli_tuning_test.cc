// How `tune` shows what a tuner decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/tuning_view.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Tuning lossy() {
  v1::Tuning tuning;
  tuning.set_transfer_id("x_1");
  tuning.set_name("mia/run42");
  tuning.set_tuner("auto");
  tuning.set_running(true);
  tuning.set_elapsed_ms(130'000);
  tuning.set_limit_word("loss");
  tuning.set_limit_detail("1 loss event in 5,000 packets");
  tuning.set_advice("the seeder's owner allows BBR");
  auto& source = *tuning.add_sources();
  source.set_node_id("n_b");
  source.set_lanes(13);
  source.set_rtt_us(60'000);
  source.set_bits_per_s(117'000'000);
  source.set_long_run_lane_bits_per_s(15'000'000);
  source.set_loss_events_per_segment(0.0002);
  source.set_congestion_control("cubic");
  source.set_held_by("loss");
  tuning.add_sources()->set_node_id("n_c");
  auto& decision = *tuning.add_decisions();
  decision.set_number(1);
  decision.set_at_ms(2'000);
  decision.set_text("lanes 8 → 13 at 93.0 Mbit/s: auto: 13 lanes");
  return tuning;
}

TEST(TuningText, SaysWhatLimitsAndWhatHelpsFirst) {
  EXPECT_EQ(tuning_text(lossy()),
            "mia/run42 (x_1), tuner auto, 2 min 10 s\n"
            "limited by loss: 1 loss event in 5,000 packets\n"
            "  better: the seeder's owner allows BBR\n"
            "\n"
            "SEEDER      RTT  LANES        RATE       A LANE  IN THE LONG RUN  LOSS EVENTS  CONTROL  HELD BY\n"
            "n_b     60.0 ms     13  117 Mbit/s  9.00 Mbit/s      15.0 Mbit/s       0.02 %  cubic    loss\n"
            "n_c           -      0     0 bit/s            -                -            0  -        -\n"
            "\n"
            "DECISIONS\n"
            "     2.0 s  lanes 8 → 13 at 93.0 Mbit/s: auto: 13 lanes\n");
}
TEST(TuningText, SaysSoWhereNothingIsKnown) {
  v1::Tuning tuning;
  tuning.set_limit_word("unknown");
  EXPECT_THAT(tuning_text(tuning), HasSubstr("nothing measured says what limits it"));
  EXPECT_THAT(tuning_text(tuning), Not(HasSubstr("SEEDER")));
  EXPECT_EQ(limit_line(tuning), "");
}
TEST(TuningText, EscapesWhatOthersNamed) {
  v1::Tuning tuning = lossy();
  tuning.set_name("a\x1b[31m");
  EXPECT_THAT(tuning_text(tuning), HasSubstr("a\\x1b[31m"));
}
TEST(DecisionLine, EndsInWhatItBroughtWhereThatIsKnown) {
  v1::TuningDecision decision = lossy().decisions(0);
  decision.set_brought_bits_per_s(118'000'000);
  EXPECT_THAT(decision_line(decision), EndsWith("auto: 13 lanes; brought 118 Mbit/s\n"));
}
TEST(TuningJson, HasNullWhereItIsNotYetKnownWhatADecisionBrought) {
  const Json json = to_json(lossy());
  EXPECT_TRUE(json["decisions"][0]["brought_bits_per_s"].is_null());
  EXPECT_EQ(json["sources"][0]["held_by"], "loss");
}

}  // namespace
}  // namespace gridtorrent::client::cli
