#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "ccm/domain/account_service.h"
#include "ccm/domain/invite_service.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/authority/logins.h"

namespace gridtorrent::tracker::authority {

/// Codes of invitations, made and shown. Thread-safe; join() is as slow as two logins at most.
class Invitations {
 public:
  Invitations(ccm::AccountService& accounts, ccm::InviteService& invites, Logins& logins, const Clock& clock)
      : accounts_(accounts), invites_(invites), logins_(logins), clock_(clock) {}

  struct Wish {
    std::string request_id, user, group;
    std::uint32_t uses = 0;            ///< 0: one
    std::chrono::milliseconds ttl{0};  ///< 0: InviteService::kDefaultLife
  };
  /// The text of the code is in `text`. Errors as those of InviteService::add.
  Result<Logins::Issued> create(const ccm::Actor& actor, const Wish& wish);

  /// A login that the code goes before: the account is made with that password where there is none of that name; where
  /// there is one, its password is asked first. Ends the attempt that Logins::admit_login() let in. Errors:
  /// kUnauthenticated code or password; kInvalid a weak password, a name that is none; else as InviteService::join.
  Result<Logins::Issued> join(const Logins::LoginWish& wish, const std::string& code, const ccm::LoginAttempt& attempt);

 private:
  /// The id of a code whose secret is right; dates and uses are the domain's to check.
  Result<std::string> check_code(const std::string& code) const;
  Result<Logins::Issued> join_by(const std::string& token_id, const Logins::LoginWish& wish,
                                 const ccm::LoginAttempt& attempt, bool& attempt_ended);

  ccm::AccountService& accounts_;
  ccm::InviteService& invites_;
  Logins& logins_;
  const Clock& clock_;
};

}  // namespace gridtorrent::tracker::authority
