#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/crypto/keys.h"
#include "common/result.h"

namespace gridtorrent::crypto {

inline constexpr std::size_t kMaxCertificateRequestBytes = 4096;

/// A certificate request (PKCS#10, DER) that proves that its sender has the key. It names nobody.
Result<std::string> make_certificate_request(const EcKey& key);

/// The key of a request, as SubjectPublicKeyInfo in DER form; names and extensions that it asks for count for nothing.
/// kInvalid, with what is wrong: too long, no request or more than one, no P-256 key, not signed with that key by ECDSA
/// and SHA-256.
Result<std::string> read_certificate_request(std::string_view der);

}  // namespace gridtorrent::crypto
