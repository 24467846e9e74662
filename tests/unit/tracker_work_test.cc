#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>

#include "tests/support/server_world.h"

// How much work the database does for a use case, in steps of SQLite's virtual machine: unlike time, they are the same
// on each machine. A program of its own: every connection of the process is counted.

namespace gridtorrent::tracker {
namespace {

using testing_support::ServerWorld;

std::atomic<std::uint64_t> steps = 0;

int count_steps(unsigned, void*, void* statement, void*) {
  steps += static_cast<std::uint64_t>(
      sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, /*resetFlg=*/1));
  return 0;
}
int count_connection(sqlite3* connection, const char**, const sqlite3_api_routines*) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_PROFILE, count_steps, nullptr);
}

class Work : public testing::Test {
 protected:
  static void SetUpTestSuite() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(count_connection)); }
  static void TearDownTestSuite() { sqlite3_reset_auto_extension(); }

  template <class Step>
  static std::uint64_t steps_of(const Step& step) {
    steps = 0;
    step();
    return steps;
  }
};

constexpr int kFew = 10, kMany = 400;

TEST_F(Work, OfEnrolmentAndRenewalIsTheSameHoweverManyNodesTheOwnerHas) {
  ccm::Quotas quotas;
  quotas.nodes = 2 * kMany;
  ServerWorld w("sqlite", quotas);
  const ccm::Actor alice = w.user("alice");
  int made = 0;
  const auto enroll = [&] { return w.node(alice, "n" + std::to_string(++made)); };
  const auto renew = [&](const ccm::Actor& node) { ASSERT_TRUE(w.nodes.renew(node, w.node_token()).ok()); };
  ccm::Actor node = enroll();
  const auto grow = [&](int to) {
    while (made < to) enroll();
  };
  grow(kFew);
  const std::uint64_t enrol_few = steps_of(enroll), renew_few = steps_of([&] { renew(node); });
  ASSERT_GT(enrol_few, 100u) << "nothing was counted";
  grow(kMany);
  EXPECT_LE(steps_of(enroll), enrol_few * 3 / 2);
  EXPECT_LE(steps_of([&] { renew(node); }), renew_few * 3 / 2);
}

TEST_F(Work, OfAPageOfTasksIsTheSameHoweverManyThereAre) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice");
  w.node(alice, "lab");
  const auto grow = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(w.tasks.create(alice, w.request_id(), "lab", ListFolderTask{""}).ok());
    }
  };
  const auto page = [&](bool all, const std::string& token) {
    const auto listed = w.tasks.list(alice, "", all, {5, token});
    ASSERT_TRUE(listed.ok());
    ASSERT_EQ(listed->items.size(), 5u);
  };
  grow(kFew);
  const std::uint64_t first_few = steps_of([&] { page(true, ""); });
  grow(kMany);
  EXPECT_LE(steps_of([&] { page(true, ""); }), first_few * 3 / 2);
  EXPECT_LE(steps_of([&] { page(false, ""); }), first_few * 3 / 2);
  const auto listed = w.tasks.list(alice, "", true, {kMany / 2, ""});
  ASSERT_TRUE(listed.ok());
  const std::string middle = listed->token_after(listed->items.back());
  EXPECT_LE(steps_of([&] { page(true, middle); }), first_few * 3 / 2) << "the middle costs no more than the beginning";
}

TEST_F(Work, OfANewVersionIsTheSameHoweverManyVersionsItsHoldersHave) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice"), bob = w.user("bob");
  const ccm::Actor node = w.node(bob, "b1");
  const ccm::Content data = w.publish(alice, "data");
  std::uint32_t held = 0;
  const auto hold = [&](std::uint32_t versions) {
    const Status done = w.store.ccm().write([&](ccm::Tx& tx) -> Status {
      while (held < versions) GT_TRY(tx.replicas.put({data.id, ++held, node.node, "", "", 1, true, w.clock.wall()}));
      return {};
    });
    ASSERT_TRUE(done.ok());
  };
  const auto publish = [&](char digit) {
    const auto ticket = w.contents.begin_update(alice, {w.request_id(), "data"});
    ASSERT_TRUE(ticket.ok());
    ccm::FinishPublish finish = w.finish_of(data.id, 1000, digit);
    finish.version = ticket->version;
    ASSERT_TRUE(w.contents.finish_publish(alice, finish).ok());
  };
  hold(kFew);
  const std::uint64_t few = steps_of([&] { publish('b'); });
  ASSERT_EQ(w.inbox.read(bob)->notices.size(), 1u) << "who holds one is told";
  hold(kMany);
  EXPECT_LE(steps_of([&] { publish('c'); }), few * 3 / 2);
}

TEST_F(Work, OfALookAtANameIsTheSameHoweverManyContentsOfItAreWithdrawn) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice"), bob = w.user("bob");
  ccm::Content content;
  content.owner = bob.user;
  content.name = "data";
  content.state = ccm::ContentState::kWithdrawn;
  int made = 0;
  const auto grow = [&](int count, ccm::AccessLevel level) {
    content.access.level = level;
    const Status done = w.store.ccm().write([&](ccm::Tx& tx) -> Status {
      for (; made < count; ++made) {
        w.clock.advance(std::chrono::milliseconds(1));
        content.id = ContentId::make(w.clock.wall(), w.rng);
        GT_TRY(tx.contents.insert(content));
      }
      return {};
    });
    ASSERT_TRUE(done.ok());
  };
  const auto look = [&](const std::string& reference) {
    return steps_of([&] { EXPECT_FALSE(w.contents.get(alice, reference).ok()); });
  };
  grow(3 * kFew, ccm::AccessLevel::kPrivate);
  const std::uint64_t by_name = look("data"), by_owner = look("bob/data");
  grow(kMany, ccm::AccessLevel::kPrivate);
  EXPECT_LE(look("data"), by_name * 3 / 2);
  EXPECT_LE(look("bob/data"), by_owner * 3 / 2);
  grow(kMany + 3 * kFew, ccm::AccessLevel::kPublic);
  const std::uint64_t shown = look("data");
  grow(2 * kMany, ccm::AccessLevel::kPublic);
  EXPECT_LE(look("data"), shown * 3 / 2) << "those that one may see no more than others";
}

}  // namespace
}  // namespace gridtorrent::tracker
