#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/password.h"
#include "ccm/domain/account_service.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/authority/throttle.h"

namespace gridtorrent::tracker::authority {

/// Passwords and personal tokens. Thread-safe; login and hash_new_password take a third of a second of a core and 32
/// MiB each: the caller bounds how many run at once.
class Logins {
 public:
  static constexpr std::chrono::hours kLoginLife{30 * 24};
  static constexpr std::chrono::hours kLongestLife{365 * 24};

  Logins(ccm::AccountService& accounts, const Clock& clock, crypto::ScryptCost cost = {})
      : accounts_(accounts), clock_(clock), cost_(cost) {}

  struct Issued {
    std::string text;  ///< to show once
    ccm::Token token;
    ccm::User user;
  };

  /// kUnauthenticated, with one text and after the same time, for unknown users, wrong passwords and disabled accounts;
  /// kBusy after too many attempts. Writes audit records.
  Result<Issued> login(const std::string& user, const std::string& password, const std::string& device,
                       const std::string& address, const std::string& address_bucket);

  struct TokenWish {
    std::string for_user;  ///< id or name of a service account, for administrators; empty: the actor's own
    std::string label;
    std::vector<std::string> scopes;   ///< empty: all of the actor's but admin; else within the actor's
    std::chrono::milliseconds ttl{0};  ///< 0: 30 days; at most a year
  };
  /// A further token. Those of service accounts have their scopes named.
  Result<Issued> create_token(const ccm::Actor& actor, const std::string& request_id, const TokenWish& wish);

  struct PasswordWish {
    std::string user;  ///< id or name; empty: the actor's own
    std::string old_password, new_password;
  };
  /// One's own, which takes the old one and is throttled as logins are, or with role admin another's. Errors:
  /// kUnauthenticated the old one is wrong; kInvalid the new one is weak; kBusy; kDenied; kNotFound; kConflict a
  /// service account has none.
  Status change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                         const std::string& address_bucket);

  /// Without a password, for the server's first start.
  Result<Issued> issue_to(const ccm::User& user, const std::string& label, std::chrono::milliseconds ttl);

  /// PHC text for a new password; kInvalid where it is too weak.
  Result<std::string> hash_new_password(std::string_view user, std::string_view password) const;

 private:
  Result<Issued> issue(const ccm::Actor& actor, const std::string& request_id, const ccm::User& user,
                       const std::string& label, ccm::Scopes scopes, std::chrono::milliseconds ttl,
                       ccm::FullQuota full = ccm::FullQuota::kRefuse);
  /// Whether the password is the user's, in the same time for whoever has none.
  Result<bool> fits(const ccm::User* user, const std::string& password) const;
  Status check_old_password(const ccm::User& user, const PasswordWish& wish, const std::string& address,
                            const std::string& address_bucket);
  void audit_failure(const std::string& user, const std::string& address, const std::string& outcome);

  ccm::AccountService& accounts_;
  const Clock& clock_;
  const crypto::ScryptCost cost_;
  LoginThrottle throttle_;
};

}  // namespace gridtorrent::tracker::authority
