#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "ccm/domain/group.h"
#include "ccm/domain/notice.h"

namespace gridtorrent::ccm {
namespace {

using testing::HasSubstr;
using enum Standing;
using Step = MembershipStep;

constexpr Standing kAllStandings[] = {kNone, kRequested, kInvited, kMember, kManager};

/// What each step makes of each standing; nothing: refused.
using Row = std::array<std::optional<Standing>, 5>;
const std::map<Step, Row> kTable = {
    //                             none         requested    invited      member       manager
    {Step::kRequest, {kRequested, kRequested, kMember, {}, {}}},
    {Step::kAcceptInvitation, {{{}, {}, kMember, kMember, kManager}}},
    {Step::kDeclineInvitation, {{{}, {}, kNone, {}, {}}}},
    {Step::kWithdrawRequest, {{{}, kNone, {}, {}, {}}}},
    {Step::kLeave, {kNone, kNone, kNone, kNone, kNone}},
    {Step::kInvite, {kInvited, kMember, kInvited, {}, {}}},
    {Step::kAcceptRequest, {{{}, kMember, {}, kMember, kManager}}},
    {Step::kDeclineRequest, {{{}, kNone, {}, {}, {}}}},
    {Step::kWithdrawInvitation, {{{}, {}, kNone, {}, {}}}},
    {Step::kRemove, {{{}, {}, {}, kNone, kNone}}},
    {Step::kPromote, {{{}, {}, {}, kManager, kManager}}},
    {Step::kDemote, {{{}, {}, {}, kMember, kMember}}},
};

TEST(Membership, EveryStepFromEveryStandingDoesWhatTheTableSays) {
  ASSERT_EQ(kTable.size(), kMembershipSteps);
  for (const auto& [step, row] : kTable) {
    for (const Standing now : kAllStandings) {
      const auto& expected = row.at(static_cast<std::size_t>(now));
      const auto next = next_standing(now, step);
      SCOPED_TRACE(std::string(step_name(step)) + " from " + std::string(standing_name(now)));
      ASSERT_EQ(next.ok(), expected.has_value());
      if (expected) {
        EXPECT_EQ(*next, *expected);
      } else {
        EXPECT_EQ(next.error().code, Code::kConflict);
        EXPECT_FALSE(next.error().message.empty());
      }
    }
  }
}

TEST(Membership, NobodyBecomesAMemberByOneSideAlone) {
  // Whatever one side does on its own, from the start and from what it brought about itself, is no membership.
  for (const bool own : {true, false}) {
    std::vector<Standing> reached = {kNone};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const auto& [step, row] : kTable) {
        if (is_own_step(step) != own) continue;
        const auto next = next_standing(reached[i], step);
        if (!next) continue;
        EXPECT_FALSE(is_active(*next)) << step_name(step);
        if (std::find(reached.begin(), reached.end(), *next) == reached.end()) reached.push_back(*next);
      }
    }
  }
}

TEST(Membership, EitherSideEndsItAlone) {
  for (const Standing active : {kMember, kManager}) {
    EXPECT_EQ(*next_standing(active, Step::kLeave), kNone);
    EXPECT_EQ(*next_standing(active, Step::kRemove), kNone);
  }
}

TEST(Membership, OnesOwnStepsAreOnesOwnAndAllOthersTakeAManager) {
  for (const auto& [step, row] : kTable) {
    for (const Standing standing : kAllStandings) {
      const bool manager = standing == kManager;
      SCOPED_TRACE(std::string(step_name(step)) + " by a " + std::string(standing_name(standing)));
      EXPECT_EQ(check_step_allowed(step, {true, standing, false}).ok(), is_own_step(step) || manager);
      EXPECT_EQ(check_step_allowed(step, {false, standing, false}).ok(), !is_own_step(step) && manager);
    }
  }
  EXPECT_EQ(check_step_allowed(Step::kInvite, {false, kMember, false}).error().code, Code::kDenied);
}

TEST(Membership, AnAdministratorMayOnlyPromoteWhereNoManagerIsLeft) {
  for (const auto& [step, row] : kTable) {
    EXPECT_EQ(check_step_allowed(step, {false, kNone, true}).ok(), step == Step::kPromote) << step_name(step);
  }
}

TEST(Membership, TheLastManagerStays) {
  const Status refused = check_manager_stays(kManager, kNone, 1, false);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().message, HasSubstr("group promote"));
  EXPECT_FALSE(check_manager_stays(kManager, kMember, 1, false).ok());
  EXPECT_TRUE(check_manager_stays(kManager, kNone, 2, false).ok());
  EXPECT_TRUE(check_manager_stays(kManager, kManager, 1, false).ok());
  EXPECT_TRUE(check_manager_stays(kMember, kNone, 1, false).ok());
  EXPECT_TRUE(check_manager_stays(kManager, kNone, 1, true).ok()) << "a disabled one, beside one that is able to act";
}

TEST(Membership, RequestsAndInvitationsEndByThemselvesAndNothingElseDoes) {
  Membership membership;
  membership.expires = {1000};
  for (const Standing standing : kAllStandings) {
    membership.standing = standing;
    EXPECT_EQ(standing_at(membership, {999}), standing);
    EXPECT_EQ(standing_at(membership, {1000}), is_pending(standing) ? kNone : standing);
  }
}

TEST(Membership, NamesReadBackAndOthersAreRefused) {
  for (const Standing standing : kAllStandings) EXPECT_EQ(*parse_standing(standing_name(standing)), standing);
  for (const auto& [step, row] : kTable) EXPECT_EQ(*parse_step(step_name(step)), step);
  for (int i = 0; i <= static_cast<int>(NoticeKind::kOfferDeclined); ++i) {
    const auto kind = static_cast<NoticeKind>(i);
    EXPECT_EQ(*parse_notice_kind(notice_kind_name(kind)), kind);
  }
  EXPECT_EQ(parse_standing("owner").error().code, Code::kInvalid);
  EXPECT_EQ(parse_step("seize").error().code, Code::kInvalid);
  EXPECT_EQ(parse_notice_kind("\x1b[31m").error().code, Code::kInvalid);
}

}  // namespace
}  // namespace gridtorrent::ccm
