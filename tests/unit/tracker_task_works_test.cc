// What a task may ask of a node, and how many nodes a user may have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/server_world.h"

namespace gridtorrent::tracker {
namespace {

using testing::HasSubstr;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

TEST(TaskWorks, AreRefusedWhereTheyTakeTooMuchSpace) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice");
  w.node(alice, "n1");
  const ccm::Content content = w.publish(alice, "data");
  GetTask get;
  get.content = content.id.str();
  get.globs.assign(1000, std::string(4000, 'x'));
  const auto refused = w.tasks.create(alice, w.request_id(), "n1", get);
  EXPECT_EQ(code_of(refused), Code::kInvalid);
  EXPECT_THAT(message_of(refused), HasSubstr("name fewer files"));
  get.globs.resize(10);
  EXPECT_TRUE(w.tasks.create(alice, w.request_id(), "n1", get).ok());
}

TEST(TaskWorks, KeepWhatATunerIsAsked) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice");
  w.node(alice, "n1");
  GetTask get;
  get.content = w.publish(alice, "data").id.str();
  get.tuner = "auto";
  get.mode = "background";
  get.target_bits_per_s = 30;
  get.floor_bits_per_s = 20;
  get.by_ms = 10;
  const auto made = w.tasks.create(alice, w.request_id(), "n1", get);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(w.tasks.get(alice, made->id)->work, TaskWork(get));
}

TEST(TaskWorks, KeepTheNameOnDiskAndRefuseWhatIsNone) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice");
  w.node(alice, "n1");
  GetTask get;
  get.content = w.publish(alice, "data").id.str();
  get.if_seeded = true;
  for (const char* name : {"..", "a/b", "."}) {
    get.base_name = name;
    const auto refused = w.tasks.create(alice, w.request_id(), "n1", get);
    EXPECT_EQ(code_of(refused), Code::kInvalid) << name;
    EXPECT_THAT(message_of(refused), HasSubstr("the name on disk")) << name;
  }
  get.base_name = "mine";
  const auto made = w.tasks.create(alice, w.request_id(), "n1", get);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(w.tasks.get(alice, made->id)->work, TaskWork(get));
}

TEST(TaskWorks, KeepWhichVersionIsMeantAndRefuseItsNameAndAccess) {
  ServerWorld w("sqlite");
  const ccm::Actor alice = w.user("alice");
  w.node(alice, "n1");
  GetTask get;
  get.content = w.publish(alice, "data").id.str();
  get.version = 2;
  get.update = true;
  PublishTask publish;
  publish.root_path = "raw:a";
  publish.update = "alice/data";
  publish.request_id = w.request_id();
  for (const TaskWork& work : {TaskWork(get), TaskWork(publish)}) {
    const auto made = w.tasks.create(alice, w.request_id(), "n1", work);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ(w.tasks.get(alice, made->id)->work, work);
  }
  publish.access = "public";
  const auto refused = w.tasks.create(alice, w.request_id(), "n1", publish);
  EXPECT_EQ(code_of(refused), Code::kInvalid);
  EXPECT_THAT(message_of(refused), HasSubstr("keeps the content's name and access"));
}

TEST(NodeQuotas, AreRefusedByName) {
  ccm::Quotas quotas;
  quotas.nodes = 1;
  quotas.enroll_tokens = 1;
  ServerWorld w("memory", quotas);
  const ccm::Actor alice = w.user("alice");
  ccm::Token token;
  token.id = "e1";
  token.uses_left = 2;
  token.expires = w.clock.wall() + std::chrono::minutes(5);
  ASSERT_TRUE(w.nodes.add_enroll_token(alice, w.request_id(), token).ok());
  token.id = "e2";
  EXPECT_EQ(code_of(w.nodes.add_enroll_token(alice, w.request_id(), token)), Code::kExhausted);
  ASSERT_TRUE(w.nodes.enroll({w.request_id(), "e1", "one", "k1", "", w.node_token()}).ok());
  EXPECT_EQ(code_of(w.nodes.enroll({w.request_id(), "e1", "two", "k2", "", w.node_token()})), Code::kExhausted);
}

}  // namespace
}  // namespace gridtorrent::tracker
