// What people ask of a tuner on the command line, and how they read what comes of it.
#include <gmock/gmock.h>

#include <ctime>

#include "client/cli/moments.h"
#include "client/cli/text_view.h"
#include "client/cli/wishes.h"
#include "tests/support/zone.h"
#include "tests/unit/cli_fixture.h"

namespace gridtorrent::client::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Clocks that hang in Berlin: an hour ahead of UTC, two in summer.
class InBerlin : public CommandLine {
 protected:
  InBerlin() { clock_.set_wall(parse_rfc3339("2026-11-24T21:00:00Z").value()); }
  std::string moment(std::string_view text, const char* now) {
    return to_rfc3339(moment_of(text, parse_rfc3339(now).value()));
  }
  /// The line that a get with these options ends with.
  std::string refusal(std::vector<std::string> options) {
    options.insert(options.begin(), {"get", "run42"});
    EXPECT_EQ(run(options), 2) << options[2];
    EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
    EXPECT_EQ(out_, "");
    return err_;
  }
  test::InZone zone_{test::kCentralEurope};
};

TEST_F(InBerlin, AClockTimeIsTheNextMomentThatAClockShowsIt) {
  EXPECT_EQ(moment("06:00", "2026-11-24T21:00:00Z"), "2026-11-25T05:00:00.000Z");
  EXPECT_EQ(moment("6:00", "2026-11-24T21:00:00Z"), "2026-11-25T05:00:00.000Z");
  EXPECT_EQ(moment("23:30:15", "2026-11-24T21:00:00Z"), "2026-11-24T22:30:15.000Z");
  EXPECT_EQ(moment("22:00", "2026-11-24T21:00:00Z"), "2026-11-25T21:00:00.000Z") << "now is not ahead";
  EXPECT_EQ(moment("06:00", "2026-03-28T20:00:00Z"), "2026-03-29T04:00:00.000Z") << "summer begins that night";
  EXPECT_EQ(moment("06:00", "2026-10-24T20:00:00Z"), "2026-10-25T05:00:00.000Z") << "summer ends that night";
}

TEST_F(InBerlin, ADurationCountsFromNowAndAFullTimeIsTaken) {
  EXPECT_EQ(moment("+2h", "2026-11-24T21:00:00Z"), "2026-11-24T23:00:00.000Z");
  EXPECT_EQ(moment("90s", "2026-11-24T21:00:00Z"), "2026-11-24T21:01:30.000Z");
  EXPECT_EQ(moment("2026-11-25T06:00:00+01:00", "2026-11-24T21:00:00Z"), "2026-11-25T05:00:00.000Z");
}

TEST_F(InBerlin, SinceADateIsSinceThatDayBeganHere) {
  const auto since = [this](const char* text) { return to_rfc3339({since_ms(text, clock_.wall())}); };
  EXPECT_EQ(since("2026-11-20"), "2026-11-19T23:00:00.000Z");
  EXPECT_EQ(since("2026-07-01"), "2026-06-30T22:00:00.000Z") << "in summer";
  EXPECT_EQ(since("2026-11-20T19:15:00Z"), "2026-11-20T19:15:00.000Z");
  EXPECT_EQ(since("2d"), "2026-11-22T21:00:00.000Z");
}

TEST_F(InBerlin, WhatIsNoMomentIsRefusedWithTheFormsThatThereAre) {
  for (const char* text : {"", "soon", ":00", "006:00", "6:0", "24:00", "06:60", "06:00:60", "06-00", "+06:0", "+",
                           "-2h", "2026-11-25", "2026-11-25T06:00", "06:00Z"}) {
    EXPECT_FALSE(is_moment(text).ok()) << text;
  }
  EXPECT_THAT(
      refusal({"--by", "tomorrow"}),
      HasSubstr("--by: 'tomorrow' is no time; write 06:00 (the next time that a clock here shows it), +2h, or "));
}

TEST_F(InBerlin, WhatContradictsItselfIsRefusedBeforeTheNodeIsAsked) {
  EXPECT_THAT(refusal({"--by", "2026-11-24T20:59:59Z"}), HasSubstr("--by 2026-11-24 21:59 CET is past; it is "));
  EXPECT_THAT(refusal({"--by", "800d"}), HasSubstr("more than a year ahead"));
  EXPECT_THAT(refusal({"--target-rate", "30Mbit", "--limit", "20Mbit"}), HasSubstr("above --limit 20.0 Mbit/s"));
  EXPECT_THAT(refusal({"--min-rate", "30Mbit", "--limit", "20Mbit"}), HasSubstr("above --limit 20.0 Mbit/s"));
  EXPECT_THAT(refusal({"--min-rate", "30Mbit", "--target-rate", "20Mbit"}), HasSubstr("above --target-rate"));
  EXPECT_THAT(refusal({"--by", "06:00", "--target-rate", "20Mbit"}), HasSubstr("exclude each other"));
  EXPECT_THAT(refusal({"--mode", "quiet"}), HasSubstr("--mode: 'quiet' is not one of balanced, greedy, background"));
  EXPECT_THAT(refusal({"--target-rate", "fast"}), HasSubstr("--target-rate: "));
  EXPECT_THAT(refusal({"--tuner", ""}), HasSubstr("--tuner: "));
  EXPECT_THAT(refusal({"--by", "06:00", "--target-rate", "20Mbit", "--node", "n", "--to", "in:a"}),
              HasSubstr("exclude each other"))
      << "a task may wait for days before its node refuses it";
}

