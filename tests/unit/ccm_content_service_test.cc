#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tests/support/audit_records.h"
#include "tests/support/server_world.h"

namespace gridtorrent::ccm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing_support::code_of;
using testing_support::message_of;
using testing_support::ServerWorld;

class Contents : public testing::TestWithParam<const char*> {
 protected:
  BeginPublish begin(const std::string& name, AccessLevel level = AccessLevel::kPublic) {
    BeginPublish request;
    request.request_id = w.request_id();
    request.name = name;
    request.access.level = level;
    return request;
  }
  ServerWorld w{GetParam()};
  Actor alice = w.user("alice");
  Actor bob = w.user("bob");
};

INSTANTIATE_TEST_SUITE_P(Over, Contents, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Contents, ArePublishedInTwoSteps) {
  auto request = begin("Da\u0308ta");
  request.description = "about";
  request.tags = {"x"};
  const auto ticket = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  EXPECT_EQ(ticket->version, 1u);
  EXPECT_EQ(ticket->generation, 0u);
  EXPECT_THAT(w.found(bob), IsEmpty());
  EXPECT_EQ(code_of(w.contents.get(bob, ticket->content.str())), Code::kNotFound);
  EXPECT_EQ(code_of(w.contents.open_metadata(alice, ticket->content, 1)), Code::kConflict);

  const auto done = w.contents.finish_publish(alice, w.finish_of(ticket->content, 5000));
  ASSERT_TRUE(done.ok()) << message_of(done);
  EXPECT_EQ(done->content.state, ContentState::kPublished);
  EXPECT_EQ(done->content.bytes, 5000u);
  EXPECT_EQ(done->content.published, w.clock.wall());
  EXPECT_EQ(w.files.files.at(std::string(64, 'a')), "metadata");
  EXPECT_THAT(w.found(bob), ElementsAre("D\u00e4ta"));
  const auto opened = w.contents.open_metadata(bob, ticket->content, 0);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->metadata_sha256, std::string(64, 'a'));
  EXPECT_EQ(code_of(w.contents.open_metadata(bob, ticket->content, 2)), Code::kInvalid);
}

TEST_P(Contents, ARepeatedBeginGivesTheFirstAnswer) {
  const auto request = begin("data");
  const auto first = w.contents.begin_publish(alice, request);
  const auto second = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->content, second->content);
  ASSERT_TRUE(w.contents.finish_publish(alice, w.finish_of(first->content)).ok());
  const auto third = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(third.ok()) << "a node that crashed after finishing begins once more";
  EXPECT_EQ(third->content, first->content);
}

TEST_P(Contents, ARepeatedBeginWithOtherArgumentsIsRefused) {
  auto request = begin("data");
  request.description = "about";
  request.tags = {"a"};
  const auto first = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(first.ok()) << message_of(first);
  const auto refused = [&](const std::function<void(BeginPublish&)>& change) {
    BeginPublish other = request;
    change(other);
    EXPECT_EQ(code_of(w.contents.begin_publish(alice, other)), Code::kConflict);
  };
  refused([](auto& r) { r.name = "other"; });
  refused([](auto& r) { r.access.level = AccessLevel::kPrivate; });
  refused([](auto& r) { r.description = "aboutx"; });
  refused([](auto& r) { r.license = "CC0"; });
  refused([](auto& r) { r.tags = {"a", "b"}; });
  const auto again = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->content, first->content);
}

TEST_P(Contents, AnAnswerOfAnEarlierVersionIsStillGiven) {
  const auto request = begin("data");
  const auto first = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(first.ok()) << message_of(first);
  ASSERT_TRUE(w.store.ccm()
                  .write([&](Tx& tx) {
                    return tx.requests.put(alice.user, request.request_id, {"content.begin", first->content.str()},
                                           w.clock.wall());
                  })
                  .ok());
  const auto again = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->content, first->content);
}

TEST_P(Contents, ANameThatMisleadsIsRefusedAtBegin) {
  for (const char* name : {"\u0441limate", "..", "a\u00adb", "\u00a0a"}) {
    EXPECT_EQ(code_of(w.contents.begin_publish(alice, begin(name))), Code::kInvalid) << name;
  }
}

