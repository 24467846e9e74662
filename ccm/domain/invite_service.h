#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "ccm/domain/group_service.h"
#include "ccm/domain/ports.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent::ccm {

/// An invitation to be: an account, a membership of a group, or both, for whoever shows its code.
struct NewInvite {
  std::string request_id;
  std::string user;   ///< the only account that may use it; empty: whoever has the code
  std::string group;  ///< name or id; empty: none
  Token token;        ///< kInvite: id, secret_hash, expires and uses_left are the caller's
};

/// Somebody who has shown a code.
struct Joining {
  std::string token_id;       ///< of a code whose secret was right
  std::string user;           ///< name of the account
  std::string password_hash;  ///< of the account that is made; not looked at where `proven`
  bool proven = false;        ///< the account exists, and its password was right
  std::string address;        ///< for the audit
};

/// Who may make an invitation, by what is known of them.
struct Inviter {
  bool admin = false;                   ///< role and scope admin
  bool manages_group = false;           ///< of the invitation's group
  bool managers_make_accounts = false;  ///< the server's policy
};
/// `has_group`: it makes a member; `makes_account`: it may make an account. Pure. kDenied, with who may.
Status check_may_invite(const Inviter& by, bool has_group, bool makes_account);

/// Invitations by code (the way in for who has no account). One transaction a use case, with audit records; what a code
/// does is decided when it is used: an inviter who may no longer invite has codes that no longer work. Thread-safe;
/// blocks on the store. Errors besides those of the store: kInvalid, kNotFound, kDenied, kConflict, kExhausted.
class InviteService {
 public:
  struct Deps {
    Store& store;
    GroupService& groups;
    const Clock& clock;
    Rng& rng;
    Quotas quotas;
    bool managers_make_accounts = false;
  };
  explicit InviteService(Deps deps) : d_(deps) {}

  static constexpr std::chrono::milliseconds kDefaultLife = std::chrono::hours(48);
  static constexpr std::chrono::milliseconds kLongestLife = std::chrono::hours(24 * 30);
  static constexpr std::uint32_t kMostUses = 10'000;

  /// Writes it down and returns what was kept. Repeated with its request id, it is kConflict: the code was shown once.
  Result<Token> add(const Actor& actor, const NewInvite& invite);

  /// Makes the account where there is none of that name, and the membership. A person who joins again with the same
  /// code changes nothing, and takes no further use; for them, on their next machine, it is good while it is known.
  /// kUnauthenticated: the code is used up, out of date or revoked, or who made it may no longer invite. kConflict: the
  /// name is taken by somebody whose password was not shown.
  Result<User> join(const Joining& joining);

 private:
  struct Opened {
    Token token;
    User inviter;
  };
  Result<Opened> open(Tx& tx, const Joining& joining) const;
  Result<std::optional<User>> who_needs_nothing(Tx& tx, const Joining& joining) const;
  Result<User> account(Tx& tx, const Joining& joining, const Opened& invite, bool& makes) const;
  Result<bool> manages(Tx& tx, const UserId& user, const GroupId& group) const;

  Deps d_;
};

}  // namespace gridtorrent::ccm
