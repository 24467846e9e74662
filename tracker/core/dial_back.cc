#include "tracker/core/dial_back.h"

#include <algorithm>
#include <optional>

#include "tracker/core/address.h"

namespace gridtorrent::tracker {

namespace {

constexpr std::uint16_t kFirstUnprivilegedPort = 1024;
constexpr auto kBudgetWindow = std::chrono::seconds(60);
constexpr std::size_t kSweepAbove = 1024;

bool is_own(const Address& address, const std::vector<std::string>& server_addresses) {
  return address.is_loopback() || std::any_of(server_addresses.begin(), server_addresses.end(),
                                              [&](const auto& own) { return Address::parse(own) == address; });
}

}  // namespace

DialBackChoice may_dial_back(const Endpoint& endpoint, const DialBackFacts& facts) {
  if (endpoint.port < kFirstUnprivilegedPort) return {false, "ports below 1024 are not tried"};
  const auto address = Address::parse(endpoint.address);
  if (!address) return {false, "no numeric address"};
  if (address->is_unspecified() || address->is_multicast() || address->is_broadcast()) {
    return {false, "no address of a single host"};
  }
  const auto observed = Address::parse(facts.observed_address);
  const bool same_host = observed && is_own(*observed, facts.server_addresses);
  if (is_own(*address, facts.server_addresses)) {
    return same_host ? DialBackChoice{true, ""} : DialBackChoice{false, "an address of the server itself"};
  }
  if (observed && *observed == *address) return {true, ""};
  if (address->is_link_local()) return {false, "a link-local address"};
  if (observed && Network::around(*observed).contains(*address)) return {true, ""};
  const auto has_it = [&](const Network& network) { return network.contains(*address); };
  if (std::any_of(facts.allowed.begin(), facts.allowed.end(), has_it)) return {true, ""};
  return {false, "neither in the network that the node is seen in, nor in one that --dial-back-allow names"};
}

std::size_t DialBackBudget::take(const NodeId& node, std::size_t wanted, MonoTime now) {
  const std::lock_guard lock(mutex_);
  const auto is_old = [now](MonoTime at) { return now - at >= kBudgetWindow; };
  if (used_.size() > kSweepAbove) {
    std::erase_if(used_, [&](const auto& entry) { return entry.second.empty() || is_old(entry.second.back()); });
  }
  auto& used = used_[node];
  while (!used.empty() && is_old(used.front())) used.pop_front();
  const std::size_t granted = std::min(wanted, kDialBacksPerMinute - used.size());
  used.insert(used.end(), granted, now);
  return granted;
}

}  // namespace gridtorrent::tracker
