#pragma once

#include <mutex>
#include <string>

#include "common/result.h"

namespace gridtorrent::client::app {

/// The authority that signed the server's certificate.
struct ServerCa {
  std::string file;  ///< as errors name it
  std::string pem;
};

/// What --ca names, else the copy in the data folder. kInvalid: it cannot be read, or was never given.
Result<ServerCa> read_server_ca(const std::string& ca_file, const std::string& data_dir);

/// Keeps a copy of the CA in the data folder, so that later starts need not name the file. The first is kept as soon as
/// the node is enrolled with it; another takes its place only once a server greeted the node over it, so that a wrong
/// --ca does not cost the right copy. Thread-safe.
class ServerCaKeeper {
 public:
  explicit ServerCaKeeper(std::string data_dir) : data_dir_(std::move(data_dir)) {}
  /// What is in use from now on. An error only where the first copy cannot be written.
  Status use(const ServerCa& ca);
  /// A server greeted the node over a connection that this file vouches for.
  Status proven(const std::string& ca_file);

 private:
  const std::string data_dir_;
  std::mutex mutex_;
  ServerCa ca_;
};

}  // namespace gridtorrent::client::app
