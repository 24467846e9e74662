#include "base/crypto/sealed.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>

#include "base/crypto/digest.h"
#include "base/crypto/keys.h"
#include "base/crypto/random.h"
#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::crypto {
namespace {

using ContextPtr = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

/// One byte that says how it is sealed, nonce, sealed bytes, tag.
constexpr char kVersion = 1;
constexpr std::size_t kNonceBytes = 12, kTagBytes = 16, kOverhead = 1 + kNonceBytes + kTagBytes;
constexpr std::string_view kIdLabel = "gridtorrent sealing key:";

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

SealingKey::SealingKey(const std::array<std::uint8_t, kBytes>& key) : key_(key) {
  const std::string labelled = std::string(kIdLabel) + std::string(as_chars(key_));
  const auto digest = sha256(as_bytes(labelled));
  id_ = hex_encode({digest.data(), 6});
}

SealingKey::~SealingKey() {
  OPENSSL_cleanse(key_.data(), key_.size());
}

Result<SealingKey> SealingKey::load(const std::string& path) {
  GT_ASSIGN(std::string text, read_secret_file(path));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto bytes = hex_decode(text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!bytes || bytes->size() != kBytes) {
    return Error{Code::kCorrupt, escape_for_display(path) +
                                     " holds no sealing key (64 hex digits); restore it from its "
                                     "backup: what it sealed cannot be opened otherwise"};
  }
  std::array<std::uint8_t, kBytes> key{};
  std::ranges::copy(as_bytes(*bytes), key.begin());
  return SealingKey(key);
}

Result<SealingKey> SealingKey::load_or_make(const std::string& path) {
  auto loaded = load(path);
  if (loaded || loaded.error().code != Code::kNotFound) return loaded;
  std::array<std::uint8_t, kBytes> key{};
  random_bytes(key);
  GT_TRY(write_secret_file(path, hex_encode(key) + "\n"));
  return SealingKey(key);
}

std::string SealingKey::seal(std::string_view secret, std::string_view context) const {
  std::string sealed(kOverhead + secret.size(), kVersion);
  unsigned char* const nonce = bytes_of(sealed) + 1;
  unsigned char* const body = nonce + kNonceBytes;
  random_bytes({nonce, kNonceBytes});
  const ContextPtr cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int size = 0;
  const bool done =
      EVP_EncryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), key_.data(), nonce, nullptr) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &size, bytes_of(context), static_cast<int>(context.size())) == 1 &&
      EVP_EncryptUpdate(cipher.get(), body, &size, bytes_of(secret), static_cast<int>(secret.size())) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), body + secret.size(), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, body + secret.size()) == 1;
  GT_CHECK(done);
  return sealed;
}

Result<std::string> SealingKey::open(std::string_view sealed, std::string_view context) const {
  const Error refused{Code::kCorrupt, "a sealed secret does not open: it was altered, or sealed by another key than " +
                                          id_ + " or for something else"};
  if (sealed.size() < kOverhead || sealed.front() != kVersion) return refused;
  const std::string_view nonce = sealed.substr(1, kNonceBytes);
  const std::string_view body = sealed.substr(1 + kNonceBytes, sealed.size() - kOverhead);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string secret(body.size(), '\0');
  const ContextPtr cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int size = 0;
  const bool opened =
      EVP_DecryptInit_ex2(cipher.get(), EVP_aes_256_gcm(), key_.data(), bytes_of(nonce), nullptr) == 1 &&
      EVP_DecryptUpdate(cipher.get(), nullptr, &size, bytes_of(context), static_cast<int>(context.size())) == 1 &&
      EVP_DecryptUpdate(cipher.get(), bytes_of(secret), &size, bytes_of(body), static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(cipher.get(), bytes_of(secret) + secret.size(), &size) == 1;
  if (!opened) {
    OPENSSL_cleanse(secret.data(), secret.size());
    return refused;
  }
  return secret;
}

}  // namespace gridtorrent::crypto
