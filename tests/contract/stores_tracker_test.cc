#include "tests/contract/stores_fixture.h"

namespace gridtorrent::contract {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;

class TrackerStores : public Stores {};
INSTANTIATE_TEST_SUITE_P(Every, TrackerStores, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(TrackerStores, NodesComeBackWithTheirEndpoints) {
  const auto alice = user("alice");
  auto b = node(alice, "b");
  const auto a = node(alice, "a");
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.nodes.by_id(b.id)), b);
    EXPECT_EQ(value_of(tx.nodes.by_owner_and_name(alice.id, "b")), b);
    EXPECT_EQ(value_of(tx.nodes.by_public_key(b.public_key)), b);
    EXPECT_EQ(value_of(tx.nodes.by_public_key("other")), std::nullopt);
    EXPECT_THAT(value_of(tx.nodes.of_owner(alice.id, "", 10)), ElementsAre(a, b));
  });
  b.endpoints = {{{"198.18.0.9", 1, false, ""}, tracker::Reachability::kUnknown, false}};
  b.last_seen = now_ + std::chrono::hours(1);
  b.program_version = "2";
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.nodes.set_endpoints(b.id, b.endpoints));
    GT_TRY(tx.nodes.set_seen(b.id, now_, "2"));
    return tx.nodes.set_seen(b.id, b.last_seen, "");
  });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.nodes.by_id(b.id)), b); });
}

TEST_P(TrackerStores, DataCasComeBackOldestFirstAndAreRetiredOnce) {
  const tracker::DataCaRecord second{2, "pem 2", std::string("\0sealed", 7), "key", now_, std::nullopt};
  tracker::DataCaRecord first{1, "pem 1", "\xff", "key", now_, std::nullopt};
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.data_cas.insert(second));
    return tx.data_cas.insert(first);
  });
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.data_cas.insert(second); })), Code::kConflict);
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.data_cas.all()), ElementsAre(first, second)); });
  first.retired = now_ + std::chrono::hours(1);
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.data_cas.retire(1, *first.retired));
    return tx.data_cas.retire(1, now_ + std::chrono::hours(2));
  });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.data_cas.all()), ElementsAre(first, second)); });
}

TEST_P(TrackerStores, NodeNamesAreUniquePerOwnerAndKeysEverywhere) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  auto first = node(alice, "n");
  node(bob, "n");
  first.id = NodeId::make(now_, rng_);
  auto same_name = first;
  same_name.public_key = "another";
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.nodes.insert(same_name); })), Code::kConflict);
  auto same_key = first;
  same_key.name = "another";
  same_key.owner = bob.id;
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.nodes.insert(same_key); })), Code::kConflict);
}

TEST_P(TrackerStores, ANodesNameChangesUnlessItsOwnerHasAnotherOfThatName) {
  const auto alice = user("alice"), bob = user("bob");
  const auto n = node(alice, "n"), m = node(alice, "m");
  node(bob, "x");
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.nodes.set_name(n.id, m.name); })), Code::kConflict);
  must([&](tracker::Tx& tx) { return tx.nodes.set_name(n.id, "x"); });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.nodes.by_owner_and_name(alice.id, "x"))->id, n.id);
    EXPECT_EQ(value_of(tx.nodes.by_owner_and_name(alice.id, "n")), std::nullopt);
  });
}

TEST_P(TrackerStores, ARemovedNodeTakesItsTasksAndReplicasAlong) {
  const auto alice = user("alice");
  const auto data = content(alice, "data");
  const auto n = node(alice, "n", true);
  const auto t = task(n, alice);
  ccm::Token token;
  token.id = "tok";
  token.kind = ccm::TokenKind::kNode;
  token.user = alice.id;
  token.node = n.id;
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.tokens.insert(token));
    GT_TRY(tx.replicas.put({data.id, 1, n.id, "", "", 1, false, now_}));
    EXPECT_THAT(value_of(tx.nodes.stale_ephemeral(now_, 10)), IsEmpty());
    EXPECT_THAT(value_of(tx.nodes.stale_ephemeral(now_ + std::chrono::seconds(1), 10)), ElementsAre(n.id));
    EXPECT_TRUE(value_of(tx.node_effects.has_node(n.id)));
    GT_TRY(tx.nodes.remove(n.id));
    EXPECT_NE(value_of(tx.tokens.by_id("tok")), std::nullopt) << "it may have to be told";
    return tx.tokens.remove_all_of_node(n.id);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_FALSE(value_of(tx.node_effects.has_node(n.id)));
    EXPECT_EQ(value_of(tx.nodes.by_id(n.id)), std::nullopt);
    EXPECT_EQ(value_of(tx.tasks.by_id(t.id)), std::nullopt);
    EXPECT_EQ(value_of(tx.tokens.by_id("tok")), std::nullopt);
    EXPECT_THAT(value_of(tx.replicas.of_content(data.id, 1)), IsEmpty());
  });
}

TEST_P(TrackerStores, EveryKindOfTaskComesBackAsItWas) {
  const auto alice = user("alice");
  const auto n = node(alice, "n");
  const std::vector<tracker::TaskWork> kinds = {
      tracker::PublishTask{"data:päth", "name", "public", "about\nit", "CC0", {"a", "b"}, true, "r"},
      tracker::GetTask{"c_x", "down:", {"*.txt", "dir/**"}, 4, 2, 1'000'000'000'000, -3, true},
      tracker::SeedTask{"c_x", "data:y"},
      tracker::StopSeedingTask{"c_x"},
      tracker::ListFolderTask{"data"},
      tracker::TransferTask{"x_y", "pause"}};
  for (const auto& work : kinds) {
    auto made = task(n, alice, work);
    look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.tasks.by_id(made.id)), made) << task_kind(work); });
    made.state = tracker::TaskState::kFailed;
    made.cancel_requested = true;
    made.updated = now_ + std::chrono::seconds(9);
    made.done = 5;
    made.total = 6;
    made.result_json = R"({"a":1})";
    made.error_code = "disk";
    made.error_message = "full";
    must([&](tracker::Tx& tx) { return tx.tasks.update(made); });
    look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.tasks.by_id(made.id)), made); });
  }
}

