#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
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

  /// Counts an attempt from `address` (already cut to a /64 for IPv6). kExhausted, saying when to come back.
  Status admit(const std::string& account, const std::string& address, MonoTime now);
  void failed(const std::string& account, MonoTime now);
  void succeeded(const std::string& account);

 private:
  struct Account {
    int failures = 0;
    MonoTime not_before;
    MonoTime last;
  };
  std::mutex mutex_;
  std::map<std::string, Account> accounts_;
  std::map<std::string, std::deque<MonoTime>> addresses_;
};

}  // namespace gridtorrent::tracker::authority
