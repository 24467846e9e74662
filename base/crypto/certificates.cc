#include "base/crypto/certificates.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::crypto {

namespace {

using X509Ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free_all)>;

Error openssl_error(const std::string& what) {
  return {Code::kInternal, "OpenSSL could not " + what};
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> out{};
  return inet_pton(AF_INET, name.c_str(), out.data()) == 1 || inet_pton(AF_INET6, name.c_str(), out.data()) == 1;
}

X509Ptr parse(std::string_view pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free_all);
  return {PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free};
}

Result<std::string> to_pem(X509* certificate) {
  const BioPtr bio(BIO_new(BIO_s_mem()), BIO_free_all);
  if (PEM_write_bio_X509(bio.get(), certificate) != 1) return openssl_error("write a certificate");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool set_time(ASN1_TIME* field, WallTime time) {
  return ASN1_TIME_adj(field, static_cast<time_t>(time.ms / 1000), 0, 0) != nullptr;
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()), X509_EXTENSION_free);
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> serial(BN_new(), BN_free);
  return BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_common_name(X509_NAME* name, const std::string& text) {
  return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

/// All but extensions and signature.
bool fill(X509* certificate, const std::string& common_name, EVP_PKEY* key, WallTime from, WallTime to) {
  return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) &&
         set_common_name(X509_get_subject_name(certificate), common_name) && X509_set_pubkey(certificate, key) == 1 &&
         set_time(X509_getm_notBefore(certificate), from) && set_time(X509_getm_notAfter(certificate), to);
}

WallTime from_asn1(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {static_cast<std::int64_t>(timegm(&parts)) * 1000};
}

std::vector<std::string> sorted_unique(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// One spelling for each address, so that names can be compared.
std::string canonical(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  for (const int family : {AF_INET, AF_INET6}) {
    if (inet_pton(family, name.c_str(), address.data()) == 1) {
      return inet_ntop(family, address.data(), text.data(), text.size());
    }
  }
  return to_lower_ascii(name);
}

std::vector<std::string> canonical_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(canonical(name));
  return sorted_unique(std::move(out));
}

std::vector<std::string> alternative_names(X509* certificate) {
  std::vector<std::string> out;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      std::array<char, INET6_ADDRSTRLEN> text{};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      if (inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text.data(), text.size()) != nullptr) {
        out.emplace_back(text.data());
      }
    }
  }
  return sorted_unique(std::move(out));
}

/// What sets one leaf apart from another.
struct Leaf {
  std::string common_name;
  EVP_PKEY* key;
  std::string usages, alternatives;
};

Result<std::string> issue(const Authority& authority, X509* issuer, const Leaf& leaf, WallTime now,
                          std::chrono::milliseconds life) {
  const WallTime authority_end = from_asn1(X509_get0_notAfter(issuer));
  const X509Ptr certificate(X509_new(), X509_free);
  X509* const x509 = certificate.get();
  const bool made = fill(x509, leaf.common_name, leaf.key, now - kBackDating, std::min(now + life, authority_end)) &&
                    X509_set_issuer_name(x509, X509_get_subject_name(issuer)) == 1 &&
                    add_extension(x509, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
                    add_extension(x509, issuer, NID_key_usage, "critical,digitalSignature") &&
                    add_extension(x509, issuer, NID_ext_key_usage, leaf.usages) &&
                    add_extension(x509, issuer, NID_subject_key_identifier, "hash") &&
                    add_extension(x509, issuer, NID_authority_key_identifier, "keyid") &&
                    add_extension(x509, issuer, NID_subject_alt_name, leaf.alternatives) &&
                    X509_sign(x509, authority.key.handle(), EVP_sha256()) != 0;
  if (!made) return openssl_error("make a certificate for " + escape_for_display(leaf.alternatives));
  return to_pem(x509);
}

}  // namespace

