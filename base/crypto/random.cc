#include "base/crypto/random.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>

#include "common/check.h"

namespace gridtorrent::crypto {

void random_bytes(std::span<std::uint8_t> out) {
  GT_CHECK(RAND_bytes(out.data(), static_cast<int>(out.size())) == 1);
}

std::string random_base62(std::size_t characters) {
  static constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string out;
  std::array<std::uint8_t, 64> pool{};
  while (out.size() < characters) {
    random_bytes(pool);
    for (const std::uint8_t byte : pool) {
      // 248 = 4 × 62: larger values would make the first letters likelier.
      if (byte < 248 && out.size() < characters) out.push_back(kAlphabet[byte % 62]);
    }
  }
  OPENSSL_cleanse(pool.data(), pool.size());
  return out;
}

bool equal_in_constant_time(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace gridtorrent::crypto
