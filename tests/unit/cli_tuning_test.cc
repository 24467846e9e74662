// How `tune` shows what a tuner decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/node_names.h"
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
            "  1       2.0 s  lanes 8 → 13 at 93.0 Mbit/s: auto: 13 lanes\n");
}
TEST(TuningText, NamesTheModeWhereTheTunerHeedsOne) {
  v1::Tuning tuning = lossy();
  EXPECT_EQ(to_json(tuning)["mode"], Json());
  tuning.set_mode("background");
  EXPECT_THAT(tuning_text(tuning), HasSubstr("(x_1), tuner auto (background), 2 min 10 s\n"));
  EXPECT_EQ(to_json(tuning)["mode"], "background");
}

TEST(TuningText, ComparesNumbersOfLanesWhereThereWereSeveral) {
  v1::Tuning tuning = lossy();
  const auto add = [&](std::uint32_t lanes, std::uint64_t median) {
    auto& point = *tuning.add_curve();
    point.set_lanes(lanes);
    point.set_seconds(7);
    point.set_least_bits_per_s(median / 2);
    point.set_median_bits_per_s(median);
    point.set_most_bits_per_s(median * 2);
  };
  add(8, 80'000'000);
  EXPECT_THAT(tuning_text(tuning), Not(HasSubstr("RATE BY LANES")));
  add(13, 120'000'000);
  EXPECT_THAT(tuning_text(tuning), HasSubstr("\nRATE BY LANES\n"
                                             "LANES  SECONDS        LEAST       MEDIAN        MOST\n"
                                             "    8        7  40.0 Mbit/s  80.0 Mbit/s  160 Mbit/s\n"
                                             "   13        7  60.0 Mbit/s   120 Mbit/s  240 Mbit/s\n"
                                             "\nDECISIONS\n"));
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
TEST(TuningText, NamesNodesWhereTheirNamesAreKnown) {
  v1::Tuning tuning = lossy();
  tuning.set_limit_detail("packets get lost between n_b and here");
  tuning.mutable_decisions(0)->set_text("lanes 8 → 13: n_b and n_c and n_b");
  const std::string text = tuning_text(named(tuning, {{"n_b", "b\x1bseed"}, {"n_c", "n_c itself"}}));
  EXPECT_THAT(text, HasSubstr("between b\\x1bseed and here"));
  EXPECT_THAT(text, HasSubstr("b\\x1bseed and n_c itself and b\\x1bseed"));
  EXPECT_THAT(text, HasSubstr("\nb\\x1bseed  "));
}
TEST(NodeNames, LeaveOutWhatNamesTwoNodesOrNone) {
  std::vector<v1::Replica> replicas(4);
  const char* const names[] = {"seed", "twin", "twin", ""};
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    replicas[i].set_node_id("n_" + std::to_string(i));
    replicas[i].set_node_name(names[i]);
  }
  EXPECT_EQ(node_names(replicas), (NodeNames{{"n_0", "seed"}}));
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

TEST(HistoryTable, ShowsEachPathWithWhatItCarriedAndWhen) {
  v1::History history;
  EXPECT_THAT(history_table(history, WallTime{0}), HasSubstr("nothing is remembered"));
  auto& path = *history.add_paths();
  path.set_node_id("n_b");
  path.set_network("198.18.0.0/24");
  path.set_rtt_us(60'000);
  path.set_loss_events_per_segment(0.0002);
  path.set_congestion_control("cubic");
  path.set_lanes(12);
  path.set_bits_per_s(187'000'000);
  path.set_limit_word("loss");
  path.set_transfers(4);
  path.set_last_ms(1'000);
  EXPECT_EQ(
      history_table(history, WallTime{7'201'000}),
      "SEEDER  NETWORK            RTT  LOSS EVENTS  CONTROL  LANES        RATE  LIMITED BY  TRANSFERS           LAST\n"
      "n_b     198.18.0.0/24  60.0 ms       0.02 %  cubic       12  187 Mbit/s  loss                4  2 h 0 min "
      "ago\n");
  const auto json = to_json(history)["paths"][0];
  EXPECT_EQ(json["lanes"], 12);
  EXPECT_EQ(json["last"], "1970-01-01T00:00:01.000Z");
}

}  // namespace
}  // namespace gridtorrent::client::cli
