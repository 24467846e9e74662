#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace gridtorrent::wan {

/// What one address of a host can do. Rates and queue sizes count IP packets with their headers.
struct LinkSpec {
  std::uint64_t up_bits_per_s = 0, down_bits_per_s = 0;  ///< 0: no limit
  std::uint64_t flow_bits_per_s = 0;                     ///< of each flow that leaves; 0: no limit
  double delay_ms = 0;                                   ///< one way, to the middle: RTT = 2 × (both ends' delays)
  double loss = 0;                                       ///< probability, of packets that leave and of those that come
  std::optional<std::uint64_t> queue_bytes;              ///< each of the shapers; nothing: 100 ms at its rate
};

struct AddressSpec {
  std::uint32_t ip = 0;  ///< host byte order
  LinkSpec link;
};

struct HostSpec {
  std::string name;
  std::vector<AddressSpec> addresses;
};

/// New values for some of a link's; the rest stays.
struct Change {
  double at_s = 0;  ///< after "start"
  std::string host;
  std::uint32_t ip = 0;  ///< 0: all addresses of the host
  std::optional<std::uint64_t> up_bits_per_s, down_bits_per_s, flow_bits_per_s, queue_bytes;
  std::optional<double> delay_ms, loss;
};

LinkSpec changed(LinkSpec link, const Change& change);

/// A wide area, as bench/wide/*.json describe it under "network".
struct Scenario {
  std::uint32_t mtu = 1500;
  std::uint64_t seed = 1;  ///< of random losses
  std::vector<HostSpec> hosts;
  std::vector<Change> changes;  ///< by time
};

/// Refuses unknown keys, addresses outside of 198.18.0.0/15 (RFC 2544: set aside for benchmarks) or given twice, hosts
/// without address, and values out of range; the message names the place.
Result<Scenario> parse_scenario(std::string_view json);

/// One line of standard input while the emulator runs: {"do": "start"}, {"do": "stats"}, {"do": "change", "host": ...,
/// "up": ...}, {"do": "reseed", "seed": ...}, or {"do": "reset"}.
struct Command {
  enum class Kind { kStart, kStats, kDrops, kChange, kReseed, kReset } kind = Kind::kStats;
  Change change;
  std::uint64_t seed = 1;  ///< of random losses
};
Result<Command> parse_command(std::string_view json);

/// Whether there is such a host, and whether it has such an address.
Status check_place(const Scenario& scenario, const Change& change);

std::string show_ip(std::uint32_t ip);

}  // namespace gridtorrent::wan
