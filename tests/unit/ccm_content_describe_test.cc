#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ccm/domain/names.h"
#include "tests/support/audit_records.h"
#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class Descriptions : public testing::TestWithParam<const char*> {
 protected:
  DescribeContent change(const Content& content) {
    DescribeContent request;
    request.request_id = w.request_id();
    request.content = content.id;
    return request;
  }
  DescribeContent rename(const Content& content, const std::string& name) {
    DescribeContent request = change(content);
    request.name = name;
    return request;
  }
  ServerWorld w{GetParam()};
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
};

INSTANTIATE_TEST_SUITE_P(Over, Descriptions, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Descriptions, AreTheirOwnersAloneToChange) {
  const Content open = w.publish(alice, "data");
  EXPECT_EQ(code_of(w.contents.describe(bob, rename(open, "mine"))), Code::kDenied);
  const Content hidden = w.publish(alice, "secret", AccessLevel::kPrivate);
  EXPECT_EQ(w.contents.describe(bob, rename(hidden, "mine")).error(), missing_content(hidden.id.str()));
  EXPECT_EQ(code_of(w.contents.describe(w.user("root", true), rename(open, "mine"))), Code::kDenied);
}

TEST_P(Descriptions, OfWithdrawnContentStay) {
  const Content gone = w.publish(alice, "gone");
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), gone.id).ok());
  EXPECT_EQ(code_of(w.contents.describe(alice, rename(gone, "back"))), Code::kConflict);
}

TEST_P(Descriptions, AreRefusedWherePublishingWouldRefuseThem) {
  const Content data = w.publish(alice, "data");
  for (const char* name : {"", "a/b", "\u0441limate", "..", "a\u00adb"}) {
    EXPECT_EQ(code_of(w.contents.describe(alice, rename(data, name))), Code::kInvalid) << name;
  }
  DescribeContent request = change(data);
  request.description = std::string(kMaxDescriptionBytes + 1, 'x');
  EXPECT_EQ(code_of(w.contents.describe(alice, request)), Code::kInvalid);
  request = change(data);
  request.license = "a\nb";
  EXPECT_EQ(code_of(w.contents.describe(alice, request)), Code::kInvalid);
  request = change(data);
  request.tags.add = {"a,b"};
  EXPECT_EQ(code_of(w.contents.describe(alice, request)), Code::kInvalid);
  request = change(data);
  for (std::size_t i = 0; i <= kMaxTags; ++i) request.tags.add.push_back("t" + std::to_string(i));
  EXPECT_EQ(code_of(w.contents.describe(alice, request)), Code::kInvalid);
  EXPECT_EQ(w.contents.get(alice, "data")->content.revision, 0u);
}

TEST_P(Descriptions, ANameThatIsTakenIsRefusedByName) {
  const Content data = w.publish(alice, "data");
  w.publish(alice, "other");
  w.publish(bob, "bobs");
  const auto taken = w.contents.describe(alice, rename(data, "other"));
  EXPECT_EQ(code_of(taken), Code::kConflict);
  EXPECT_THAT(message_of(taken), HasSubstr("alice/other"));
  EXPECT_TRUE(w.contents.describe(alice, rename(data, "bobs")).ok()) << "names are each owner's own";
}

TEST_P(Descriptions, ARenamedContentKeepsItsIdAndFreesItsName) {
  const Content data = w.publish(alice, "Old");
  const auto renamed = w.contents.describe(alice, rename(data, "New Name"));
  ASSERT_TRUE(renamed.ok()) << message_of(renamed);
  EXPECT_EQ(renamed->content.id, data.id);
  EXPECT_EQ(renamed->content.revision, 1u);
  EXPECT_EQ(w.contents.get(bob, "alice/New Name")->content.id, data.id);
  EXPECT_EQ(code_of(w.contents.get(bob, "alice/Old")), Code::kNotFound);
  SearchQuery query;
  query.text = "new n";
  EXPECT_THAT(w.found(bob, query), ElementsAre("New Name"));
  query.text = "old";
  EXPECT_THAT(w.found(bob, query), IsEmpty());
  EXPECT_NE(w.publish(alice, "Old").id, data.id);
}

