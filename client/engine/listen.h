#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/engine.h"
#include "common/result.h"

namespace gridtorrent::client::engine {

/// One socket to listen on. TLS ones get libtorrent's 's' suffix.
struct ListenSocket {
  std::string address;
  std::uint16_t port = 0;
  bool tls = false;
};

inline constexpr int kFreePorts = 16;

/// Which sockets to open: every port of the range that is not in use, or kFreePorts free ones, on every address. A
/// wildcard of a protocol that this machine does not have is left out. Refuses what is no numeric address, an empty or
/// reversed range, and a range of which all are in use (Code::kConflict, so that the caller can try again).
Result<std::vector<ListenSocket>> choose_listen_sockets(const EngineOptions& options);

/// The same ports on other addresses.
std::vector<ListenSocket> on_addresses(const std::vector<ListenSocket>& sockets,
                                       const std::vector<std::string>& addresses);

/// "0.0.0.0:50000,[::]:50000".
std::string to_listen_interfaces(const std::vector<ListenSocket>& sockets);

}  // namespace gridtorrent::client::engine
