#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// `per_s` on average, `burst` at once.
struct Rate {
  double per_s = 1;
  double burst = 1;
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// Token buckets by key (an account, an address): `rate_per_s` on average, `burst` at once. Forgets full buckets, and
/// holds at most `max_keys`. Thread-safe (private mutex), does not block.
class RateLimiter {
 public:
  struct Options {
    double rate_per_s = 1;
    double burst = 1;
    std::size_t max_keys = 100'000;
  };
  explicit RateLimiter(Options options) : options_(options) {}

  /// Takes one; kBusy, naming `what` and when to come back, where none is left.
  Status take(std::string_view what, const std::string& key, MonoTime now);
  /// The same at a rate of the key's own. kExhausted where that is 0.
  Status take(std::string_view what, const std::string& key, MonoTime now, const Rate& rate);

 private:
  struct Bucket {
    double filled = 0;
    MonoTime at;
  };
  void forget_full(MonoTime now);

  const Options options_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;
};

/// Counts what is in use at once, by key. Thread-safe (private mutex).
class ConcurrencyLimiter {
 public:
  explicit ConcurrencyLimiter(std::size_t limit) : limit_(limit) {}
  /// False where the limit is reached; otherwise give_back() is due.
  bool take(const std::string& key);
  void give_back(const std::string& key);

 private:
  const std::size_t limit_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> used_;
};

/// Places among the streams that are open at once. People's and nodes' are counted apart, so that neither take those of
/// the others. Thread-safe.
class StreamPlaces {
 public:
  struct Limits {
    std::size_t of_caller, of_nodes, of_people;
  };
  explicit StreamPlaces(Limits limits)
      : of_caller_(limits.of_caller), of_nodes_(limits.of_nodes), of_people_(limits.of_people) {}
  /// For a node or user of this id. False where a limit is reached; otherwise give_back() is due.
  bool take(const std::string& caller_id);
  void give_back(const std::string& caller_id);

 private:
  ConcurrencyLimiter& all(const std::string& caller_id);

  ConcurrencyLimiter of_caller_, of_nodes_, of_people_;
};

/// Bytes that uploads under way may hold, all together and for one holder (a user): in memory, or in files.
/// Thread-safe.
class MemoryBudget {
 public:
  MemoryBudget(std::size_t bytes, std::size_t bytes_per_holder) : left_(bytes), per_holder_(bytes_per_holder) {}
  bool take(const std::string& holder, std::size_t bytes);
  void give_back(const std::string& holder, std::size_t bytes);

 private:
  std::mutex mutex_;
  std::size_t left_;
  const std::size_t per_holder_;
  std::map<std::string, std::size_t> held_;
};

/// The numeric address in gRPC's peer text: "ipv4:1.2.3.4:5" → "1.2.3.4", "ipv6:%5B::1%5D:5" → "::1" (an IPv4-mapped
/// one as IPv4), and that of a TlsServer's caller, as backend_name() gives it; "fd:8" and the like stay as they are.
std::string peer_address(std::string_view grpc_peer);

/// The key that an address is limited by (net::address_bucket).
std::string address_bucket(std::string_view address);

}  // namespace gridtorrent::rpc
