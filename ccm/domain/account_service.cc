#include "ccm/domain/account_service.h"

#include <algorithm>
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
/// Known devices of an account: a person's machines, and some that were set up anew under other names.
constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kMaxAuditPage = 1000;
constexpr std::uint64_t kMaxQuota = std::uint64_t{1} << 50;

Status require_admin(const Actor& actor) {
  if (is_server_admin(actor)) return {};
  return Error{Code::kDenied, "user " + actor.name + " may not do this: it takes the role admin; ask an administrator"};
}

/// The device whose place a further one takes, where an account has as many as it may: among those of the same name, or
/// else among all, the one that has not logged in for longest.
const Token* device_to_forget(const std::vector<Token>& all, const std::string& label, WallTime now) {
  const Token* idle = nullptr;
  std::size_t devices = 0;
  const auto rank = [&](const Token& t) { return std::pair(t.label != label, std::max(t.created, t.last_used)); };
  for (const Token& one : all) {
    if (one.kind != TokenKind::kDevice || !one.is_good(now)) continue;
    ++devices;
    if (idle == nullptr || rank(one) < rank(*idle)) idle = &one;
  }
  return devices < kMaxDevices ? nullptr : idle;
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
    GT_ASSIGN(const auto users, tx.users.list("", 1));
    if (!users.empty()) return {};
    const WallTime now = d_.clock.wall();
    const User user{UserId::make(now, d_.rng), name, admin, false, now, "", false};
    GT_TRY(tx.users.insert(user));
    GT_TRY(tx.audit.append(audit_record(Actor{}, now, "user.first", user.id.str(), "")));
    made = user;
    return {};
  }));
  return made;
}

Result<User> AccountService::add_user(const Actor& actor, const std::string& request_id, const std::string& name,
                                      const std::string& password_hash, Role role) {
  constexpr std::string_view kMethod = "user.add";
  GT_TRY(require_admin(actor));
  if (role == Role::kService && !password_hash.empty()) {
    return Error{Code::kInvalid, "a service account has no password; leave it out and make tokens for it"};
  }
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
    user = {UserId::make(now, d_.rng), name, role == Role::kAdmin, false, now, password_hash, role == Role::kService};
    GT_TRY(tx.users.insert(user));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, user.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, name, request_id));
  }));
  return user;
}

Result<Page<User>> AccountService::list_users(const Actor& actor, const PageRequest& page) {
  constexpr std::string_view kList = "users";
  GT_TRY(require_admin(actor));
  GT_ASSIGN(const PageKey key, parse_page_token(kList, 1, page.token));
  std::vector<User> users;
  // Not in one transaction: writes must not wait for a list.
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(users, tx.users.list(key.empty() ? "" : key[0], page.items() + 1));
    return {};
  }));
  GT_TRY(audit(audit_record(actor, d_.clock.wall(), "user.list", "", "")));
  return make_page<User>(std::move(users), page,
                         [](const User& user) { return encode_page_token(kList, {user.name}); });
}

Status AccountService::disable_user(const Actor& actor, const std::string& request_id, const std::string& user) {
  return switch_user(actor, request_id, user, true);
}

Status AccountService::enable_user(const Actor& actor, const std::string& request_id, const std::string& user) {
  return switch_user(actor, request_id, user, false);
}

Status AccountService::switch_user(const Actor& actor, const std::string& request_id, const std::string& user,
                                   bool disable) {
  const std::string_view method = disable ? "user.disable" : "user.enable";
  GT_TRY(require_admin(actor));
  UserId switched;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User found, resolve_user(tx, user));
    switched = found.id;
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, method, found.id.str()));
    if (done) return {};
    if (disable && found.id == actor.user) {
      return Error{Code::kConflict, "user " + found.name + " cannot disable itself; let another administrator do it"};
    }
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.users.set_disabled(found.id, disable));
    if (disable) GT_TRY(tx.tokens.revoke_all_of_user(found.id, now));
    GT_TRY(keep_answer(tx, actor.user, request_id, method, found.id.str(), now));
    return tx.audit.append(audit_record(actor, now, method, found.name, request_id));
  }));
  d_.waker.person_changed(switched);
  return {};
}

