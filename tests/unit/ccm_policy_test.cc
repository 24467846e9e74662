#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ccm/domain/policy.h"
#include "common/rng.h"

namespace gridtorrent::ccm {
namespace {

using testing::HasSubstr;

constexpr Action kAllActions[] = {Action::kSearch,  Action::kShow,         Action::kTransfer,  Action::kListReplicas,
                                  Action::kFinish,  Action::kAddChecksums, Action::kSetAccess, Action::kUnpublish,
                                  Action::kRestore, Action::kDescribe,     Action::kExplain,   Action::kUpdate};

class Policy : public testing::Test {
 protected:
  Content content(AccessLevel level, ContentState state = ContentState::kPublished) {
    Content c;
    c.id = ContentId::make({1}, rng_);
    c.owner = owner_.user;
    c.owner_name = owner_.name;
    c.name = "data";
    c.access.level = level;
    c.generation = level == AccessLevel::kPublic ? 0 : 1;
    c.state = state;
    return c;
  }
  Denial denial(const Subject& subject, Action action, const Content& c, const Grants& grants = {}) {
    const AccessDecision decision = decide(subject, action, c, grants);
    EXPECT_EQ(decision.allowed, decision.denial == Denial::kNone);
    EXPECT_FALSE(decision.reason.empty());
    return decision.denial;
  }

  SeededRng rng_{3};
  Subject owner_{UserId::make({1}, rng_), "alice", false};
  Subject other_{UserId::make({1}, rng_), "bob", false};
};

TEST_F(Policy, PurgedContentIsHiddenFromEveryone) {
  for (const Action action : kAllActions) {
    EXPECT_EQ(denial(owner_, action, content(AccessLevel::kPublic, ContentState::kPurged)), Denial::kHidden);
  }
}

TEST_F(Policy, PrivateContentIsHiddenFromOthersWhateverTheyDo) {
  for (const Action action : kAllActions) {
    EXPECT_EQ(denial(other_, action, content(AccessLevel::kPrivate)), Denial::kHidden) << action_name(action);
  }
}

TEST_F(Policy, ADisabledAccountSeesNothingNotEvenItsOwn) {
  owner_.disabled = true;
  for (const Action action : kAllActions) {
    EXPECT_EQ(denial(owner_, action, content(AccessLevel::kPublic)), Denial::kHidden);
  }
}

TEST_F(Policy, DraftsAreTheirOwnersAlone) {
  const Content draft = content(AccessLevel::kPublic, ContentState::kDraft);
  for (const Action action : kAllActions) EXPECT_EQ(denial(other_, action, draft), Denial::kHidden);
  EXPECT_EQ(denial(owner_, Action::kShow, draft), Denial::kNone);
  EXPECT_EQ(denial(owner_, Action::kFinish, draft), Denial::kNone);
  EXPECT_EQ(denial(owner_, Action::kSearch, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kTransfer, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kSetAccess, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kUnpublish, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kDescribe, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kRestore, draft), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kAddChecksums, draft), Denial::kState);
}

TEST_F(Policy, PublicContentIsForEveryLoggedInUserToHaveAndForItsOwnerToChange) {
  const Content c = content(AccessLevel::kPublic);
  for (const Action action : {Action::kSearch, Action::kShow, Action::kTransfer, Action::kListReplicas}) {
    EXPECT_EQ(denial(other_, action, c), Denial::kNone) << action_name(action);
    EXPECT_EQ(denial(owner_, action, c), Denial::kNone) << action_name(action);
  }
  for (const Action action : {Action::kFinish, Action::kAddChecksums, Action::kSetAccess, Action::kUnpublish,
                              Action::kRestore, Action::kDescribe, Action::kExplain}) {
    EXPECT_EQ(denial(other_, action, c), Denial::kForbidden) << action_name(action);
    EXPECT_EQ(denial(owner_, action, c), Denial::kNone) << action_name(action);
  }
}

TEST_F(Policy, RestrictedContentIsTransferredByThoseWhoMaySeeIt) {
  for (const AccessLevel level : {AccessLevel::kPrivate, AccessLevel::kShared}) {
    EXPECT_EQ(denial(owner_, Action::kTransfer, content(level)), Denial::kNone);
    EXPECT_EQ(denial(other_, Action::kTransfer, content(level)), Denial::kHidden);
  }
  Content shared = content(AccessLevel::kShared);
  shared.access.users = {"bob"};
  EXPECT_EQ(denial(other_, Action::kTransfer, shared), Denial::kNone);
  shared.generation = 0;
  EXPECT_EQ(denial(other_, Action::kTransfer, shared), Denial::kState) << "never over plain lanes";
  shared.generation = 1;
  const Subject disabled{other_.user, "bob", true};
  EXPECT_EQ(denial(disabled, Action::kTransfer, shared), Denial::kHidden);
}

TEST_F(Policy, SharedContentIsForListedUsers) {
  Content c = content(AccessLevel::kShared);
  EXPECT_EQ(denial(other_, Action::kShow, c), Denial::kHidden);
  c.access.users = {"carol", "bob"};
  EXPECT_EQ(denial(other_, Action::kShow, c), Denial::kNone);
  EXPECT_EQ(denial(other_, Action::kSetAccess, c), Denial::kForbidden);
}

TEST_F(Policy, WithdrawnContentIsNeitherListedNorTransferred) {
  const Content c = content(AccessLevel::kPublic, ContentState::kWithdrawn);
  for (const Subject& subject : {owner_, other_}) {
    EXPECT_EQ(denial(subject, Action::kSearch, c), Denial::kState);
    EXPECT_EQ(denial(subject, Action::kTransfer, c), Denial::kState);
    EXPECT_EQ(denial(subject, Action::kShow, c), Denial::kNone);
  }
  EXPECT_EQ(denial(owner_, Action::kUnpublish, c), Denial::kNone) << "again is no error";
  EXPECT_EQ(denial(owner_, Action::kSetAccess, c), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kDescribe, c), Denial::kState);
  EXPECT_EQ(denial(owner_, Action::kRestore, c), Denial::kNone);
  EXPECT_EQ(denial(other_, Action::kRestore, c), Denial::kForbidden);
}

