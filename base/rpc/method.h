#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/rpc/limits.h"
#include "base/rpc/principal.h"

namespace gridtorrent::rpc {

/// Where a unary handler runs: what takes long has threads of its own, so that it holds up nobody else.
enum class Lane : std::uint8_t {
  kNormal,
  kPasswords,  ///< scrypt: few at once, and in turns; only by Door::unary_in_turn
  kReads,      ///< may scan many rows: few at once, in turns by user, with a deadline that reaches the database
};

/// What one caller may do with a method, and what that may cost. The caller is an account (all its tokens and nodes
/// together), a node where the method is for nodes alone, an address where nobody is asked who he is.
struct Allowance {
  bool writes = true;  ///< false where the wire contract says idempotency_level = NO_SIDE_EFFECTS
  double rate_per_s = 1;
  double burst = 60;               ///< at once; 0: not limited, for reads alone
  std::string_view quota = {};     ///< of ccm/domain/quotas.h, which bounds what stays; empty: rate and age alone do
  std::uint32_t bytes = 2048;      ///< by which a call makes the database larger at most, audit record included
  std::string_view own_rate = {};  ///< quota by which an administrator gives an account another rate, in calls an hour
};

/// Not limited: what it costs is bounded by its lane.
constexpr Allowance reads() {
  return {.writes = false, .rate_per_s = 0, .burst = 0, .bytes = 0};
}
constexpr Allowance reads(double rate_per_s, double burst) {
  return {.writes = false, .rate_per_s = rate_per_s, .burst = burst, .bytes = 0};
}

/// What is not declared to be larger: the longest access list has 1,000 names.
inline constexpr std::uint32_t kUsualRequestBytes = 256 * 1024;
/// gRPC's own limit, of each message: a task's largest result, and what goes with it.
inline constexpr std::uint32_t kMostRequestBytes = (1 << 20) + 16 * 1024;

/// A method as its service declares it. What names no allowance writes, and has the default one.
struct Method {
  const char* name;  ///< "Contents/Search": for logs and metrics
  Need need;         ///< who may call
  Lane lane = Lane::kNormal;
  Allowance allowance = {};
  std::uint32_t request_bytes = kUsualRequestBytes;  ///< of one that is not streamed
};
using Methods = std::span<const Method* const>;

/// Port: rates that an administrator has set for single accounts. May block.
class OwnRates {
 public:
  virtual ~OwnRates() = default;
  /// Calls an hour; nothing where everybody's rate holds.
  virtual Result<std::optional<std::uint64_t>> calls_per_hour(const UserId& user, std::string_view quota) = 0;
};

/// Under what a call is counted, see Allowance. `address` as in peer_address().
std::string caller_key(const Method& method, const Principal& principal, std::string_view address);

/// The declared rate, or the account's own one: the burst is an hour's worth then, but no more than everybody's.
Rate rate_of(const Allowance& allowance, std::optional<std::uint64_t> own_calls_per_hour);

}  // namespace gridtorrent::rpc
