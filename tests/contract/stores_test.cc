#include <algorithm>

#include "common/hex.h"
#include "tests/contract/stores_fixture.h"
#include "tests/support/audit_records.h"

namespace gridtorrent::contract {
namespace {

using ccm::Access;
using ccm::AccessLevel;
using ccm::Content;
using ccm::ContentState;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using testing_support::code_of;

INSTANTIATE_TEST_SUITE_P(Every, Stores, testing::Values("memory", "sqlite"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(Stores, AnErrorPutsEverythingBack) {
  const auto alice = user("alice");
  const Status failed = write([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.users.set_disabled(alice.id, true));
    GT_TRY(tx.audit.append({now_, alice.id, "alice", "t", "::1", "x", "y", "ok", "r"}));
    return Error{Code::kDenied, "no"};
  });
  EXPECT_EQ(failed.error().code, Code::kDenied);
  look([&](tracker::Tx& tx) {
    EXPECT_FALSE(value_of(tx.users.by_id(alice.id))->disabled);
    EXPECT_THAT(value_of(testing_support::newest_audit(tx.audit, 10)), IsEmpty());
  });
}

TEST_P(Stores, UsersAreKeptByIdAndUniqueName) {
  const auto bob = user("bob");
  const auto alice = user("alice");
  ccm::User twin = alice;
  twin.id = UserId::make(now_, rng_);
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.users.insert(twin); })), Code::kConflict);
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.users.set_disabled(alice.id, true));
    return tx.users.set_password_hash(alice.id, "new");
  });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.users.by_id(bob.id)), bob);
    EXPECT_EQ(value_of(tx.users.by_name("bob")), bob);
    EXPECT_EQ(value_of(tx.users.by_name("nobody")), std::nullopt);
    EXPECT_EQ(value_of(tx.users.by_id(UserId::make(now_, rng_))), std::nullopt);
    const auto changed = value_of(tx.users.by_name("alice"));
    EXPECT_TRUE(changed->disabled);
    EXPECT_EQ(changed->password_hash, "new");
    const auto all = value_of(tx.users.list("", 10));
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(all.front().name, "alice");
  });
}

TEST_P(Stores, ServiceAccountsAndQuotasAreKept) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  ccm::User robot = alice;
  robot.id = UserId::make(now_, rng_);
  robot.name = "robot";
  robot.service = true;
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.users.insert(robot));
    GT_TRY(tx.users.change_quota(alice.id, {ccm::Quota::kBuddies, 0}));
    GT_TRY(tx.users.change_quota(alice.id, {ccm::Quota::kContents, 7}));
    GT_TRY(tx.users.change_quota(alice.id, {ccm::Quota::kContents, std::uint64_t{1} << 40}));
    return tx.users.change_quota(alice.id, {ccm::Quota::kNodes, std::nullopt});
  });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.users.by_name("robot")), robot);
    EXPECT_THAT(value_of(tx.users.quota_limits(alice.id)),
                ElementsAre(ccm::QuotaLimit{ccm::Quota::kContents, std::uint64_t{1} << 40},
                            ccm::QuotaLimit{ccm::Quota::kBuddies, 0}));
    EXPECT_THAT(value_of(tx.users.quota_limits(bob.id)), IsEmpty());
    EXPECT_EQ(value_of(tx.node_effects.count_nodes(alice.id)), 0u);
  });
  must([&](tracker::Tx& tx) { return tx.users.change_quota(alice.id, {ccm::Quota::kContents, std::nullopt}); });
  look([&](tracker::Tx& tx) { EXPECT_THAT(value_of(tx.users.quota_limits(alice.id)), SizeIs(1)); });
}

