// What people tell transfers to do: one, or many at once.
#include <gmock/gmock.h>

#include <algorithm>

#include "client/core/node_steps.h"
#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::ChangeKind;
using client::TransferState;
using client::TransferStep;
using ::testing::IsEmpty;

client::TransferRow row_at(TransferStep step) {
  client::TransferRow row;
  row.step = step;
  return row;
}

TEST(RowAfter, WhatIsBeingHashedIsLeftAlone) {
  for (const auto kind : {ChangeKind::kPause, ChangeKind::kResume, ChangeKind::kCancel, ChangeKind::kSet}) {
    EXPECT_EQ(row_after(row_at(TransferStep::kHash), {kind}, "auto").error().code, Code::kConflict);
  }
}

TEST(RowAfter, APublishThatGoesOnByItselfIsPausedAndTriedAgain) {
  auto row = row_at(TransferStep::kHash);
  row.unpublished = true;
  EXPECT_TRUE(row_after(row, {ChangeKind::kPause}, "auto")->paused);
  EXPECT_EQ(row_after(row, {ChangeKind::kCancel}, "auto")->step, TransferStep::kCancel);
  row.step = TransferStep::kFailed;
  row.error = Error{Code::kDenied, "a cannot be read"};
  const auto again = row_after(row, {ChangeKind::kResume}, "auto");
  EXPECT_EQ(again->step, TransferStep::kHash);
  EXPECT_FALSE(again->error);
}

TEST(RowAfter, WhatHasEndedIsNotPaused) {
  EXPECT_EQ(row_after(row_at(TransferStep::kFailed), {ChangeKind::kPause}, "auto").error().code, Code::kConflict);
  EXPECT_EQ(row_after(row_at(TransferStep::kCancel), {ChangeKind::kPause}, "auto").error().code, Code::kConflict);
}

TEST(RowAfter, WhatWasCancelledIsNotResumed) {
  EXPECT_EQ(row_after(row_at(TransferStep::kCancel), {ChangeKind::kResume}, "auto").error().code, Code::kConflict);
}

TEST(RowAfter, OnlyWhatIsDoneIsVerified) {
  for (const auto step : {TransferStep::kFetch, TransferStep::kVerify, TransferStep::kCancel, TransferStep::kFailed}) {
    EXPECT_EQ(row_after(row_at(step), {ChangeKind::kVerify}, "auto").error().code, Code::kConflict) << int(step);
  }
  auto held = row_at(TransferStep::kHold);
  EXPECT_EQ(row_after(held, {ChangeKind::kVerify}, "auto")->step, TransferStep::kAttach);
  held.paused = true;
  held.target = "/my data";
  held.base_name = "set";
  const auto refused = row_after(held, {ChangeKind::kVerify}, "auto").error();
  EXPECT_EQ(refused.code, Code::kConflict);
  EXPECT_NE(refused.message.find("`gridtorrent verify '/my data/set'`"), std::string::npos) << refused.message;
  auto failed = row_at(TransferStep::kFailed);
  failed.stamp = "there";
  failed.error = Error{Code::kCorrupt, "a differs"};
  const auto again = row_after(failed, {ChangeKind::kVerify}, "auto");
  EXPECT_EQ(again->step, TransferStep::kAttach);
  EXPECT_FALSE(again->error);
}

TEST(RowAfter, AFailedGetBeginsAgainWhereItsFilesAre) {
  auto failed = row_at(TransferStep::kFailed);
  failed.error = Error{Code::kDisk, "full"};
  const auto staged = row_after(failed, {ChangeKind::kResume}, "auto");
  ASSERT_TRUE(staged.ok());
  EXPECT_EQ(staged->step, TransferStep::kPrepare);
  EXPECT_FALSE(staged->error);
  failed.stamp = "there";
  EXPECT_EQ(row_after(failed, {ChangeKind::kResume}, "auto")->step, TransferStep::kAttach);
}

TEST(RowAfter, AWishForWhatHasArrivedIsAConflict) {
  client::TransferChange change{ChangeKind::kSet};
  change.settings.wish.target_bits_per_s = 30'000'000;
  EXPECT_EQ(row_after(row_at(TransferStep::kHold), change, "auto").error().code, Code::kConflict);
}

