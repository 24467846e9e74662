#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// A group of people that content can be shared with. It has members, some of whom are managers; managers are equal.
struct Group {
  GroupId id;
  std::string name;  ///< unique; free again once the group is deleted
  std::string description;
  bool hidden = false;  ///< to all but members and those invited it does not exist; others may ask to be let in
  WallTime created;
  friend bool operator==(const Group&, const Group&) = default;
};

/// Where a person stands with a group. Membership takes two consents (GridTorrent framework, section 3): requested is
/// the person's alone, invited the group's alone, a member has both. A manager is a member who speaks for the group.
enum class Standing : std::uint8_t { kNone, kRequested, kInvited, kMember, kManager };
std::string_view standing_name(Standing standing);
Result<Standing> parse_standing(std::string_view text);
constexpr bool is_active(Standing standing) {
  return standing == Standing::kMember || standing == Standing::kManager;
}
constexpr bool is_pending(Standing standing) {
  return standing == Standing::kRequested || standing == Standing::kInvited;
}

/// What a person does about their own membership, and what a manager does about another's.
enum class MembershipStep : std::uint8_t {
  kRequest,
  kAcceptInvitation,
  kDeclineInvitation,
  kWithdrawRequest,
  kLeave,
  kInvite,
  kAcceptRequest,
  kDeclineRequest,
  kWithdrawInvitation,
  kRemove,
  kPromote,
  kDemote,
};
inline constexpr std::size_t kMembershipSteps = 12;
std::string_view step_name(MembershipStep step);
Result<MembershipStep> parse_step(std::string_view text);
/// True for what one does for oneself; all else takes a manager.
constexpr bool is_own_step(MembershipStep step) {
  return step <= MembershipStep::kLeave;
}

/// The state machine of a membership: where the person stands after the step. The same standing again where nothing is
/// left to do. A request meets an invitation (or the other way round): both have consented, that is a member. Pure.
/// kConflict, with the reason, for what is not possible from there.
Result<Standing> next_standing(Standing now, MembershipStep step);

/// Who takes a step, as far as the group goes.
struct StepTaker {
  bool is_self = false;  ///< the membership is their own
  Standing standing = Standing::kNone;
  bool rescues = false;  ///< an administrator of the server, and no manager of the group is able to act
};
/// Whether they may. An administrator may only promote a member of a group that nobody manages any more. Pure. kDenied.
Status check_step_allowed(MembershipStep step, const StepTaker& by);

/// kConflict if the group would be left without a manager. `managers`: before the step, of those with an enabled
/// account; the person counts if they are one of them. Pure.
Status check_manager_stays(Standing before, Standing after, std::size_t managers, bool person_disabled);

/// A person's membership as it is kept; none is kept for kNone.
struct Membership {
  GroupId group;
  UserId user;
  Standing standing = Standing::kNone;
  UserId asked_by;          ///< who invited, or the person who requested; of a member, who brought it about
  WallTime since, expires;  ///< expires: of requests and invitations; 0 else
  std::string message;      ///< of who asked
  // Filled on reading:
  std::string group_name, user_name, asked_by_name;
  bool user_disabled = false;
  friend bool operator==(const Membership&, const Membership&) = default;
};
/// Requests and invitations end by themselves.
constexpr Standing standing_at(const Membership& membership, WallTime now) {
  return is_pending(membership.standing) && membership.expires <= now ? Standing::kNone : membership.standing;
}

}  // namespace gridtorrent::ccm
