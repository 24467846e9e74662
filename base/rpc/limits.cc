#include "base/rpc/limits.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/net/address.h"
#include "base/rpc/backend_name.h"
#include "common/ids.h"
#include "common/units.h"

namespace gridtorrent::rpc {

Status RateLimiter::take(std::string_view what, const std::string& key, MonoTime now) {
  return take(what, key, now, {options_.rate_per_s, options_.burst});
}

Status RateLimiter::take(std::string_view what, const std::string& key, MonoTime now, const Rate& rate) {
  if (rate.per_s <= 0 || rate.burst < 1) {
    return Error{Code::kExhausted, std::string(what) + ": the account's quota allows none; ask the administrator"};
  }
  const std::lock_guard lock(mutex_);
  if (buckets_.size() >= options_.max_keys && !buckets_.contains(key)) forget_full(now);
  if (buckets_.size() >= options_.max_keys && !buckets_.contains(key)) {
    return Error{Code::kBusy, std::string(what) + ": too many callers at once; try again in a minute"};
  }
  auto [it, fresh] = buckets_.try_emplace(key, Bucket{rate.burst, now});
  Bucket& bucket = it->second;
  const double passed_s = std::chrono::duration<double>(now - bucket.at).count();
  bucket.filled = std::min(rate.burst, bucket.filled + std::max(0.0, passed_s) * rate.per_s);
  bucket.at = now;
  if (bucket.filled >= 1) {
    bucket.filled -= 1;
    return {};
  }
  const auto wait = std::chrono::milliseconds(std::llround(std::ceil((1 - bucket.filled) / rate.per_s * 1000)));
  return Error{Code::kBusy, std::string(what) + ": too often; try again in " +
                                format_duration(std::max(wait, std::chrono::milliseconds(1000)))};
}

void RateLimiter::forget_full(MonoTime now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    const double passed_s = std::chrono::duration<double>(now - entry.second.at).count();
    return entry.second.filled + passed_s * options_.rate_per_s >= options_.burst;
  });
}

bool ConcurrencyLimiter::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_[key];
  if (used >= limit_) return false;
  ++used;
  return true;
}

void ConcurrencyLimiter::give_back(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto it = used_.find(key);
  if (it != used_.end() && --it->second == 0) used_.erase(it);
}

ConcurrencyLimiter& StreamPlaces::all(const std::string& caller_id) {
  return NodeId::parse(caller_id) ? of_nodes_ : of_people_;
}

bool StreamPlaces::take(const std::string& caller_id) {
  if (!all(caller_id).take("")) return false;
  if (of_caller_.take(caller_id)) return true;
  all(caller_id).give_back("");
  return false;
}

void StreamPlaces::give_back(const std::string& caller_id) {
  of_caller_.give_back(caller_id);
  all(caller_id).give_back("");
}

bool MemoryBudget::take(const std::string& holder, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(holder);
  const std::size_t held = found == held_.end() ? 0 : found->second;
  if (bytes > left_ || bytes > per_holder_ - held) return false;
  left_ -= bytes;
  if (bytes > 0) held_[holder] += bytes;
  return true;
}

void MemoryBudget::give_back(const std::string& holder, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  left_ += bytes;
  const auto found = held_.find(holder);
  found->second -= bytes;
  if (found->second == 0) held_.erase(found);
}

std::string peer_address(std::string_view grpc_peer) {
  std::string text(grpc_peer);
  if (const auto behind_guard = parse_backend_name(text)) return behind_guard->ip;
  const bool v4 = text.starts_with("ipv4:");
  const bool v6 = text.starts_with("ipv6:");
  if (!v4 && !v6) return text;
  text.erase(0, 5);
  const auto colon = text.rfind(':');
  if (colon != std::string::npos) text.resize(colon);
  for (const std::string_view bracket : {"%5B", "%5D", "[", "]"}) {
    for (auto at = text.find(bracket); at != std::string::npos; at = text.find(bracket)) text.erase(at, bracket.size());
  }
  // A zone is percent-encoded too ("%25eth0"): of no use outside of this host.
  if (const auto zone = text.find('%'); zone != std::string::npos) text.resize(zone);
  in6_addr address{};
  if (v6 && inet_pton(AF_INET6, text.c_str(), &address) == 1 && IN6_IS_ADDR_V4MAPPED(&address)) {
    std::array<char, INET_ADDRSTRLEN> mapped{};
    if (inet_ntop(AF_INET, &address.s6_addr[12], mapped.data(), mapped.size()) != nullptr) return mapped.data();
  }
  return text;
}

std::string address_bucket(std::string_view address) {
  return net::address_bucket(address);
}

}  // namespace gridtorrent::rpc