TEST_P(Stores, TokensEndByRevocationAndUse) {
  const auto alice = user("alice");
  ccm::Token token;
  token.id = "t1";
  token.secret_hash = std::string("\0\1\2", 3);
  token.kind = ccm::TokenKind::kEnroll;
  token.user = alice.id;
  token.scopes = ccm::node_scopes();
  token.label = "label";
  token.created = now_;
  token.expires = now_ + std::chrono::hours(1);
  token.uses_left = 1;
  token.only_name = "n";
  token.ephemeral = true;
  ccm::Token newer = token;
  newer.id = "t2";
  newer.kind = ccm::TokenKind::kNode;
  newer.node = NodeId::make(now_, rng_);
  newer.created = now_ + std::chrono::seconds(1);
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.tokens.insert(token));
    return tx.tokens.insert(newer);
  });
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.tokens.insert(token); })), Code::kConflict);
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.tokens.by_id("t1")), token);
    EXPECT_EQ(value_of(tx.tokens.by_id("t3")), std::nullopt);
    EXPECT_THAT(value_of(tx.tokens.of_user(alice.id, std::nullopt, 10)), ElementsAre(newer, token));
    EXPECT_EQ(value_of(tx.tokens.count_good(alice.id, ccm::TokenKind::kEnroll, now_)), 1u);
    EXPECT_EQ(value_of(tx.tokens.count_good(alice.id, ccm::TokenKind::kEnroll, token.expires)), 0u);
    EXPECT_EQ(value_of(tx.tokens.count_good(alice.id, ccm::TokenKind::kPersonal, now_)), 0u);
  });
  must([&](tracker::Tx& tx) -> Status {
    EXPECT_TRUE(value_of(tx.tokens.take_use("t1")));
    EXPECT_FALSE(value_of(tx.tokens.take_use("t1")));
    EXPECT_FALSE(value_of(tx.tokens.take_use("none")));
    EXPECT_EQ(value_of(tx.tokens.count_good(alice.id, ccm::TokenKind::kEnroll, now_)), 0u);
    GT_TRY(tx.tokens.revoke("t1", now_));
    GT_TRY(tx.tokens.revoke("t1", now_ + std::chrono::hours(1)));
    EXPECT_EQ(value_of(tx.tokens.by_id("t1"))->revoked, now_);
    GT_TRY(tx.tokens.revoke_all_of_node(newer.node, now_ + std::chrono::seconds(5)));
    EXPECT_EQ(value_of(tx.tokens.by_id("t2"))->revoked, now_ + std::chrono::seconds(5));
    EXPECT_EQ(value_of(tx.tokens.by_id("t1"))->revoked, now_);
    GT_TRY(tx.tokens.set_last_used("t2", now_));
    GT_TRY(tx.tokens.set_expires("t2", now_ + std::chrono::hours(9)));
    EXPECT_EQ(value_of(tx.tokens.by_id("t2"))->last_used, now_);
    EXPECT_EQ(value_of(tx.tokens.by_id("t2"))->expires, now_ + std::chrono::hours(9));
    GT_TRY(tx.tokens.prune(now_ + std::chrono::seconds(1)));
    EXPECT_EQ(value_of(tx.tokens.by_id("t1")), std::nullopt);
    EXPECT_NE(value_of(tx.tokens.by_id("t2")), std::nullopt);
    return tx.tokens.revoke_all_of_user(alice.id, now_);
  });
}

TEST_P(Stores, ContentsComeBackAsTheyWere) {
  const auto alice = user("alice");
  Content made = content(alice, "Grüße");
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.contents.by_id(made.id)), made);
    EXPECT_EQ(value_of(tx.contents.by_owner_and_name(alice.id, "Grüße")), made);
    EXPECT_EQ(value_of(tx.contents.by_owner_and_name(alice.id, "grüße")), std::nullopt);
    EXPECT_EQ(value_of(tx.contents.by_id(ContentId::make(now_, rng_))), std::nullopt);
  });
  const ccm::Group field = group("field"), lab = group("lab");
  made.access = {AccessLevel::kShared, {{field.id, "field"}, {lab.id, "lab"}}, {"bob"}, true};
  made.shared = now_ + std::chrono::hours(3);
  made.state = ContentState::kWithdrawn;
  made.version = 2;
  made.bytes = INT64_MAX;
  made.files = 9;
  made.description = "";
  made.license = "";
  made.tags = {};
  made.published = now_ + std::chrono::hours(1);
  made.touched = now_ + std::chrono::hours(2);
  made.metadata_sha256 = "";
  made.metadata_bytes = 0;
  made.piece_bytes = 1;
  made.generation = 3;
  made.checksums_sha256 = "";
  made.checksums_bytes = 0;
  made.publisher_node = NodeId::make(now_, rng_);
  made.revision = 7;
  must([&](tracker::Tx& tx) { return tx.contents.update(made); });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.contents.by_id(made.id)), made); });
}

