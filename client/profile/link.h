#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::client {

/// What one person hands another as one string: which server, whose certificate authority, and maybe a content and the
/// code of an invitation.
///
///     gridtorrent:HOST:PORT[/CONTENT_ID]?ca=HEX[&code=CODE]
///
/// `ca` is the SHA-256 of the authority's certificate in DER, 64 hexadecimal digits. The code is a secret.
struct Link {
  std::string server;   ///< HOST:PORT; an IPv6 host in brackets
  std::string content;  ///< id, or empty
  std::string ca;       ///< lower case
  std::string code;     ///< or empty
  friend bool operator==(const Link&, const Link&) = default;
};

std::string link_text(const Link& link);

/// kInvalid names what is wrong, never the code. Spaces around it are no part of it; a parameter that is not known is
/// refused, since it may matter.
Result<Link> parse_link(std::string_view text);

}  // namespace gridtorrent::client