TEST_P(Descriptions, TagsAreClearedThenRemovedThenAdded) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000, {"raw", "x"});
  DescribeContent request = change(data);
  request.tags.remove = {"raw", "absent"};
  request.tags.add = {"x", "calibrated"};
  EXPECT_THAT(w.contents.describe(alice, request)->content.tags, ElementsAre("x", "calibrated"));
  SearchQuery query;
  query.tag = "raw";
  EXPECT_THAT(w.found(bob, query), IsEmpty());
  query.tag = "calibrated";
  EXPECT_THAT(w.found(bob, query), ElementsAre("data"));
  request = change(data);
  request.tags.clear = true;
  request.tags.add = {"y"};
  EXPECT_THAT(w.contents.describe(alice, request)->content.tags, ElementsAre("y"));
}

TEST_P(Descriptions, WhatIsLeftOutStays) {
  const Content data = w.publish(alice, "data", AccessLevel::kPublic, 1000, {"raw"});
  DescribeContent request = change(data);
  request.description = "about";
  ASSERT_TRUE(w.contents.describe(alice, request).ok());
  request = change(data);
  request.license = "CC0";
  const auto done = w.contents.describe(alice, request);
  ASSERT_TRUE(done.ok()) << message_of(done);
  EXPECT_EQ(done->content.name, "data");
  EXPECT_EQ(done->content.description, "about");
  EXPECT_EQ(done->content.license, "CC0");
  EXPECT_THAT(done->content.tags, ElementsAre("raw"));
  EXPECT_EQ(done->content.revision, 2u);
}

TEST_P(Descriptions, WhoLookedAtAnOlderOneIsRefused) {
  const Content data = w.publish(alice, "data");
  DescribeContent first = change(data), second = change(data);
  first.description = "one";
  first.if_revision = 0;
  second.description = "two";
  second.if_revision = 0;
  ASSERT_TRUE(w.contents.describe(alice, first).ok());
  EXPECT_TRUE(w.contents.describe(alice, first).ok()) << "repeated, it has been done once";
  const auto late = w.contents.describe(alice, second);
  EXPECT_EQ(code_of(late), Code::kConflict);
  EXPECT_THAT(message_of(late), HasSubstr("revision 1"));
  EXPECT_EQ(w.contents.get(alice, "data")->content.description, "one");
}

TEST_P(Descriptions, AnnouncingNodesLearnTheName) {
  const Content data = w.publish(alice, "data");
  const Actor node = w.node(bob, "one");
  const auto announce = w.announce_of(data, tracker::SwarmRole::kSeeding, 1000);
  EXPECT_EQ(w.nodes.announce(node, announce)->name, "data");
  ASSERT_TRUE(w.contents.describe(alice, rename(data, "better")).ok());
  const auto told = w.nodes.announce(node, announce);
  ASSERT_TRUE(told.ok()) << message_of(told);
  EXPECT_EQ(told->owner + "/" + told->name, "alice/better");
}

TEST_P(Descriptions, ChangesAreAuditedAndInboxesRung) {
  const Content data = w.publish(alice, "data", AccessLevel::kPrivate);
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), data.id, {AccessLevel::kShared, {}, {"bob"}, false}).ok());
  w.inboxes.people.clear();
  DescribeContent request = rename(data, "better");
  request.tags.add = {"x"};
  ASSERT_TRUE(w.contents.describe(alice, request).ok());
  EXPECT_THAT(w.inboxes.people, ElementsAre(bob.user));
  ASSERT_TRUE(w.contents.describe(alice, rename(data, "better")).ok()) << "no change";
  std::vector<AuditRecord> records;
  ASSERT_TRUE(w.store.ccm()
                  .read([&](Tx& tx) -> Status {
                    GT_ASSIGN(records, testing_support::newest_audit(tx.audit, 2));
                    return {};
                  })
                  .ok());
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_EQ(records[0].action, "content.describe");
  EXPECT_EQ(records[0].outcome, "ok: name \"data\" to \"better\"; tags");
  EXPECT_EQ(records[0].request_id, request.request_id);
  EXPECT_EQ(records[1].action, "content.set_access");
}