TEST_P(Contents, ARequestIdIsForOneMethodAndOneUser) {
  auto request = begin("data");
  const auto ticket = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(w.contents.finish_publish(alice, w.finish_of(ticket->content)).ok());
  EXPECT_EQ(code_of(w.contents.set_access(alice, request.request_id, ticket->content,
                                          {AccessLevel::kPrivate, {}, {}, false})),
            Code::kConflict);
  const auto bobs = w.contents.begin_publish(bob, request);
  ASSERT_TRUE(bobs.ok());
  EXPECT_NE(bobs->content, ticket->content);
  request.request_id = "";
  EXPECT_EQ(code_of(w.contents.begin_publish(bob, request)), Code::kInvalid);
}

TEST_P(Contents, ARequestIdIsForOneObject) {
  const Content one = w.publish(alice, "one"), two = w.publish(alice, "two");
  const std::string id = w.request_id();
  const Access closed{AccessLevel::kPrivate, {}, {}, false};
  ASSERT_TRUE(w.contents.set_access(alice, id, one.id, closed).ok());
  EXPECT_TRUE(w.contents.set_access(alice, id, one.id, closed).ok()) << "again";
  const auto other = w.contents.set_access(alice, id, two.id, closed);
  EXPECT_EQ(code_of(other), Code::kConflict) << "not answered as done";
  EXPECT_THAT(message_of(other), HasSubstr(one.id.str()));
  const std::string last = w.request_id();
  ASSERT_TRUE(w.contents.unpublish(alice, last, one.id).ok());
  EXPECT_TRUE(w.contents.unpublish(alice, last, one.id).ok());
  EXPECT_EQ(code_of(w.contents.unpublish(alice, last, two.id)), Code::kConflict);
}

TEST_P(Contents, AnAccessThatWasChangedMeanwhileIsAConflict) {
  const Content content = w.publish(alice, "data");
  const Access open = content.access, closed{AccessLevel::kPrivate, {}, {}, false};
  const Access bobs{AccessLevel::kShared, {}, {"bob"}, false};
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), content.id, bobs, open).ok());
  const auto late = w.contents.set_access(alice, w.request_id(), content.id, closed, open);
  EXPECT_EQ(code_of(late), Code::kConflict);
  EXPECT_THAT(message_of(late), HasSubstr("changed meanwhile, to user:bob"));
  const std::string id = w.request_id();
  for (int i = 0; i < 2; ++i) {  // the second time as one whose answer was lost
    EXPECT_EQ(w.contents.set_access(alice, id, content.id, closed, bobs)->content.access, closed);
  }
}

TEST_P(Contents, ATakenNameIsAConflict) {
  const auto content = w.publish(alice, "data");
  const auto again = w.contents.begin_publish(alice, begin("data"));
  EXPECT_EQ(code_of(again), Code::kConflict);
  EXPECT_THAT(message_of(again), HasSubstr("alice/data"));
  EXPECT_TRUE(w.contents.begin_publish(bob, begin("data")).ok()) << "names are per owner";
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), content.id).ok());
  EXPECT_TRUE(w.contents.begin_publish(alice, begin("data")).ok()) << "a withdrawn name is free";
}

TEST_P(Contents, ADraftIsTakenUpAgainOnTheSameNode) {
  const Actor node = w.node(alice, "n1");
  const auto first = w.contents.begin_publish(node, begin("data"));
  auto changed = begin("data", AccessLevel::kPrivate);
  changed.description = "second thoughts";
  const auto second = w.contents.begin_publish(node, changed);
  ASSERT_TRUE(first.ok() && second.ok()) << message_of(second);
  EXPECT_EQ(first->content, second->content);
  EXPECT_EQ(w.contents.get(alice, first->content.str())->content.description, "second thoughts");
}

TEST_P(Contents, ADraftOfAnotherNodeIsGivenUpOnlyWhenItShowsNoLife) {
  const Actor one = w.node(alice, "n1");
  const Actor two = w.node(alice, "n2");
  const auto first_request = begin("data");
  const auto first = w.contents.begin_publish(one, first_request);
  const auto busy = w.contents.begin_publish(two, begin("data"));
  EXPECT_EQ(code_of(busy), Code::kConflict);
  EXPECT_THAT(message_of(busy), HasSubstr(one.node.str()));
  w.clock.advance(ContentService::kDraftLifetime);
  const auto second = w.contents.begin_publish(two, begin("data"));
  ASSERT_TRUE(second.ok()) << message_of(second);
  EXPECT_NE(second->content, first->content);
  EXPECT_EQ(code_of(w.contents.finish_publish(one, w.finish_of(first->content))), Code::kNotFound);
}

