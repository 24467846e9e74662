#include "client/core/path_history.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "client/tuning/start.h"

namespace gridtorrent::client {
namespace {

/// Below this the end of a get takes as long whatever its size.
constexpr std::uint64_t kTellingBytes = 10'000'000;

/// `address` without its last `host_bytes`; empty where it is no address of the family.
std::string masked(int family, std::string address, std::size_t bytes, std::size_t host_bytes) {
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  if (::inet_pton(family, address.c_str(), binary.data()) != 1) return "";
  std::fill(binary.begin() + static_cast<std::ptrdiff_t>(bytes - host_bytes), binary.end(), 0);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, binary.data(), text.data(), text.size()) == nullptr) return "";
  return std::string(text.data()) + "/" + std::to_string((bytes - host_bytes) * 8);
}

bool is_long(const ControllerInput& input) {
  return input.bytes_left >= tuning::kLongBytes;
}

}  // namespace

std::string network_of(const std::string& endpoint) {
  const auto colon = endpoint.rfind(':');
  if (colon == std::string::npos) return "";
  std::string address = endpoint.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.find_first_of("%]") - 1);
    return masked(AF_INET6, address, 16, 8);
  }
  return masked(AF_INET, address, 4, 1);
}

Status PathHistory::restore(WallTime now) {
  GT_ASSIGN(const std::vector<PathRecord> rows, store_.paths());
  for (const auto& row : rows) records_[row.key] = row;
  const auto old = tuning::outdated(records_, now);
  for (const auto& key : old) records_.erase(key);
  return old.empty() ? Status() : store_.erase_paths(old);
}

std::optional<PathMemory> PathHistory::memory(const NodeId& node, const std::string& network, bool long_transfer,
                                              const TransferId& except, WallTime now) const {
  for (const auto& [transfer, witness] : witnesses_) {
    if (transfer == except) continue;
    if (const auto seen = witness.so_far(node)) return PathMemory{*seen, 0, {}};
  }
  return tuning::recall(records_, {node, network, long_transfer}, now);
}

std::vector<PathMemory> PathHistory::memories(const ControllerInput& input, WallTime now) const {
  std::vector<PathMemory> all;
  for (const auto& peer : input.peers) {
    auto known = memory(peer.node, peer.network, is_long(input), input.transfer, now);
    if (known) all.push_back(std::move(*known));
  }
  return all;
}

void PathHistory::look(const ControllerInput& input, const Plan& plan, const Findings& findings) {
  witnesses_[input.transfer].look(input, plan, findings);
}

void PathHistory::ended(const TransferId& transfer, bool whole, WallTime now) {
  const auto found = witnesses_.find(transfer);
  if (found == witnesses_.end()) return;
  for (const auto& facts : found->second.facts(whole)) remember(facts, now);
  witnesses_.erase(found);
}

void PathHistory::finished(std::uint64_t bytes, std::chrono::milliseconds time) {
  if (bytes < kTellingBytes) return;
  const double rate = static_cast<double>(bytes) * 1e3 / static_cast<double>(std::max<std::int64_t>(time.count(), 1));
  finish_bytes_per_s_ = finish_bytes_per_s_ > 0 ? (finish_bytes_per_s_ + rate) / 2 : rate;
}

std::chrono::milliseconds PathHistory::to_finish(std::uint64_t bytes) const {
  if (finish_bytes_per_s_ <= 0) return {};
  return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(bytes) * 1e3 / finish_bytes_per_s_));
}

double PathHistory::best_bits_per_s(const std::string& network) const {
  std::uint64_t best = 0;
  for (const auto& [key, record] : records_) {
    if (key.network == network) best = std::max(best, record.facts.best_bits_per_s);
  }
  return static_cast<double>(best);
}

void PathHistory::all_ended(WallTime now) {
  while (!witnesses_.empty()) ended(witnesses_.begin()->first, false, now);
}

void PathHistory::remember(const PathFacts& facts, WallTime now) {
  const auto key = tuning::key_of(facts);
  const auto before = records_.find(key);
  const auto record = tuning::with_transfer(
      before == records_.end() ? std::optional<PathRecord>() : std::optional(before->second), facts, now);
  records_[key] = record;
  Status kept = store_.put_path(record);
  const auto old = tuning::outdated(records_, now);
  for (const auto& gone : old) records_.erase(gone);
  if (kept && !old.empty()) kept = store_.erase_paths(old);
  if (!kept)
    log_(NodeLogLevel::kWarning, "what the path from " + facts.node.str() + " carries: " + kept.error().message);
}

std::vector<PathRecord> PathHistory::list() const {
  std::vector<PathRecord> all;
  for (const auto& [key, record] : records_) all.push_back(record);
  std::ranges::stable_sort(all, std::ranges::greater(), &PathRecord::last);
  return all;
}

Result<std::vector<PathRecord>> PathHistory::forget(const std::optional<NodeId>& node) {
  std::vector<PathRecord> gone;
  std::vector<PathKey> keys;
  for (const auto& [key, record] : records_) {
    if (node && key.node != *node) continue;
    gone.push_back(record);
    keys.push_back(key);
  }
  GT_TRY(store_.erase_paths(keys));
  for (const auto& key : keys) records_.erase(key);
  for (auto& [transfer, witness] : witnesses_) witness.forget(node);
  return gone;
}

}  // namespace gridtorrent::client