// --- what is withdrawn, and taken back

TEST_P(Descriptions, AWithdrawnContentIsItsOwnersAloneToRestore) {
  const Content data = w.publish(alice, "data");
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), data.id).ok());
  EXPECT_EQ(code_of(w.contents.restore(bob, w.request_id(), data.id, "")), Code::kDenied);
  const Content secret = w.publish(alice, "secret", AccessLevel::kPrivate);
  EXPECT_EQ(w.contents.restore(bob, w.request_id(), secret.id, "").error(), missing_content(secret.id.str()));
  const auto draft = w.contents.begin_publish(alice, {w.request_id(), "draft", {}, "", "", {}});
  EXPECT_EQ(code_of(w.contents.restore(alice, w.request_id(), draft->content, "")), Code::kConflict);
}

TEST_P(Descriptions, ARestoredContentIsFoundAndTransferredAgain) {
  const Content data = w.publish(alice, "data");
  const Actor node = w.node(bob, "one");
  const auto announce = w.announce_of(data, tracker::SwarmRole::kSeeding, 1000);
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), data.id).ok());
  EXPECT_EQ(code_of(w.nodes.announce(node, announce)), Code::kConflict);
  const std::string id = w.request_id();
  const auto back = w.contents.restore(alice, id, data.id, "");
  ASSERT_TRUE(back.ok()) << message_of(back);
  EXPECT_EQ(back->content.state, ContentState::kPublished);
  EXPECT_EQ(back->content.published, data.published);
  EXPECT_THAT(w.found(bob, {}), ElementsAre("data"));
  EXPECT_TRUE(w.nodes.announce(node, announce).ok());
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), data.id).ok());
  EXPECT_EQ(w.contents.restore(alice, id, data.id, "")->content.state, ContentState::kWithdrawn)
      << "a repeated request has been done once";
}

TEST_P(Descriptions, ANameThatWasTakenMeanwhileIsNotTakenBack) {
  const Content first = w.publish(alice, "data");
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), first.id).ok());
  const Content second = w.publish(alice, "data");
  ASSERT_NE(second.id, first.id);
  const auto refused = w.contents.restore(alice, w.request_id(), first.id, "");
  EXPECT_EQ(code_of(refused), Code::kConflict);
  EXPECT_THAT(message_of(refused), HasSubstr(second.id.str()));
  EXPECT_EQ(code_of(w.contents.restore(alice, w.request_id(), first.id, "a/b")), Code::kInvalid);
  EXPECT_EQ(w.contents.get(alice, first.id.str())->content.state, ContentState::kWithdrawn);
  const auto back = w.contents.restore(alice, w.request_id(), first.id, "data of May");
  ASSERT_TRUE(back.ok()) << message_of(back);
  EXPECT_EQ(w.contents.get(bob, "data of May")->content.id, first.id);
  EXPECT_EQ(w.contents.get(bob, "data")->content.id, second.id);
}

TEST_P(Descriptions, ANameMeansWhatIsPublishedAndWithdrawnOnesGoById) {
  const Content first = w.publish(alice, "data");
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), first.id).ok());
  EXPECT_EQ(w.contents.get(bob, "data")->content.id, first.id);
  const Content second = w.publish(alice, "data");
  EXPECT_EQ(w.contents.get(bob, "data")->content.id, second.id);
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), second.id).ok());
  const auto both = w.contents.get(alice, "data");
  EXPECT_EQ(code_of(both), Code::kConflict);
  EXPECT_THAT(message_of(both), HasSubstr(first.id.str() + " (withdrawn)"));
  EXPECT_THAT(message_of(both), HasSubstr(second.id.str() + " (withdrawn)"));
}

}  // namespace
}  // namespace gridtorrent::ccm