TEST_F(InBerlin, CompletionsOfferTunersAndModes) {
  ASSERT_EQ(run({"completion", "bash"}), 0);
  EXPECT_THAT(out_, HasSubstr("'get:--tuner') COMPREPLY=($(compgen -W 'auto fixed"));
  EXPECT_THAT(out_, HasSubstr("'get:--mode') COMPREPLY=($(compgen -W 'balanced greedy background'"));
  EXPECT_THAT(out_, HasSubstr("'transfer set:--mode') COMPREPLY=($(compgen -W 'balanced greedy background default'"));
}

v1::Transfer fetching(const std::string& kind, bool held, double shortfall) {
  v1::Transfer t;
  t.set_name("run42");
  t.set_state("fetching");
  t.set_eta_s(25 * 60);
  v1::TargetState& target = *t.mutable_target();
  target.set_kind(kind);
  target.set_held(held);
  target.set_wanted_bits_per_s(30'000'000);
  target.set_shortfall(shortfall);
  target.set_text("27.9 of 30 Mbit/s");
  return t;
}

TEST_F(InBerlin, TheProgressLineSaysWhetherATargetIsHeld) {
  const WallTime now = clock_.wall();
  EXPECT_EQ(target_words(v1::Transfer(), now), "");
  EXPECT_EQ(target_words(fetching("target", true, 0), now), "holds 30.0 Mbit/s");
  EXPECT_EQ(target_words(fetching("target", false, 0.07), now), "7 % short of 30.0 Mbit/s");
  EXPECT_EQ(target_words(fetching("target", false, 0.001), now), "1 % short of 30.0 Mbit/s");
  v1::Transfer above = fetching("target", false, 0);
  above.mutable_target()->set_text("8 % above 30 Mbit/s");
  EXPECT_EQ(target_words(above, now), "8 % above 30 Mbit/s");
  EXPECT_EQ(target_words(fetching("floor", true, 0), now), "keeps at least 30.0 Mbit/s");
  EXPECT_EQ(target_words(fetching("deadline", true, 0), now), "in time: done by 22:25 CET");
  EXPECT_EQ(target_words(fetching("deadline", false, 0.2), now), "NOT in time: 22:25 CET at what there is");
  v1::Transfer unknown = fetching("deadline", false, 0.2);
  unknown.set_eta_s(-1);
  EXPECT_EQ(target_words(unknown, now), "NOT in time");
  v1::Transfer far = fetching("deadline", true, 0);
  far.set_eta_s(30 * 3600);
  EXPECT_EQ(target_words(far, now), "in time: done by 2026-11-26 04:00 CET");
  v1::Transfer limited = fetching("target", true, 0);
  limited.set_limit_word("target");
  EXPECT_THAT(progress_line(limited, 160, now), EndsWith("holds 30.0 Mbit/s  limited by target"));
}

TEST_F(InBerlin, ShowSaysWhatWasAskedAndWhatIsKept) {
  v1::Transfer t = fetching("target", false, 0.07);
  EXPECT_EQ(wish_text(t.wish(), clock_.wall()), "");
  t.mutable_wish()->set_tuner("auto");
  t.mutable_wish()->set_mode("greedy");
  t.mutable_wish()->set_target_bits_per_s(30'000'000);
  t.mutable_wish()->set_floor_bits_per_s(10'000'000);
  t.mutable_wish()->set_by_ms(clock_.wall().ms + 3'600'000);
  EXPECT_THAT(
      transfer_text(t, clock_.wall()),
      HasSubstr("asked for       tuner auto, mode greedy, 30.0 Mbit/s held, at least 10.0 Mbit/s, by 23:00 CET\n"
                "kept            27.9 of 30 Mbit/s\n"));
}

TEST_F(InBerlin, JsonHasWhatWasAskedAndNullWhereNobodyAsked) {
  v1::Transfer t;
  Json json = to_json(t);
  EXPECT_EQ(json["tuner"], nullptr);
  EXPECT_EQ(json["mode"], nullptr);
  EXPECT_EQ(json["target_bits_per_s"], 0);
  EXPECT_EQ(json["floor_bits_per_s"], 0);
  EXPECT_EQ(json["by"], nullptr);
  EXPECT_EQ(json["target"], nullptr);
  t = fetching("deadline", false, 0.07);
  t.mutable_wish()->set_tuner("auto");
  t.mutable_wish()->set_by_ms(1'700'000'000'000);
  json = to_json(t);
  EXPECT_EQ(json["tuner"], "auto");
  EXPECT_EQ(json["by"], "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(json["target"]["kind"], "deadline");
  EXPECT_EQ(json["target"]["held"], false);
  EXPECT_EQ(progress_event(t, clock_.wall())["target"]["shortfall"], 0.07);
  v1::Task task;
  EXPECT_FALSE(to_json(task).contains("wish"));
  *task.mutable_work()->mutable_get()->mutable_wish() = t.wish();
  EXPECT_EQ(to_json(task)["wish"]["tuner"], "auto");
}

}  // namespace
}  // namespace gridtorrent::client::cli
