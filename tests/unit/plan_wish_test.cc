// What people ask of a tuner: what is refused, and how it changes.
#include "client/plan/wish.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/plan/tuners.h"
#include "common/local_time.h"

namespace gridtorrent::client {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMbit = 1'000'000;

std::string refusal(const Status& status) {
  if (status) return "nothing";
  EXPECT_EQ(status.error().code, Code::kInvalid);
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  return status.error().message;
}

TEST(Wish, ThatContradictsItselfIsRefused) {
  TuningWish wish;
  wish.target_bits_per_s = 30 * kMbit;
  EXPECT_THAT(refusal(check_wish(wish, 20 * kMbit)),
              HasSubstr("--target-rate 30.0 Mbit/s is above --limit 20.0 Mbit/s"));
  wish.floor_bits_per_s = 40 * kMbit;
  EXPECT_THAT(refusal(check_wish(wish, 0)), HasSubstr("--min-rate 40.0 Mbit/s is above --target-rate 30.0 Mbit/s"));
  wish.target_bits_per_s = 0;
  EXPECT_THAT(refusal(check_wish(wish, 20 * kMbit)), HasSubstr("--min-rate 40.0 Mbit/s is above --limit 20.0 Mbit/s"));
  wish = {.target_bits_per_s = 1, .by = WallTime{1}};
  EXPECT_THAT(refusal(check_wish(wish, 0)), HasSubstr("--target-rate and --by exclude each other"));
}

TEST(Wish, MayHoldTheLimitItself) {
  EXPECT_TRUE(check_wish({.target_bits_per_s = kMbit, .floor_bits_per_s = kMbit}, kMbit));
  EXPECT_TRUE(check_wish({.floor_bits_per_s = kMbit, .by = WallTime{1}}, 0)) << "a floor goes with a deadline";
  EXPECT_TRUE(check_wish({}, 0));
}

TEST(Wish, ForATunerThatIsNotThereNamesThoseThatAre) {
  for (const TunerChoice& tuner : kTuners) {
    EXPECT_THAT(refusal(check_tuner({.tuner = "fast\n"}, "auto")), HasSubstr(std::string(tuner.name)));
  }
  EXPECT_THAT(refusal(check_tuner({.tuner = "fast\n"}, "auto")), HasSubstr("--tuner 'fast\\n' is not one of"));
  EXPECT_TRUE(check_tuner({.tuner = "fixed"}, "auto"));
}

TEST(Wish, ThatItsTunerDoesNotHeedIsRefused) {
  const TuningWish wish{.tuner = "fixed", .mode = TuningMode::kGreedy, .floor_bits_per_s = 1};
  EXPECT_THAT(refusal(check_tuner(wish, "auto")),
              HasSubstr("the tuner 'fixed' does not heed --mode, --min-rate: choose --tuner auto"));
  EXPECT_THAT(refusal(check_tuner({.by = WallTime{1}}, "fixed")), HasSubstr("'fixed' of this node does not heed --by"));
  EXPECT_TRUE(check_tuner({.by = WallTime{1}}, "auto"));
  EXPECT_TRUE(check_tuner({}, "fixed"));
}

TEST(Wish, LiesAheadByAYearAtMost) {
  const WallTime now{1'000'000};
  EXPECT_THAT(refusal(check_deadline(now, now)), HasSubstr("--by " + local_time_text(now) + " is past"));
  EXPECT_THAT(refusal(check_deadline(now + std::chrono::hours(24 * 400), now)), HasSubstr("more than a year ahead"));
  EXPECT_TRUE(check_deadline(now + std::chrono::milliseconds(1), now));
}

TEST(Wish, ChangesInWhatIsGivenAnewAlone) {
  const TuningWish before{"fixed", TuningMode::kGreedy, 3, 2, WallTime{9}};
  EXPECT_EQ(changed(before, {}).value(), before);
  TuningWish after = before;
  after.mode = TuningMode::kBackground;
  after.floor_bits_per_s = 0;
  EXPECT_EQ(changed(before, {.mode = "background", .floor_bits_per_s = 0}).value(), after);
  const WishChange all_away{.tuner = "", .mode = "", .target_bits_per_s = 0, .floor_bits_per_s = 0, .by = WallTime{}};
  EXPECT_EQ(changed(before, all_away).value(), TuningWish{});
  const auto refused = changed(before, {.mode = "quiet"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "--mode 'quiet' is not one of balanced, greedy, background");
}

TEST(Wish, OfAnotherVersionStaysWhereNothingOfItChanges) {
  const TuningWish of_another{.tuner = "later", .target_bits_per_s = kMbit};
  EXPECT_TRUE(changed_and_checked(of_another, {}, 0, "auto"));
  EXPECT_FALSE(changed_and_checked(of_another, {.floor_bits_per_s = 1}, 0, "auto"));
  EXPECT_FALSE(changed_and_checked(of_another, {}, 1, "auto")) << "the limit is below the target now";
}

TEST(Tuners, HaveNamesThatTellThemApartAndHelp) {
  for (const TunerChoice& tuner : kTuners) {
    EXPECT_EQ(find_tuner(tuner.name), &tuner);
    EXPECT_FALSE(tuner.help.empty()) << tuner.name;
  }
  EXPECT_EQ(find_tuner("none"), nullptr);
  const Heeds& usual = kTuners.front().heeds;
  EXPECT_TRUE(usual.mode && usual.target && usual.floor && usual.deadline)
      << "what is asked of a node that nobody configured is heeded";
}

}  // namespace
}  // namespace gridtorrent::client