TEST_P(Stores, VersionsComeBackAsTheyWere) {
  const auto alice = user("alice");
  const Content made = content(alice, "data");
  ccm::VersionRecord first;
  first.content = made.id;
  first.sealed = true;
  first.bytes = INT64_MAX;
  first.files = 2;
  first.entries = 3;
  first.base_name = "b\xff";
  first.piece_bytes = 4;
  first.metadata_sha256 = "aa";
  first.metadata_bytes = 5;
  first.checksums_sha256 = "bb";
  first.checksums_bytes = 6;
  first.publisher_node = NodeId::make(now_, rng_);
  first.published = now_;
  first.touched = now_ + std::chrono::hours(1);
  ccm::VersionRecord second = first, draft;
  second.number = 2;
  draft.content = made.id;
  draft.number = 3;
  draft.touched = now_;
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.versions.put(draft));
    GT_TRY(tx.versions.put(first));
    return tx.versions.put(second);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.versions.find(made.id, 1)), first);
    EXPECT_EQ(value_of(tx.versions.find(made.id, 4)), std::nullopt);
    EXPECT_EQ(value_of(tx.versions.draft_of(made.id)), draft);
    EXPECT_EQ(value_of(tx.versions.sealed_of(made.id, 9)), (std::vector{second, first}));
    EXPECT_EQ(value_of(tx.versions.sealed_of(made.id, 1)), (std::vector{second}));
    EXPECT_EQ(value_of(tx.versions.stale_drafts(now_, 9)), std::vector<ccm::VersionRecord>());
    EXPECT_EQ(value_of(tx.versions.stale_drafts(now_ + std::chrono::milliseconds(1), 9)), (std::vector{draft}));
    EXPECT_EQ(value_of(tx.versions.unheld(first.touched, 9)), std::vector<ccm::VersionRecord>());
    EXPECT_EQ(value_of(tx.contents.usage(alice.id)).contents, 4u);
    EXPECT_EQ(value_of(tx.contents.usage(alice.id)).metadata_bytes, made.metadata_bytes + 10);
  });
  must([&](tracker::Tx& tx) -> Status { return tx.versions.remove(made.id, 2); });
  look([&](tracker::Tx& tx) { EXPECT_EQ(value_of(tx.versions.find(made.id, 2)), std::nullopt); });
}

TEST_P(Stores, ANameIsUniquePerOwnerAmongDraftsAndPublishedOnes) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  Content first = content(alice, "data");
  content(bob, "data");
  Content second = first;
  second.id = ContentId::make(now_, rng_);
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.contents.insert(second); })), Code::kConflict);
  first.state = ContentState::kWithdrawn;
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.contents.update(first));
    return tx.contents.insert(second);
  });
  Content back = first;
  back.state = ContentState::kPublished;
  EXPECT_EQ(code_of(write([&](tracker::Tx& tx) { return tx.contents.update(back); })), Code::kConflict);
  look([&](tracker::Tx& tx) {
    const auto named = value_of(tx.contents.visible_by_name(alice.id, "alice", "alice", "data", 1));
    ASSERT_EQ(named.size(), 1u);
    EXPECT_EQ(named.front().id, second.id) << "what is published comes before what is withdrawn";
  });
  first.state = ContentState::kPurged;
  must([&](tracker::Tx& tx) { return tx.contents.update(first); });
  look([&](tracker::Tx& tx) {
    EXPECT_EQ(value_of(tx.contents.by_owner_and_name(alice.id, "data"))->id, second.id);
    EXPECT_EQ(value_of(tx.contents.usage(alice.id)).contents, 1u);
    EXPECT_EQ(value_of(tx.contents.usage(alice.id)).metadata_bytes, 77u);
    EXPECT_EQ(value_of(tx.contents.usage(UserId::make(now_, rng_))).contents, 0u);
  });
}