TEST_P(TrackerStores, SequencesAreGaplessPerNodeEvenAfterFailures) {
  const auto alice = user("alice");
  const auto n = node(alice, "n");
  const auto m = node(alice, "m");
  EXPECT_EQ(task(n, alice).sequence, 1u);
  EXPECT_FALSE(write([&](tracker::Tx& tx) -> Status {
                 tracker::Task lost;
                 lost.id = TaskId::make(now_, rng_);
                 lost.node = n.id;
                 lost.created_by = alice.id;
                 EXPECT_EQ(value_of(tx.tasks.append(lost)), 2u);
                 return Error{Code::kDenied, "rolled back"};
               }).ok());
  EXPECT_EQ(task(n, alice).sequence, 2u);
  EXPECT_EQ(task(m, alice).sequence, 1u);
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.nodes.by_id(n.id))->last_sequence, 2u); });
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) -> Status {
              tracker::Task nowhere;
              nowhere.id = TaskId::make(now_, rng_);
              nowhere.node = NodeId::make(now_, rng_);
              nowhere.created_by = alice.id;
              GT_TRY(tx.tasks.append(nowhere));
              return {};
            })),
            Code::kNotFound);
}

TEST_P(TrackerStores, PendingTasksComeInOrderFromTheCursor) {
  const auto alice = user("alice");
  const auto n = node(alice, "n");
  std::vector<tracker::Task> made;
  for (int i = 0; i < 5; ++i) {
    now_ = now_ + std::chrono::seconds(1);
    made.push_back(task(n, alice));
  }
  made[2].state = tracker::TaskState::kCancelled;
  made[3].cancel_requested = true;
  made[0].state = tracker::TaskState::kDelivered;
  must([&](tracker::Tx& tx) -> Status {
    for (const int i : {0, 2, 3}) GT_TRY(tx.tasks.update(made[static_cast<std::size_t>(i)]));
    return tx.tasks.set_acked(n.id, 3);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.tasks.pending(n.id, 0, 10)), ElementsAre(made[0], made[1], made[3], made[4]));
    EXPECT_THAT(value_of(tx.tasks.pending(n.id, 2, 10)), ElementsAre(made[3], made[4]));
    EXPECT_THAT(value_of(tx.tasks.pending(n.id, 0, 1)), ElementsAre(made[0]));
    EXPECT_THAT(value_of(tx.tasks.queued_up_to(n.id, 4)), ElementsAre(made[1], made[3]));
    EXPECT_THAT(value_of(tx.tasks.cancel_requested(n.id)), ElementsAre(made[3].id));
    EXPECT_THAT(value_of(tx.tasks.of_node(n.id, false, 0, 10)), ElementsAre(made[4], made[3], made[1], made[0]));
    EXPECT_THAT(value_of(tx.tasks.of_node(n.id, true, 0, 3)), ElementsAre(made[4], made[3], made[2]));
    EXPECT_THAT(value_of(tx.tasks.of_owner(alice.id, true, std::nullopt, 10)), SizeIs(5));
    EXPECT_THAT(value_of(tx.tasks.of_owner(alice.id, false, std::nullopt, 10)), SizeIs(4));
    EXPECT_THAT(value_of(tx.tasks.queued_since(now_, 10)), ElementsAre(made[1], made[3]));
    EXPECT_EQ(value_of(tx.nodes.by_id(n.id))->acked_sequence, 3u);
  });
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.tasks.set_acked(n.id, 1));
    EXPECT_EQ(value_of(tx.nodes.by_id(n.id))->acked_sequence, 3u) << "never back";
    return tx.tasks.prune(now_ + std::chrono::hours(1));
  });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.tasks.of_node(n.id, true, 0, 10)), SizeIs(4)); });
}

TEST_P(TrackerStores, AClosedContentMakesATaskForEveryHolder) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  const auto data = content(alice, "data");
  const auto one = node(alice, "one");
  const auto two = node(bob, "two");
  node(bob, "three");
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.replicas.put({data.id, 1, one.id, "", "", 1000, true, now_}));
    GT_TRY(tx.replicas.put({data.id, 1, two.id, "", "", 10, false, now_}));
    GT_ASSIGN(const auto nodes, tx.node_effects.content_closed(data.id, alice.id, now_));
    EXPECT_THAT(nodes, testing::UnorderedElementsAre(one.id, two.id));
    return {};
  });
  look([&](tracker::Tx& tx) {
    const auto tasks = value_of(tx.tasks.pending(two.id, 0, 10));
    ASSERT_THAT(tasks, SizeIs(1));
    EXPECT_EQ(tasks[0].work, tracker::TaskWork(tracker::StopSeedingTask{data.id.str()}));
    EXPECT_EQ(tasks[0].created_by, alice.id);
  });
  must([&](tracker::Tx& tx) -> Status {
    GT_ASSIGN(const auto nodes, tx.node_effects.content_closed(data.id, alice.id, now_));
    EXPECT_TRUE(nodes.empty()) << "they have it to do still, however often it comes back and goes";
    return {};
  });
}

}  // namespace
}  // namespace gridtorrent::contract
