#include "base/rpc/method.h"

#include <algorithm>

namespace gridtorrent::rpc {

std::string caller_key(const Method& method, const Principal& principal, std::string_view address) {
  if (method.need.anonymous) return address_bucket(address);
  return method.need.node ? principal.node.str() : principal.user.str();
}

Rate rate_of(const Allowance& allowance, std::optional<std::uint64_t> own_calls_per_hour) {
  if (!own_calls_per_hour) return {allowance.rate_per_s, allowance.burst};
  const auto an_hour = static_cast<double>(*own_calls_per_hour);
  return {an_hour / 3600, std::min(an_hour, allowance.burst)};
}

}  // namespace gridtorrent::rpc
