#include "client/tuning/chosen.h"

#include <gtest/gtest.h>

#include "client/tuning/auto.h"
#include "client/tuning/fixed.h"
#include "tests/support/tuner_input.h"

namespace gridtorrent::client::tuning {
namespace {

using gridtorrent::testing::input_with;
using gridtorrent::testing::stands;

std::string tuner_of(const Plan& plan) {
  return plan.reason.text.substr(0, plan.reason.text.find(':'));
}

TEST(ChosenController, UsesTheNodesTunerWhereNobodyChoseOne) {
  ChosenController controller("fixed", 1);
  EXPECT_EQ(controller.plan(input_with(1)), FixedController().plan(input_with(1)));
}
TEST(ChosenController, UsesTheNodesTunerWhereNoTunerHasTheName) {
  ChosenController controller("fixed", 1);
  auto input = input_with(1);
  input.tuner = "of a later version";
  EXPECT_EQ(tuner_of(controller.plan(input)), "fixed");
}
TEST(ChosenController, GivesEachTransferTheTunerThatWasChosenForIt) {
  ChosenController controller("auto", 1);
  auto one = input_with(1), other = input_with(1);
  other.transfer = TransferId(TransferId::Bytes{2});
  other.tuner = "fixed";
  EXPECT_EQ(tuner_of(controller.plan(one)), "auto");
  EXPECT_EQ(tuner_of(controller.plan(other)), "fixed");
}
TEST(ChosenController, ForgetsATransferThatChangesItsTuner) {
  ChosenController controller("auto", 1);
  auto input = input_with(1);
  controller.plan(input);
  stands(input.peers[0], 100, "cubic");
  controller.plan(input);  // auto has learnt that the path is near
  input.tuner = "fixed";
  controller.plan(input);
  input.tuner.clear();
  input.peers[0].lanes.clear();
  EXPECT_EQ(controller.plan(input), AutoController().plan(input));
}
TEST(ChosenController, IsToldOfTheEndOfTransfersThatItHasNeverSeen) {
  ChosenController controller("auto", 1);
  controller.removed(TransferId(TransferId::Bytes{99}));
  EXPECT_EQ(tuner_of(controller.plan(input_with(1))), "auto");
}

}  // namespace
}  // namespace gridtorrent::client::tuning