TEST_P(Stores, VisibleByNameFollowsThePolicy) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  const auto carol = user("carol");
  content(alice, "data");
  content(bob, "data", ContentState::kPublished, AccessLevel::kPrivate);
  content(carol, "data", ContentState::kDraft);
  const auto owners = [&](const ccm::User& viewer) {
    std::vector<std::string> names;
    look([&](tracker::Tx& tx) {
      for (const auto& c : value_of(tx.contents.visible_by_name(viewer.id, viewer.name, "", "data", 10))) {
        names.push_back(c.owner_name);
      }
    });
    return names;
  };
  EXPECT_THAT(owners(alice), ElementsAre("alice"));
  EXPECT_THAT(owners(bob), ElementsAre("alice", "bob"));
  EXPECT_THAT(owners(carol), ElementsAre("alice", "carol"));
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.contents.visible_by_name(bob.id, bob.name, "", "data", 1)), SizeIs(1));
    EXPECT_THAT(value_of(tx.contents.visible_by_name(bob.id, bob.name, "bob", "data", 10)), SizeIs(1));
    EXPECT_THAT(value_of(tx.contents.visible_by_name(alice.id, alice.name, "bob", "data", 10)), IsEmpty());
    const auto bobs = value_of(tx.contents.by_owner_and_name(bob.id, "data"));
    EXPECT_EQ(value_of(tx.contents.visible_by_id(bob.id, bob.name, bobs->id)), bobs);
    EXPECT_EQ(value_of(tx.contents.visible_by_id(alice.id, alice.name, bobs->id)), std::nullopt);
  });
  must([&](tracker::Tx& tx) { return tx.users.set_disabled(carol.id, true); });
  EXPECT_THAT(owners(carol), IsEmpty());
}

TEST_P(Stores, WithdrawnContentsAreFoundByNameWhereNoOtherIsAndTheNewestOfEachOwnerAlone) {
  const auto alice = user("alice"), bob = user("bob");
  const auto withdrawn = [&](const ccm::User& owner, AccessLevel level) {
    now_ = now_ + std::chrono::seconds(1);
    return content(owner, "data", ContentState::kWithdrawn, level);
  };
  const auto old = withdrawn(bob, AccessLevel::kPublic);
  const auto hidden = withdrawn(bob, AccessLevel::kPrivate), open = withdrawn(bob, AccessLevel::kPublic);
  const auto hers = withdrawn(alice, AccessLevel::kPrivate);
  const auto seen = [&](const ccm::User& viewer, const std::string& owner, std::size_t limit) {
    std::vector<Content> found;
    look([&](tracker::Tx& tx) {
      found = value_of(tx.contents.visible_by_name(viewer.id, viewer.name, owner, "data", limit));
    });
    return found;
  };
  EXPECT_THAT(seen(alice, "", 10), ElementsAre(hers, open, old));
  EXPECT_THAT(seen(alice, "bob", 10), ElementsAre(open, old));
  EXPECT_THAT(seen(alice, "bob", 2), ElementsAre(open)) << "the newest two, of which one is hidden";
  EXPECT_THAT(seen(bob, "bob", 2), ElementsAre(open, hidden));
  EXPECT_THAT(seen(bob, "alice", 10), IsEmpty());
  const auto published = content(bob, "data");
  EXPECT_THAT(seen(alice, "", 10), ElementsAre(published));
}

