#include "ccm/domain/account_service.h"

#include <chrono>
#include <utility>

#include "ccm/domain/content_access.h"
#include "ccm/domain/names.h"
#include "ccm/domain/once.h"
#include "common/text.h"

namespace gridtorrent::ccm {

namespace {

constexpr std::chrono::milliseconds kMaxTokenLifetime = std::chrono::hours(24 * 366);
constexpr std::size_t kMaxLabelBytes = 128;
constexpr std::size_t kMaxAuditPage = 1000;

Status require_admin(const Actor& actor) {
  if (actor.admin && actor.scopes.has(Scope::kAdmin)) return {};
  return Error{Code::kDenied, "user " + actor.name + " may not do this: it takes the role admin; ask an administrator"};
}

Error token_missing(std::string_view id) {
  return {Code::kNotFound,
          "no token \"" + escape_for_display(id.substr(0, 100)) + "\" of yours; look with: gridtorrent token list"};
}

}  // namespace

Result<std::optional<User>> AccountService::make_first_user(const std::string& name, bool admin) {
  GT_TRY(check_name("user name", name));
  std::optional<User> made;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto users, tx.users.list());
    if (!users.empty()) return {};
    const WallTime now = d_.clock.wall();
    const User user{UserId::make(now, d_.rng), name, admin, false, now, ""};
    GT_TRY(tx.users.insert(user));
    GT_TRY(tx.audit.append(audit_record(Actor{}, now, "user.first", user.id.str(), "")));
    made = user;
    return {};
  }));
  return made;
}

Result<User> AccountService::add_user(const Actor& actor, const std::string& request_id, const std::string& name,
                                      const std::string& password_hash, bool admin) {
  constexpr std::string_view kMethod = "user.add";
  GT_TRY(require_admin(actor));
  GT_TRY(check_name("user name", name));
  User user;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, kMethod));
    if (answered) {
      GT_ASSIGN(user, resolve_user(tx, *answered));
      return {};
    }
    GT_ASSIGN(const auto taken, tx.users.by_name(name));
    if (taken) return Error{Code::kConflict, "user " + name + " exists; choose another name"};
    const WallTime now = d_.clock.wall();
    user = {UserId::make(now, d_.rng), name, admin, false, now, password_hash};
    GT_TRY(tx.users.insert(user));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, user.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, name, request_id));
  }));
  return user;
}

Result<std::vector<User>> AccountService::list_users(const Actor& actor) {
  GT_TRY(require_admin(actor));
  std::vector<User> users;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(users, tx.users.list());
    return tx.audit.append(audit_record(actor, d_.clock.wall(), "user.list", "", ""));
  }));
  return users;
}

Status AccountService::disable_user(const Actor& actor, const std::string& request_id, const std::string& user) {
  constexpr std::string_view kMethod = "user.disable";
  GT_TRY(require_admin(actor));
  UserId disabled;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User found, resolve_user(tx, user));
    disabled = found.id;
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, found.id.str()));
    if (done) return {};
    if (found.id == actor.user) {
      return Error{Code::kConflict, "user " + found.name + " cannot disable itself; let another administrator do it"};
    }
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.users.set_disabled(found.id, true));
    GT_TRY(tx.tokens.revoke_all_of_user(found.id, now));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, found.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, found.name, request_id));
  }));
  d_.waker.person_changed(disabled);
  return {};
}

Result<std::optional<User>> AccountService::find_user(std::string_view name) {
  std::optional<User> user;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(user, tx.users.by_name(name));
    return {};
  }));
  return user;
}

Result<std::optional<User>> AccountService::find_user(const UserId& id) {
  std::optional<User> user;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(user, tx.users.by_id(id));
    return {};
  }));
  return user;
}

Status AccountService::set_password_hash(const UserId& user, const std::string& password_hash) {
  return d_.store.write([&](Tx& tx) { return tx.users.set_password_hash(user, password_hash); });
}

Result<std::optional<AccountService::TokenAndUser>> AccountService::find_token(std::string_view token_id) {
  std::optional<TokenAndUser> found;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(auto token, tx.tokens.by_id(token_id));
    if (!token) return {};
    GT_ASSIGN(auto user, tx.users.by_id(token->user));
    if (user) found = TokenAndUser{std::move(*token), std::move(*user)};
    return {};
  }));
  return found;
}

