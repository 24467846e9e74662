#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::tracker::authority {

/// Slows down guessing of passwords (security.md, 1.4): after 5 failures an account waits 1 s, 2 s, 4 s … 15 min
/// between attempts (never for good: that would let anyone lock it), and an address gets 20 attempts a minute.
/// Thread-safe (private mutex). Both tables are bounded: the oldest entries go first.
class LoginThrottle {
 public:
  static constexpr int kFreeFailures = 5;
  static constexpr std::chrono::seconds kFirstDelay{1};
  static constexpr std::chrono::minutes kLongestDelay{15};
  static constexpr std::size_t kAttemptsPerMinute = 20;
  static constexpr std::size_t kMaxEntries = 50'000;

  /// Counts an attempt from `address` (already cut to a /64 for IPv6), also one that its account has to wait for.
  /// kBusy, saying when to come back.
  Status admit(const std::string& account, const std::string& address, MonoTime now);
  void failed(const std::string& account, MonoTime now);
  void succeeded(const std::string& account);
  /// Whether a refusal by admit() is to be written down: once a minute an address, since refusing costs a caller
  /// nothing and a record is there for good.
  bool is_noteworthy(const std::string& address, MonoTime now);

 private:
  struct Account {
    int failures = 0;
    MonoTime not_before;
    MonoTime last;
  };
  std::mutex mutex_;
  std::map<std::string, Account> accounts_;
  struct Address {
    std::deque<MonoTime> attempts;  ///< never empty outside of admit()
    std::optional<MonoTime> noted;
  };
  void make_room(const std::string& address, MonoTime now);

  std::map<std::string, Address> addresses_;
};

}  // namespace gridtorrent::tracker::authority
