#include "base/crypto/digest.h"

#include <openssl/evp.h>

#include "common/check.h"

namespace gridtorrent::crypto {

namespace {

template <std::size_t N>
std::array<std::uint8_t, N> digest_once(const EVP_MD* algorithm, std::span<const std::uint8_t> data) {
  std::array<std::uint8_t, N> out{};
  unsigned length = 0;
  GT_CHECK(EVP_Digest(data.data(), data.size(), out.data(), &length, algorithm, nullptr) == 1 && length == N);
  return out;
}

// Fetched once: the implicit fetch of EVP_sha256() costs more than hashing a short message.
const EVP_MD* fetched(const char* name) {
  const EVP_MD* algorithm = EVP_MD_fetch(nullptr, name, nullptr);
  GT_CHECK(algorithm != nullptr);
  return algorithm;
}

const EVP_MD* sha1_algorithm() {
  static const EVP_MD* const algorithm = fetched("SHA1");
  return algorithm;
}

const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = fetched("SHA256");
  return algorithm;
}

}  // namespace

Sha1Digest sha1(std::span<const std::uint8_t> data) {
  return digest_once<20>(sha1_algorithm(), data);
}

Sha256Digest sha256(std::span<const std::uint8_t> data) {
  return digest_once<32>(sha256_algorithm(), data);
}

struct Sha256Stream::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Impl() { GT_CHECK(context != nullptr && EVP_DigestInit_ex2(context, sha256_algorithm(), nullptr) == 1); }
  ~Impl() { EVP_MD_CTX_free(context); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
};

Sha256Stream::Sha256Stream() : impl_(std::make_unique<Impl>()) {}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::update(std::span<const std::uint8_t> data) {
  GT_CHECK(EVP_DigestUpdate(impl_->context, data.data(), data.size()) == 1);
}

Sha256Digest Sha256Stream::finish() {
  Sha256Digest out{};
  unsigned length = 0;
  GT_CHECK(EVP_DigestFinal_ex(impl_->context, out.data(), &length) == 1 && length == out.size());
  return out;
}

}  // namespace gridtorrent::crypto
