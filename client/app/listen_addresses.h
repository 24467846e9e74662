#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gridtorrent::client::app {

/// What this machine says of its addresses.
struct AddressFacts {
  std::function<bool(const std::string& address)> is_local;  ///< one can listen on it
  std::vector<std::string> towards_server;                   ///< source addresses of connections to the server
};

/// Which addresses lanes listen on: those that are published, for nobody learns of the others, and each takes a socket
/// a port. `declared` (--address) where they are local; where they are not, as behind a router that forwards, or
/// nothing is known, all of that protocol: "0.0.0.0", "::". Without any, those towards the server, which sees them, or
/// what a router on the way makes of them.
std::vector<std::string> choose_listen_addresses(const std::vector<std::string>& declared, const AddressFacts& facts);

/// The way to a server whose name is looked up once. Not thread-safe.
class ServerRoute {
 public:
  /// HOST:PORT. Blocks while the name is looked up.
  explicit ServerRoute(const std::string& server);
  /// As routes are now; asks nobody.
  AddressFacts facts() const;

 private:
  std::shared_ptr<const void> endpoints_;  ///< addrinfo; null: the name is not known
};

}  // namespace gridtorrent::client::app