TEST_P(Contents, SweepGivesUpForgottenDrafts) {
  const auto request = begin("data");
  const auto draft = w.contents.begin_publish(alice, request);
  w.clock.advance(ContentService::kDraftLifetime);
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_TRUE(w.contents.get(alice, "data").ok()) << "not yet";
  w.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_EQ(code_of(w.contents.get(alice, "data")), Code::kNotFound);
  const auto anew = w.contents.begin_publish(alice, request);
  ASSERT_TRUE(anew.ok()) << "the same request begins anew";
  EXPECT_NE(anew->content, draft->content);
}

TEST_P(Contents, ADraftIsGivenUpByTheNodeThatBeganItOrByItsOwner) {
  const Actor one = w.node(alice, "n1");
  const Actor two = w.node(alice, "n2");
  const auto request = begin("data");
  const auto draft = w.contents.begin_publish(one, request);
  ASSERT_TRUE(draft.ok());
  EXPECT_TRUE(w.contents.give_up_publish(bob, w.request_id(), request.request_id).ok()) << "his own requests only";
  EXPECT_EQ(code_of(w.contents.give_up_publish(two, w.request_id(), request.request_id)), Code::kConflict);
  EXPECT_EQ(code_of(w.contents.give_up_publish(one, "", request.request_id)), Code::kInvalid);
  ASSERT_TRUE(w.contents.get(alice, "data").ok()) << "still there";

  const std::string id = w.request_id();
  EXPECT_TRUE(w.contents.give_up_publish(one, id, request.request_id).ok());
  EXPECT_TRUE(w.contents.give_up_publish(one, id, request.request_id).ok()) << "again";
  EXPECT_EQ(code_of(w.contents.finish_publish(one, w.finish_of(draft->content))), Code::kNotFound);
  const auto anew = begin("data");
  ASSERT_TRUE(w.contents.begin_publish(two, anew).ok()) << "the name is free at once, on every node";
  EXPECT_TRUE(w.contents.give_up_publish(alice, w.request_id(), anew.request_id).ok());
  EXPECT_EQ(code_of(w.contents.get(alice, "data")), Code::kNotFound);
}

TEST_P(Contents, GivingUpWhatWasNeverBegunChangesNothing) {
  const auto content = w.publish(alice, "data");
  EXPECT_TRUE(w.contents.give_up_publish(alice, w.request_id(), w.request_id()).ok());
  EXPECT_EQ(w.contents.get(alice, "data")->content.state, ContentState::kPublished);
}

TEST_P(Contents, APublishThatWasFinishedBeforeItIsGivenUpIsWithdrawn) {
  const Actor node = w.node(alice, "n1");
  const auto request = begin("data");
  const auto ticket = w.contents.begin_publish(node, request);
  ASSERT_TRUE(w.contents.finish_publish(node, w.finish_of(ticket->content)).ok());
  const std::string id = w.request_id();
  EXPECT_TRUE(w.contents.give_up_publish(node, id, request.request_id).ok());
  EXPECT_TRUE(w.contents.give_up_publish(node, w.request_id(), request.request_id).ok());
  EXPECT_EQ(w.contents.get(alice, ticket->content.str())->content.state, ContentState::kWithdrawn);
  EXPECT_THAT(w.found(alice), IsEmpty());
}

TEST_P(Contents, RequestIdsAreForgottenAfterAWeek) {
  const auto content = w.publish(alice, "data");
  const std::string id = w.request_id();
  const Access closed{AccessLevel::kPrivate, {}, {}, false};
  ASSERT_TRUE(w.contents.set_access(alice, id, content.id, closed).ok());
  ASSERT_TRUE(w.contents.set_access(alice, w.request_id(), content.id, {AccessLevel::kPublic, {}, {}, false}).ok());
  const auto repeated = w.contents.set_access(alice, id, content.id, closed);
  ASSERT_TRUE(repeated.ok());
  EXPECT_EQ(repeated->content.access.level, AccessLevel::kPublic) << "done once";
  w.clock.advance(kRequestLifetime + std::chrono::seconds(1));
  ASSERT_TRUE(w.contents.sweep().ok());
  EXPECT_EQ(w.contents.set_access(alice, id, content.id, closed)->content.access.level, AccessLevel::kPrivate);
}

