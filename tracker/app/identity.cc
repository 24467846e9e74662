#include "tracker/app/identity.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "base/crypto/tls_server.h"
#include "common/text.h"
#include "tracker/app/data_folder.h"

namespace gridtorrent::tracker::app {

namespace {

/// Nothing where there is no such file.
std::optional<std::string> read_public_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<crypto::Authority> ensure_authority(const std::string& ca_file, const std::string& key_file, WallTime now) {
  const auto certificate = read_public_file(ca_file);
  const Result<std::string> key_pem = crypto::read_secret_file(key_file);
  if (!key_pem && key_pem.error().code != Code::kNotFound) return key_pem.error();
  if (!certificate) {
    // The key is written before the certificate: a key alone is a first start that was cut short.
    const std::string name = "GridTorrent server CA " + to_rfc3339(now).substr(0, 10);
    GT_ASSIGN(crypto::Authority made, crypto::make_authority(name, now));
    GT_TRY(crypto::write_secret_file(key_file, made.key.private_pem()));
    GT_TRY(write_public_file(ca_file, made.certificate_pem));
    return made;
  }
  if (!key_pem) {
    return Error{Code::kCorrupt,
                 escape_for_display(key_file) + " is missing, but " + escape_for_display(ca_file) +
                     " is there: restore it from your copy; without it clients trust no new certificate"};
  }
  GT_ASSIGN(crypto::EcKey key, crypto::EcKey::from_pem(*key_pem));
  const Result<crypto::CertificateFacts> facts = crypto::read_certificate(*certificate);
  if (!facts) return facts.error().with_context(escape_for_display(ca_file));
  if (facts->public_der != key.public_der()) {
    return Error{Code::kCorrupt, escape_for_display(ca_file) + " and " + escape_for_display(key_file) +
                                     " do not belong together: restore both from the same copy"};
  }
  return crypto::Authority{*certificate, std::move(key)};
}

bool is_still_good(const std::string& pem, const crypto::Authority& authority, const std::vector<std::string>& names,
                   WallTime now) {
  const auto facts = crypto::read_certificate(pem);
  const auto signed_by_ours = crypto::is_signed_by(pem, authority.certificate_pem);
  const bool has_its_key = crypto::TlsServerContext::from_pem(pem, "h2").ok();
  return has_its_key && facts && signed_by_ours && *signed_by_ours && !crypto::needs_reissue(*facts, names, now);
}

}  // namespace

Result<Identity> ensure_identity(const std::string& data_dir, const std::vector<std::string>& names, WallTime now) {
  Identity identity;
  identity.ca_file = data_dir + "/ca.pem";
  identity.pem_file = data_dir + "/tls.pem";
  GT_ASSIGN(const crypto::Authority authority, ensure_authority(identity.ca_file, data_dir + "/ca-key.pem", now));
  const Result<std::string> present = crypto::read_secret_file(identity.pem_file);
  if (!present && present.error().code != Code::kNotFound) return present.error();
  if (present && is_still_good(*present, authority, names, now)) return identity;
  GT_ASSIGN(const crypto::EcKey key, crypto::EcKey::make());
  GT_ASSIGN(const std::string leaf, crypto::issue_server_certificate(authority, key, names, now));
  GT_TRY(crypto::write_secret_file(identity.pem_file, key.private_pem() + leaf + authority.certificate_pem));
  identity.reissued = true;
  return identity;
}

bool is_unspecified(const std::string& host) {
  return host == "0.0.0.0" || host == "::" || host.empty();
}

std::vector<std::string> certificate_names(const std::string& advertised_host, const std::string& listen_host) {
  std::vector<std::string> names{"localhost", "127.0.0.1", "::1"};
  std::array<char, 256> own_name{};
  if (::gethostname(own_name.data(), own_name.size() - 1) == 0 && own_name.front() != '\0') {
    names.emplace_back(own_name.data());
  }
  for (const std::string& host : {advertised_host, listen_host}) {
    if (!is_unspecified(host)) names.push_back(host);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace gridtorrent::tracker::app