TEST_P(Stores, SearchFiltersOrdersAndPages) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  std::vector<Content> made;
  for (int i = 0; i < 6; ++i) {
    if (i % 2 == 0) now_ = now_ + std::chrono::seconds(1);  // pairs with the same time
    made.push_back(content(i < 3 ? alice : bob, "Run_" + std::to_string(i) + "%x"));
  }
  content(alice, "hidden", ContentState::kPublished, AccessLevel::kPrivate);
  content(alice, "gone", ContentState::kWithdrawn);
  ccm::SearchFilter filter = search_by(bob);
  const auto names = [&] {
    std::vector<std::string> found;
    look([&](tracker::Tx& tx) {
      for (const auto& c : value_of(tx.contents.search(filter))) found.push_back(c.name.substr(4, 1));
    });
    return found;
  };
  std::sort(made.begin(), made.end(), [](const Content& a, const Content& b) {
    return std::pair(a.published, a.id.str()) > std::pair(b.published, b.id.str());
  });
  std::vector<std::string> expected;
  for (const Content& c : made) expected.push_back(c.name.substr(4, 1));
  EXPECT_EQ(names(), expected);

  std::vector<std::string> paged;
  filter.limit = 2;
  for (int page = 0; page < 4; ++page) {
    look([&](tracker::Tx& tx) {
      const auto found = value_of(tx.contents.search(filter));
      for (const auto& c : found) paged.push_back(c.name.substr(4, 1));
      if (!found.empty()) filter.after = ccm::PageCursor{found.back().published, found.back().id};
    });
  }
  EXPECT_EQ(paged, expected);

  filter = search_by(bob);
  filter.folded_query = "run_1%";
  EXPECT_THAT(names(), ElementsAre("1"));
  filter = search_by(bob);
  filter.owner = "alice";
  EXPECT_THAT(names(), SizeIs(3));
  filter.tag = "a";
  EXPECT_THAT(names(), SizeIs(3));
  filter.tag = "b";
  EXPECT_THAT(names(), IsEmpty());
  filter = search_by(bob);
  filter.access = AccessLevel::kPrivate;
  EXPECT_THAT(names(), IsEmpty());
  filter.viewer = alice.id;
  filter.viewer_name = alice.name;
  EXPECT_THAT(names(), SizeIs(1));
  filter = search_by(bob);
  filter.min_bytes = 1001;
  EXPECT_THAT(names(), IsEmpty());
  filter.min_bytes = UINT64_MAX;
  EXPECT_THAT(names(), IsEmpty());
  filter.min_bytes = 1000;
  filter.since = now_;
  EXPECT_THAT(names(), SizeIs(2));
}

TEST_P(Stores, ATagIsFoundWhetherRareOrCommon) {
  const auto alice = user("alice");
  must([&](tracker::Tx& tx) -> Status {
    for (int i = 0; i < 1002; ++i) {
      Content made;
      made.id = ContentId::make(now_ + std::chrono::milliseconds(i), rng_);
      made.owner = alice.id;
      made.owner_name = alice.name;
      made.name = std::to_string(i);
      made.state = ContentState::kPublished;
      made.published = now_ + std::chrono::milliseconds(i);
      made.tags = {"common"};
      if (i < 2) made.tags.push_back("rare");
      GT_TRY(tx.contents.insert(made));
    }
    return {};
  });
  ccm::SearchFilter filter = search_by(alice);
  filter.limit = 2;
  const auto names = [&](const std::string& tag) {
    std::vector<std::string> found;
    filter.tag = tag;
    look([&](tracker::Tx& tx) {
      for (const auto& c : value_of(tx.contents.search(filter))) found.push_back(c.name);
    });
    return found;
  };
  EXPECT_THAT(names("common"), ElementsAre("1001", "1000"));
  EXPECT_THAT(names("rare"), ElementsAre("1", "0"));
}

TEST_P(Stores, StaleDraftsAreFoundOldestFirst) {
  const auto alice = user("alice");
  const auto first = content(alice, "a", ContentState::kDraft);
  now_ = now_ + std::chrono::hours(1);
  const auto second = content(alice, "b", ContentState::kDraft);
  content(alice, "c");
  look([&](tracker::Tx& tx) {
    const auto later = now_ + std::chrono::seconds(1);
    EXPECT_THAT(value_of(tx.contents.stale_drafts(later, 10)), ElementsAre(first, second));
    EXPECT_THAT(value_of(tx.contents.stale_drafts(later, 1)), ElementsAre(first));
    EXPECT_THAT(value_of(tx.contents.stale_drafts(now_, 10)), ElementsAre(first));
  });
}

