#pragma once

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

/// Keeps a copy, so that later starts need not name the file.
Status remember_server_ca(const ServerCa& ca, const std::string& data_dir);

}  // namespace gridtorrent::client::app
