#include "client/core/transfer_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace gridtorrent::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TransferId id_of(std::uint32_t number) {
  TransferId::Bytes bytes{};
  bytes[0] = static_cast<std::uint8_t>(number >> 8);
  bytes[1] = static_cast<std::uint8_t>(number & 0xff);
  bytes[2] = 1;
  return TransferId(bytes);
}

class Journal : public ::testing::Test {
 protected:
  std::optional<JournalPage> next(std::size_t most = 100) { return journal_.next(place_, journal_.revision(), most); }
  /// Reads all that there is.
  void catch_up() {
    while (next()) {
    }
  }

  TransferJournal journal_{"now"};
  JournalPlace place_;
};

TEST_F(Journal, AnotherEpochGetsASnapshot) {
  journal_.touched(id_of(1));
  place_ = {"an earlier process", 1, false, {}};
  const auto page = next();
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->snapshot);
  EXPECT_THAT(page->changed, ElementsAre(id_of(1)));
}

TEST_F(Journal, ARevisionThatIsYetToComeGetsASnapshot) {
  place_ = {"now", 7, false, {}};
  EXPECT_TRUE(next()->snapshot);
}

TEST_F(Journal, ASnapshotOfNothingIsOnePage) {
  const auto page = next();
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->snapshot && page->last_page);
  EXPECT_THAT(page->changed, IsEmpty());
  EXPECT_FALSE(next());
}

TEST_F(Journal, ASnapshotComesInPages) {
  for (std::uint32_t i = 1; i <= 5; ++i) journal_.touched(id_of(i));
  EXPECT_THAT(next(2)->changed, ElementsAre(id_of(1), id_of(2)));
  EXPECT_FALSE(next(2)->last_page);
  const auto last = next(2);
  EXPECT_TRUE(last->last_page);
  EXPECT_THAT(last->changed, ElementsAre(id_of(5)));
  EXPECT_FALSE(next(2));
}

TEST_F(Journal, WhatChangesDuringASnapshotIsToldAfterIt) {
  for (std::uint32_t i = 2; i <= 4; ++i) journal_.touched(id_of(i));
  EXPECT_THAT(next(2)->changed, ElementsAre(id_of(2), id_of(3)));
  journal_.touched(id_of(1));
  journal_.removed(id_of(2));
  EXPECT_THAT(next(2)->changed, ElementsAre(id_of(4)));
  const auto changes = next();
  ASSERT_TRUE(changes);
  EXPECT_FALSE(changes->snapshot);
  EXPECT_THAT(changes->changed, ElementsAre(id_of(1)));
  EXPECT_THAT(changes->removed, ElementsAre(id_of(2)));
}

TEST_F(Journal, WhatChangedOftenIsToldOnce) {
  for (std::uint32_t i = 1; i <= 3; ++i) journal_.touched(id_of(i));
  catch_up();
  for (int again = 0; again < 1000; ++again) journal_.touched(id_of(2));
  EXPECT_THAT(next()->changed, ElementsAre(id_of(2)));
  EXPECT_FALSE(next());
}

TEST_F(Journal, WhatCameAndWentMeanwhileIsToldAsRemoved) {
  catch_up();
  journal_.touched(id_of(1));
  journal_.removed(id_of(1));
  const auto page = next();
  ASSERT_TRUE(page);
  EXPECT_THAT(page->changed, IsEmpty());
  EXPECT_THAT(page->removed, ElementsAre(id_of(1)));
}

TEST_F(Journal, WhatWentAndCameBackIsToldAsThere) {
  journal_.touched(id_of(1));
  catch_up();
  journal_.removed(id_of(1));
  journal_.touched(id_of(1));
  const auto page = next();
  ASSERT_TRUE(page);
  EXPECT_THAT(page->changed, ElementsAre(id_of(1)));
  EXPECT_THAT(page->removed, IsEmpty());
}

TEST_F(Journal, RemovingWhatIsNotThereIsNoNews) {
  catch_up();
  journal_.removed(id_of(1));
  EXPECT_FALSE(next());
}

TEST_F(Journal, ChangesComeInPagesToo) {
  catch_up();
  for (std::uint32_t i = 1; i <= 3; ++i) journal_.touched(id_of(i));
  journal_.removed(id_of(1));
  EXPECT_THAT(next(2)->changed, ElementsAre(id_of(2), id_of(3)));
  EXPECT_THAT(next(2)->removed, ElementsAre(id_of(1)));
  EXPECT_FALSE(next(2));
}

TEST_F(Journal, ATickTellsNothingThatCameAfterIt) {
  catch_up();
  journal_.touched(id_of(1));
  const auto tick = journal_.revision();
  journal_.touched(id_of(2));
  EXPECT_THAT(journal_.next(place_, tick, 100)->changed, ElementsAre(id_of(1)));
  EXPECT_FALSE(journal_.next(place_, tick, 100));
  EXPECT_THAT(next()->changed, ElementsAre(id_of(2)));
}

TEST_F(Journal, SomethingElseThanATransferIsAnEmptyPage) {
  catch_up();
  journal_.touched_otherwise();
  const auto page = next();
  ASSERT_TRUE(page);
  EXPECT_THAT(page->changed, IsEmpty());
  EXPECT_FALSE(next());
}

TEST_F(Journal, OneThatSleptThroughManyRemovalsGetsASnapshot) {
  journal_.touched(id_of(0));
  catch_up();
  const auto most = static_cast<std::uint32_t>(TransferJournal::kRemoved);
  for (std::uint32_t i = 1; i <= most + 1; ++i) {
    journal_.touched(id_of(i));
    journal_.removed(id_of(i));
  }
  JournalPlace other = place_;
  EXPECT_TRUE(next()->snapshot);
  other.revision = journal_.revision() - 1;
  const auto page = journal_.next(other, journal_.revision(), 100);
  ASSERT_TRUE(page);
  EXPECT_FALSE(page->snapshot);
  EXPECT_THAT(page->removed, ElementsAre(id_of(most + 1)));
}

TEST_F(Journal, ManyRemovalsDuringASnapshotLetItEndBeforeTheNext) {
  for (std::uint32_t i = 1; i <= 40'000; ++i) journal_.touched(id_of(i));
  EXPECT_FALSE(next(500)->last_page);
  for (std::uint32_t i = 1; i <= 30'000; ++i) journal_.removed(id_of(i));
  std::set<TransferId> first;
  std::optional<JournalPage> page;
  do {
    page = next(500);
    ASSERT_TRUE(page && page->snapshot);
  } while (!page->last_page);
  page = next(500);
  ASSERT_TRUE(page && page->snapshot) << "the removals are not kept any more";
}

}  // namespace
}  // namespace gridtorrent::client
