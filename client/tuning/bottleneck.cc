#include "client/tuning/bottleneck.h"

#include <algorithm>

namespace gridtorrent::client::tuning {
namespace {

/// A rate that was asked for counts as reached from this part of it on.
constexpr double kReached = 0.9;

}  // namespace

Limit reader_limit(const HostLoad& load) {
  if (load.busiest_thread > kNeverRests || load.held_by_quota > kHeldByQuota) return Limit::kReceiverCpu;
  return load.held_by_disk > kHeldByDisk ? Limit::kDisk : Limit::kUnknown;
}

bool is_reached(double limit_bits_per_s, double bits_per_s) {
  return limit_bits_per_s > 0 && bits_per_s >= kReached * limit_bits_per_s;
}

bool is_paced(const PathFigures& path) {
  return is_reached(path.paced_bits_per_s, path.bits_per_s);
}

bool is_bbr(std::string_view congestion_control) {
  return congestion_control.starts_with(kBbrName);
}

bool uses_bbr(const PathFigures& path) {
  return is_bbr(path.congestion_control);
}

bool grants_bbr(const PeerSample& peer) {
  return std::ranges::find(peer.grants, kBbrName) != peer.grants.end();
}

}  // namespace gridtorrent::client::tuning