TEST_F(Policy, UnknownValuesAreDenied) {
  Content c = content(static_cast<AccessLevel>(9));
  EXPECT_EQ(denial(other_, Action::kShow, c), Denial::kHidden);
  EXPECT_FALSE(decide(owner_, static_cast<Action>(99), c, {}).allowed);
}

TEST_F(Policy, AHiddenContentAndAMissingOneGiveTheSameError) {
  const Content c = content(AccessLevel::kPrivate);
  const Error missing = missing_content("data");
  EXPECT_EQ(denial_error(decide(other_, Action::kShow, c, {}), c, missing), missing);
  EXPECT_EQ(missing.code, Code::kNotFound);
}

TEST_F(Policy, EveryOtherDenialSaysWhy) {
  const Error missing = missing_content("data");
  Content c = content(AccessLevel::kPublic);
  EXPECT_EQ(denial_error(decide(other_, Action::kUnpublish, c, {}), c, missing).code, Code::kDenied);
  c.state = ContentState::kWithdrawn;
  const Error withdrawn = denial_error(decide(owner_, Action::kTransfer, c, {}), c, missing);
  EXPECT_EQ(withdrawn.code, Code::kConflict);
  EXPECT_THAT(withdrawn.message, HasSubstr("alice/data"));
  EXPECT_EQ(denial_error({}, c, missing), missing);
  EXPECT_EQ(denial_error({true, Denial::kNone, ""}, c, missing).code, Code::kInternal);
}

