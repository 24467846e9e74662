// A node is removed and renamed by its owner or an administrator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::tracker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class NodeLife : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> audited(std::string_view action) {
    std::vector<std::string> found;
    const auto records = w.audit(root, 100);
    EXPECT_TRUE(records.ok()) << message_of(records);
    for (const auto& record : *records) {
      if (record.action == action) found.push_back(record.actor_name + " " + record.object);
    }
    return found;
  }

  ServerWorld w{GetParam()};
  ccm::Actor alice = w.user("alice");
  ccm::Actor bob = w.user("bob");
  ccm::Actor root = w.user("root", true);
};

INSTANTIATE_TEST_SUITE_P(Over, NodeLife, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(NodeLife, OnlyItsOwnerAndAdministratorsRemoveOrRenameANode) {
  const ccm::Actor node = w.node(alice, "lab");
  for (const std::string& reference : {std::string("lab"), node.node.str(), std::string("alice/lab")}) {
    EXPECT_EQ(code_of(w.nodes.remove(bob, w.request_id(), reference)), Code::kNotFound) << reference;
    EXPECT_EQ(code_of(w.nodes.rename(bob, w.request_id(), reference, "other")), Code::kNotFound) << reference;
  }
  EXPECT_EQ(code_of(w.nodes.remove(alice, w.request_id(), "alice/lab")), Code::kNotFound) << "not by this form";
  EXPECT_EQ(code_of(w.nodes.remove(root, w.request_id(), "lab")), Code::kNotFound) << "a bare name is one's own";
  EXPECT_EQ(code_of(w.nodes.remove(root, w.request_id(), "nobody/lab")), Code::kNotFound);
  EXPECT_THAT(w.nodes.list(alice)->items, SizeIs(1));
  ASSERT_TRUE(w.nodes.rename(root, w.request_id(), "alice/lab", "bench").ok());
  ASSERT_TRUE(w.nodes.remove(root, w.request_id(), node.node.str()).ok());
  EXPECT_THAT(w.nodes.list(alice)->items, IsEmpty());
  EXPECT_THAT(audited("node.remove"), testing::ElementsAre("root " + node.node.str()));
  EXPECT_THAT(audited("node.rename"), testing::ElementsAre("root " + node.node.str()));
}

TEST_P(NodeLife, ARemovedNodeHasNoRightsAndItsNameIsFree) {
  const ccm::Actor node = w.node(alice, "lab"), other = w.node(alice, "other");
  const auto hidden = w.publish(alice, "hidden", ccm::AccessLevel::kPrivate);
  ASSERT_TRUE(w.nodes.announce(node, w.announce_of(hidden, SwarmRole::kSeeding, 1000)).ok());
  ASSERT_TRUE(w.nodes.announce(other, w.announce_of(hidden, SwarmRole::kFetching, 0)).ok());
  const auto task = w.tasks.create(alice, w.request_id(), "lab", ListFolderTask{"data:x"});
  ASSERT_TRUE(task.ok());
  const auto stream = w.hub.open(node.node, [] {});
  const std::string request = w.request_id();
  const auto removed = w.nodes.remove(alice, request, "lab");
  ASSERT_TRUE(removed.ok()) << message_of(removed);
  EXPECT_EQ(removed->name, "lab");
  EXPECT_THAT(removed->tasks, testing::ElementsAre(task->id)) << "who waits for it is to be told";
  EXPECT_TRUE(stream->take().ended);
  ASSERT_TRUE(w.audiences.refresh().ok());
  const auto followed = w.audiences.of_node(other.node);
  ASSERT_THAT(followed, SizeIs(1));
  EXPECT_THAT(followed[0]->members, SizeIs(1)) << "the other node alone";
  EXPECT_THAT(w.contents.replicas(alice, hidden.id)->items, SizeIs(1)) << "and its replica alone";
  const auto told = w.accounts.find_token(node.token_id);
  ASSERT_TRUE(told.ok() && *told);
  EXPECT_TRUE((*told)->node_removed) << "its credential is told apart from one that was revoked";
  EXPECT_EQ(code_of(w.nodes.announce(node, w.announce_of(hidden, SwarmRole::kSeeding, 1000))), Code::kUnauthenticated);

  const auto again = w.nodes.remove(alice, request, "lab");
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->id, node.node) << "the same request again";
  EXPECT_EQ(code_of(w.nodes.remove(alice, w.request_id(), "lab")), Code::kNotFound);
  const ccm::Actor next = w.node(alice, "lab", "the same key would do");
  EXPECT_NE(next.node, node.node);
}

