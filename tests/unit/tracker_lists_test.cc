#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/server_world.h"

// Lists by page: every item once, whatever is inserted or removed meanwhile; tokens of elsewhere are refused.

namespace gridtorrent::tracker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class Lists : public testing::TestWithParam<const char*> {
 protected:
  Lists() { alice = w.user("alice"); }

  /// All pages of `limit` items, one text an item; `between` runs after each page.
  template <class List, class Text>
  std::vector<std::string> walk(
      const List& list, std::uint32_t limit, const Text& text, const std::function<void()>& between = [] {}) {
    std::vector<std::string> seen;
    PageRequest request{limit, ""};
    for (int pages = 0; pages < 100; ++pages) {
      const auto page = list(request);
      EXPECT_TRUE(page.ok()) << message_of(page);
      if (!page.ok()) return seen;
      EXPECT_LE(page->items.size(), limit);
      for (const auto& item : page->items) seen.push_back(text(item));
      if (!page->more) return seen;
      request.token = page->token_after(page->items.back());
      between();
    }
    ADD_FAILURE() << "the pages do not end";
    return seen;
  }
  std::vector<std::string> tasks(
      std::string_view node, bool all, std::uint32_t limit, const std::function<void()>& between = [] {}) {
    return walk([&](const PageRequest& page) { return w.tasks.list(alice, node, all, page); }, limit,
                [](const Task& task) { return task.id.str(); }, between);
  }
  Task task(std::string_view node) {
    w.clock.advance(std::chrono::milliseconds(1));
    const auto made = w.tasks.create(alice, w.request_id(), node, ListFolderTask{""});
    EXPECT_TRUE(made.ok()) << message_of(made);
    return made.ok() ? *made : Task();
  }

  ServerWorld w{GetParam()};
  ccm::Actor alice;
};

TEST_P(Lists, GiveEachTaskOnceNewestFirst) {
  w.node(alice, "aa");
  w.node(alice, "bb");
  std::vector<std::string> made;
  for (int i = 0; i < 7; ++i) made.insert(made.begin(), task(i % 2 == 0 ? "aa" : "bb").id.str());
  for (const std::uint32_t limit : {1u, 2u, 3u, 7u, 100u}) {
    EXPECT_EQ(tasks("", true, limit), made) << limit;
    EXPECT_THAT(tasks("aa", true, limit), SizeIs(4)) << limit;
  }
}

TEST_P(Lists, AreNotDisturbedByWhatIsMadeMeanwhile) {
  w.node(alice, "aa");
  std::vector<std::string> made;
  for (int i = 0; i < 6; ++i) made.insert(made.begin(), task("aa").id.str());
  EXPECT_EQ(tasks("", true, 2, [this] { task("aa"); }), made) << "newer ones stand before the first page";
  const auto open = tasks(
      "aa", false, 2, [&] { ASSERT_TRUE(w.tasks.cancel(alice, w.request_id(), *TaskId::parse(made.front())).ok()); });
  EXPECT_EQ(std::set<std::string>(open.begin(), open.end()).size(), open.size()) << "none twice";
}

TEST_P(Lists, RefuseATokenOfAnotherList) {
  w.node(alice, "aa");
  for (int i = 0; i < 3; ++i) task("aa");
  const auto page = w.tasks.list(alice, "", true, {1, ""});
  ASSERT_TRUE(page.ok());
  const std::string token = page->token_after(page->items.back());
  EXPECT_TRUE(w.tasks.list(alice, "", true, {1, token}).ok());
  EXPECT_EQ(code_of(w.tasks.list(alice, "", false, {1, token})), Code::kInvalid) << "another filter";
  EXPECT_EQ(code_of(w.tasks.list(alice, "aa", true, {1, token})), Code::kInvalid) << "another node";
  EXPECT_EQ(code_of(w.nodes.list(alice, {1, token})), Code::kInvalid) << "another list";
  for (const std::string& broken : {token.substr(1), token + "00", std::string("x"), std::string(5000, '0')}) {
    EXPECT_EQ(code_of(w.tasks.list(alice, "", true, {1, broken})), Code::kInvalid) << broken.substr(0, 80);
  }
}

TEST_P(Lists, LeaveLargeResultsToTheTaskItself) {
  const ccm::Actor node = w.node(alice, "aa");
  const Task small = task("aa"), large = task("aa");
  TaskReport report;
  report.task = small.id;
  report.state = TaskState::kDone;
  report.result_json = "{\"small\":1}";
  ASSERT_TRUE(w.tasks.report(node, report).ok());
  report.task = large.id;
  report.result_json = '"' + std::string(kMaxResultBytes - 2, 'x') + '"';
  ASSERT_TRUE(w.tasks.report(node, report).ok());

  const auto listed = w.tasks.list(alice, "", true);
  ASSERT_TRUE(listed.ok());
  ASSERT_THAT(listed->items, SizeIs(2));
  EXPECT_THAT(listed->items[0].result_json, IsEmpty());
  EXPECT_EQ(listed->items[0].result_bytes, kMaxResultBytes);
  EXPECT_EQ(listed->items[1].result_json, "{\"small\":1}");
  const auto alone = w.tasks.get(alice, large.id);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->result_json, report.result_json);
  EXPECT_EQ(alone->result_bytes, 0u);
}

