#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "ccm/domain/user.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::tracker::authority {

/// Slows down guessing of passwords. A pure decision over its own tables, before any password is hashed:
/// - an address, or a known device, has 20 attempts at once and 20 a minute;
/// - after 5 failures an account at one address (or a known device) waits 1 s, 2 s, 4 s … 15 min between attempts;
/// - after 20 failures from anywhere, strangers wait 1 s, 2 s, 4 s … 1 min for that account. Known devices do not.
/// Failures count for an hour after the last one. An admitted attempt counts as failed until succeeded() or
/// withdrawn(): attempts that wait together cannot outrun the delays. Thread-safe (private mutex), does not block.
class LoginThrottle {
 public:
  static constexpr double kAttemptsPerMinute = 20;
  static constexpr int kFreeFailures = 5;
  static constexpr std::chrono::seconds kFirstDelay{1};
  static constexpr std::chrono::minutes kLongestDelay{15};
  /// A person who mistypes on a few machines stays below. All strangers together have 20 guesses, then 1,440 a day.
  static constexpr int kFreeAccountFailures = 20;
  static constexpr std::chrono::minutes kLongestAccountDelay{1};
  static constexpr std::chrono::hours kForgetAfter{1};
  /// Of each table; an entry takes some 200 bytes. Only hashed passwords leave entries for an hour, and these are few a
  /// second; the addresses' entries end within a minute.
  static constexpr std::size_t kMaxEntries = 50'000;
  static constexpr int kNotesPerMinute = 60;

  /// kBusy, saying when to come back. Otherwise the attempt counts as failed until one of the next two is called.
  Status admit(const ccm::LoginAttempt& attempt, MonoTime now);
  /// The password was right: what this address or device failed for the account before is forgotten.
  void succeeded(const ccm::LoginAttempt& attempt);
  /// The password was not looked at.
  void withdrawn(const ccm::LoginAttempt& attempt, MonoTime now);
  /// Whether a refusal by admit() is to be written down: once a minute an address and 60 times a minute in all, since
  /// refusing costs a caller nothing and a record is there for good.
  bool is_noteworthy(const ccm::LoginAttempt& attempt, MonoTime now);

 private:
  struct Failures {
    int count = 0;
    MonoTime not_before, last;
  };
  struct Delays {
    int free;
    std::chrono::seconds longest;
  };
  struct Rate {
    double left = kAttemptsPerMinute;
    MonoTime at;
    std::optional<MonoTime> noted;
  };
  using Key = std::pair<std::string, std::string>;  ///< account and what it is tried from; "" for from anywhere
  using Table = std::map<Key, Failures>;

  Status take_rate(const ccm::LoginAttempt& attempt, MonoTime now);
  std::optional<std::chrono::nanoseconds> wait_of(const Key& key, MonoTime now);
  void count_failure(const Key& key, Delays delays, MonoTime now);
  void take_back(const Key& key, std::optional<MonoTime> now);
  void make_room(MonoTime now);

  std::mutex mutex_;
  Table failures_;
  std::map<std::string, Rate> rates_;  ///< by address, or by device
  MonoTime last_sweep_;
  MonoTime notes_since_;
  int notes_ = 0;
};

}  // namespace gridtorrent::tracker::authority
