#include "tracker/authority/tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/crypto/digest.h"
#include "base/crypto/random.h"
#include "common/hex.h"

namespace gridtorrent::tracker::authority {

namespace {

constexpr std::size_t kIdCharacters = 10;
constexpr std::size_t kSecretCharacters = 43;
constexpr std::size_t kChecksumCharacters = 6;
constexpr std::size_t kTokenCharacters = 4 + kIdCharacters + 1 + kSecretCharacters + kChecksumCharacters;

char kind_letter(ccm::TokenKind kind) {
  switch (kind) {
    case ccm::TokenKind::kPersonal:
      return 'p';
    case ccm::TokenKind::kNode:
      return 'n';
    case ccm::TokenKind::kEnroll:
      return 'e';
    case ccm::TokenKind::kDevice:
      return 'd';
    case ccm::TokenKind::kInvite:
      return 'i';
  }
  return '?';
}

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

std::string hash_of(std::string_view secret) {
  return std::string(as_chars(crypto::sha256(as_bytes(secret))));
}

bool is_base62(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}

}  // namespace

std::string token_checksum(std::string_view text) {
  static constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint32_t crc = crc32(text);
  std::string out(kChecksumCharacters, '0');
  for (auto it = out.rbegin(); it != out.rend(); ++it, crc /= 62) *it = kAlphabet[crc % 62];
  return out;
}

MintedToken mint_token(ccm::TokenKind kind) {
  MintedToken minted;
  minted.id = crypto::random_base62(kIdCharacters);
  const std::string secret = crypto::random_base62(kSecretCharacters);
  minted.secret_hash = hash_of(secret);
  minted.text = std::string("gt") + kind_letter(kind) + "_" + minted.id + "_" + secret;
  minted.text += token_checksum(minted.text);
  return minted;
}

std::optional<ParsedToken> parse_token(std::string_view text) {
  if (text.size() != kTokenCharacters || !text.starts_with("gt") || text[3] != '_' || text[4 + kIdCharacters] != '_') {
    return std::nullopt;
  }
  const std::string_view id = text.substr(4, kIdCharacters);
  const std::string_view secret = text.substr(4 + kIdCharacters + 1, kSecretCharacters);
  const std::string_view checked = text.substr(0, kTokenCharacters - kChecksumCharacters);
  if (!is_base62(id) || !is_base62(secret) || text.substr(checked.size()) != token_checksum(checked))
    return std::nullopt;
  for (const auto kind : {ccm::TokenKind::kPersonal, ccm::TokenKind::kNode, ccm::TokenKind::kEnroll,
                          ccm::TokenKind::kDevice, ccm::TokenKind::kInvite}) {
    if (text[2] == kind_letter(kind)) return ParsedToken{kind, std::string(id), hash_of(secret)};
  }
  return std::nullopt;
}

}  // namespace gridtorrent::tracker::authority
