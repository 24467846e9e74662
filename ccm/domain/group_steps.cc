#include <algorithm>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/group_service.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"

// The steps of a membership. The other use cases of groups are in group_service.cc.

namespace gridtorrent::ccm {

namespace {

constexpr std::size_t kMaxMessageBytes = 512;

/// Whom a step is told to, beyond those whose inbox shows what it left open.
struct Telling {
  enum class To : std::uint8_t { kNobody, kPerson, kAsker, kManagers } to = To::kNobody;
  NoticeKind kind = NoticeKind::kRequestAccepted;
};

Telling telling_of(Standing before, Standing after, MembershipStep step) {
  using To = Telling::To;
  if (before == after) return {};
  if (before == Standing::kRequested && after == Standing::kMember) return {To::kPerson, NoticeKind::kRequestAccepted};
  if (before == Standing::kInvited && after == Standing::kMember) return {To::kAsker, NoticeKind::kInvitationAccepted};
  switch (step) {
    case MembershipStep::kDeclineInvitation:
      return {To::kAsker, NoticeKind::kInvitationDeclined};
    case MembershipStep::kDeclineRequest:
      return {To::kPerson, NoticeKind::kRequestDeclined};
    case MembershipStep::kRemove:
      return {To::kPerson, NoticeKind::kRemoved};
    case MembershipStep::kLeave:
      if (is_active(before)) return {To::kManagers, NoticeKind::kLeft};
      if (before == Standing::kInvited) return {To::kAsker, NoticeKind::kInvitationDeclined};
      return {};
    case MembershipStep::kPromote:
      return {To::kPerson, NoticeKind::kMadeManager};
    case MembershipStep::kDemote:
      return {To::kPerson, NoticeKind::kManagerNoMore};
    default:
      return {};
  }
}

}  // namespace

Status GroupService::check_room(Tx& tx, const Actor& actor, const Changed& changed) const {
  const Membership& after = changed.after;
  if (is_pending(after.standing) && !is_pending(changed.before.standing)) {
    GT_ASSIGN(const std::uint64_t open, tx.groups.count_open(actor.user, d_.clock.wall()));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    GT_ASSIGN(const std::uint64_t offers, tx.offers.count_open(actor.user, d_.clock.wall()));
    if (open + offers >= quotas.open_requests_and_invitations) {
      return Error{Code::kExhausted,
                   "user " + actor.name + " has " + std::to_string(open + offers) +
                       " requests, invitations and offers open, as many as the quota allows; withdraw some, "
                       "or wait for answers"};
    }
  }
  if (changed.before.standing == Standing::kNone) {
    GT_ASSIGN(const std::uint64_t size, tx.groups.count_memberships(after.group));
    if (size >= d_.quotas.group_members) {
      return Error{Code::kExhausted, "the group has " + std::to_string(size) +
                                         " members, requests and invitations, as many as one may have"};
    }
  }
  if (after.standing == Standing::kManager && changed.before.standing != Standing::kManager) {
    GT_ASSIGN(const std::uint64_t managed, tx.groups.count_managed(after.user));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, after.user));
    if (managed >= quotas.groups) {
      return Error{Code::kExhausted, "user " + after.user_name + " manages " + std::to_string(managed) +
                                         " groups, as many as the quota allows"};
    }
  }
  return {};
}

Result<std::vector<UserId>> GroupService::tell(Tx& tx, const Actor& actor, const Group& group, const Membership& before,
                                               const Membership& after, MembershipStep step) const {
  // Inboxes that show what is open: those of the person and of the managers.
  GT_ASSIGN(const std::vector<UserId> managers, tx.groups.managers_of(group.id));
  const Telling telling = telling_of(before.standing, after.standing, step);
  std::vector<UserId> told;
  if (telling.to == Telling::To::kPerson) told = {after.user};
  // Who asked for the group and speaks for it no more has nothing to know of it.
  const bool asker_stays = std::find(managers.begin(), managers.end(), before.asked_by) != managers.end();
  if (telling.to == Telling::To::kAsker && asker_stays) told = {before.asked_by};
  if (telling.to == Telling::To::kManagers) told = managers;
  const std::string by = telling.to == Telling::To::kPerson ? actor.name : after.user_name;
  for (const UserId& person : told) {
    if (person == actor.user || person.is_nil()) continue;
    GT_TRY(tx.notices.append({person, after.since, telling.kind, by, group.name, ""}));
  }
  std::vector<UserId> people = managers;
  people.push_back(after.user);
  return people;
}

