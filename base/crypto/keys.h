#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

struct evp_pkey_st;

namespace gridtorrent::crypto {

/// A key pair on NIST's P-256. Cheap to copy (shared, immutable); safe to use from several threads.
class EcKey {
 public:
  static Result<EcKey> make();
  /// PKCS#8 in PEM. kCorrupt: it is no P-256 private key.
  static Result<EcKey> from_pem(std::string_view pem);
  /// Reads `path`; where there is none, makes a key and writes it there, 0600 and synced. kDenied: others may read the
  /// file. kCorrupt, kDisk.
  static Result<EcKey> load_or_make(const std::string& path);

  std::string private_pem() const;
  /// SubjectPublicKeyInfo, DER.
  std::string public_der() const;
  /// ECDSA with SHA-256, DER.
  Result<std::string> sign(std::string_view message) const;

  evp_pkey_st* handle() const { return key_.get(); }

 private:
  explicit EcKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

/// The key of a SubjectPublicKeyInfo in DER form: a point on P-256, uncompressed, the curve by its name. Keys are
/// compared and looked up by these bytes, so each has one spelling only. Empty: it is none.
std::shared_ptr<evp_pkey_st> read_public_key(std::string_view public_der);

/// Whether `signature` over `message` was made by the holder of the key. kInvalid: `public_der` is no P-256 key, or not
/// exactly its canonical SubjectPublicKeyInfo.
Result<bool> verify_signature(std::string_view public_der, std::string_view message, std::string_view signature);

/// Writes a secret: beside, 0600, synced, renamed over `path`, folder synced. kDisk, kDenied.
Status write_secret_file(const std::string& path, std::string_view content);
/// Reads it; kNotFound, kDenied where group or others may read it, kDisk.
Result<std::string> read_secret_file(const std::string& path);

}  // namespace gridtorrent::crypto