Result<User> AccountService::own_or_administered(Tx& tx, const Actor& actor, const std::string& user) {
  if (user.empty() || user == actor.name || user == actor.user.str()) return resolve_user(tx, actor.user.str());
  GT_TRY(require_admin(actor));
  return resolve_user(tx, user);
}

Status AccountService::change_password(const Actor& actor, const std::string& request_id, const UserId& user,
                                       const std::string& password_hash) {
  const bool own = user == actor.user;
  const std::string_view method = own ? "password.change" : "password.reset";
  if (!own) GT_TRY(require_admin(actor));
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User found, resolve_user(tx, user.str()));
    if (found.service) {
      return Error{Code::kConflict, "user " + found.name + " is a service account and has no password; make a token: " +
                                        "gridtorrent token create --for " + found.name + " --scope content:read"};
    }
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, method, found.id.str()));
    if (done) return {};
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.users.set_password_hash(found.id, password_hash));
    GT_TRY(own ? tx.tokens.revoke_devices_of_user(found.id, now) : tx.tokens.revoke_personal_of_user(found.id, now));
    GT_TRY(keep_answer(tx, actor.user, request_id, method, found.id.str(), now));
    return tx.audit.append(audit_record(actor, now, method, found.name, request_id));
  });
}

Result<std::vector<QuotaUse>> AccountService::quotas(const Actor& actor, const std::string& user) {
  std::vector<QuotaUse> uses;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const User whose, own_or_administered(tx, actor, user));
    GT_ASSIGN(const std::vector<QuotaLimit> own, tx.users.quota_limits(whose.id));
    const Quotas limits = with_limits(d_.quotas, own);
    const WallTime now = d_.clock.wall();
    GT_ASSIGN(const ContentStore::Usage contents, tx.contents.usage(whose.id));
    Quotas used{};
    used.contents = contents.contents;
    used.metadata_bytes = contents.metadata_bytes;
    GT_ASSIGN(used.nodes, tx.node_effects.count_nodes(whose.id));
    GT_ASSIGN(used.tokens, tx.tokens.count_good(whose.id, TokenKind::kPersonal, now));
    GT_ASSIGN(used.enroll_tokens, tx.tokens.count_good(whose.id, TokenKind::kEnroll, now));
    GT_ASSIGN(used.groups, tx.groups.count_managed(whose.id));
    GT_ASSIGN(const std::uint64_t steps, tx.groups.count_open(whose.id, now));
    GT_ASSIGN(const std::uint64_t offers, tx.offers.count_open(whose.id, now));
    used.open_requests_and_invitations = steps + offers;
    GT_ASSIGN(const std::vector<User> buddies, tx.buddies.of(whose.id));
    used.buddies = buddies.size();
    GT_ASSIGN(used.tasks, tx.node_effects.count_tasks(whose.id));
    GT_ASSIGN(used.publishes_per_hour, tx.contents.count_created(whose.id, now - std::chrono::hours(1)));
    for (std::size_t i = 0; i < kQuotaCount; ++i) {
      const auto quota = static_cast<Quota>(i);
      const bool is_own = std::any_of(own.begin(), own.end(), [&](const QuotaLimit& l) { return l.quota == quota; });
      uses.push_back({quota, limits.at(quota), is_own, used.at(quota)});
    }
    return {};
  }));
  return uses;
}

Result<std::optional<std::uint64_t>> AccountService::own_limit(const UserId& user, Quota quota) {
  std::vector<QuotaLimit> limits;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(limits, tx.users.quota_limits(user));
    return {};
  }));
  for (const QuotaLimit& one : limits) {
    if (one.quota == quota) return std::optional(one.limit);
  }
  return std::optional<std::uint64_t>();
}