TEST_P(Contents, AFinishMayBeRepeatedButNotWithOtherData) {
  const auto ticket = w.contents.begin_publish(alice, begin("data"));
  ASSERT_TRUE(w.contents.finish_publish(alice, w.finish_of(ticket->content)).ok());
  EXPECT_TRUE(w.contents.finish_publish(alice, w.finish_of(ticket->content)).ok());
  const auto other = w.contents.finish_publish(alice, w.finish_of(ticket->content, 1000, 'b'));
  EXPECT_FALSE(w.files.files.contains(std::string(64, 'b'))) << "refused, and kept on the disk for ever";
  EXPECT_EQ(code_of(other), Code::kConflict);
  EXPECT_EQ(code_of(w.contents.finish_publish(bob, w.finish_of(ticket->content))), Code::kDenied);
  ASSERT_TRUE(w.contents.unpublish(alice, w.request_id(), ticket->content).ok());
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, w.finish_of(ticket->content))), Code::kConflict);
}

TEST_P(Contents, AFinishThatMakesNoSenseIsRefused) {
  const auto ticket = w.contents.begin_publish(alice, begin("data"));
  auto finish = w.finish_of(ticket->content);
  finish.version = 2;
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish)), Code::kInvalid);
  finish = w.finish_of(ticket->content, UINT64_MAX);
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish)), Code::kInvalid);
  finish = w.finish_of(ContentId::make(w.clock.wall(), w.rng));
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, finish)), Code::kNotFound);
  EXPECT_EQ(code_of(w.contents.finish_publish(bob, w.finish_of(ticket->content))), Code::kNotFound);
  w.files.full = true;
  EXPECT_EQ(code_of(w.contents.finish_publish(alice, w.finish_of(ticket->content))), Code::kDisk);
  EXPECT_EQ(w.contents.get(alice, "data")->content.state, ContentState::kDraft) << "no row without its document";
  w.files.full = false;
  EXPECT_TRUE(w.contents.finish_publish(alice, w.finish_of(ticket->content)).ok());
}

TEST_P(Contents, BadInputIsRefusedAtBegin) {
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, begin("a/b"))), Code::kInvalid);
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, begin("data", AccessLevel::kShared))), Code::kInvalid);
  auto shared = begin("data", AccessLevel::kShared);
  shared.access.users = {"nobody"};
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, shared)), Code::kNotFound);
  EXPECT_THAT(message_of(w.contents.begin_publish(alice, shared)), testing::HasSubstr("no user \"nobody\""));
  auto request = begin("data");
  request.tags = {"a,b"};
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, request)), Code::kInvalid);
  request = begin("data");
  request.description = std::string(5000, 'x');
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, request)), Code::kInvalid);
  request = begin("data");
  request.license = "a\nb";
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, request)), Code::kInvalid);
}

TEST_P(Contents, AccessDecidesTheEdition) {
  const auto open = w.publish(alice, "open");
  EXPECT_EQ(open.generation, 0u);
  EXPECT_EQ(w.contents.get(alice, open.id.str())->data_ca_pem, "");
  const auto ticket = w.contents.begin_publish(alice, begin("closed", AccessLevel::kPrivate));
  ASSERT_TRUE(ticket.ok()) << message_of(ticket);
  EXPECT_EQ(ticket->generation, 1u);
  EXPECT_EQ(ticket->data_ca_pem, "CA 1");

  const auto set = [&](AccessLevel level) {
    return w.contents.set_access(alice, w.request_id(), open.id, {level, {}, {}, false});
  };
  w.editions.generation = 2;
  auto changed = set(AccessLevel::kPrivate);
  ASSERT_TRUE(changed.ok()) << message_of(changed);
  EXPECT_EQ(changed->content.generation, 2u);
  EXPECT_EQ(changed->data_ca_pem, "CA 2");
  w.editions.generation = 3;
  EXPECT_EQ(set(AccessLevel::kPrivate)->content.generation, 2u) << "a living one stays";
  EXPECT_EQ(set(AccessLevel::kPublic)->content.generation, 0u);
}

TEST_P(Contents, WithoutADataCaOnlyPublicContentIsTaken) {
  w.editions.trouble = Error{Code::kUnsupported, "no sealing key"};
  EXPECT_EQ(code_of(w.contents.begin_publish(alice, begin("closed", AccessLevel::kPrivate))), Code::kUnsupported);
  const auto open = w.publish(alice, "open");
  EXPECT_EQ(code_of(w.contents.set_access(alice, w.request_id(), open.id, {AccessLevel::kPrivate, {}, {}, false})),
            Code::kUnsupported);
  EXPECT_EQ(w.contents.get(alice, open.id.str())->content.access.level, AccessLevel::kPublic) << "nothing changed";
}

