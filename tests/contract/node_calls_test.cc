// What holds for the calls of a node, for the real one and for the fake that tests of its callers use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/node_fixture.h"
#include "tests/unit/control_fixture.h"

namespace gridtorrent::client {
namespace {

using ::testing::ElementsAre;

class RealNode : public gridtorrent::testing::NodeFixture {
 protected:
  Node& node() { return *node_; }
  TransferId fetching() {
    published("one");
    return get(job("one"))->id;
  }
  GetJob job_for(const std::string& content) {
    published(content);
    return job(content);
  }
};

class FakedNode : public ::testing::Test {
 protected:
  Node& node() { return fake_; }
  TransferId fetching() {
    fake_.add(transfer_id(1), TransferState::kFetching);
    return transfer_id(1);
  }
  static GetJob job_for(const std::string& content) {
    GetJob job;
    job.content = content;
    job.target = "/home/in";
    return job;
  }

 private:
  FakeNode fake_;
};

template <class Base>
class NodeCalls : public Base {
 protected:
  static TransferId unknown() { return transfer_id(200); }
  /// The states that a watcher of all transfers has been told by now.
  std::map<TransferId, TransferState> told() {
    std::map<TransferId, TransferState> states;
    JournalPlace place;
    while (const auto update = this->node().next_transfers(place, this->node().transfers_revision())) {
      for (const auto& view : update->changed) states[view.id] = view.state;
      for (const auto& id : update->page.removed) states.erase(id);
    }
    return states;
  }
};

using Nodes = ::testing::Types<RealNode, FakedNode>;
TYPED_TEST_SUITE(NodeCalls, Nodes);

TYPED_TEST(NodeCalls, NameATransferThatIsNotThere) {
  Node& node = this->node();
  const TransferId id = this->unknown();
  EXPECT_EQ(node.transfer(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.pause(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.resume(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.cancel(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.set(id, {}).error().code, Code::kNotFound);
  EXPECT_EQ(node.choose_files(id, {}).error().code, Code::kNotFound);
  EXPECT_EQ(node.chosen_files(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.remove_files(id, true).error().code, Code::kNotFound);
  EXPECT_EQ(node.tuning(id).error().code, Code::kNotFound);
  EXPECT_EQ(node.rates(id, {}).error().code, Code::kNotFound);
  EXPECT_EQ(node.wait_for_change(id, 0, std::chrono::hours(1)).error().code, Code::kNotFound);
}
TYPED_TEST(NodeCalls, ShowAPauseAndItsEndInEveryView) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  const auto paused = node.pause(id);
  ASSERT_TRUE(paused) << paused.error().message;
  EXPECT_EQ(paused->state, TransferState::kPaused);
  EXPECT_EQ(node.transfer(id)->state, TransferState::kPaused);
  ASSERT_EQ(node.transfers().size(), 1U);
  EXPECT_EQ(node.transfers().front().state, TransferState::kPaused);
  EXPECT_THAT(this->told(), ElementsAre(std::pair(id, TransferState::kPaused)));
  const auto resumed = node.resume(id);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_NE(resumed->state, TransferState::kPaused);
  const auto states = this->told();
  ASSERT_TRUE(states.contains(id));
  EXPECT_NE(states.at(id), TransferState::kPaused);
}
TYPED_TEST(NodeCalls, GiveEachChangeANewRevision) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  const auto before = node.transfer(id)->revision, all_before = node.transfers_revision();
  ASSERT_TRUE(node.pause(id).ok());
  EXPECT_GT(node.transfer(id)->revision, before);
  EXPECT_GT(node.transfers_revision(), all_before);
  const auto seen = node.wait_for_change(id, before, std::chrono::hours(1));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(seen->state, TransferState::kPaused) << "what has changed already is told at once";
}
TYPED_TEST(NodeCalls, RingOnceForWhatChangesAndAtOnceForWhatHasChanged) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  ASSERT_TRUE(node.pause(id).ok());
  std::atomic<int> one = 0, all = 0;
  const auto seen = node.transfer(id)->revision;
  node.ring_on_change(id, seen, [&] { ++one; });
  node.ring_after(node.transfers_revision(), [&] { ++all; });
  ASSERT_TRUE(node.resume(id).ok());
  ASSERT_TRUE(node.pause(id).ok());
  EXPECT_EQ(one, 1);
  EXPECT_EQ(all, 1);
  node.ring_on_change(id, seen, [&] { ++one; });
  EXPECT_EQ(one, 2);
  node.ring_on_change(this->unknown(), 1, [&] { ++one; });
  EXPECT_EQ(one, 3) << "nobody waits for a transfer that is not there";
  node.ring_after(0, {});
}
TYPED_TEST(NodeCalls, ChangeManyAndNameEachThatFails) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  const ChangeOutcome outcome = node.change_all({id, this->unknown()}, {ChangeKind::kPause});
  EXPECT_EQ(outcome.changed, 1U);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures.front().first, this->unknown());
  EXPECT_EQ(outcome.failures.front().second.code, Code::kNotFound);
  EXPECT_EQ(node.transfer(id)->state, TransferState::kPaused);
}
TYPED_TEST(NodeCalls, TellACancelledTransferAsOne) {
  const TransferId id = this->fetching();
  const auto cancelled = this->node().cancel(id);
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  EXPECT_EQ(cancelled->state, TransferState::kCancelled);
}
TYPED_TEST(NodeCalls, ListAGetAtOnceAndJoinItWhenItIsAskedForAgain) {
  Node& node = this->node();
  const GetJob job = this->job_for("two");
  bool joined = true;
  const auto begun = node.get(job, joined);
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_FALSE(joined);
  ASSERT_EQ(node.transfers().size(), 1U);
  EXPECT_EQ(node.transfers().front().id, begun->id);
  EXPECT_TRUE(this->told().contains(begun->id));
  const auto again = node.get(job, joined);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(joined);
  EXPECT_EQ(again->id, begun->id);
  EXPECT_EQ(node.transfers().size(), 1U);
}
TYPED_TEST(NodeCalls, RefuseToRemoveFilesOfWhatIsUnderWay) {
  const TransferId id = this->fetching();
  EXPECT_EQ(this->node().remove_files(id, true).error().code, Code::kConflict);
  EXPECT_EQ(this->node().remove_files(id, false).error().code, Code::kConflict);
}
TYPED_TEST(NodeCalls, ShowWhatWasSetAndKeepTheRest) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  TransferSettings first, then;
  first.lanes = 8;
  first.priority = 3;
  first.limit_bits_per_s = 7'000'000;
  then.priority = 4;
  ASSERT_TRUE(node.set(id, first).ok());
  ASSERT_TRUE(node.set(id, then).ok());
  const auto view = node.transfer(id);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(view->lanes_wish, 8);
  EXPECT_EQ(view->priority, 4);
  EXPECT_EQ(view->limit_bits_per_s, 7'000'000U);
}
TYPED_TEST(NodeCalls, TellSettingsOfManyTransfersInEach) {
  const TransferId id = this->fetching();
  Node& node = this->node();
  TransferChange change{ChangeKind::kSet};
  change.settings.limit_bits_per_s = 9'000'000;
  EXPECT_EQ(node.change_all({id}, change).changed, 1U);
  EXPECT_EQ(node.transfer(id)->limit_bits_per_s, 9'000'000U);
}
TYPED_TEST(NodeCalls, RefuseALimitThatCannotBeAndKeepTheOneThatWas) {
  Node& node = this->node();
  ASSERT_TRUE(node.set_limits({5'000'000, 0}).ok());
  EXPECT_EQ(node.set_limits({1, 0}).error().code, Code::kInvalid);
  EXPECT_EQ(node.status().limits.send_bits_per_s, 5'000'000U);
}

}  // namespace
}  // namespace gridtorrent::client
