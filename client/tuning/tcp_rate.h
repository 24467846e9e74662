#pragma once

#include <chrono>
#include <string_view>

namespace gridtorrent::client::tuning {

/// One connection's path as its sender's TCP meets it.
struct LossyPath {
  std::chrono::microseconds round_trip{0};
  double loss_events_per_segment = 0;
  double segment_bytes = 1448;  ///< payload of a full segment
};

/// The rate that a connection comes to, bits a second of payload, once slow start's window is gone.
/// Reno and those that are not known: 1.22/√p segments a round trip (Mathis and others, 1997). CUBIC: the greater one
/// of that and 1.054·(RTT/p)^0.75 (RFC 9438, 5.1 with C = 0.4 and β = 0.7; RTT in seconds). BBR does not answer random
/// losses with a smaller window: infinite. Infinite as well without losses.
double long_run_bits_per_s(const LossyPath& path, std::string_view congestion_control);

}  // namespace gridtorrent::client::tuning
