#include "ccm/domain/invite_service.h"

#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/check.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

Error invite_refused() {
  return {Code::kUnauthenticated,
          "the invitation is not valid, used up or out of date; ask who invited you for another one. Who has an "
          "account needs none: 'gridtorrent invite --no-code', where somebody is logged in, prints a link for another "
          "machine"};
}

}  // namespace

Status check_may_invite(const Inviter& by, bool has_group, bool makes_account) {
  if (has_group && !by.manages_group) {
    return Error{Code::kDenied, "only a manager of the group invites to it; ask one, or leave out --group"};
  }
  if (!makes_account || by.admin || (has_group && by.managers_make_accounts)) return {};
  return Error{Code::kDenied, has_group ? "an invitation that may make an account is made by an administrator; name a "
                                          "user who has one, or ask an administrator"
                                        : "an invitation to this server is made by an administrator; ask one"};
}

Result<bool> InviteService::manages(Tx& tx, const UserId& user, const GroupId& group) const {
  GT_ASSIGN(const auto membership, tx.groups.membership(group, user));
  return membership && membership->standing == Standing::kManager;
}

Result<Token> InviteService::add(const Actor& actor, const NewInvite& invite) {
  constexpr std::string_view kMethod = "invite.create";
  const WallTime now = d_.clock.wall();
  GT_CHECK(invite.token.kind == TokenKind::kInvite);
  if (invite.token.expires - now < std::chrono::minutes(1) || invite.token.expires - now > kLongestLife) {
    return Error{Code::kInvalid, "an invitation is good for a minute to 30 days (--ttl)"};
  }
  if (invite.token.uses_left == 0 || invite.token.uses_left > kMostUses) {
    return Error{Code::kInvalid, "an invitation is good for 1 to " + std::to_string(kMostUses) + " people (--uses)"};
  }
  if (!invite.user.empty()) {
    GT_TRY(check_name("user name", invite.user));
    if (invite.token.uses_left != 1) {
      return Error{Code::kInvalid, "an invitation for " + invite.user + " is good for one person; leave out --uses"};
    }
  }
  Token kept = invite.token;
  kept.user = actor.user;
  kept.created = now;
  kept.only_name = invite.user;
  const std::string label = invite.user.empty() ? "invitation" : "invitation of " + invite.user;
  kept.label = label;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, invite.request_id, kMethod));
    if (answered) {
      return Error{Code::kConflict,
                   "invitation " + *answered +
                       " was made by this request and its code shown once; revoke it with 'gridtorrent "
                       "token revoke' and make another"};
    }
    Inviter by{is_server_admin(actor), false, d_.managers_make_accounts};
    if (!invite.group.empty()) {
      if (!actor.scopes.has(Scope::kGroup)) {
        return Error{Code::kDenied, "the token in use may not act for groups: it lacks the scope group"};
      }
      GT_ASSIGN(const GroupTarget group, own_group(tx, actor, invite.group));
      kept.group = group.id;
      kept.label = label + " to " + group.name;
      GT_ASSIGN(by.manages_group, manages(tx, actor.user, group.id));
    }
    GT_ASSIGN(const auto invited, tx.users.by_name(invite.user));
    if (invited && invited->service) {
      return Error{Code::kConflict, "user " + invite.user + " is a service account, which joins nothing by itself"};
    }
    if (invited && invite.group.empty()) {
      return Error{Code::kConflict, "user " + invite.user +
                                        " has an account: for another machine of theirs, 'gridtorrent invite " +
                                        "--no-code' prints a link; to invite them to a group, name it with --group"};
    }
    GT_TRY(check_may_invite(by, !invite.group.empty(), !invited));
    GT_ASSIGN(const std::uint64_t open, tx.tokens.count_good(actor.user, TokenKind::kInvite, now));
    GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, actor.user));
    if (open >= quotas.open_requests_and_invitations) {
      return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(open) +
                                         " invitations open, as many as are allowed; gridtorrent token list shows "
                                         "them, gridtorrent token revoke TOKEN_ID frees one"};
    }
    GT_TRY(tx.tokens.insert(kept));
    GT_TRY(keep_answer(tx, actor.user, invite.request_id, kMethod, kept.id, now));
    return tx.audit.append(audit_record(actor, now, kMethod, kept.id + " " + kept.label, invite.request_id));
  }));
  return kept;
}

