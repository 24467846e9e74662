#include "base/crypto/password.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <vector>

#include "base/crypto/random.h"

namespace gridtorrent::crypto {

namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{256} << 20;

using Bytes = std::vector<std::uint8_t>;

struct Phc {
  ScryptCost cost;
  Bytes salt, hash;
};

std::string encode_base64(const Bytes& bytes) {
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes.data(), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  while (!out.empty() && out.back() == '=') out.pop_back();  // PHC strings carry no padding
  return out;
}

std::optional<Bytes> decode_base64(std::string_view text) {
  if (text.empty() || text.size() > 128 || text.size() % 4 == 1) return std::nullopt;
  std::string padded(text);
  const std::size_t padding = (4 - text.size() % 4) % 4;
  padded.append(padding, '=');
  Bytes out(padded.size() / 4 * 3);
  const int length = EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(padded.data()),
                                     static_cast<int>(padded.size()));
  if (length < 0) return std::nullopt;
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

/// Takes "<label><number>" and the separator behind it off the front.
std::optional<int> take_number(std::string_view& text, std::string_view label, char separator) {
  if (!text.starts_with(label)) return std::nullopt;
  text.remove_prefix(label.size());
  int value = 0;
  const auto [stop, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || value <= 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (text.empty() || text.front() != separator) return std::nullopt;
  text.remove_prefix(1);
  return value;
}

std::optional<Phc> parse(std::string_view text) {
  if (!text.starts_with("$scrypt$")) return std::nullopt;
  text.remove_prefix(8);
  const auto log_n = take_number(text, "ln=", ',');
  const auto r = log_n ? take_number(text, "r=", ',') : std::nullopt;
  const auto p = r ? take_number(text, "p=", '$') : std::nullopt;
  if (!p || *log_n > 20 || *r > 32 || *p > 16) return std::nullopt;
  const auto dollar = text.find('$');
  if (dollar == std::string_view::npos) return std::nullopt;
  auto salt = decode_base64(text.substr(0, dollar));
  auto hash = decode_base64(text.substr(dollar + 1));
  if (!salt || !hash || hash->size() < 16) return std::nullopt;
  return Phc{{*log_n, *r, *p}, std::move(*salt), std::move(*hash)};
}

Result<Bytes> scrypt(std::string_view password, const Bytes& salt, ScryptCost cost, std::size_t length) {
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "SCRYPT", nullptr), EVP_KDF_free);
  if (!kdf) return Error{Code::kInternal, "this OpenSSL has no scrypt"};
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  std::uint64_t n = std::uint64_t{1} << cost.log_n;
  auto r = static_cast<std::uint32_t>(cost.r);
  auto p = static_cast<std::uint32_t>(cost.p);
  std::uint64_t memory = kMaxMemoryBytes;
  std::string pass(password);
  Bytes salt_copy = salt;
  const std::array<OSSL_PARAM, 7> parameters = {
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, pass.data(), pass.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt_copy.data(), salt_copy.size()),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
      OSSL_PARAM_construct_end()};
  Bytes out(length);
  const int derived = EVP_KDF_derive(context.get(), out.data(), out.size(), parameters.data());
  OPENSSL_cleanse(pass.data(), pass.size());
  if (derived != 1) return Error{Code::kInternal, "scrypt failed (not enough memory?)"};
  return out;
}

}  // namespace

Result<std::string> hash_password(std::string_view password, ScryptCost cost) {
  Bytes salt(kSaltBytes);
  random_bytes(salt);
  GT_ASSIGN(const Bytes hash, scrypt(password, salt, cost, kHashBytes));
  return "$scrypt$ln=" + std::to_string(cost.log_n) + ",r=" + std::to_string(cost.r) + ",p=" + std::to_string(cost.p) +
         "$" + encode_base64(salt) + "$" + encode_base64(hash);
}

Result<bool> verify_password(std::string_view password, std::string_view phc) {
  const auto parsed = parse(phc);
  if (!parsed) return Error{Code::kCorrupt, "a stored password hash is not readable"};
  GT_ASSIGN(const Bytes hash, scrypt(password, parsed->salt, parsed->cost, parsed->hash.size()));
  return equal_in_constant_time(hash, parsed->hash);
}

bool needs_rehash(std::string_view phc, ScryptCost cost) {
  const auto parsed = parse(phc);
  return !parsed || parsed->cost != cost;
}

std::string_view dummy_hash() {
  // A salt of zeros and a hash of zeros: no password gives that.
  return "$scrypt$ln=15,r=8,p=3$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
}

}  // namespace gridtorrent::crypto