TEST_P(Lists, OfNodesUsersAndTokensGiveEachOnce) {
  ccm::Actor root = w.user("root", true);
  std::vector<std::string> names;
  for (const char* name : {"ee", "cc", "aa", "dd", "bb"}) w.node(alice, name);
  EXPECT_THAT(walk([&](const PageRequest& page) { return w.nodes.list(alice, page); }, 2,
                   [](const NodeView& node) { return node.record.name; }),
              ElementsAre("aa", "bb", "cc", "dd", "ee"));
  w.user("bob");
  EXPECT_THAT(walk([&](const PageRequest& page) { return w.accounts.list_users(root, page); }, 1,
                   [](const ccm::User& user) { return user.name; }),
              ElementsAre("alice", "bob", "root"));
  const auto tokens = walk([&](const PageRequest& page) { return w.accounts.list_tokens(alice, "", page); }, 2,
                           [](const ccm::Token& token) { return token.id; });
  EXPECT_THAT(tokens, SizeIs(w.accounts.list_tokens(alice)->items.size()));
  EXPECT_THAT(std::set<std::string>(tokens.begin(), tokens.end()), SizeIs(tokens.size()));
}

TEST_P(Lists, ATaskForManyNodesIsOneForEachOrForNone) {
  const ccm::Actor bob = w.user("bob");
  const ccm::Actor one = w.node(alice, "one"), two = w.node(alice, "two"), his = w.node(bob, "his");
  const TaskWork work = ListFolderTask{""};
  PublishTask publish;
  publish.root_path = "data:x";
  publish.name = "data";
  const auto many = [&](const std::vector<std::string>& nodes, bool all, const TaskWork& what) {
    return w.tasks.create_many(alice, w.request_id(), nodes, all, what);
  };
  EXPECT_EQ(code_of(many({"one", "his"}, false, work)), Code::kNotFound);
  EXPECT_EQ(code_of(many({"one", "absent"}, false, work)), Code::kNotFound);
  EXPECT_EQ(code_of(many({}, false, work)), Code::kInvalid);
  EXPECT_EQ(code_of(many({"one"}, true, work)), Code::kInvalid) << "some, or all";
  EXPECT_EQ(code_of(many({"one", "two"}, false, publish)), Code::kInvalid);
  EXPECT_EQ(code_of(w.tasks.create_many(w.user("carol"), w.request_id(), {}, true, work)), Code::kNotFound);
  EXPECT_THAT(w.tasks.list(alice, "", true)->items, IsEmpty()) << "all or none";

  const auto first = w.hub.open(one.node, [] {}), second = w.hub.open(two.node, [] {});
  first->take();
  second->take();
  const std::string request = w.request_id();
  const auto made = w.tasks.create_many(alice, request, {}, true, work);
  ASSERT_TRUE(made.ok()) << message_of(made);
  ASSERT_THAT(*made, SizeIs(2));
  EXPECT_TRUE(first->take().tasks_waiting);
  EXPECT_TRUE(second->take().tasks_waiting);
  EXPECT_THAT(*w.tasks.pending(one.node, 0), SizeIs(1));
  EXPECT_THAT(*w.tasks.pending(two.node, 0), SizeIs(1));
  EXPECT_THAT(*w.tasks.pending(his.node, 0), IsEmpty());

  const auto again = w.tasks.create_many(alice, request, {}, true, work);
  ASSERT_TRUE(again.ok()) << message_of(again);
  ASSERT_THAT(*again, SizeIs(2));
  EXPECT_EQ((*again)[1].task, (*made)[1].task);
  EXPECT_THAT(w.tasks.list(alice, "", true)->items, SizeIs(2)) << "done once";
  EXPECT_THAT(*many({"one", "one", one.node.str()}, false, work), SizeIs(1)) << "each node once";
}

TEST_P(Lists, TasksForManyNodesFitIntoTheQuotaAllOrNone) {
  const ccm::Actor root = w.user("root", true);
  std::vector<ccm::Actor> nodes;
  for (const char* name : {"n1", "n2", "n3"}) nodes.push_back(w.node(alice, name));
  const auto set_quota = [&](std::uint64_t tasks) {
    ASSERT_TRUE(w.accounts.change_quotas(root, w.request_id(), "alice", {{ccm::Quota::kTasks, tasks}}).ok());
  };
  const auto give_all = [&] { return w.tasks.create_many(alice, w.request_id(), {}, true, ListFolderTask{""}); };
  const auto give = [&](const char* node) { return w.tasks.create(alice, w.request_id(), node, ListFolderTask{""}); };
  const auto listed = [&] { return w.tasks.list(alice, "", true)->items.size(); };
  set_quota(2);
  EXPECT_THAT(message_of(give_all()), HasSubstr("the quota of user alice allows 2 tasks: 3 asked for;"));
  set_quota(4);
  ASSERT_TRUE(give("n1").ok());
  const auto ended = give("n2");
  TaskReport done;
  done.task = ended->id;
  done.state = TaskState::kDone;
  ASSERT_TRUE(w.tasks.ack(nodes[1], 1).ok());
  ASSERT_TRUE(w.tasks.report(nodes[1], done).ok());
  const auto another = give("n1");
  EXPECT_THAT(message_of(give_all()), HasSubstr("allows 4 tasks: 2 not ended, 3 asked for; cancel some"));
  EXPECT_EQ(listed(), 3u) << "nothing was made, and what had ended was not forgotten for nothing";
  ASSERT_TRUE(w.tasks.cancel(alice, w.request_id(), another->id).ok());
  ASSERT_TRUE(give_all().ok());
  EXPECT_EQ(listed(), 4u) << "what had ended, and what was cancelled, made room";
}

INSTANTIATE_TEST_SUITE_P(Stores, Lists, testing::Values("memory", "sqlite"));

}  // namespace
}  // namespace gridtorrent::tracker