class Steps : public NodeFixture {
 protected:
  TransferId seeding(const std::string& name) {
    published(name);
    return fetched(job(name, "/home/" + name)).id;
  }
  client::TransferRow stored(const TransferId& id) {
    const auto rows = *store_.transfers();
    const auto found = std::ranges::find(rows, id, &client::TransferRow::id);
    EXPECT_NE(found, rows.end());
    return found == rows.end() ? client::TransferRow() : *found;
  }
};

TEST_F(Steps, EachOfManySucceedsOrFailsByItself) {
  const auto one = seeding("one"), two = seeding("two");
  const auto unknown = TransferId::make(clock_.wall(), rng_);
  const auto outcome = node_->change_all({one, unknown, two}, {ChangeKind::kPause});
  EXPECT_EQ(outcome.changed, 2u);
  ASSERT_EQ(outcome.failures.size(), 1u);
  EXPECT_EQ(outcome.failures[0].first, unknown);
  EXPECT_EQ(outcome.failures[0].second.code, Code::kNotFound);
  for (const auto& id : {one, two}) {
    EXPECT_EQ(node_->transfer(id)->state, TransferState::kPaused);
    EXPECT_TRUE(stored(id).paused);
  }
  EXPECT_TRUE(eventually([&] { return engine_->torrent(one)->paused && engine_->torrent(two)->paused; }));
}

TEST_F(Steps, WhatIsNotWrittenDownDoesNotHappen) {
  const auto one = seeding("one");
  store_.fail(Error{Code::kDisk, "no room"});
  const auto paused = node_->change_all({one}, {ChangeKind::kPause});
  const auto ended = node_->cancel(one);
  store_.fail({});
  ASSERT_EQ(paused.failures.size(), 1u);
  EXPECT_EQ(paused.failures[0].second.message, "no room");
  EXPECT_EQ(ended.error().message, "no room");
  EXPECT_EQ(node_->transfer(one)->state, TransferState::kSeeding);
}

TEST_F(Steps, ManyMoreThanFitIntoOneTransactionAreChanged) {
  const auto one = seeding("one");
  std::vector<TransferId> ids(1000);
  for (auto& id : ids) id = TransferId::make(clock_.wall(), rng_);
  ids.push_back(one);
  const auto outcome = node_->change_all(ids, {ChangeKind::kPause});
  EXPECT_EQ(outcome.changed, 1u);
  EXPECT_EQ(outcome.failures.size(), 1000u);
  EXPECT_EQ(outcome.failures.back().first, ids[999]);
}

TEST_F(Steps, ManyThatAreCancelledGoWhileTheirFilesStay) {
  const auto one = seeding("one"), two = seeding("two");
  EXPECT_EQ(node_->change_all({one, two}, {ChangeKind::kCancel}).changed, 2u);
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
  EXPECT_THAT(node_->transfers(), IsEmpty());
  EXPECT_EQ(files_.count("discard /home/one") + files_.count("discard /home/two"), 0);
}

TEST_F(Steps, AnotherPlaceSeedsWhereOneOfManyIsCancelled) {
  const auto first = seeding("one");
  const auto second = get(job("one", "/home/again"));
  ASSERT_TRUE(second.ok());
  wait_for(second->id, TransferState::kComplete);
  EXPECT_EQ(node_->change_all({first}, {ChangeKind::kCancel}).changed, 1u);
  EXPECT_TRUE(eventually([&] { return node_->transfer(second->id)->state == TransferState::kSeeding; }));
}

TEST_F(Steps, ALimitOfManyReachesTheEngine) {
  const auto one = seeding("one"), two = seeding("two");
  client::TransferChange change{ChangeKind::kSet};
  change.settings.limit_bits_per_s = 3'000'000;
  EXPECT_EQ(node_->change_all({one, two}, change).changed, 2u);
  EXPECT_EQ(engine_->torrent(one)->send_limit, 3'000'000u);
  EXPECT_EQ(engine_->torrent(two)->send_limit, 3'000'000u);
  EXPECT_EQ(stored(two).limit_bits_per_s, 3'000'000u);
}

}  // namespace
}  // namespace gridtorrent::testing