TEST_P(Contents, PrivateOnesLookMissingToOthers) {
  const auto hidden = w.publish(alice, "secret", AccessLevel::kPrivate);
  const std::string id = hidden.id.str();
  EXPECT_THAT(w.found(bob), IsEmpty());
  EXPECT_THAT(w.found(alice), ElementsAre("secret"));
  for (const std::string& reference : {std::string("secret"), std::string("alice/secret"), id}) {
    const auto refused = w.contents.get(bob, reference);
    EXPECT_EQ(refused.error(), missing_content(reference));
    EXPECT_TRUE(w.contents.get(alice, reference).ok()) << reference;
  }
  const Error missing = missing_content(id);
  EXPECT_EQ(w.contents.open_metadata(bob, hidden.id, 1).error(), missing);
  EXPECT_EQ(w.contents.replicas(bob, hidden.id).error(), missing);
  EXPECT_EQ(w.contents.unpublish(bob, w.request_id(), hidden.id).error(), missing);
  EXPECT_EQ(w.contents.explain(bob, hidden.id, "bob").error(), missing);
  EXPECT_EQ(w.contents.explain(bob, hidden.id, "alice").error(), missing);
  EXPECT_EQ(w.contents.set_access(bob, w.request_id(), hidden.id, {AccessLevel::kPublic, {}, {}, false}).error(),
            missing);
  EXPECT_EQ(w.contents.get(bob, "nobody/secret").error(), missing_content("nobody/secret"));
}

TEST_P(Contents, AnAmbiguousNameIsAConflictThatListsTheChoices) {
  w.publish(alice, "data");
  EXPECT_TRUE(w.contents.get(w.user("carol"), "data").ok());
  const auto bobs = w.publish(bob, "data");
  const auto ambiguous = w.contents.get(alice, "data");
  EXPECT_EQ(code_of(ambiguous), Code::kConflict);
  EXPECT_THAT(message_of(ambiguous), HasSubstr("alice/data, bob/data"));
  EXPECT_EQ(w.contents.get(alice, "bob/data")->content.id, bobs.id);
  ASSERT_TRUE(w.contents.unpublish(bob, w.request_id(), bobs.id).ok());
  EXPECT_EQ(w.contents.get(bob, "data")->content.owner_name, "alice")
      << "what is published comes before what is withdrawn";
}