Result<Authority> make_authority(const std::string& common_name, WallTime now, std::chrono::milliseconds life) {
  GT_ASSIGN(EcKey key, EcKey::make());
  const X509Ptr certificate(X509_new(), X509_free);
  X509* const x509 = certificate.get();
  const bool made = fill(x509, common_name, key.handle(), now - kBackDating, now + life) &&
                    X509_set_issuer_name(x509, X509_get_subject_name(x509)) == 1 &&
                    add_extension(x509, x509, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    add_extension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    add_extension(x509, x509, NID_subject_key_identifier, "hash") &&
                    X509_sign(x509, key.handle(), EVP_sha256()) != 0;
  if (!made) return openssl_error("make a certificate authority");
  GT_ASSIGN(std::string pem, to_pem(x509));
  return Authority{std::move(pem), std::move(key)};
}

Result<std::string> issue_server_certificate(const Authority& authority, const EcKey& key,
                                             const std::vector<std::string>& names, WallTime now,
                                             std::chrono::milliseconds life) {
  const X509Ptr issuer = parse(authority.certificate_pem);
  if (!issuer) return Error{Code::kCorrupt, "the certificate of the server's CA is not readable"};
  std::string alternatives;
  for (const std::string& name : canonical_names(names)) {
    // A comma would begin another entry of OpenSSL's little language.
    if (name.empty() || name.find_first_of(std::string_view(",\n\r\0", 4)) != std::string::npos ||
        !is_valid_utf8(name)) {
      return Error{Code::kInvalid, "'" + escape_for_display(name) + "' is no host name for a certificate"};
    }
    alternatives += (alternatives.empty() ? "" : ",") + std::string(is_address(name) ? "IP:" : "DNS:") + name;
  }
  return issue(authority, issuer.get(), {"gridtorrent-server", key.handle(), "serverAuth", alternatives}, now, life);
}

Result<std::string> issue_node_certificate(const Authority& authority, std::string_view public_der, WallTime now,
                                           std::chrono::milliseconds life) {
  const X509Ptr issuer = parse(authority.certificate_pem);
  if (!issuer) return Error{Code::kCorrupt, "the certificate of the data CA is not readable"};
  const auto key = read_public_key(public_der);
  if (!key) return Error{Code::kInvalid, "the node's key is no P-256 key as SubjectPublicKeyInfo in DER form"};
  return issue(authority, issuer.get(), {"gridtorrent-node", key.get(), "serverAuth,clientAuth", "DNS:*"}, now, life);
}

Result<CertificateFacts> read_certificate(std::string_view pem) {
  const X509Ptr certificate = parse(pem);
  if (!certificate) return Error{Code::kCorrupt, "no readable certificate in PEM form"};
  CertificateFacts facts;
  facts.not_before = from_asn1(X509_get0_notBefore(certificate.get()));
  facts.not_after = from_asn1(X509_get0_notAfter(certificate.get()));
  facts.names = alternative_names(certificate.get());
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate.get()), &der);
  if (size > 0) facts.public_der.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return facts;
}

Result<std::string> certificate_digest(std::string_view pem) {
  const X509Ptr certificate = parse(pem);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  unsigned int size = 0;
  if (!certificate) return Error{Code::kCorrupt, "it holds no certificate in PEM form"};
  if (X509_digest(certificate.get(), EVP_sha256(), digest.data(), &size) != 1)
    return openssl_error("hash a certificate");
  return hex_encode(digest);
}

Result<bool> is_signed_by(std::string_view certificate_pem, std::string_view authority_pem) {
  const X509Ptr certificate = parse(certificate_pem);
  const X509Ptr issuer = parse(authority_pem);
  if (!certificate || !issuer) return Error{Code::kCorrupt, "no readable certificate in PEM form"};
  return X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) == 1;
}

bool needs_reissue(const CertificateFacts& facts, std::vector<std::string> wanted_names, WallTime now) {
  if (canonical_names(wanted_names) != facts.names || now < facts.not_before) return true;
  const auto life = facts.not_after - facts.not_before;
  return now - facts.not_before > life / 3 * 2;
}

}  // namespace gridtorrent::crypto
