#include "base/crypto/certificate_request.h"
#include "common/hex.h"
#include "common/result.h"
#include "tests/fuzz/targets.h"

namespace gridtorrent::fuzz {

/// Whatever is accepted is within the limit, and its key is one that certificates are made for.
void certificate_request(std::span<const std::uint8_t> input) {
  const auto key = crypto::read_certificate_request(as_chars(input));
  if (!key) return;
  GT_CHECK(input.size() <= crypto::kMaxCertificateRequestBytes);
  GT_CHECK(crypto::read_public_key(*key) != nullptr);
}

}  // namespace gridtorrent::fuzz