Status AccountService::change_quotas(const Actor& actor, const std::string& request_id, const std::string& user,
                                     const std::vector<QuotaChange>& changes) {
  constexpr std::string_view kMethod = "quota.change";
  GT_TRY(require_admin(actor));
  std::string what;
  for (const QuotaChange& change : changes) {
    if (change.limit.value_or(0) > kMaxQuota) {
      return Error{Code::kInvalid, "a quota goes up to " + std::to_string(kMaxQuota) + "; give a smaller number"};
    }
    what += " " + std::string(quota_name(change.quota)) + "=" +
            (change.limit ? std::to_string(*change.limit) : std::string("default"));
  }
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User whose, resolve_user(tx, user));
    GT_ASSIGN(const bool done, was_done(tx, actor.user, request_id, kMethod, whose.id.str()));
    if (done) return {};
    const WallTime now = d_.clock.wall();
    for (const QuotaChange& change : changes) GT_TRY(tx.users.change_quota(whose.id, change));
    GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, whose.id.str(), now));
    return tx.audit.append(audit_record(actor, now, kMethod, whose.name + what, request_id));
  });
}

Result<User> AccountService::user_to_manage(const Actor& actor, const std::string& user) {
  std::optional<User> found;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(found, own_or_administered(tx, actor, user));
    return {};
  }));
  return std::move(*found);
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
    if (!user) return {};
    found = TokenAndUser{std::move(*token), std::move(*user)};
    if (found->token.node.is_nil() || found->token.revoked.ms == 0) return {};
    GT_ASSIGN(const bool there, tx.node_effects.has_node(found->token.node));
    found->node_removed = !there;
    return {};
  }));
  return found;
}

Status AccountService::make_room(Tx& tx, const Actor& actor, const User& owner, const Token& token, FullQuota full) {
  const WallTime now = d_.clock.wall();
  GT_ASSIGN(const std::uint64_t count, tx.tokens.count_good(owner.id, TokenKind::kPersonal, now));
  GT_ASSIGN(const Quotas quotas, quotas_of(tx, d_.quotas, owner.id));
  if (count < quotas.tokens) return {};
  GT_ASSIGN(const std::vector<Token> all, tx.tokens.good_of_kind(owner.id, TokenKind::kPersonal, now));
  const Token* idle = nullptr;
  for (const Token& one : all) {
    const bool alike = one.label == token.label && one.scopes == token.scopes;
    if (alike && (idle == nullptr || std::max(one.created, one.last_used) < std::max(idle->created, idle->last_used)))
      idle = &one;
  }
  if (full == FullQuota::kRefuse || idle == nullptr) {
    return Error{Code::kExhausted, "user " + owner.name + " has " + std::to_string(count) +
                                       " tokens, as many as are allowed; gridtorrent token list shows them, "
                                       "gridtorrent token revoke TOKEN_ID frees one"};
  }
  GT_TRY(tx.tokens.revoke(idle->id, now));
  return tx.audit.append(audit_record(actor, now, "token.revoke", idle->id, ""));
}

Status AccountService::add_token(const Actor& actor, const std::string& request_id, const Token& token,
                                 FullQuota full) {
  constexpr std::string_view kMethod = "token.create";
  const WallTime now = d_.clock.wall();
  const bool own = token.user.is_nil() || token.user == actor.user;
  Token kept = token;
  if (own) kept.user = actor.user;
  kept.created = now;
  GT_ASSIGN(kept.label, normalize_text("token label", token.label, kMaxLabelBytes, false));
  if (token.kind != TokenKind::kPersonal) return Error{Code::kInvalid, "this is not how a node's token is made"};
  if (token.expires <= now || token.expires - now > kMaxTokenLifetime) {
    return Error{Code::kInvalid, "a token lives for more than nothing and at most 366 days; give another --ttl"};
  }
  if (!own) GT_TRY(require_admin(actor));
  return d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User owner, resolve_user(tx, kept.user.str()));
    // A person's token in an administrator's hand would be that person, in every audit record.
    if (!own && !owner.service) {
      return Error{Code::kDenied, "user " + owner.name +
                                      " is a person, who makes their own tokens; an administrator makes those of "
                                      "service accounts"};
    }
    if (!own && owner.disabled) {
      return Error{Code::kConflict,
                   "user " + owner.name + " is disabled; first: gridtorrent user enable " + owner.name};
    }
    if (token.scopes.empty() || !token.scopes.within(full_scopes(owner.admin))) {
      return Error{Code::kDenied, "user " + owner.name + " cannot have a token with rights that it has not itself"};
    }
    if (!request_id.empty()) {
      GT_ASSIGN(const auto answered, first_answer(tx, actor.user, request_id, kMethod));
      if (answered) {
        return Error{Code::kConflict,
                     "token " + *answered + " was made by this request and shown once; revoke it and create another"};
      }
      GT_TRY(keep_answer(tx, actor.user, request_id, kMethod, kept.id, now));
    }
    GT_TRY(make_room(tx, actor, owner, kept, full));
    GT_TRY(tx.tokens.insert(kept));
    const std::string object = own ? kept.id : kept.id + " for " + owner.name;
    return tx.audit.append(audit_record(actor, now, kMethod, object, request_id));
  });
}

