// What is remembered of a path, how it ages, when it is believed, and what a transfer must have done to be remembered.
#include "client/tuning/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/tuning/auto.h"
#include "client/tuning/witness.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using gridtorrent::testing::numbered_node;
using gridtorrent::testing::stands;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMbit = 1'000'000;
constexpr WallTime kNow{1'700'000'000'000};

PathFacts path(std::uint8_t node = 1) {
  PathFacts facts;
  facts.node = numbered_node(node);
  facts.network = "198.18.0.0/24";
  facts.congestion_control = "cubic";
  facts.round_trip = microseconds(60'000);
  facts.loss_events_per_segment = 2e-4;
  facts.long_transfer = true;
  facts.lanes = 12;
  facts.bits_per_s = facts.total_bits_per_s = 187 * kMbit;
  facts.best_bits_per_s = 193 * kMbit;
  facts.limit = Limit::kLoss;
  return facts;
}
PathRecords records(const std::vector<std::pair<PathFacts, WallTime>>& all) {
  PathRecords made;
  for (const auto& [facts, last] : all) made[key_of(facts)] = with_transfer(std::nullopt, facts, last);
  return made;
}
/// The figures of that path again.
PathFigures figures() {
  PathFigures seen;
  seen.seconds = 10;
  seen.least_round_trip = seen.round_trip = microseconds(60'000);
  seen.congestion_control = "cubic";
  seen.segments = 150'000;
  seen.random_events = seen.loss_events = 30;
  return seen;
}

TEST(History, IsNotOfWhatIsUnknownOrTooOld) {
  const auto known = records({{path(1), kNow - hours(24 * 91)}, {path(2), kNow}});
  EXPECT_FALSE(recall({}, {numbered_node(1)}, kNow));
  EXPECT_FALSE(recall(known, {numbered_node(3)}, kNow));
  EXPECT_FALSE(recall(known, {numbered_node(1)}, kNow));
  EXPECT_TRUE(recall(known, {numbered_node(2)}, kNow));
}
TEST(History, RelaxesFromSizeToNetworkToTheSameSeeder) {
  auto small = path();
  small.long_transfer = false;
  small.lanes = 3;
  auto elsewhere = path();
  elsewhere.network = "10.0.0.0/24";
  elsewhere.lanes = 5;
  auto known = records({{path(), kNow - hours(3)}, {small, kNow - hours(2)}, {elsewhere, kNow - hours(1)}});
  const auto lanes = [&](const std::string& network, bool long_transfer) {
    const auto memory = recall(known, {numbered_node(1), network, long_transfer}, kNow);
    return memory ? memory->facts.lanes : 0;
  };
  EXPECT_EQ(lanes("198.18.0.0/24", true), 12);
  EXPECT_EQ(lanes("198.18.0.0/24", false), 3);
  EXPECT_EQ(lanes("10.0.0.0/24", false), 5) << "without the class of size";
  EXPECT_EQ(lanes("172.16.0.0/24", true), 5) << "the newest of the seeder";
  EXPECT_EQ(lanes("", true), 5) << "as long as the network is not known, all do";
}
TEST(History, KeepsPathsOfUnlikeCharacterApart) {
  auto other = path();
  EXPECT_EQ(key_of(path()), key_of(other));
  other.round_trip = microseconds(63'000);
  other.loss_events_per_segment = 2.5e-4;
  EXPECT_EQ(key_of(path()), key_of(other));
  other.loss_events_per_segment = 5e-3;
  EXPECT_NE(key_of(path()), key_of(other));
  other = path();
  other.round_trip = microseconds(200'000);
  EXPECT_NE(key_of(path()), key_of(other));
  other = path();
  other.congestion_control = "bbr";
  EXPECT_NE(key_of(path()), key_of(other));
  PathFacts none;
  none.loss_events_per_segment = -1;
  EXPECT_EQ(key_of(none).loss_decade, -5) << "losses too rare to count";
}
TEST(History, OfSeveralTransfersIsTheirMeanAndFollowsWhatIsNew) {
  auto slow = path();
  slow.bits_per_s = 100 * kMbit;
  auto record = with_transfer(std::nullopt, path(), kNow);
  EXPECT_EQ(record.transfers, 1);
  record = with_transfer(record, slow, kNow);
  EXPECT_EQ(record.transfers, 2);
  EXPECT_NEAR(static_cast<double>(record.facts.bits_per_s), 143.5e6, 1e5);
  for (int i = 0; i < 20; ++i) record = with_transfer(record, slow, kNow);
  EXPECT_NEAR(static_cast<double>(record.facts.bits_per_s), 100e6, 1e6);
  record = with_transfer(record, path(), kNow + hours(24 * 70));
  EXPECT_NEAR(static_cast<double>(record.facts.bits_per_s), 187e6, 1e5) << "what was is ten weeks old";
  EXPECT_EQ(record.facts.lanes, 12);
}
TEST(History, FadesByAFactorOfEInAWeek) {
  EXPECT_DOUBLE_EQ(history_weight(kNow, kNow), 1);
  EXPECT_NEAR(history_weight(kNow - hours(24 * 7), kNow), 0.368, 0.001);
  EXPECT_DOUBLE_EQ(history_weight(kNow + hours(24), kNow), 1) << "a clock was set back";
}
TEST(History, ForgetsWhatIsTooOldAndThenTheOldestOfTooMany) {
  const auto known = records(
      {{path(1), kNow - hours(24 * 91)}, {path(2), kNow - hours(3)}, {path(3), kNow - hours(1)}, {path(4), kNow}});
  EXPECT_THAT(outdated(known, kNow), ElementsAre(key_of(path(1))));
  EXPECT_THAT(outdated(known, kNow, 2), ElementsAre(key_of(path(1)), key_of(path(2))));
}
TEST(History, IsContradictedByAnotherSenderRoundTripOrLossRate) {
  EXPECT_FALSE(contradicts(path(), PathFigures{})) << "nothing is known yet";
  EXPECT_FALSE(contradicts(path(), figures()));
  auto seen = figures();
  seen.congestion_control = "bbr";
  EXPECT_TRUE(contradicts(path(), seen));
  for (const auto& [us, other] : {std::pair{85'000, false}, {95'000, true}, {45'000, false}, {39'000, true}}) {
    seen = figures();
    seen.least_round_trip = microseconds(us);
    EXPECT_EQ(contradicts(path(), seen), other) << us;
  }
  seen = figures();
  seen.random_events = 300;
  EXPECT_TRUE(contradicts(path(), seen)) << "ten times as many";
  seen.random_events = 0;
  EXPECT_TRUE(contradicts(path(), seen)) << "none of 150,000";
}
TEST(History, OfWhatASenderWasAskedForIsNotContradictedByItsOwn) {
  auto asked = path();
  asked.congestion_control = "bbr";
  EXPECT_TRUE(contradicts(asked, figures()));
  asked.asked = true;
  EXPECT_FALSE(contradicts(asked, figures()));
}
TEST(History, IsNotContradictedByFewMeasurements) {
  auto seen = figures();
  seen.segments = 3'000;
  seen.random_events = 0;
  EXPECT_FALSE(contradicts(path(), seen)) << "at 0.02 % a third of such samples has none";
  auto clean = path();
  clean.loss_events_per_segment = 0;
  seen.random_events = 1;
  EXPECT_FALSE(contradicts(clean, seen)) << "one loss says little";
}
TEST(History, OfANearPathIsNotContradictedByWhatABusyMachineAdds) {
  auto near = path();
  near.round_trip = microseconds(100);
  auto seen = figures();
  seen.least_round_trip = microseconds(900);
  EXPECT_FALSE(contradicts(near, seen));
}
TEST(History, IsToldInPlainWords) {
  EXPECT_EQ(remembered_text({path(), 3, hours(50)}),
            "as on 3 transfers before, the last 2 days ago: 187 Mbit/s, limited by loss");
  EXPECT_EQ(remembered_text({path(), 0, {}}),
            "as another transfer of this node found out: 187 Mbit/s, limited by loss");
  EXPECT_EQ(age_text(milliseconds(90'000)), "1 minute");
  EXPECT_EQ(age_text(milliseconds(-5)), "0 minutes");
  EXPECT_EQ(age_text(hours(1)), "1 hour");
  EXPECT_EQ(age_text(hours(47)), "47 hours");
}

TEST(WorthRemembering, IsWhatWasSettledForLongOrAWholeTransfer) {
  EXPECT_FALSE(worth_remembering(seconds(29), seconds(100), false));
  EXPECT_TRUE(worth_remembering(seconds(30), seconds(100), false));
  EXPECT_FALSE(worth_remembering(seconds(9), seconds(9), true));
  EXPECT_TRUE(worth_remembering(seconds(6), seconds(10), true));
  EXPECT_FALSE(worth_remembering(seconds(6), seconds(10), false)) << "it was not whole";
  EXPECT_FALSE(worth_remembering(seconds(6), seconds(20), true)) << "its lanes changed most of the time";
}

/// One transfer from one seeder over the path above, looked at once a second.
class Witnessed : public ::testing::Test {
 protected:
  Witnessed() {
    stands(input_.peers[0], 60'000, "cubic");
    input_.peers[0].network = "198.18.0.0/24";
    findings_.bits_per_s = 187 * kMbit;
    findings_.best_bits_per_s = 193 * kMbit;
    findings_.limit = Limit::kLoss;
    SourceFindings source;
    source.node = input_.peers[0].node;
    source.lanes = 12;
    source.least_round_trip = microseconds(60'000);
    source.congestion_control = "cubic";
    source.bits_per_s = 187 * kMbit;
    source.loss_events_per_segment = 2e-4;
    source.held_by = Limit::kLoss;
    findings_.sources = {source};
    plan_.peers = {{.node = source.node, .lanes = 12}};
  }
  void run(int looks) {
    for (int i = 0; i < looks; ++i) {
      input_.now += seconds(1);
      witness_.look(input_, plan_, findings_);
    }
  }
  /// As `path()`, but for what a mean of equal numbers rounds.
  static void expect_the_path(PathFacts facts) {
    EXPECT_DOUBLE_EQ(facts.loss_events_per_segment, path().loss_events_per_segment);
    facts.loss_events_per_segment = path().loss_events_per_segment;
    EXPECT_EQ(facts, path());
  }
  bool remembers() { return !witness_.facts(false).empty(); }

  ControllerInput input_ = input_with(1);
  Findings findings_;
  Plan plan_;
  PathWitness witness_;
};

TEST_F(Witnessed, APathIsWhatItWasOnceItsLanesHadSettled) {
  run(34);
  EXPECT_FALSE(remembers());
  run(2);
  ASSERT_EQ(witness_.facts(false).size(), 1U);
  expect_the_path(witness_.facts(false)[0]);
}
TEST_F(Witnessed, AShorterTransferThatIsWholeIsRememberedAsWell) {
  run(12);
  EXPECT_THAT(witness_.facts(false), IsEmpty());
  ASSERT_EQ(witness_.facts(true).size(), 1U);
  expect_the_path(witness_.facts(true)[0]);
}
TEST_F(Witnessed, AChangeOfLanesBeginsToSettleAnew) {
  run(33);
  plan_.peers[0].lanes = 14;
  run(5);
  EXPECT_FALSE(remembers());
  run(30);
  ASSERT_TRUE(remembers());
  EXPECT_EQ(witness_.facts(false)[0].lanes, 14) << "the last that held";
}
TEST_F(Witnessed, ACongestionControlThatWasAskedForIsRememberedAsSuch) {
  plan_.peers[0].congestion_control = "bbr";
  run(36);
  ASSERT_TRUE(remembers());
  EXPECT_FALSE(witness_.facts(false)[0].asked) << "the sender still uses its own";
  findings_.sources[0].congestion_control = "bbr";
  run(1);
  EXPECT_TRUE(witness_.facts(false)[0].asked);
  plan_.peers[0].congestion_control.clear();
  run(10);
  EXPECT_FALSE(witness_.facts(false)[0].asked);
}
TEST_F(Witnessed, NothingIsRememberedOfATransferOfWhichAPersonAsksMore) {
  const ControllerInput free = input_;
  input_.lanes_wish = 12;
  run(60);
  input_ = free;
  input_.limit_bits_per_s = 500 * kMbit;
  run(60);
  input_ = free;
  input_.target_bits_per_s = 100 * kMbit;
  run(60);
  input_ = free;
  input_.mode = TuningMode::kBackground;
  run(60);
  input_.mode = TuningMode::kGreedy;
  run(60);
  input_ = free;
  input_.floor_bits_per_s = kMbit;
  run(60);
  EXPECT_FALSE(remembers());
}
TEST_F(Witnessed, NothingIsRememberedWhereThisNodeOrTheSeedersOwnerLimits) {
  findings_.limit = Limit::kReceiverCpu;
  run(60);
  findings_.limit = Limit::kDisk;
  run(60);
  findings_.limit = Limit::kSeeder;
  findings_.sources[0].paced_bits_per_s = 187 * kMbit;
  run(60);
  EXPECT_FALSE(remembers());
}
TEST_F(Witnessed, NothingIsRememberedOfNeighboursAndOfPathsThatTransfersShare) {
  input_.peers[0].fetches = true;
  run(60);
  input_.peers[0].fetches = false;
  input_.others = {{TransferId(TransferId::Bytes{9}), {input_.peers[0].node}, kMbit}};
  run(60);
  EXPECT_FALSE(remembers());
}
TEST_F(Witnessed, OthersOfTheNodeAreToldSoonerAndUntilItIsForgotten) {
  const NodeId node = input_.peers[0].node;
  run(8);
  EXPECT_FALSE(witness_.so_far(node));
  run(5);
  ASSERT_TRUE(witness_.so_far(node));
  expect_the_path(*witness_.so_far(node));
  witness_.forget(numbered_node(99));
  EXPECT_TRUE(witness_.so_far(node));
  witness_.forget(node);
  EXPECT_FALSE(witness_.so_far(node));
}
TEST_F(Witnessed, ATimeWithoutLooksCountsForNone) {
  run(10);
  input_.now += hours(1);
  run(1);
  EXPECT_FALSE(remembers());
}

/// What `auto` does with what it is told.
class AutoRemembers : public ::testing::Test {
 protected:
  AutoRemembers() { input_.memories = {{path(), 3, hours(50)}}; }
  Plan plan() {
    input_.now += seconds(1);
    return tuner_.plan(input_);
  }

  ControllerInput input_ = input_with(1);
  AutoController tuner_;
};

TEST_F(AutoRemembers, AtOnceWithHowManyLanesAPathWasUsed) {
  const auto begun = plan();
  EXPECT_EQ(begun.peers[0].lanes, 12);
  EXPECT_EQ(begun.reason.text,
            "auto: 12 lanes to 1 seeder (as on 3 transfers before, the last 2 days ago: 187 Mbit/s, limited by loss)");
  stands(input_.peers[0], 60'000, "cubic");
  EXPECT_EQ(plan().peers[0].lanes, 12);
}
TEST_F(AutoRemembers, NothingOnceTheFirstRoundTripIsAnother) {
  plan();
  stands(input_.peers[0], 20'000);
  const auto now = plan();
  EXPECT_EQ(now.peers[0].lanes, 16) << "as for any long path";
  EXPECT_THAT(now.reason.text, HasSubstr("not as it was remembered"));
  input_.peers[0].lanes.clear();
  stands(input_.peers[0], 60'000);
  EXPECT_EQ(plan().peers[0].lanes, 16) << "not for this transfer";
  input_.transfer = TransferId(TransferId::Bytes{2});
  EXPECT_EQ(plan().peers[0].lanes, 12) << "but for the next one";
}
TEST_F(AutoRemembers, NothingOnceAnotherCongestionControlSends) {
  plan();
  stands(input_.peers[0], 60'000, "bbr");
  EXPECT_EQ(plan().peers[0].lanes, 2);
}
TEST_F(AutoRemembers, ThatASenderWasAskedForBbr) {
  input_.memories[0].facts.congestion_control = "bbr";
  input_.memories[0].facts.asked = true;
  input_.memories[0].facts.lanes = 1;
  EXPECT_EQ(plan().peers[0].congestion_control, "") << "what it grants is not known before a lane stands";
  stands(input_.peers[0], 60'000);
  input_.peers[0].grants = {"bbr"};
  EXPECT_EQ(plan().peers[0].congestion_control, "bbr");
  input_.peers[0].lanes.clear();
  stands(input_.peers[0], 60'000, "bbr");
  const auto now = plan();
  EXPECT_EQ(now.peers[0].congestion_control, "bbr");
  EXPECT_EQ(now.peers[0].lanes, 4) << "its own may be CUBIC, whose lanes have to fill the path";
  EXPECT_THAT(now.reason.text, AllOf(HasSubstr("as on 3 transfers before"), HasSubstr("BBR is asked for, as before")));
}
TEST_F(AutoRemembers, NotThatASendersOwnIsBbrWhereItWasAskedForIt) {
  input_.memories[0].facts.congestion_control = "bbr";
  input_.memories[0].facts.asked = true;
  input_.memories[0].facts.lanes = 1;
  stands(input_.peers[0], 60'000);
  input_.peers[0].grants = {"bbr"};
  ASSERT_EQ(plan().peers[0].congestion_control, "bbr");
  input_.peers[0].lanes.clear();
  stands(input_.peers[0], 60'000, "bbr");
  input_.mode = TuningMode::kBackground;
  EXPECT_EQ(plan().peers[0].congestion_control, "");
  input_.mode = TuningMode::kBalanced;
  EXPECT_EQ(plan().peers[0].lanes, 4) << "it may be on its way back";
}
TEST_F(AutoRemembers, NothingOfASenderThatGrantsBbrNoLonger) {
  input_.memories[0].facts.congestion_control = "bbr";
  input_.memories[0].facts.asked = true;
  input_.memories[0].facts.lanes = 1;
  stands(input_.peers[0], 60'000, "cubic");
  const auto now = plan();
  EXPECT_EQ(now.peers[0].congestion_control, "");
  EXPECT_EQ(now.peers[0].lanes, 16);
}
TEST_F(AutoRemembers, LanesOfSeveralSourcesInProportionToHowManyThereAre) {
  input_ = input_with(3);
  input_.memories = {{path(1), 1, {}}, {path(2), 1, {}}};
  auto three = path(3);
  three.lanes = 2;
  three.sources = 3;
  input_.memories.push_back({three, 1, {}});
  const auto begun = plan();
  for (const auto& peer : begun.peers) {
    EXPECT_EQ(peer.lanes, peer.node == numbered_node(3) ? 2 : 4) << "12 alone are 4 of three";
  }
  EXPECT_THAT(begun.reason.text, HasSubstr("as 3 of 3 paths are remembered"));
}
TEST_F(AutoRemembers, NoMoreThanAPersonsNumberAndLimitAllow) {
  input_.lanes_wish = 4;
  EXPECT_EQ(plan().peers[0].lanes, 4);
  input_.lanes_wish = 0;
  input_.limit_bits_per_s = 10 * kMbit;
  EXPECT_LE(plan().peers[0].lanes, 3);
}

}  // namespace
}  // namespace gridtorrent::client::tuning
