#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::ccm {

/// What becomes of a token for which there is no room: refused, or, for a login, in the place of the token of the same
/// label and scopes that was not used for longest. A script that logs in each time must not lock its user out.
enum class FullQuota : std::uint8_t { kRefuse, kReplaceSameLabel };

/// The use cases of accounts and tokens, one transaction each, with audit records. Secrets are made, hashed and
/// compared in tracker/authority: here come and go hashes alone. Thread-safe; blocks on the store. Errors besides those
/// of the store: kInvalid; kNotFound; kDenied; kConflict name taken; kExhausted quota.
class AccountService {
 public:
  struct Deps {
    Store& store;
    NodeWaker& waker;
    const Clock& clock;
    Rng& rng;
    Quotas quotas;
  };
  explicit AccountService(Deps deps) : d_(deps) {}

  /// Makes the account if no user exists at all; nothing if some do. For the server's first start.
  Result<std::optional<User>> make_first_user(const std::string& name, bool admin);

  /// Role admin. `password_hash` may be empty. Repeated with its request id, it has been done once.
  /// kInvalid: a service account with a password.
  Result<User> add_user(const Actor& actor, const std::string& request_id, const std::string& name,
                        const std::string& password_hash, Role role);
  /// Role admin.
  Result<Page<User>> list_users(const Actor& actor, const PageRequest& page = {});
  /// Role admin; ends the user's tokens, too. `user` is an id or a name. One cannot disable oneself.
  Status disable_user(const Actor& actor, const std::string& request_id, const std::string& user);
  /// Role admin. Tokens that ended with the account stay ended.
  Status enable_user(const Actor& actor, const std::string& request_id, const std::string& user);

  /// The actor's own account where `user` is empty or names it; with role admin another's. kDenied; kNotFound.
  Result<User> user_to_manage(const Actor& actor, const std::string& user);
  Result<std::optional<User>> find_user(std::string_view name);
  Result<std::optional<User>> find_user(const UserId& id);
  /// As the same password under another cost: no change that anybody has to know of.
  Status set_password_hash(const UserId& user, const std::string& password_hash);
  /// The actor's own, which the caller has let them prove, or with role admin another's: whoever knew the one before is
  /// logged out then. No device is known any more. kConflict: a service account has none.
  Status change_password(const Actor& actor, const std::string& request_id, const UserId& user,
                         const std::string& password_hash);

  /// The actor's own, or with role admin another's; `user` empty: the actor.
  Result<std::vector<QuotaUse>> quotas(const Actor& actor, const std::string& user);
  /// What an administrator has set for this person, if anything.
  Result<std::optional<std::uint64_t>> own_limit(const UserId& user, Quota quota);
  /// Role admin. What is there already stays, above a limit, too.
  Status change_quotas(const Actor& actor, const std::string& request_id, const std::string& user,
                       const std::vector<QuotaChange>& changes);

  /// For the authenticator: the token and its user, whatever their state; nothing if there is no such token.
  struct TokenAndUser {
    Token token;
    User user;
    bool node_removed = false;  ///< the credential of a node that is enrolled no more
  };
  Result<std::optional<TokenAndUser>> find_token(std::string_view token_id);
  /// Writes down a fresh token of the actor (login: the actor is who logged in), or with role admin of the service
  /// account that `token.user` names. Checks label, expiry and quota.
  /// `request_id` may be empty; repeated, it is kConflict: the secret was shown once and is not kept.
  Status add_token(const Actor& actor, const std::string& request_id, const Token& token,
                   FullQuota full = FullQuota::kRefuse);
  /// Writes down a device (TokenKind::kDevice) from which the actor has logged in with the password of this hash. Where
  /// the account has 16, it takes the place of one that has not logged in for long. False: the password is another one
  /// now, or the account is disabled, so there is no such device.
  Result<bool> add_device(const Actor& actor, const Token& device, const std::string& password_hash);
  /// It has logged in again and is good until then.
  Status note_device_used(const std::string& device_id, WallTime expires);
  /// The actor's own, or with role admin another's (`user` not empty); newest first.
  Result<Page<Token>> list_tokens(const Actor& actor, const std::string& user = "", const PageRequest& page = {});
  /// One of the actor's own, or with role admin anybody's; idempotent.
  Status revoke_token(const Actor& actor, const std::string& request_id, const std::string& token_id);
  /// At most once a minute a token, the rest is ignored.
  Status note_token_used(const Token& token);
  Status set_token_expiry(const std::string& token_id, WallTime expires);

  /// Login failures, refused tokens and the like, which happen outside of a use case.
  Status audit(const AuditRecord& record);
  Result<AuditHead> audit_head();
  /// Role admin; at most 1000 at once.
  Result<std::vector<NumberedAuditRecord>> audit_records(const Actor& actor, AuditFilter filter);

 private:
  Status switch_user(const Actor& actor, const std::string& request_id, const std::string& user, bool disable);
  /// Whose account it is that the actor looks at or changes: their own where `user` is empty.
  Result<User> own_or_administered(Tx& tx, const Actor& actor, const std::string& user);
  /// Within the quota of the token's user, or as `full` says.
  Status make_room(Tx& tx, const Actor& actor, const User& owner, const Token& token, FullQuota full);

  Deps d_;
};

}  // namespace gridtorrent::ccm
