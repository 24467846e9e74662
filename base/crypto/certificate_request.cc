#include "base/crypto/certificate_request.h"

#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <memory>

namespace gridtorrent::crypto {
namespace {

using RequestPtr = std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)>;

Error refused(const std::string& why) {
  return {Code::kInvalid, "the certificate request is refused: " + why};
}

/// What an i2d function of OpenSSL wrote.
std::string taken(unsigned char* der, int size) {
  std::string out;
  if (size > 0) out.assign(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

}  // namespace

Result<std::string> make_certificate_request(const EcKey& key) {
  const RequestPtr request(X509_REQ_new(), X509_REQ_free);
  unsigned char* der = nullptr;
  if (X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.handle()) != 1 ||
      X509_REQ_sign(request.get(), key.handle(), EVP_sha256()) == 0) {
    return Error{Code::kInternal, "OpenSSL could not make a certificate request"};
  }
  const int size = i2d_X509_REQ(request.get(), &der);
  return taken(der, size);
}

Result<std::string> read_certificate_request(std::string_view der) {
  if (der.size() > kMaxCertificateRequestBytes) {
    return refused(std::to_string(der.size()) + " bytes, " + std::to_string(kMaxCertificateRequestBytes) +
                   " are allowed");
  }
  const auto* const begin = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* at = begin;
  const RequestPtr request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der.size())), X509_REQ_free);
  if (!request || at != begin + der.size()) return refused("it is not one PKCS#10 request in DER form");
  unsigned char* key_der = nullptr;
  const int key_size = i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(request.get()), &key_der);
  std::string public_der = taken(key_der, key_size);
  const auto key = read_public_key(public_der);
  if (!key) return refused("its key is no P-256 key");
  if (X509_REQ_get_signature_nid(request.get()) != NID_ecdsa_with_SHA256 ||
      X509_REQ_verify(request.get(), key.get()) != 1) {
    return refused("it is not signed with its own key by ECDSA and SHA-256");
  }
  return public_der;
}

}  // namespace gridtorrent::crypto
