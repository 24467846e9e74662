#include "ccm/domain/group.h"

#include <array>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::array<std::string_view, 5> kStandings = {"none", "requested", "invited", "member", "manager"};
constexpr std::array<std::string_view, kMembershipSteps> kSteps = {
    "request",        "accept-invitation", "decline-invitation",  "withdraw-request", "leave",   "invite",
    "accept-request", "decline-request",   "withdraw-invitation", "remove",           "promote", "demote"};

Error impossible(std::string_view why) {
  return {Code::kConflict, std::string(why)};
}

Result<Standing> after_own_step(Standing now, MembershipStep step) {
  switch (step) {
    case MembershipStep::kRequest:
      if (now == Standing::kInvited) return Standing::kMember;
      if (now == Standing::kNone) return Standing::kRequested;
      if (now == Standing::kRequested) return now;
      return impossible("you are a member already");
    case MembershipStep::kAcceptInvitation:
      if (now == Standing::kInvited) return Standing::kMember;
      if (is_active(now)) return now;
      if (now == Standing::kRequested) return impossible("a manager has to accept your request first");
      return impossible("there is no invitation for you (any more); ask to be let in with: group request");
    case MembershipStep::kDeclineInvitation:
      if (now == Standing::kInvited) return Standing::kNone;
      return impossible("there is no invitation for you to decline");
    case MembershipStep::kWithdrawRequest:
      if (now == Standing::kRequested) return Standing::kNone;
      return impossible("there is no request of yours to withdraw");
    case MembershipStep::kLeave:
      return Standing::kNone;
    default:
      return Error{Code::kInternal, "no step of one's own"};
  }
}

Result<Standing> after_managers_step(Standing now, MembershipStep step) {
  switch (step) {
    case MembershipStep::kInvite:
      if (now == Standing::kRequested) return Standing::kMember;
      if (now == Standing::kNone) return Standing::kInvited;
      if (now == Standing::kInvited) return now;
      return impossible("is a member already");
    case MembershipStep::kAcceptRequest:
      if (now == Standing::kRequested) return Standing::kMember;
      if (is_active(now)) return now;
      if (now == Standing::kInvited) return impossible("is invited, and has to accept that first");
      return impossible("has made no request (or has withdrawn it); invite them with: group invite");
    case MembershipStep::kDeclineRequest:
      if (now == Standing::kRequested) return Standing::kNone;
      return impossible("has made no request that could be declined");
    case MembershipStep::kWithdrawInvitation:
      if (now == Standing::kInvited) return Standing::kNone;
      return impossible("has no invitation that could be withdrawn");
    case MembershipStep::kRemove:
      if (is_active(now)) return Standing::kNone;
      return impossible("is no member");
    case MembershipStep::kPromote:
    case MembershipStep::kDemote:
      if (!is_active(now)) return impossible("is no member; only a member can be a manager");
      return step == MembershipStep::kPromote ? Standing::kManager : Standing::kMember;
    default:
      return Error{Code::kInternal, "no step of a manager"};
  }
}

}  // namespace

std::string_view standing_name(Standing standing) {
  return kStandings.at(static_cast<std::size_t>(standing));
}

Result<Standing> parse_standing(std::string_view text) {
  for (std::size_t i = 0; i < kStandings.size(); ++i) {
    if (kStandings[i] == text) return static_cast<Standing>(i);
  }
  return Error{Code::kInvalid, "no standing \"" + escape_for_display(text) + "\" in a group"};
}

std::string_view step_name(MembershipStep step) {
  return kSteps.at(static_cast<std::size_t>(step));
}

Result<MembershipStep> parse_step(std::string_view text) {
  for (std::size_t i = 0; i < kSteps.size(); ++i) {
    if (kSteps[i] == text) return static_cast<MembershipStep>(i);
  }
  return Error{Code::kInvalid, "no step \"" + escape_for_display(text.substr(0, 100)) + "\" of a membership"};
}

Result<Standing> next_standing(Standing now, MembershipStep step) {
  return is_own_step(step) ? after_own_step(now, step) : after_managers_step(now, step);
}

Status check_step_allowed(MembershipStep step, const StepTaker& by) {
  if (is_own_step(step)) {
    if (by.is_self) return {};
    return Error{Code::kDenied, "only the person may do that, nobody else for them"};
  }
  if (by.standing == Standing::kManager) return {};
  if (by.rescues && step == MembershipStep::kPromote) return {};
  return Error{Code::kDenied, "only its managers may do that"};
}

Status check_manager_stays(Standing before, Standing after, std::size_t managers, bool person_disabled) {
  if (before != Standing::kManager || after == Standing::kManager || person_disabled || managers > 1) return {};
  return impossible(
      "that would leave the group without a manager: make another member one first (group promote), or "
      "delete the group (group delete)");
}

}  // namespace gridtorrent::ccm