Status AccountService::make_room(Tx& tx, const Actor& actor, const Token& token, FullQuota full) {
  const WallTime now = d_.clock.wall();
  GT_ASSIGN(const std::uint64_t count, tx.tokens.count_good(actor.user, TokenKind::kPersonal, now));
  if (count < d_.quotas.tokens) return {};
  GT_ASSIGN(const std::vector<Token> all, tx.tokens.of_user(actor.user));
  const Token* idle = nullptr;
  for (const Token& one : all) {
    const bool alike =
        one.kind == TokenKind::kPersonal && one.is_good(now) && one.label == token.label && one.scopes == token.scopes;
    if (alike && (idle == nullptr || std::max(one.created, one.last_used) < std::max(idle->created, idle->last_used)))
      idle = &one;
  }
  if (full == FullQuota::kRefuse || idle == nullptr) {
    return Error{Code::kExhausted, "user " + actor.name + " has " + std::to_string(count) +
                                       " tokens, as many as are allowed; revoke some: gridtorrent token revoke"};
  }
  GT_TRY(tx.tokens.revoke(idle->id, now));
  return tx.audit.append(audit_record(actor, now, "token.revoke", idle->id, ""));
}

Status AccountService::add_token(const Actor& actor, const std::string& request_id, const Token& token,
                                 FullQuota full) {
  constexpr std::string_view kMethod = "token.create";
  const WallTime now = d_.clock.wall();
  Token kept = token;
  kept.user = actor.user;
  kept.created = now;
  GT_ASSIGN(kept.label, normalize_text("token label", token.label, kMaxLabelBytes, false));
  if (token.kind != TokenKind::kPersonal) return Error{Code::kInvalid, "this is not how a node's token is made"};
  if (token.expires <= now || token.expires - now > kMaxTokenLifetime) {
    return Error{Code::kInvalid, "a token lives for more than nothing and at most 366 days; give another --ttl"};
  }
  if (token.scopes.empty() || !token.scopes.within(full_scopes(actor.admin))) {
    return Error{Code::kDenied, "user " + actor.name + " cannot give a token rights that it has not itself"};
  }
  return d_.store.write([&](Tx& tx) -> Status {
    if (!request_id.empty()) {
      GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, kMethod));
      if (answered) {
        return Error{Code::kConflict,
                     "token " + *answered + " was made by this request and shown once; revoke it and create another"};
      }
      GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, kept.id, now));
    }
    GT_TRY(make_room(tx, actor, kept, full));
    GT_TRY(tx.tokens.insert(kept));
    return tx.audit.append(audit_record(actor, now, kMethod, kept.id, request_id));
  });
}

Result<std::vector<Token>> AccountService::list_tokens(const Actor& actor) {
  std::vector<Token> tokens;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(tokens, tx.tokens.of_user(actor.user));
    return {};
  }));
  return tokens;
}

Status AccountService::revoke_token(const Actor& actor, const std::string& request_id, const std::string& token_id) {
  bool was_a_nodes = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto token, tx.tokens.by_id(token_id));
    if (!token || token->user != actor.user) return token_missing(token_id);
    was_a_nodes = !token->node.is_nil();
    if (token->revoked.ms != 0) return {};
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.tokens.revoke(token_id, now));
    return tx.audit.append(audit_record(actor, now, "token.revoke", token_id, request_id));
  }));
  if (was_a_nodes) d_.waker.person_changed(actor.user);
  return {};
}

Status AccountService::note_token_used(const Token& token) {
  const WallTime now = d_.clock.wall();
  if (now - token.last_used < std::chrono::minutes(1)) return {};
  return d_.store.write([&](Tx& tx) { return tx.tokens.set_last_used(token.id, now); });
}

Status AccountService::set_token_expiry(const std::string& token_id, WallTime expires) {
  return d_.store.write([&](Tx& tx) { return tx.tokens.set_expires(token_id, expires); });
}

Status AccountService::audit(const AuditRecord& record) {
  return d_.store.write([&](Tx& tx) { return tx.audit.append(record); });
}

Result<AuditHead> AccountService::audit_head() {
  AuditHead head;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(head, tx.audit.head());
    return {};
  }));
  return head;
}

Result<std::vector<AuditRecord>> AccountService::newest_audit_records(const Actor& actor, std::size_t limit) {
  GT_TRY(require_admin(actor));
  std::vector<AuditRecord> records;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(records, tx.audit.newest(std::min(limit, kMaxAuditPage)));
    return tx.audit.append(audit_record(actor, d_.clock.wall(), "audit.read", "", ""));
  }));
  return records;
}

}  // namespace gridtorrent::ccm