TEST_F(Policy, ContentSharedWithGroupsIsForTheirMembers) {
  const GroupTarget lab{GroupId::make({1}, rng_), "lab"}, field{GroupId::make({1}, rng_), "field"};
  Content c = content(AccessLevel::kShared);
  c.access.groups = {lab};
  for (const Action action : kAllActions) EXPECT_EQ(denial(other_, action, c), Denial::kHidden) << action_name(action);
  const Grants of_lab{{lab.id}, false}, of_field{{field.id}, false};
  EXPECT_EQ(denial(other_, Action::kShow, c, of_field), Denial::kHidden) << "a member of another group";
  for (const Action action : {Action::kSearch, Action::kShow, Action::kTransfer, Action::kListReplicas}) {
    EXPECT_EQ(denial(other_, action, c, of_lab), Denial::kNone) << action_name(action);
  }
  EXPECT_EQ(denial(other_, Action::kSetAccess, c, of_lab), Denial::kForbidden);
  EXPECT_THAT(decide(other_, Action::kTransfer, c, of_lab).reason, HasSubstr("group lab"));
  const Subject disabled{other_.user, "bob", true};
  EXPECT_EQ(denial(disabled, Action::kTransfer, c, of_lab), Denial::kHidden);
  c.access.level = AccessLevel::kPrivate;
  EXPECT_EQ(denial(other_, Action::kShow, c, of_lab), Denial::kHidden) << "the level counts, whatever the targets say";
  c.access.level = AccessLevel::kShared;
  c.access.groups = {{GroupId(), "lab"}};
  EXPECT_EQ(denial(other_, Action::kShow, c, {{GroupId()}, false}), Denial::kHidden) << "a target not looked up";
}

TEST_F(Policy, ContentSharedWithBuddiesIsForThoseOnTheOwnersListWhereItSaysSo) {
  Content c = content(AccessLevel::kShared);
  c.access.buddies = true;
  EXPECT_EQ(denial(other_, Action::kTransfer, c), Denial::kHidden);
  EXPECT_EQ(denial(other_, Action::kTransfer, c, {{}, true}), Denial::kNone);
  c.access.buddies = false;
  c.access.users = {"carol"};
  EXPECT_EQ(denial(other_, Action::kTransfer, c, {{}, true}), Denial::kHidden);
}

TEST_F(Policy, AnAccessSaysWhoIfAndOnlyIfItIsShared) {
  const std::vector<GroupTarget> groups = {{GroupId(), "g"}};
  EXPECT_TRUE(check_access_form({AccessLevel::kPublic, {}, {}, false}));
  EXPECT_TRUE(check_access_form({AccessLevel::kPrivate, {}, {}, false}));
  EXPECT_TRUE(check_access_form({AccessLevel::kShared, {}, {"bob"}, false}));
  EXPECT_TRUE(check_access_form({AccessLevel::kShared, groups, {}, false}));
  EXPECT_TRUE(check_access_form({AccessLevel::kShared, {}, {}, true}));
  EXPECT_EQ(check_access_form({AccessLevel::kShared, {}, {}, false}).error().code, Code::kInvalid);
  const std::vector<std::string> many(kMaxAccessTargets + 1, "bob");
  EXPECT_EQ(check_access_form({AccessLevel::kShared, {}, many, false}).error().code, Code::kInvalid);
  EXPECT_EQ(check_access_form({AccessLevel::kPublic, groups, {}, false}).error().code, Code::kInvalid);
  EXPECT_EQ(check_access_form({AccessLevel::kPrivate, {}, {}, true}).error().code, Code::kInvalid);
}

TEST_F(Policy, OthersSeeOfAnAccessOnlyWhatConcernsThemselves) {
  const GroupTarget lab{GroupId::make({1}, rng_), "lab"}, field{GroupId::make({1}, rng_), "field"};
  Content c = content(AccessLevel::kShared);
  c.access = {AccessLevel::kShared, {field, lab}, {"bob", "carol"}, true};
  EXPECT_EQ(access_as_seen(owner_, c, {}), c.access);
  EXPECT_EQ(access_as_seen(other_, c, {{lab.id}, true}), (Access{AccessLevel::kShared, {lab}, {"bob"}, false}));
  EXPECT_EQ(access_as_seen({UserId(), "dave"}, c, {{}, true}), (Access{AccessLevel::kShared, {}, {}, false}));
}

}  // namespace
}  // namespace gridtorrent::ccm
