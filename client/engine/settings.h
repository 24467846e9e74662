#pragma once

#include <cstddef>
#include <cstdint>
#include <libtorrent/settings_pack.hpp>
#include <string>

namespace gridtorrent::client::engine {

/// What settings are sized to.
struct MachineSize {
  int cores = 1;
  std::uint64_t memory_bytes = 0;
};
MachineSize this_machine();

/// libtorrent for managed, few and fast peers: no discovery, no encryption of its own, no choking, no turnover, many
/// lanes a host; disk by pread and pwrite alone, hashing on all cores. `listen_interfaces` in libtorrent's form
/// ("0.0.0.0:50000,…").
lt::settings_pack make_settings(const MachineSize& machine, const std::string& listen_interfaces);

/// For pieces that wait to be hashed (flushed_disk.h): a batch and what comes in meanwhile.
std::size_t piece_memory_bytes(const MachineSize& machine);

}  // namespace gridtorrent::client::engine