Result<bool> AccountService::add_device(const Actor& actor, const Token& device, const std::string& password_hash) {
  const WallTime now = d_.clock.wall();
  Token kept = device;
  kept.user = actor.user;
  kept.created = now;
  GT_ASSIGN(kept.label, normalize_text("device name", device.label, kMaxLabelBytes, false));
  GT_CHECK(device.kind == TokenKind::kDevice);
  bool added = false;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const User owner, resolve_user(tx, actor.user.str()));
    if (owner.disabled || owner.password_hash != password_hash) return {};
    GT_ASSIGN(const std::vector<Token> all, tx.tokens.good_of_kind(owner.id, TokenKind::kDevice, now));
    if (const Token* idle = device_to_forget(all, kept.label, now)) GT_TRY(tx.tokens.revoke(idle->id, now));
    GT_TRY(tx.tokens.insert(kept));
    added = true;
    return tx.audit.append(audit_record(actor, now, "device.create", kept.id, ""));
  }));
  return added;
}

Status AccountService::note_device_used(const std::string& device_id, WallTime expires) {
  return d_.store.write([&](Tx& tx) -> Status {
    GT_TRY(tx.tokens.set_last_used(device_id, d_.clock.wall()));
    return tx.tokens.set_expires(device_id, expires);
  });
}

Result<Page<Token>> AccountService::list_tokens(const Actor& actor, const std::string& user, const PageRequest& page) {
  std::vector<Token> tokens;
  std::string list;
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(const User whose, own_or_administered(tx, actor, user));
    list = "tokens of " + whose.id.str();
    GT_ASSIGN(const PageKey key, parse_page_token(list, 2, page.token));
    std::optional<TokenPlace> after;
    if (!key.empty()) {
      GT_ASSIGN(const std::int64_t created, page_number(key[0]));
      after = TokenPlace{WallTime{created}, key[1]};
    }
    GT_ASSIGN(tokens, tx.tokens.of_user(whose.id, after, page.items() + 1));
    return {};
  }));
  return make_page<Token>(std::move(tokens), page, [list](const Token& token) {
    return encode_page_token(list, {std::to_string(token.created.ms), token.id});
  });
}

Status AccountService::revoke_token(const Actor& actor, const std::string& request_id, const std::string& token_id) {
  UserId owner_of_node;
  GT_TRY(d_.store.write([&](Tx& tx) -> Status {
    GT_ASSIGN(const auto token, tx.tokens.by_id(token_id));
    if (!token || (token->user != actor.user && !require_admin(actor))) return token_missing(token_id);
    if (token->revoked.ms != 0) return {};
    if (!token->node.is_nil()) owner_of_node = token->user;
    const WallTime now = d_.clock.wall();
    GT_TRY(tx.tokens.revoke(token_id, now));
    return tx.audit.append(audit_record(actor, now, "token.revoke", token_id, request_id));
  }));
  if (!owner_of_node.is_nil()) d_.waker.person_changed(owner_of_node);
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

Result<std::vector<NumberedAuditRecord>> AccountService::audit_records(const Actor& actor, AuditFilter filter) {
  GT_TRY(require_admin(actor));
  filter.limit = std::min(filter.limit, kMaxAuditPage);
  std::vector<NumberedAuditRecord> records;
  // Not in one transaction: a filter that fits little reads all of them, and writes must not wait for that.
  GT_TRY(d_.store.read([&](Tx& tx) -> Status {
    GT_ASSIGN(records, tx.audit.select(filter));
    return {};
  }));
  GT_TRY(audit(audit_record(actor, d_.clock.wall(), "audit.read", "", "")));
  return records;
}

}  // namespace gridtorrent::ccm
