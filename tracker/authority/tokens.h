#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ccm/domain/user.h"
#include "common/result.h"

namespace gridtorrent::tracker::authority {

/// A fresh token. The text is shown once and forgotten; the rest is kept.
struct MintedToken {
  std::string text;
  std::string id;           ///< public part, 10 characters
  std::string secret_hash;  ///< SHA-256 of the secret, bytes; a fast hash is right for 256 random bits
};

/// "gt<k>_<id>_<secret><crc>": k is p (personal), n (node), e (enrolment), d (device) or i (invitation); id 10, secret
/// 43 (256 bits) and crc 6 characters of 0-9A-Za-z; crc is the CRC-32 of all before it, so that typos never reach the
/// database and scanners can find leaked tokens.
MintedToken mint_token(ccm::TokenKind kind);

/// A text taken apart; nothing if it is not exactly of that form, or the CRC is wrong.
struct ParsedToken {
  ccm::TokenKind kind;
  std::string id;
  std::string secret_hash;
};
std::optional<ParsedToken> parse_token(std::string_view text);

/// Six characters of 0-9A-Za-z.
std::string token_checksum(std::string_view text);

}  // namespace gridtorrent::tracker::authority
