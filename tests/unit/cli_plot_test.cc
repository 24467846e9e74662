// The picture of how a transfer was tuned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/svg.h"
#include "client/cli/tuning_plot.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Every element that begins ends, in order, and there is one around all.
bool is_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (auto at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const auto end = svg.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = svg.substr(at + 1, end - at - 1);
    if (open.empty()) ++roots;
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() && roots == 1;
}

void add_sample(v1::Tuning& tuning, std::uint64_t at_ms, std::uint64_t mbit, std::uint32_t lanes,
                const std::string& word = "loss") {
  auto& sample = *tuning.add_samples();
  sample.set_at_ms(at_ms);
  sample.set_bits_per_s(mbit * 1'000'000);
  sample.set_lanes(lanes);
  sample.set_limit_word(word);
  tuning.set_elapsed_ms(at_ms);
}
void add_decision(v1::Tuning& tuning, std::uint64_t at_ms, std::uint32_t lanes, const std::string& text = "auto: x") {
  auto& decision = *tuning.add_decisions();
  decision.set_number(static_cast<std::uint32_t>(tuning.decisions_size()));
  decision.set_at_ms(at_ms);
  decision.set_lanes(lanes);
  decision.set_text(text);
}
v1::Tuning ten_seconds() {
  v1::Tuning tuning;
  tuning.set_name("mia/run42");
  tuning.set_tuner("auto");
  for (std::uint64_t i = 0; i < 10; ++i) add_sample(tuning, i * 1000, 80 + i, 8);
  return tuning;
}