Result<GroupService::Changed> GroupService::change_in(Tx& tx, const Actor& actor, const MembershipChange& change,
                                                      const Opened& opened) const {
  const Group& group = opened.group;
  const auto in_group = [&](const Error& error, const std::string& who) {
    return Error{error.code, "group " + group.name + ": " + who + error.message};
  };
  User person{actor.user, actor.name, actor.admin, false, {}, ""};
  if (!change.user.empty()) {
    GT_ASSIGN(person, resolve_user(tx, change.user));
  } else if (!is_own_step(change.step)) {
    return Error{Code::kInvalid, "group " + group.name + ": say who it is about: name a user"};
  }
  GT_ASSIGN(const bool rescues, needs_rescue(tx, actor, group.id));
  const Status allowed = check_step_allowed(change.step, {person.id == actor.user, opened.own, rescues});
  if (!allowed) return in_group(allowed.error(), "");

  const WallTime now = d_.clock.wall();
  Changed changed;
  GT_ASSIGN(const auto kept, tx.groups.membership(group.id, person.id));
  if (kept) changed.before = *kept;
  changed.before.standing = kept ? standing_at(*kept, now) : Standing::kNone;
  if (change.step == MembershipStep::kInvite && person.disabled) {
    return Error{Code::kConflict, "group " + group.name + ": user " + person.name + " has a disabled account"};
  }
  const Result<Standing> next = next_standing(changed.before.standing, change.step);
  if (!next) return in_group(next.error(), is_own_step(change.step) ? "" : person.name + " ");
  GT_ASSIGN(const std::uint64_t managers, tx.groups.count_managers(group.id));
  const Status stays = check_manager_stays(changed.before.standing, *next, managers, person.disabled);
  if (!stays) return in_group(stays.error(), "");

  changed.after = changed.before;
  changed.after.group = group.id;
  changed.after.user = person.id;
  changed.after.user_name = person.name;
  changed.after.standing = *next;
  changed.after.since = now;
  if (is_pending(*next)) {
    if (*next != changed.before.standing) changed.after.asked_by = actor.user;
    changed.after.expires = now + kPendingLifetime;
    const bool is_asked_again = *next == changed.before.standing;
    if (!is_asked_again || !change.message.empty()) {
      GT_ASSIGN(changed.after.message, normalize_text("message", change.message, kMaxMessageBytes, true));
    }
  } else {
    changed.after.expires = {};
    changed.after.message.clear();
  }
  if (*next == changed.before.standing && !is_pending(*next)) return changed;  // nothing is left to do
  if (*next != changed.before.standing) GT_TRY(check_room(tx, actor, changed));
  GT_TRY(tx.groups.put(changed.after));
  if (change.step == MembershipStep::kRemove) GT_TRY(tx.groups.note_removal(group.id, person.id, now));
  GT_ASSIGN(changed.people, tell(tx, actor, group, changed.before, changed.after, change.step));
  return changed;
}

Result<std::optional<GroupService::Changed>> GroupService::admit(Tx& tx, const Actor& manager, const Actor& person,
                                                                 const GroupId& group, WallTime invited) const {
  GT_ASSIGN(const auto kept, tx.groups.membership(group, person.user));
  if (kept && is_active(kept->standing)) return std::optional<Changed>();
  GT_ASSIGN(const Opened managers, open(tx, manager, group.str()));
  GT_ASSIGN(const auto removed, tx.groups.removed_at(group, person.user));
  if (removed && *removed >= invited) {
    return Error{Code::kDenied, "user " + person.name + " was removed from group " + managers.group.name +
                                    " after this invitation was made; ask a manager of the group for another"};
  }
  GT_ASSIGN(const Changed asked,
            change_in(tx, manager, {"", "", person.user.str(), MembershipStep::kInvite, ""}, managers));
  const auto record = [&](const Actor& actor, MembershipStep step) {
    return tx.audit.append(audit_record(actor, d_.clock.wall(), "group." + std::string(step_name(step)),
                                        managers.group.name + " " + person.name, ""));
  };
  GT_TRY(record(manager, MembershipStep::kInvite));
  if (is_active(asked.after.standing)) return std::optional(asked);  // they had asked to be let in
  GT_TRY(record(person, MembershipStep::kAcceptInvitation));
  GT_ASSIGN(const Opened own, open(tx, person, group.str()));
  GT_ASSIGN(Changed accepted, change_in(tx, person, {"", "", "", MembershipStep::kAcceptInvitation, ""}, own));
  accepted.before = asked.before;
  return std::optional(std::move(accepted));
}

Result<GroupView> GroupService::change(const Actor& actor, const MembershipChange& change) {
  const std::string method = "group." + std::string(step_name(change.step));
  GroupView shown;
  Changed changed;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, change.request_id, method));
    const Result<Opened> opened = open(tx, actor, change.group, change.step == MembershipStep::kPromote);
    // Who left a hidden group, and asks again whether they did.
    if (!opened && answered) return {};
    if (!opened) return opened.error();
    const std::string object = opened->group.id.str() + " " + change.user;
    GT_ASSIGN(const bool done, was_done(tx, actor.user, change.request_id, method, object));
    if (!done) {
      GT_ASSIGN(changed, change_in(tx, actor, change, *opened));
      GT_TRY(keep_answer(tx, actor.user, change.request_id, method, object, d_.clock.wall()));
      GT_TRY(tx.audit.append(audit_record(
          actor, d_.clock.wall(), method,
          opened->group.name + " " + (change.user.empty() ? actor.name : changed.after.user_name), change.request_id)));
    }
    GT_ASSIGN(shown, brief(tx, actor, opened->group, changed.after.user.is_nil() ? actor.user : changed.after.user));
    return {};
  }));
  after(shown.group.id, changed);
  return shown;
}

void GroupService::after(const GroupId& group, const Changed& changed) {
  if (is_active(changed.before.standing) != is_active(changed.after.standing)) {
    d_.waker.membership_changed(group, changed.after.user);
  }
  if (!changed.people.empty()) d_.inboxes.ring(changed.people);
}

}  // namespace gridtorrent::ccm
