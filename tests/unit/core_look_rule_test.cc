#include "client/core/look_rule.h"

#include <gtest/gtest.h>

#include "client/core/node_context.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::client {
namespace {

using gridtorrent::testing::numbered_node;
using std::chrono::milliseconds;

constexpr MonoTime kNow{std::chrono::hours(1)};

/// It seeds, and has announced itself for the next minute.
Transfer seeding() {
  Transfer transfer;
  transfer.row.step = TransferStep::kHold;
  transfer.row.wanted_bytes = 8;
  transfer.in_engine = true;
  transfer.snapshot_due = transfer.plan_due = false;
  transfer.announce.due = kNow + std::chrono::minutes(1);
  return transfer;
}

Transfer in_step(TransferStep step, bool paused = false) {
  Transfer transfer = seeding();
  transfer.row.step = step;
  transfer.row.paused = paused;
  return transfer;
}

TEST(Rests, WhatIsHeldFailedOrForgotten) {
  for (const auto step : {TransferStep::kHold, TransferStep::kFailed, TransferStep::kForgotten}) {
    EXPECT_TRUE(rests(in_step(step)));
  }
}
TEST(Rests, WhatIsPausedButNotBeforeItsJobHasEnded) {
  for (const auto step :
       {TransferStep::kHash, TransferStep::kCheckLocal, TransferStep::kFetch, TransferStep::kAttach}) {
    EXPECT_FALSE(rests(in_step(step)));
    Transfer paused = in_step(step, true);
    EXPECT_TRUE(rests(paused));
    paused.job_running = true;
    EXPECT_FALSE(rests(paused));
  }
}
TEST(Rests, NothingThatIsCommittedOrCancelledBeItPaused) {
  for (const auto step :
       {TransferStep::kPrepare, TransferStep::kVerify, TransferStep::kCommit, TransferStep::kCancel}) {
    EXPECT_FALSE(rests(in_step(step, true)));
  }
}

TEST(SleepsOn, OnlyWhatIsHeldOutsideOfTheEngineWithNothingToDo) {
  Transfer asleep = seeding();
  asleep.in_engine = false;
  asleep.asleep = true;
  EXPECT_TRUE(sleeps_on(asleep, kNow));
  EXPECT_FALSE(sleeps_on(seeding(), kNow)) << "the engine tells of it";
  EXPECT_FALSE(sleeps_on(asleep, kNow + std::chrono::minutes(1))) << "an announce is due";
  const auto awake = [&](auto&& change) {
    Transfer changed = seeding();
    changed.in_engine = false;
    changed.asleep = true;
    change(changed);
    EXPECT_FALSE(sleeps_on(changed, kNow));
  };
  awake([](Transfer& one) { one.row.step = TransferStep::kFailed; });
  awake([](Transfer& one) { one.asleep = false; });
  awake([](Transfer& one) { one.swarm[numbered_node(2)].info.wants_data = true; });
  awake([](Transfer& one) { one.job_running = true; });
  awake([](Transfer& one) { one.look_due = true; });
  awake([](Transfer& one) { one.row.checksums_due = true; });
  awake([](Transfer& one) { one.notice = "a lane was refused"; });
}

TEST(LookDue, NotWhereNothingHappensToWhatRests) {
  EXPECT_FALSE(look_due(seeding(), kNow));
}
TEST(LookDue, AlwaysWhereItFetches) {
  EXPECT_TRUE(look_due(in_step(TransferStep::kFetch), kNow));
}
TEST(LookDue, WhereSomebodyChangedIt) {
  Transfer transfer = seeding();
  transfer.look_due = true;
  EXPECT_TRUE(look_due(transfer, kNow));
}
TEST(LookDue, WhereTheEngineToldOfIt) {
  Transfer transfer = seeding();
  transfer.snapshot_due = true;
  EXPECT_TRUE(look_due(transfer, kNow));
}
TEST(LookDue, WhereItsSwarmChanged) {
  Transfer transfer = seeding();
  transfer.plan_due = true;
  EXPECT_TRUE(look_due(transfer, kNow));
}
TEST(LookDue, WhenItsAnnounceIsDueAndNotWhileOneIsUnderWay) {
  Transfer transfer = seeding();
  EXPECT_FALSE(look_due(transfer, transfer.announce.due - milliseconds(1)));
  EXPECT_TRUE(look_due(transfer, transfer.announce.due));
  transfer.announce.in_flight = true;
  EXPECT_FALSE(look_due(transfer, transfer.announce.due));
}
TEST(LookDue, WhenTheServerIsToBeAskedWhetherItMaySeedAgain) {
  Transfer transfer = seeding();
  transfer.barred = true;
  EXPECT_FALSE(look_due(transfer, transfer.announce.due)) << "another transfer seeds it";
  transfer.barred_reason = kNotYours;
  EXPECT_TRUE(look_due(transfer, transfer.announce.due));
}
TEST(LookDue, UntilTheServerKnowsThatWhatFailedIsGone) {
  Transfer transfer = in_step(TransferStep::kFailed);
  transfer.announce.claimed = true;
  EXPECT_TRUE(look_due(transfer, transfer.announce.due));
  transfer.announce.claimed = false;
  EXPECT_FALSE(look_due(transfer, transfer.announce.due));
}
TEST(LookDue, UntilTheEngineHasWhatIsToBeSeeded) {
  Transfer transfer = seeding();
  transfer.in_engine = false;
  EXPECT_TRUE(look_due(transfer, kNow));
  transfer.job_running = true;
  EXPECT_FALSE(look_due(transfer, kNow)) << "its job is under way, and rings";
}
TEST(LookDue, WhereSomebodyWantsWhatSleeps) {
  Transfer transfer = seeding();
  transfer.in_engine = false;
  transfer.asleep = true;
  EXPECT_FALSE(look_due(transfer, kNow));
  transfer.swarm[numbered_node(1)].info.wants_data = true;
  EXPECT_TRUE(look_due(transfer, kNow));
}

}  // namespace
}  // namespace gridtorrent::client
