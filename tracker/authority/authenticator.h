#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "ccm/domain/account_service.h"
#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::tracker::authority {

/// From the text of a token to who shows it. Answers come from a cache that is at most kCacheTime old, so that a
/// revocation works within that on other servers, and at once on the one that did it (forget). Thread-safe; may block
/// on the store.
class TokenAuthenticator {
 public:
  static constexpr std::chrono::seconds kCacheTime{30};
  static constexpr std::size_t kMaxCached = 50'000;

  TokenAuthenticator(ccm::AccountService& accounts, const Clock& clock) : accounts_(accounts), clock_(clock) {}

  struct Shown {
    ccm::Actor actor;
    WallTime expires;
  };
  /// kUnauthenticated, with one text, for everything that is wrong with a token: form, unknown, wrong secret, expired,
  /// revoked, disabled user, enrolment token. Whoever shows the credential of a node, secret included, is told what to
  /// do about it; kDenied: that node was removed. Other errors: the store's.
  Result<Shown> resolve(std::string_view text, std::string_view address);

  /// Look anew at this token, or at all, on their next use.
  void forget(const std::string& token_id);
  void forget_all();

 private:
  struct Cached {
    ccm::AccountService::TokenAndUser known;
    MonoTime read;
  };
  Result<ccm::AccountService::TokenAndUser> look_up(const std::string& id);
  void note_used(const ccm::Token& token);

  ccm::AccountService& accounts_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Cached> cache_;
  std::map<std::string, MonoTime> noted_;  ///< when last_used was written
  std::uint64_t generation_ = 0;           ///< grows with each forget: what was read before it is not cached
};

}  // namespace gridtorrent::tracker::authority
