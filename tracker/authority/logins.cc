#include "tracker/authority/logins.h"

#include "base/crypto/random.h"
#include "base/logging/logging.h"
#include "common/hex.h"
#include "tracker/authority/passwords.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxPasswordBytes = 256;

Error refused() {
  return {Code::kUnauthenticated, "wrong user name or password"};
}

}  // namespace

Result<ccm::LoginAttempt> Logins::admit_login(const LoginWish& wish) {
  if (wish.user.empty() || wish.user.size() > kMaxNameBytes || wish.password.size() > kMaxPasswordBytes) {
    return refused();
  }
  ccm::LoginAttempt attempt{wish.user, wish.address_bucket, ""};
  GT_ASSIGN(attempt.proof, known_device(wish.user, wish.device_secret.value_or("")));
  if (const Status admitted = throttle_.admit(attempt, clock_.mono()); !admitted) {
    if (throttle_.is_noteworthy(attempt, clock_.mono())) audit_failure(wish.user, wish.address, "throttled");
    return admitted.error();
  }
  return attempt;
}

void Logins::withdraw(const ccm::LoginAttempt& attempt) {
  if (!attempt.account.empty()) throttle_.withdrawn(attempt, clock_.mono());
}

Result<std::string> Logins::known_device(const std::string& user, const std::string& secret) {
  const auto parsed = parse_token(secret);
  if (!parsed || parsed->kind != ccm::TokenKind::kDevice) return std::string();
  GT_ASSIGN(const auto known, accounts_.find_token(parsed->id));
  if (!known) return std::string();
  const bool same = crypto::equal_in_constant_time(as_bytes(known->token.secret_hash), as_bytes(parsed->secret_hash));
  const bool good = same && known->token.kind == ccm::TokenKind::kDevice && known->token.is_good(clock_.wall());
  return good && known->user.name == user && !known->user.disabled ? parsed->id : std::string();
}

Result<Logins::Issued> Logins::login(const LoginWish& wish, const ccm::LoginAttempt& attempt) {
  GT_ASSIGN(ccm::User user, prove(wish, attempt));
  if (crypto::needs_rehash(user.password_hash, cost_)) {
    GT_ASSIGN(user.password_hash, crypto::hash_password(wish.password, cost_));
    GT_TRY(accounts_.set_password_hash(user.id, user.password_hash));
  }
  ccm::AuditRecord record;
  record.at = clock_.wall();
  record.actor = user.id;
  record.actor_name = user.name;
  record.address = wish.address;
  record.action = "login";
  record.object = user.id.str();
  record.outcome = "ok";
  GT_TRY(accounts_.audit(record));
  const ccm::Actor actor = ccm::actor_of(user, wish.address);
  GT_ASSIGN(Issued issued, issue(actor, "", user, wish.device.empty() ? "login" : wish.device, actor.scopes, kLoginLife,
                                 ccm::FullQuota::kReplaceSameLabel));
  if (wish.device_secret) {
    GT_ASSIGN(issued.device_secret, know_device(actor, user.password_hash, wish, attempt));
  }
  return issued;
}

Result<ccm::User> Logins::prove(const LoginWish& wish, const ccm::LoginAttempt& attempt) {
  Result<std::optional<ccm::User>> found = accounts_.find_user(wish.user);
  Result<bool> right = found ? fits(*found ? &**found : nullptr, wish.password) : found.error();
  if (!right) {
    withdraw(attempt);
    return right.error();
  }
  if (!*right || (*found)->disabled) {
    audit_failure(wish.user, wish.address, *right ? "disabled" : "refused");
    return refused();
  }
  throttle_.succeeded(attempt);
  return std::move(**found);
}

Result<std::string> Logins::know_device(const ccm::Actor& actor, const std::string& password_hash,
                                        const LoginWish& wish, const ccm::LoginAttempt& attempt) {
  const WallTime until = clock_.wall() + kDeviceLife;
  if (attempt.is_known()) {
    GT_TRY(accounts_.note_device_used(attempt.proof, until));
    return std::string();
  }
  const MintedToken minted = mint_token(ccm::TokenKind::kDevice);
  ccm::Token device;
  device.id = minted.id;
  device.secret_hash = minted.secret_hash;
  device.kind = ccm::TokenKind::kDevice;
  device.label = wish.device.empty() ? "login" : wish.device;
  device.expires = until;
  GT_ASSIGN(const bool added, accounts_.add_device(actor, device, password_hash));
  return added ? minted.text : std::string();
}

Result<bool> Logins::fits(const ccm::User* user, const std::string& password) const {
  const bool has_password = user != nullptr && !user->password_hash.empty();
  // The same work for nobody, so that time does not tell who exists.
  GT_ASSIGN(const bool right,
            crypto::verify_password(password, has_password ? user->password_hash : std::string(crypto::dummy_hash())));
  return has_password && right;
}

