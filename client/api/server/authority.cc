#include "client/api/server/authority.h"

#include <fstream>
#include <sstream>

#include "base/crypto/certificates.h"
#include "base/crypto/tls_probe.h"
#include "base/rpc/channel.h"
#include "common/text.h"

namespace gridtorrent::client::api {

Result<ShownAuthority> probe_authority(const std::string& address) {
  GT_ASSIGN(const rpc::HostPort at, rpc::parse_host_port(address));
  const Result<std::string> pem = crypto::shown_authority(at.host, at.port);
  if (!pem) return pem.error().with_context("the server " + escape_for_display(address) + " cannot be asked who it is");
  GT_ASSIGN(std::string digest, crypto::certificate_digest(*pem));
  return ShownAuthority{*pem, std::move(digest)};
}

Result<std::string> authority_sha256(const std::string& ca_file) {
  std::ifstream file(ca_file, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{Code::kInvalid, "the CA file " + escape_for_display(ca_file) + " cannot be read"};
  Result<std::string> digest = crypto::certificate_digest(text.str());
  if (!digest)
    return Error{Code::kInvalid, "the CA file " + escape_for_display(ca_file) + ": " + digest.error().message};
  return digest;
}

}  // namespace gridtorrent::client::api