TEST_P(Stores, ContentsAreFoundByTheGenerationOfTheirEdition) {
  const auto alice = user("alice");
  std::vector<Content> made;
  for (std::uint32_t i = 0; i < 4; ++i) made.push_back(content(alice, std::to_string(i)));
  must([&](tracker::Tx& tx) -> Status {
    const std::uint32_t generations[] = {0, 1, 2, 1};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i].generation = generations[i];
      if (i == 3) made[i].state = ContentState::kPurged;
      GT_TRY(tx.contents.update(made[i]));
    }
    return {};
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.contents.before_generation(1, 10)), IsEmpty());
    EXPECT_THAT(value_of(tx.contents.before_generation(2, 10)), ElementsAre(made[1]));
    EXPECT_THAT(value_of(tx.contents.before_generation(3, 10)), UnorderedElementsAre(made[1], made[2]));
    EXPECT_THAT(value_of(tx.contents.before_generation(3, 1)), SizeIs(1));
    const std::map<std::uint32_t, std::uint64_t> counted{{1, 1}, {2, 1}};
    EXPECT_EQ(value_of(tx.contents.count_by_generation()), counted);
  });
}

TEST_P(Stores, HoldersOfAContentAreNamedOnceEachAndSoAreTheirOwners) {
  const auto alice = user("alice"), bob = user("bob");
  const auto data = content(alice, "data"), other = content(alice, "other");
  const auto one = node(bob, "one"), two = node(bob, "two"), hers = node(alice, "hers");
  must([&](tracker::Tx& tx) -> Status {
    for (std::uint32_t version = 1; version <= 3; ++version) {
      GT_TRY(tx.replicas.put({data.id, version, one.id, "", "", 1, true, now_}));
      GT_TRY(tx.replicas.put({data.id, version, two.id, "", "", 0, false, now_}));
    }
    return tx.replicas.put({other.id, 1, hers.id, "", "", 1, true, now_});
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.replicas.holders(data.id)), UnorderedElementsAre(one.id, two.id));
    EXPECT_THAT(value_of(tx.replicas.people(data.id)), ElementsAre(bob.id));
    EXPECT_THAT(value_of(tx.replicas.people(other.id)), ElementsAre(alice.id));
    EXPECT_THAT(value_of(tx.replicas.holders(ContentId::make(now_, rng_))), IsEmpty());
    EXPECT_THAT(value_of(tx.replicas.people(ContentId::make(now_, rng_))), IsEmpty());
  });
}

TEST_P(Stores, ReplicasCarryTheirNodesNames) {
  const auto alice = user("alice");
  const auto data = content(alice, "data");
  const auto b = node(alice, "b");
  const auto a = node(alice, "a");
  const auto c = node(alice, "c");
  const ccm::Replica whole{data.id, 1, c.id, "c", "alice", 1000, true, now_};
  const ccm::Replica half{data.id, 1, b.id, "b", "alice", 500, false, now_};
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.replicas.put({data.id, 1, b.id, "", "", 1, false, now_}));
    GT_TRY(tx.replicas.put(half));
    GT_TRY(tx.replicas.put({data.id, 1, a.id, "", "", 1, false, now_}));
    GT_TRY(tx.replicas.put({data.id, 2, a.id, "", "", 1, false, now_}));
    GT_TRY(tx.replicas.put(whole));
    return tx.replicas.remove(data.id, 1, a.id);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(tx.replicas.of_content(data.id, 1)), ElementsAre(whole, half));
    EXPECT_EQ(value_of(tx.replicas.find(data.id, 1, b.id)), half);
    EXPECT_EQ(value_of(tx.replicas.find(data.id, 1, a.id)), std::nullopt);
  });
}