TEST_P(Contents, SearchPagesNewestFirstWithoutGaps) {
  for (int i = 0; i < 7; ++i) {
    if (i % 3 == 0) w.clock.advance(std::chrono::seconds(1));
    w.publish(alice, "d" + std::to_string(i));
  }
  std::vector<std::string> all;
  SearchQuery query;
  query.limit = 3;
  int pages = 0;
  do {
    const auto result = w.contents.search(bob, query);
    ASSERT_TRUE(result.ok()) << message_of(result);
    EXPECT_LE(result->contents.size(), 3u);
    for (const auto& view : result->contents) all.push_back(view.content.name);
    query.page = result->next_page;
    w.publish(alice, "later" + std::to_string(++pages));  // what comes meanwhile does not disturb
  } while (!query.page.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(all, SizeIs(7));
  EXPECT_THAT(std::vector<std::string>(all.end() - 3, all.end()), testing::UnorderedElementsAre("d0", "d1", "d2"));
}

TEST_P(Contents, SearchObeysItsFilters) {
  w.publish(alice, "Climate ERA5", AccessLevel::kPublic, 5000, {"climate"});
  w.clock.advance(std::chrono::hours(1));
  w.publish(bob, "genome", AccessLevel::kPublic, 10, {"bio", "climate"});
  SearchQuery query;
  query.text = "era";
  EXPECT_THAT(w.found(bob, query), ElementsAre("Climate ERA5"));
  query = {};
  query.owner = "bob";
  EXPECT_THAT(w.found(alice, query), ElementsAre("genome"));
  query = {};
  query.tag = "climate";
  EXPECT_THAT(w.found(alice, query), ElementsAre("genome", "Climate ERA5"));
  query = {};
  query.min_bytes = 11;
  EXPECT_THAT(w.found(alice, query), ElementsAre("Climate ERA5"));
  query = {};
  query.since = w.clock.wall();
  EXPECT_THAT(w.found(alice, query), ElementsAre("genome"));
  query = {};
  query.access = "private";
  EXPECT_THAT(w.found(alice, query), IsEmpty());
}

TEST_P(Contents, BadSearchesAreRefused) {
  SearchQuery query;
  query.limit = 201;
  EXPECT_EQ(code_of(w.contents.search(alice, query)), Code::kInvalid);
  query = {};
  query.access = "secret";
  EXPECT_EQ(code_of(w.contents.search(alice, query)), Code::kInvalid);
  query = {};
  query.page = "x";
  EXPECT_EQ(code_of(w.contents.search(alice, query)), Code::kInvalid);
  query = {};
  query.tag = "a,b";
  EXPECT_EQ(code_of(w.contents.search(alice, query)), Code::kInvalid);
  query = {};
  query.text = std::string(5000, 'x');
  EXPECT_EQ(code_of(w.contents.search(alice, query)), Code::kInvalid);
}

TEST_P(Contents, AChangeOfAccessTellsEveryNodeInTheSwarmToLookAgain) {
  const auto content = w.publish(alice, "data");
  const Actor holder = w.node(bob, "holder");
  ASSERT_TRUE(w.nodes.announce(holder, w.announce_of(content, tracker::SwarmRole::kSeeding, 1000)).ok());
  int woken = 0;
  const auto stream = w.hub.open(holder.node, [&] { ++woken; });
  (void)stream->take();
  const auto closed = w.contents.set_access(alice, w.request_id(), content.id, {AccessLevel::kPrivate, {}, {}, false});
  ASSERT_TRUE(closed.ok()) << message_of(closed);
  EXPECT_EQ(woken, 1);
  const auto batch = stream->take();
  ASSERT_THAT(batch.hints, SizeIs(1));
  EXPECT_EQ(std::get<tracker::ContentChanged>(batch.hints[0]).content, content.id);
  EXPECT_THAT(*w.tasks.pending(holder.node, 0), IsEmpty()) << "its files and its transfer stay: it may come back";
  EXPECT_EQ(code_of(w.nodes.announce(holder, w.announce_of(content, tracker::SwarmRole::kSeeding, 1000))),
            Code::kNotFound);
  EXPECT_EQ(w.swarms.member_count(), 0u) << "nor is it handed out any more";
}

TEST_P(Contents, WhatIsHiddenAnswersInTheSameWordsAfterTheSameQueriesAsWhatIsMissing) {
  const Actor node = w.node(bob, "n1");
  ASSERT_TRUE(w.groups.create(alice, {w.request_id(), "lab", "", true}).ok());
  const auto hide = [&](const std::string& name, const Access& access) {
    const Content made = w.publish(alice, name, AccessLevel::kPrivate);
    if (access.level == AccessLevel::kShared) {
      EXPECT_TRUE(w.contents.set_access(alice, w.request_id(), made.id, access).ok());
    }
    return made.id;
  };
  const std::map<std::string, ContentId> hidden = {
      {"private", hide("private", {})},
      {"lists", hide("lists", {AccessLevel::kShared, {{GroupId(), "lab"}}, {"alice"}, true})},
      {"draft", w.contents.begin_publish(alice, begin("draft"))->content}};
  struct Answer {
    Error error;
    std::vector<std::string> statements;
  };
  const auto ask = [&](const auto& question, const std::string& id) {
    w.store.take_statements();
    Answer answer{question(), {}};
    answer.statements = w.store.take_statements();
    for (std::size_t at; (at = answer.error.message.find(id)) != std::string::npos;)
      answer.error.message.replace(at, id.size(), "IT");
    return answer;
  };
  const auto error_of = [](const auto& result) { return result.ok() ? Error{} : result.error(); };
  const Access open{AccessLevel::kPublic, {}, {}, false};
  using Question = std::function<Error(const ContentId&)>;
  const std::map<std::string, Question> by_id = {
      {"get", [&](const ContentId& id) { return error_of(w.contents.get(bob, id.str())); }},
      {"metadata", [&](const ContentId& id) { return error_of(w.contents.open_metadata(bob, id, 0)); }},
      {"replicas", [&](const ContentId& id) { return error_of(w.contents.replicas(bob, id)); }},
      {"set access",
       [&](const ContentId& id) { return error_of(w.contents.set_access(bob, w.request_id(), id, open)); }},
      {"unpublish", [&](const ContentId& id) { return error_of(w.contents.unpublish(bob, w.request_id(), id)); }},
      {"explain", [&](const ContentId& id) { return error_of(w.contents.explain(bob, id, "alice")); }},
      {"finish", [&](const ContentId& id) { return error_of(w.contents.finish_publish(bob, w.finish_of(id))); }},
      {"announce", [&](const ContentId& id) {
         Content content;
         content.id = id;
         return error_of(w.nodes.announce(node, w.announce_of(content, tracker::SwarmRole::kFetching, 0)));
       }}};
  const ContentId missing = ContentId::make(w.clock.wall(), w.rng);
  for (const auto& [what, question] : by_id) {
    const Answer expected = ask([&] { return question(missing); }, missing.str());
    EXPECT_EQ(expected.error.code, Code::kNotFound) << what;
    EXPECT_EQ(expected.statements.empty(), std::string(GetParam()) == "memory") << what;
    for (const auto& [name, id] : hidden) {
      const Answer got = ask([&] { return question(id); }, id.str());
      EXPECT_EQ(got.error, expected.error) << what << " " << name;
      EXPECT_EQ(got.statements, expected.statements) << what << " " << name;
    }
  }
  for (const std::string prefix : {"", "alice/"}) {
    const auto get = [&](const std::string& name) { return error_of(w.contents.get(bob, prefix + name)); };
    const Answer expected = ask([&] { return get("absent"); }, "absent");
    for (const auto& [name, id] : hidden) {
      const Answer got = ask([&] { return get(name); }, name);
      EXPECT_EQ(got.error, expected.error) << prefix << name;
      EXPECT_EQ(got.statements, expected.statements) << prefix << name;
    }
  }
}

TEST_P(Contents, OnlyItsOwnerChangesAContent) {
  const auto content = w.publish(alice, "data");
  EXPECT_EQ(code_of(w.contents.set_access(bob, w.request_id(), content.id, {AccessLevel::kPrivate, {}, {}, false})),
            Code::kDenied);
  EXPECT_EQ(code_of(w.contents.unpublish(bob, w.request_id(), content.id)), Code::kDenied);
  EXPECT_EQ(code_of(w.contents.set_access(alice, w.request_id(), content.id,
                                          {AccessLevel::kShared, {{GroupId(), "g"}}, {}, false})),
            Code::kNotFound);
  const Actor admin = w.user("root", true);
  const auto hidden = w.publish(alice, "secret", AccessLevel::kPrivate);
  EXPECT_EQ(code_of(w.contents.get(admin, hidden.id.str())), Code::kNotFound)
      << "an administrator is nobody special here";
}

TEST_P(Contents, WithdrawingMayBeRepeated) {
  const auto content = w.publish(alice, "data");
  const std::string id = w.request_id();
  ASSERT_TRUE(w.contents.unpublish(alice, id, content.id).ok());
  EXPECT_EQ(w.contents.unpublish(alice, id, content.id)->content.state, ContentState::kWithdrawn);
  EXPECT_EQ(w.contents.unpublish(alice, w.request_id(), content.id)->content.state, ContentState::kWithdrawn);
  EXPECT_THAT(w.found(alice), IsEmpty());
  EXPECT_EQ(w.contents.get(bob, content.id.str())->content.state, ContentState::kWithdrawn);
}

TEST_P(Contents, ExplainSaysWhy) {
  const auto content = w.publish(alice, "data");
  const auto hidden = w.publish(alice, "secret", AccessLevel::kPrivate);
  const auto bobs = w.contents.explain(alice, content.id, "bob");
  EXPECT_TRUE(bobs->allowed);
  EXPECT_THAT(bobs->reason, HasSubstr("public"));
  EXPECT_TRUE(w.contents.explain(bob, content.id, bob.user.str())->allowed);
  EXPECT_TRUE(w.contents.explain(bob, content.id, "")->allowed);
  EXPECT_EQ(code_of(w.contents.explain(bob, content.id, "alice")), Code::kDenied);
  const auto no = w.contents.explain(alice, hidden.id, bob.user.str());
  EXPECT_FALSE(no->allowed);
  EXPECT_THAT(no->reason, HasSubstr("private"));
  EXPECT_EQ(code_of(w.contents.explain(alice, hidden.id, "nobody")), Code::kNotFound);
}

TEST_P(Contents, ChecksumsAreAddedOnceAndNeverChange) {
  const auto content = w.publish(alice, "data");
  const std::string digests(64, 'd');
  AddChecksums request{content.id, 1, std::string(64, 'c'), digests};
  EXPECT_EQ(code_of(w.contents.add_checksums(bob, request)), Code::kDenied);
  EXPECT_EQ(code_of(w.contents.check_checksums(bob, content.id, 1)), Code::kDenied);
  EXPECT_EQ(w.contents.check_checksums(alice, content.id, 1)->entries, 2u);
  request.digests = std::string_view(digests).substr(32);
  EXPECT_EQ(code_of(w.contents.add_checksums(alice, request)), Code::kInvalid);
  request.digests = digests;
  ASSERT_TRUE(w.contents.add_checksums(alice, request).ok());
  ASSERT_TRUE(w.contents.add_checksums(alice, request).ok()) << "repeated";
  request.sha256_hex = std::string(64, 'e');
  EXPECT_EQ(code_of(w.contents.add_checksums(alice, request)), Code::kConflict);
  const auto opened = w.contents.open_metadata(bob, content.id, 1);
  EXPECT_EQ(opened->checksums_sha256, std::string(64, 'c'));
  EXPECT_EQ(opened->checksums_bytes, 64u);
}

TEST_P(Contents, EntriesAreLearntOnceWhereARowDoesNotSay) {
  const auto ticket = w.contents.begin_publish(alice, begin("old"));
  auto finish = w.finish_of(ticket->content);
  finish.entries = 0;  // as a row of an older server
  ASSERT_TRUE(w.contents.finish_publish(alice, finish).ok());
  const auto old = w.contents.check_checksums(alice, ticket->content, 1);
  ASSERT_TRUE(old.ok()) << message_of(old);
  EXPECT_EQ(old->entries, 0u);
  ASSERT_TRUE(w.contents.learn_entries(*old, 2).ok());
  ASSERT_TRUE(w.contents.learn_entries(*old, 3).ok());
  EXPECT_EQ(w.contents.check_checksums(alice, ticket->content, 1)->entries, 2u);
  const std::string digests(64, 'd');
  EXPECT_TRUE(w.contents.add_checksums(alice, {ticket->content, 1, std::string(64, 'c'), digests}).ok());
}

TEST_P(Contents, ADraftTakesNoChecksums) {
  const auto ticket = w.contents.begin_publish(alice, begin("data"));
  EXPECT_EQ(code_of(w.contents.check_checksums(alice, ticket->content, 1)), Code::kConflict);
}

TEST_P(Contents, ReplicasAreShownWithWhoIsOnline) {
  const auto content = w.publish(alice, "data");
  const Actor one = w.node(alice, "one");
  const Actor two = w.node(bob, "two");
  ASSERT_TRUE(w.nodes.announce(one, w.announce_of(content, tracker::SwarmRole::kSeeding, 1000)).ok());
  w.clock.advance(std::chrono::minutes(5));
  ASSERT_TRUE(w.nodes.announce(two, w.announce_of(content, tracker::SwarmRole::kFetching, 100)).ok());
  const auto page = w.contents.replicas(bob, content.id);
  ASSERT_TRUE(page.ok());
  const auto& replicas = page->items;
  ASSERT_THAT(replicas, SizeIs(2));
  EXPECT_TRUE(replicas[0].replica.complete);
  EXPECT_EQ(replicas[0].replica.node_name, "one");
  EXPECT_FALSE(replicas[0].online);
  EXPECT_EQ(replicas[1].replica.owner_name, "bob");
  EXPECT_EQ(replicas[1].replica.verified_bytes, 100u);
  EXPECT_TRUE(replicas[1].online);
  const auto view = w.contents.get(bob, "data");
  EXPECT_EQ(view->seeders, 0u);
  EXPECT_EQ(view->leechers, 1u);
}

TEST_P(Contents, EveryChangeIsAudited) {
  const auto content = w.publish(alice, "data");
  ASSERT_TRUE(w.contents.unpublish(alice, "the-request", content.id).ok());
  std::vector<AuditRecord> records;
  ASSERT_TRUE(w.store.ccm()
                  .read([&](Tx& tx) -> Status {
                    GT_ASSIGN(records, testing_support::newest_audit(tx.audit, 10));
                    return {};
                  })
                  .ok());
  ASSERT_THAT(records, SizeIs(3));
  EXPECT_EQ(records[0].action, "content.unpublish");
  EXPECT_EQ(records[0].object, content.id.str());
  EXPECT_EQ(records[0].actor, alice.user);
  EXPECT_EQ(records[0].request_id, "the-request");
  EXPECT_EQ(records[1].action, "content.publish");
  EXPECT_EQ(records[2].action, "content.begin");
}

}  // namespace
}  // namespace gridtorrent::ccm