TEST_P(NodeLife, AKeyThatWasRemovedEnrolsAsAnotherNode) {
  const ccm::Actor node = w.node(alice, "lab", "the key");
  ASSERT_TRUE(w.nodes.remove(alice, w.request_id(), "lab").ok());
  const ccm::Actor again = w.node(alice, "lab", "the key");
  EXPECT_NE(again.node, node.node);
  EXPECT_FALSE((*w.accounts.find_token(again.token_id))->node_removed);
}

TEST_P(NodeLife, ACredentialThatEndedWithItsOwnersAccountIsNoneOfARemovedNode) {
  const ccm::Actor node = w.node(alice, "lab", "the key");
  ASSERT_TRUE(w.accounts.disable_user(root, w.request_id(), "alice").ok());
  EXPECT_FALSE((*w.accounts.find_token(node.token_id))->node_removed);
  ASSERT_TRUE(w.accounts.enable_user(root, w.request_id(), "alice").ok());
  EXPECT_EQ(w.node(alice, "", "the key").node, node.node) << "enrolled anew it is the same node";
}

TEST_P(NodeLife, ARenamedNodeIsToldAndItsOldNameIsFree) {
  const ccm::Actor node = w.node(alice, "lab");
  w.node(alice, "other");
  EXPECT_EQ(code_of(w.nodes.rename(alice, w.request_id(), "lab", "Lab!")), Code::kInvalid);
  const auto taken = w.nodes.rename(alice, w.request_id(), "lab", "other");
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("other"));
  const auto stream = w.hub.open(node.node, [] {});
  (void)stream->take();
  const std::string request = w.request_id();
  const auto renamed = w.nodes.rename(alice, request, "lab", "bench");
  ASSERT_TRUE(renamed.ok()) << message_of(renamed);
  EXPECT_EQ(renamed->record.name, "bench");
  const auto hints = stream->take().hints;
  ASSERT_THAT(hints, SizeIs(1));
  EXPECT_EQ(std::get<NodeRenamed>(hints[0]).name, "bench");
  EXPECT_EQ(w.nodes.get(alice, "bench")->record.id, node.node);
  ASSERT_TRUE(w.nodes.rename(alice, request, "lab", "bench").ok()) << "the same request again";
  ASSERT_TRUE(w.nodes.rename(alice, w.request_id(), "bench", "bench").ok()) << "its own name";
  w.node(alice, "lab");
  EXPECT_EQ(*w.nodes.opened(node, ""), "bench");
}

TEST_P(NodeLife, ANodesRootsAreKeptByTheirNamesAndShownToItsOwner) {
  const ccm::Actor node = w.node(alice, "lab");
  EXPECT_FALSE(w.nodes.get(alice, "lab")->record.roots) << "an older node does not tell";
  ASSERT_TRUE(w.nodes.set_roots(node, {{"raw"}, {"in", "M\u00fcll"}}).ok());
  const auto roots = w.nodes.get(alice, "lab")->record.roots;
  ASSERT_TRUE(roots);
  EXPECT_EQ(*roots, (NodeRoots{{"raw"}, {"in", "M\u00fcll"}}));
  ASSERT_TRUE(w.nodes.set_roots(node, {}).ok());
  EXPECT_EQ(*w.nodes.get(alice, "lab")->record.roots, NodeRoots());
}

TEST_P(NodeLife, NamesOfRootsAreBounded) {
  const ccm::Actor node = w.node(alice, "lab");
  for (const NodeRoots& bad : {NodeRoots{{""}, {}}, NodeRoots{{}, {std::string(65, 'x')}}, NodeRoots{{"a\nb"}, {}},
                               NodeRoots{std::vector<std::string>(33, "x"), {}}})
    EXPECT_EQ(w.nodes.set_roots(node, bad).error().code, Code::kInvalid);
  EXPECT_EQ(w.nodes.set_roots(alice, {}).error().code, Code::kDenied) << "no node";
}

}  // namespace
}  // namespace gridtorrent::tracker
