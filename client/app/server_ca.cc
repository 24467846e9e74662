#include "client/app/server_ca.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/crypto/keys.h"
#include "common/text.h"

namespace gridtorrent::client::app {
namespace {

std::string copy_in(const std::string& data_dir) {
  return data_dir + "/server_ca.pem";
}

}  // namespace

Result<ServerCa> read_server_ca(const std::string& ca_file, const std::string& data_dir) {
  ServerCa ca{ca_file.empty() ? copy_in(data_dir) : ca_file, {}};
  std::ifstream file(ca.file, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (file && !text.str().empty()) {
    ca.pem = text.str();
    return ca;
  }
  if (ca_file.empty()) {
    return Error{Code::kInvalid,
                 "--ca is needed: the certificate of the authority that signed the server's "
                 "(the server's ready file names it as ca_file)"};
  }
  return Error{Code::kInvalid, "--ca " + escape_for_display(ca_file) +
                                   " is missing, empty or not to be read; name the server's CA file"};
}

Status ServerCaKeeper::use(const ServerCa& ca) {
  const std::lock_guard lock(mutex_);
  ca_ = ca;
  const std::string copy = copy_in(data_dir_);
  if (::access(copy.c_str(), F_OK) == 0) return {};
  return crypto::write_secret_file(copy, ca.pem);
}

Status ServerCaKeeper::proven(const std::string& ca_file) {
  const std::lock_guard lock(mutex_);
  const std::string copy = copy_in(data_dir_);
  if (ca_file != ca_.file || ca_file == copy) return {};
  return crypto::write_secret_file(copy, ca_.pem);
}

}  // namespace gridtorrent::client::app
