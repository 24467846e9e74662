#include "tracker/authority/logins.h"

#include "base/logging/logging.h"
#include "tracker/authority/passwords.h"
#include "tracker/authority/tokens.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxPasswordBytes = 256;

Error refused() {
  return {Code::kUnauthenticated, "wrong user name or password"};
}

ccm::Actor actor_of(const ccm::User& user, const std::string& address) {
  ccm::Actor actor;
  actor.user = user.id;
  actor.name = user.name;
  actor.admin = user.admin;
  actor.scopes = ccm::full_scopes(user.admin);
  actor.address = address;
  return actor;
}

}  // namespace

Result<Logins::Issued> Logins::login(const std::string& user, const std::string& password, const std::string& device,
                                     const std::string& address, const std::string& address_bucket) {
  if (user.empty() || user.size() > kMaxNameBytes || password.size() > kMaxPasswordBytes) return refused();
  if (const Status admitted = throttle_.admit(user, address_bucket, clock_.mono()); !admitted) {
    if (throttle_.is_noteworthy(address_bucket, clock_.mono())) audit_failure(user, address, "throttled");
    return admitted.error();
  }
  GT_ASSIGN(const std::optional<ccm::User> found, accounts_.find_user(user));
  const bool has_password = found && !found->password_hash.empty();
  // The same work for nobody, so that time does not tell who exists.
  const std::string phc = has_password ? found->password_hash : std::string(crypto::dummy_hash());
  GT_ASSIGN(const bool fits, crypto::verify_password(password, phc));
  if (!has_password || !fits || found->disabled) {
    throttle_.failed(user, clock_.mono());
    audit_failure(user, address, has_password && fits ? "disabled" : "refused");
    return refused();
  }
  throttle_.succeeded(user);
  if (crypto::needs_rehash(phc, cost_)) {
    GT_ASSIGN(const std::string fresh, crypto::hash_password(password, cost_));
    GT_TRY(accounts_.set_password_hash(found->id, fresh));
  }
  ccm::AuditRecord record;
  record.at = clock_.wall();
  record.actor = found->id;
  record.actor_name = found->name;
  record.address = address;
  record.action = "login";
  record.object = found->id.str();
  record.outcome = "ok";
  GT_TRY(accounts_.audit(record));
  const ccm::Actor actor = actor_of(*found, address);
  return issue(actor, "", *found, device.empty() ? "login" : device, actor.scopes, kLoginLife,
               ccm::FullQuota::kReplaceSameLabel);
}

Result<Logins::Issued> Logins::create_token(const ccm::Actor& actor, const std::string& request_id,
                                            const std::string& label, const std::vector<std::string>& scopes,
                                            std::chrono::milliseconds ttl) {
  GT_ASSIGN(ccm::Scopes wanted, ccm::parse_scopes(scopes));
  if (scopes.empty()) {
    wanted = ccm::Scopes(actor.scopes.bits() & ~static_cast<std::uint32_t>(ccm::Scope::kAdmin));
  }
  if (!wanted.within(actor.scopes)) {
    return Error{Code::kDenied, "a token cannot carry scopes that the one in use does not have"};
  }
  if (ttl.count() == 0) ttl = kLoginLife;
  if (ttl < std::chrono::minutes(1) || ttl > kLongestLife) {
    return Error{Code::kInvalid, "a token lives between a minute and 365 days (--ttl)"};
  }
  GT_ASSIGN(const std::optional<ccm::User> user, accounts_.find_user(actor.user));
  if (!user) return Error{Code::kNotFound, "the account is gone"};
  return issue(actor, request_id, *user, label, wanted, ttl);
}

Result<Logins::Issued> Logins::issue_to(const ccm::User& user, const std::string& label,
                                        std::chrono::milliseconds ttl) {
  const ccm::Actor actor = actor_of(user, "");
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
  return Issued{minted.text, token, user};
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