Result<InviteService::Opened> InviteService::open(Tx& tx, const Joining& joining) const {
  GT_ASSIGN(auto token, tx.tokens.by_id(joining.token_id));
  if (!token || token->kind != TokenKind::kInvite || !token->is_good(d_.clock.wall())) return invite_refused();
  GT_ASSIGN(auto inviter, tx.users.by_id(token->user));
  if (!inviter || inviter->disabled) return invite_refused();
  if (!token->only_name.empty() && token->only_name != joining.user) {
    return Error{Code::kDenied, "the invitation is for user " + token->only_name + ", not " + joining.user +
                                    "; give --user " + token->only_name};
  }
  return Opened{std::move(*token), std::move(*inviter)};
}

/// An account whose password was shown, and that is in the group, to which the code gives nothing more.
Result<std::optional<User>> InviteService::who_needs_nothing(Tx& tx, const Joining& joining) const {
  if (!joining.proven) return std::optional<User>();
  GT_ASSIGN(const auto token, tx.tokens.by_id(joining.token_id));
  GT_ASSIGN(auto present, tx.users.by_name(joining.user));
  if (!present || !token || token->kind != TokenKind::kInvite) return std::optional<User>();
  if (!token->only_name.empty() && token->only_name != joining.user) return std::optional<User>();
  if (token->group.is_nil()) return present;
  GT_ASSIGN(const auto membership, tx.groups.membership(token->group, present->id));
  return membership && is_active(membership->standing) ? std::move(present) : std::optional<User>();
}

Result<User> InviteService::account(Tx& tx, const Joining& joining, const Opened& invite, bool& makes) const {
  GT_ASSIGN(auto present, tx.users.by_name(joining.user));
  makes = false;
  if (present && !joining.proven) {
    return Error{Code::kConflict,
                 "user " + joining.user + " exists; choose another name with --user, or give the password of this one"};
  }
  if (present) return std::move(*present);
  GT_ASSIGN(const bool manager, manages(tx, invite.inviter.id, invite.token.group));
  const Inviter by{invite.inviter.admin, manager, d_.managers_make_accounts};
  if (!check_may_invite(by, !invite.token.group.is_nil(), true)) return invite_refused();
  makes = true;
  const WallTime now = d_.clock.wall();
  const User user{UserId::make(now, d_.rng), joining.user, false, false, now, joining.password_hash, false};
  GT_TRY(tx.users.insert(user));
  return user;
}

Result<User> InviteService::join(const Joining& joining) {
  GT_TRY(check_name("user name", joining.user));
  User user;
  std::optional<GroupService::Changed> admitted;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    admitted.reset();
    GT_ASSIGN(auto has_all, who_needs_nothing(tx, joining));
    if (has_all) {
      user = *std::move(has_all);
      return {};
    }
    GT_ASSIGN(const Opened invite, open(tx, joining));
    bool makes = false;
    GT_ASSIGN(user, account(tx, joining, invite, makes));
    const Actor person = actor_of(user, joining.address);
    if (!invite.token.group.is_nil()) {
      const Actor inviter = actor_of(invite.inviter, joining.address);
      GT_ASSIGN(admitted, d_.groups.admit(tx, inviter, person, invite.token.group, invite.token.created));
    }
    if (!makes && !admitted) return {};
    GT_ASSIGN(const bool taken, tx.tokens.take_use(invite.token.id));
    if (!taken) return invite_refused();
    return tx.audit.append(
        audit_record(person, d_.clock.wall(), "invite.use", invite.token.id + " of " + invite.inviter.name, ""));
  }));
  if (admitted) d_.groups.announce(*admitted);
  return user;
}

}  // namespace gridtorrent::ccm