Result<Logins::Issued> Logins::create_token(const ccm::Actor& actor, const std::string& request_id,
                                            const TokenWish& wish) {
  GT_ASSIGN(ccm::Scopes wanted, ccm::parse_scopes(wish.scopes));
  if (wanted.has(ccm::Scope::kNodeRun)) {
    return Error{
        Code::kInvalid,
        "the scope node:run is that of a node's own credential, which it gets when it enrols: make a token for "
        "that with gridtorrent node enroll-token"};
  }
  if (wish.scopes.empty() && !wish.for_user.empty()) {
    return Error{Code::kInvalid, "say what the token is for: --scope content:read, for one"};
  }
  if (wish.scopes.empty()) {
    wanted = ccm::Scopes(actor.scopes.bits() & ~static_cast<std::uint32_t>(ccm::Scope::kAdmin));
  }
  if (!wanted.within(actor.scopes)) {
    return Error{Code::kDenied, "a token cannot carry scopes that the one in use does not have"};
  }
  const auto ttl = wish.ttl.count() == 0 ? std::chrono::milliseconds(kLoginLife) : wish.ttl;
  if (ttl < std::chrono::minutes(1) || ttl > kLongestLife) {
    return Error{Code::kInvalid, "a token lives between a minute and 365 days (--ttl)"};
  }
  GT_ASSIGN(const ccm::User owner, accounts_.user_to_manage(actor, wish.for_user));
  return issue(actor, request_id, owner, wish.label, wanted, ttl);
}

Result<ccm::LoginAttempt> Logins::admit_password_change(const ccm::Actor& actor, const PasswordWish& wish,
                                                        const std::string& address_bucket) {
  GT_ASSIGN(const ccm::User user, accounts_.user_to_manage(actor, wish.user));
  if (user.id != actor.user || user.service) return ccm::LoginAttempt{};
  // Whatever tokens a thief makes of a stolen one, all have the same few attempts.
  ccm::LoginAttempt attempt{user.name, address_bucket, "password change"};
  GT_TRY(throttle_.admit(attempt, clock_.mono()));
  return attempt;
}

Status Logins::change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                               const ccm::LoginAttempt& attempt) {
  GT_ASSIGN(const ccm::User user, accounts_.user_to_manage(actor, wish.user));
  if (const Status strong = check_new_password(user.name, wish.new_password); !strong) {
    withdraw(attempt);
    return strong;
  }
  if (user.id == actor.user && !user.service) GT_TRY(check_old_password(user, wish, attempt, actor.address));
  GT_ASSIGN(const std::string hash, crypto::hash_password(wish.new_password, cost_));
  return accounts_.change_password(actor, request_id, user.id, hash);
}

Status Logins::check_old_password(const ccm::User& user, const PasswordWish& wish, const ccm::LoginAttempt& attempt,
                                  const std::string& address) {
  if (user.password_hash.empty()) {
    withdraw(attempt);
    return Error{Code::kConflict, "user " + user.name + " has no password yet; another administrator gives it one: " +
                                      "gridtorrent password " + user.name};
  }
  if (wish.old_password.size() > kMaxPasswordBytes) return refused();
  GT_ASSIGN(const bool right, fits(&user, wish.old_password));
  // The same call once more, after its answer was lost.
  GT_ASSIGN(const bool done, right ? Result<bool>(false) : fits(&user, wish.new_password));
  if (right || done) {
    throttle_.succeeded(attempt);
    return {};
  }
  audit_failure(user.name, address, "refused");
  return Error{Code::kUnauthenticated, "the old password is wrong; who forgot it asks an administrator for a new one"};
}

Result<Logins::Issued> Logins::issue_to(const ccm::User& user, const std::string& label,
                                        std::chrono::milliseconds ttl) {
  const ccm::Actor actor = ccm::actor_of(user, "");
  return issue(actor, "", user, label, actor.scopes, ttl);
}

Result<Logins::Issued> Logins::issue(const ccm::Actor& actor, const std::string& request_id, const ccm::User& user,
                                     const std::string& label, ccm::Scopes scopes, std::chrono::milliseconds ttl,
                                     ccm::FullQuota full) {
  const MintedToken minted = mint_token(ccm::TokenKind::kPersonal);
  ccm::Token token;
  token.id = minted.id;
  token.secret_hash = minted.secret_hash;
  token.kind = ccm::TokenKind::kPersonal;
  token.user = user.id;
  token.scopes = scopes;
  token.label = label;
  token.created = clock_.wall();
  token.expires = token.created + ttl;
  GT_TRY(accounts_.add_token(actor, request_id, token, full));
  return Issued{minted.text, token, user, ""};
}

Result<std::string> Logins::hash_new_password(std::string_view user, std::string_view password) const {
  GT_TRY(check_new_password(user, password));
  return crypto::hash_password(password, cost_);
}

void Logins::audit_failure(const std::string& user, const std::string& address, const std::string& outcome) {
  ccm::AuditRecord record;
  record.at = clock_.wall();
  record.actor_name = user;
  record.address = address;
  record.action = "login";
  record.object = user;
  record.outcome = outcome;
  // The refusal stands, whether or not it can be written down.
  if (const Status kept = accounts_.audit(record); !kept) {
    logging::error("cannot write an audit record", {{"action", "login"}, {"reason", kept.error().message}});
  }
}

}  // namespace gridtorrent::tracker::authority
