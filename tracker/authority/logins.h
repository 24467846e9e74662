#pragma once

#include <chrono>
#include <optional>
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

/// Passwords, personal tokens and known devices. Thread-safe; login, change_password and hash_new_password take a third
/// of a second of a core and 32 MiB each: the caller bounds how many run at once, and asks one of the two admit methods
/// before it lets a call wait for its turn.
class Logins {
 public:
  static constexpr std::chrono::hours kLoginLife{30 * 24};
  static constexpr std::chrono::hours kLongestLife{365 * 24};
  /// Three times a login's life, so that who is away for a month or two is still known. Begins anew with each login.
  static constexpr std::chrono::hours kDeviceLife{90 * 24};

  Logins(ccm::AccountService& accounts, const Clock& clock, crypto::ScryptCost cost = {})
      : accounts_(accounts), clock_(clock), cost_(cost) {}

  struct Issued {
    std::string text;  ///< to show once
    ccm::Token token;
    ccm::User user;
    std::string device_secret;  ///< likewise; empty: none was asked for, or the one that was shown stays
  };
  struct LoginWish {
    std::string user, password;
    std::string device;                        ///< label
    std::optional<std::string> device_secret;  ///< empty: the device wants one; nothing: it keeps none
    std::string address, address_bucket;
  };
  /// Quick; asks the throttle. kBusy after too many attempts, with an audit record; kUnauthenticated for what cannot be
  /// a login. What it admits ends with login() or withdraw().
  Result<ccm::LoginAttempt> admit_login(const LoginWish& wish);
  /// kUnauthenticated, with one text and after the same time, for unknown users, wrong passwords and disabled accounts.
  /// Writes audit records.
  Result<Issued> login(const LoginWish& wish, const ccm::LoginAttempt& attempt);
  /// The password was not looked at.
  void withdraw(const ccm::LoginAttempt& attempt);

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
  /// Quick: asks the throttle, where the password is one's own and so the old one is to be shown. kBusy. What it admits
  /// ends with change_password() or withdraw(); an attempt without account needs neither.
  Result<ccm::LoginAttempt> admit_password_change(const ccm::Actor& actor, const PasswordWish& wish,
                                                  const std::string& address_bucket);
  /// One's own, which takes the old one, or with role admin another's. Errors: kUnauthenticated the old one is wrong;
  /// kInvalid the new one is weak; kDenied; kNotFound; kConflict a service account has none.
  Status change_password(const ccm::Actor& actor, const std::string& request_id, const PasswordWish& wish,
                         const ccm::LoginAttempt& attempt);

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
  Status check_old_password(const ccm::User& user, const PasswordWish& wish, const ccm::LoginAttempt& attempt,
                            const std::string& address);
  /// The user, where the password is right.
  Result<ccm::User> prove(const LoginWish& wish, const ccm::LoginAttempt& attempt);
  /// The id of the device, where this is the secret of one that the account knows; empty otherwise.
  Result<std::string> known_device(const std::string& user, const std::string& secret);
  /// The device is good for kDeviceLife from now on; the secret, where it is a new one.
  Result<std::string> know_device(const ccm::Actor& actor, const std::string& password_hash, const LoginWish& wish,
                                  const ccm::LoginAttempt& attempt);
  void audit_failure(const std::string& user, const std::string& address, const std::string& outcome);

  ccm::AccountService& accounts_;
  const Clock& clock_;
  const crypto::ScryptCost cost_;
  LoginThrottle throttle_;
};

}  // namespace gridtorrent::tracker::authority
