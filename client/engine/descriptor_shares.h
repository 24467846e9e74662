#pragma once

#include <cstddef>
#include <cstdint>

#include "client/engine/half_open.h"

namespace gridtorrent::client::engine {

/// What the process's descriptors (RLIMIT_NOFILE) are for, so that none of its parts takes them all.
struct DescriptorShares {
  int connections = 0;  ///< lanes, and what may become one
  int open_files = 0;   ///< data files that libtorrent keeps open
  HalfOpenLimits half_open;
};

/// Files and sockets that this process may have open at once (RLIMIT_NOFILE).
std::uint64_t most_descriptors();

/// `limit`: of the process. `listening`: lane sockets. Enough is left for database, logs, control socket and the
/// server's connection.
DescriptorShares share_descriptors(std::uint64_t limit, std::size_t listening);

}  // namespace gridtorrent::client::engine