TEST_P(Stores, AuditRecordsComeNewestFirst) {
  const auto alice = user("alice");
  const ccm::AuditRecord one{now_, alice.id, "alice", "t", "192.0.2.1", "login", "alice", "ok", "r1"};
  ccm::AuditRecord two = one;
  two.actor = UserId();
  two.outcome = "wrong password";
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.audit.append(one));
    return tx.audit.append(two);
  });
  look([&](tracker::Tx& tx) {
    EXPECT_THAT(value_of(testing_support::newest_audit(tx.audit, 10)), ElementsAre(two, one));
    EXPECT_THAT(value_of(testing_support::newest_audit(tx.audit, 1)), ElementsAre(two));
  });
}

TEST_P(Stores, AuditRecordsAreListedWithShortFieldsAndKeptWhole) {
  const std::string long_id(300'000, 'x');
  must([&](tracker::Tx& tx) {
    return tx.audit.append({now_, UserId(), "alice", "t", "192.0.2.1", "task.cancel", "y", "ok", long_id});
  });
  look([&](tracker::Tx& tx) {
    const auto listed = value_of(testing_support::newest_audit(tx.audit, 1)).front();
    EXPECT_EQ(listed.request_id, std::string(ccm::kMaxListedAuditBytes - 3, 'x') + "…");
    EXPECT_EQ(listed.object, "y");
    EXPECT_EQ(value_of(tx.audit.verify()), value_of(tx.audit.head())) << "the record itself is not cut";
  });
}

TEST_P(Stores, AuditRecordsAreChained) {
  const ccm::AuditRecord record{now_, UserId(), "alice", "t", "192.0.2.1", "login", "alice", "ok", "r1"};
  ccm::AuditHead none, first, second;
  look([&](tracker::Tx& tx) { none = value_of(tx.audit.verify()); });
  EXPECT_EQ(none, (ccm::AuditHead{0, std::string(32, '\0')}));
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.audit.append(record));
    GT_ASSIGN(first, tx.audit.head());
    return tx.audit.append(record);
  });
  EXPECT_FALSE(write([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.audit.append(record));
    return Error{Code::kDenied, "rolled back"};
  }));
  look([&](tracker::Tx& tx) {
    second = value_of(tx.audit.head());
    EXPECT_EQ(value_of(tx.audit.verify()), second);
  });
  // The same in every store, today and later: SHA-256(32 zeros, "1:1" "13:1700000000000" "0:" "5:alice" …).
  EXPECT_EQ(hex_encode(as_bytes(first.hash)), "ad10fc4573676c6040bf3fc9ddc67169ed8c6ef5ea0cce76da57a139f16a0a7e");
  EXPECT_EQ(hex_encode(as_bytes(second.hash)), "b881c6d92a633849ebc54d797734c971f82a0cb95e2b75b152972983f1ff3a32");
  EXPECT_EQ(second.records, 2u);
}

TEST_P(Stores, RequestIdsAreTheCallersOwnAndAreForgotten) {
  const auto alice = user("alice");
  const auto bob = user("bob");
  const std::string answer("\0bytes", 6);
  must([&](tracker::Tx& tx) { return tx.requests.put(alice.id, "r", {"m", answer}, now_); });
  look([&](tracker::Tx& tx) {
    const auto entry = value_of(tx.requests.find(alice.id, "r"));
    ASSERT_TRUE(entry.has_value());
    EXPECT_EQ(entry->method, "m");
    EXPECT_EQ(entry->answer, answer);
    EXPECT_FALSE(value_of(tx.requests.find(bob.id, "r")).has_value());
  });
  must([&](tracker::Tx& tx) -> Status {
    GT_TRY(tx.requests.put(alice.id, "r", {"m", "again"}, now_));
    EXPECT_EQ(value_of(tx.requests.find(alice.id, "r"))->answer, "again");
    GT_TRY(tx.requests.prune(now_));
    EXPECT_TRUE(value_of(tx.requests.find(alice.id, "r")).has_value());
    return tx.requests.prune(now_ + std::chrono::seconds(1));
  });
  look([&](tracker::Tx& tx) { EXPECT_FALSE(value_of(tx.requests.find(alice.id, "r")).has_value()); });
}

}  // namespace
}  // namespace gridtorrent::contract
