#include "client/engine/turns.h"

#include <set>

namespace gridtorrent::client::engine {
namespace {

constexpr std::size_t kManyPieces = 50'000;
constexpr int kRounds = 2, kRoundsForMany = 30;

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27) * 0x94D049BB133111EBU;
  return value ^ value >> 31;
}

std::uint64_t number_of(const NodeId& node) {
  std::uint64_t number = 0;
  for (const auto byte : node.bytes()) number = mixed(number ^ static_cast<std::uint8_t>(byte));
  return number;
}

}  // namespace

Turns::Turns(const NodeId& self, std::span<const NodeId> fetching) {
  std::set<NodeId> others(fetching.begin(), fetching.end());
  others.erase(self);
  self_ = number_of(self);
  for (const NodeId& other : others) others_.push_back(number_of(other));
}

int Turns::of(std::uint32_t piece) const {
  if (others_.empty()) return kAnybodys;
  const std::uint64_t salt = mixed(piece), own = mixed(self_ ^ salt);
  int before = 0;
  for (std::size_t i = 0; i < others_.size() && before < kAnybodys; ++i) {
    if (mixed(others_[i] ^ salt) > own) ++before;
  }
  return before;
}

std::optional<std::pair<Turns, Turns>> TurnsInForce::change(const Turns& due, std::size_t pieces, bool at_once) {
  if (due == turns_) return std::nullopt;
  if (++rounds_ < (pieces > kManyPieces ? kRoundsForMany : kRounds) && !at_once) return std::nullopt;
  rounds_ = 0;
  return std::pair(std::exchange(turns_, due), due);
}

}  // namespace gridtorrent::client::engine