TEST(TuningPlot, OfNothingIsAPictureThatSaysSo) {
  const std::string svg = tuning_svg(v1::Tuning());
  EXPECT_TRUE(is_well_formed(svg)) << svg;
  EXPECT_THAT(svg, HasSubstr("nothing was measured yet"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}
TEST(TuningPlot, OfOneSecondIsADot) {
  v1::Tuning tuning;
  add_sample(tuning, 0, 90, 4);
  const std::string svg = tuning_svg(tuning);
  EXPECT_TRUE(is_well_formed(svg)) << svg;
  EXPECT_EQ(count(svg, "r=\"1.5\" class=\"rate\""), 1);
  EXPECT_EQ(count(svg, "<polyline class=\"rate\""), 0);
}
TEST(TuningPlot, EscapesWhatOthersNamed) {
  v1::Tuning tuning = ten_seconds();
  tuning.set_name("<script>&\x1b\xff\"");
  tuning.set_tuner("</text>");
  tuning.mutable_samples(0)->set_limit_word("<loss>");
  add_decision(tuning, 0, 4, "because 3 < 4");
  const std::string svg = tuning_svg(tuning);
  EXPECT_TRUE(is_well_formed(svg)) << svg;
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;\\x1b\\xff&quot;"));
  EXPECT_THAT(svg, HasSubstr("because 3 &lt; 4"));
}
TEST(TuningPlot, CutsALongName) {
  v1::Tuning tuning;
  for (int i = 0; i < 200; ++i) *tuning.mutable_name() += "ä";
  EXPECT_THAT(tuning_svg(tuning), HasSubstr("ää…</text>"));
}
TEST(TuningPlot, SecondsThatNobodyMeasuredStayEmpty) {
  v1::Tuning tuning = ten_seconds();
  EXPECT_EQ(count(tuning_svg(tuning), "<polyline class=\"rate\""), 1);
  for (std::uint64_t i = 0; i < 10; ++i) add_sample(tuning, 30'000 + i * 1000, 80 + i, 8);
  const std::string svg = tuning_svg(tuning);
  EXPECT_EQ(count(svg, "<polyline class=\"rate\""), 2);
  EXPECT_EQ(count(svg, "<polyline class=\"lanes\""), 2);
}
TEST(TuningPlot, TimeIsInSecondsMinutesOrHoursAndBeginsWhereTheSamplesDo) {
  v1::Tuning tuning = ten_seconds();
  EXPECT_THAT(tuning_svg(tuning), HasSubstr("time (s)"));
  tuning.set_elapsed_ms(900'000);
  EXPECT_THAT(tuning_svg(tuning), HasSubstr("time (min)"));
  tuning.set_elapsed_ms(5 * 3'600'000);
  EXPECT_THAT(tuning_svg(tuning), HasSubstr("time (h)"));
  v1::Tuning late;
  for (std::uint64_t i = 0; i < 60; ++i) add_sample(late, 4'000'000 + i * 1000, 80, 8);
  add_decision(late, 0, 8, "long ago");
  const std::string svg = tuning_svg(late);
  EXPECT_THAT(svg, HasSubstr(">4010<"));
  EXPECT_THAT(svg, Not(HasSubstr("long ago")));
}
TEST(TuningPlot, MarksDecisionsWithNumbersThatCanBeRead) {
  v1::Tuning tuning = ten_seconds();
  add_decision(tuning, 2000, 8, "lanes 4 → 8: auto: 8 lanes");
  std::string svg = tuning_svg(tuning);
  EXPECT_THAT(svg, HasSubstr("<title>1: lanes 4 → 8: auto: 8 lanes</title>"));
  EXPECT_EQ(count(svg, "class=\"decided\""), 2) << "itself and the legend";
  for (int i = 0; i < 100; ++i) add_decision(tuning, 5000, 8);
  svg = tuning_svg(tuning);
  EXPECT_EQ(count(svg, "class=\"decided\""), 102);
  EXPECT_EQ(count(svg, "class=\"small mid\""), 2) << "those that would lie over others are left out";
}
TEST(TuningPlot, ShowsWhatLimitedAsOneBandForEachTimeOfOneWord) {
  v1::Tuning tuning = ten_seconds();
  for (std::uint64_t i = 10; i < 20; ++i) add_sample(tuning, i * 1000, 90, 8, "path");
  const std::string svg = tuning_svg(tuning);
  EXPECT_EQ(count(svg, "<title>loss</title>"), 1);
  EXPECT_EQ(count(svg, "<title>path</title>"), 1);
  EXPECT_EQ(count(svg, ">loss</text>"), 2) << "in the band and in the legend";
  EXPECT_EQ(count(svg, ">seeder</text>"), 0) << "the legend has what there is";
}
TEST(TuningPlot, AWordOfANewerNodeIsShownAsUnknown) {
  v1::Tuning tuning = ten_seconds();
  add_sample(tuning, 10'000, 90, 8, "moon");
  const std::string svg = tuning_svg(tuning);
  EXPECT_THAT(svg, HasSubstr("<title>moon</title>"));
  EXPECT_EQ(count(svg, ">unknown</text>"), 1);
}
TEST(TuningPlot, ShowsLimitAndTargetWhileTheyHeld) {
  v1::Tuning tuning = ten_seconds();
  for (int i = 5; i < 10; ++i) {
    tuning.mutable_samples(i)->set_limit_bits_per_s(100'000'000);
    tuning.mutable_samples(i)->set_target_bits_per_s(60'000'000);
  }
  const std::string svg = tuning_svg(tuning);
  EXPECT_EQ(count(svg, "<polyline class=\"limit\""), 1);
  EXPECT_EQ(count(svg, "<polyline class=\"target\""), 1);
  EXPECT_EQ(count(svg, ">limit</text>"), 1);
}
TEST(TuningPlot, ALimitFarAboveTheRateIsNamedAndDoesNotPressTheRateDown) {
  v1::Tuning tuning = ten_seconds();
  const std::string without = tuning_svg(tuning);
  for (auto& sample : *tuning.mutable_samples()) sample.set_limit_bits_per_s(10'000'000'000);
  const std::string svg = tuning_svg(tuning);
  const auto rate_of = [](const std::string& picture) {
    const auto at = picture.find("<polyline class=\"rate\"");
    return picture.substr(at, picture.find('>', at) - at);
  };
  EXPECT_EQ(rate_of(svg), rate_of(without));
  EXPECT_EQ(count(svg, "<polyline class=\"limit\""), 0);
  EXPECT_EQ(count(svg, ">limit (above)</text>"), 1);
}
TEST(TuningPlot, ShowsRateByLanesWithWhatWasChosen) {
  v1::Tuning tuning = ten_seconds();
  tuning.set_running(true);
  add_decision(tuning, 0, 8);
  for (const std::uint32_t lanes : {4U, 8U, 16U}) {
    auto& point = *tuning.add_curve();
    point.set_lanes(lanes);
    point.set_seconds(lanes - 3);
    point.set_median_bits_per_s(lanes * 10'000'000);
    point.set_most_bits_per_s(lanes * 11'000'000);
  }
  const std::string svg = tuning_svg(tuning);
  EXPECT_TRUE(is_well_formed(svg)) << svg;
  EXPECT_EQ(count(svg, "<polyline class=\"join\""), 1);
  EXPECT_EQ(count(svg, "class=\"few\""), 1) << "a second or two say little";
  EXPECT_EQ(count(svg, "class=\"median\""), 2);
  EXPECT_THAT(svg, HasSubstr("8 chosen"));
}

TEST(Axis, MarksAreRoundAndHaveTheDecimalsTheyTake) {
  EXPECT_DOUBLE_EQ(round_step(93, 5), 20);
  EXPECT_DOUBLE_EQ(round_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(round_step(3, 4, 1), 1);
  EXPECT_DOUBLE_EQ(round_step(0.9, 4, 1), 1) << "half a lane is none";
  EXPECT_DOUBLE_EQ(time_step(10, 8), 2);
  EXPECT_DOUBLE_EQ(time_step(130, 8), 20);
  EXPECT_DOUBLE_EQ(time_step(600, 8), 120);
  EXPECT_DOUBLE_EQ(time_step(100'000, 8), 18'000);
  const Axis axis{0.5, 1.6, 0.5, 100, 200};
  EXPECT_THAT(axis.marks(), ElementsAre(0.5, 1.0, 1.5));
  EXPECT_EQ(axis.label(0.5), "0.5");
  EXPECT_EQ((Axis{0, 1e9, 2e8, 0, 1}.label(4e8, 1e9)), "0.4");
  EXPECT_EQ((Axis{0, 1e8, 2e7, 0, 1}.label(4e7, 1e6)), "40");
  EXPECT_DOUBLE_EQ(axis.at(0.5), 100);
}

}  // namespace
}  // namespace gridtorrent::client::cli
