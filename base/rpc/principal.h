#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::rpc {

/// Who calls, found out anew for every call: a value, never kept with a connection.
struct Principal {
  UserId user;
  std::string user_name;
  bool admin = false;
  NodeId node;               ///< nil unless a node's credential was shown
  std::uint32_t scopes = 0;  ///< bits of ccm::Scope
  std::string token_id;
  WallTime token_expires;
};

/// Port: from a bearer token to who shows it. Called on executor threads for every call and again for streams that stay
/// open; may block. Errors: kUnauthenticated for everything that is wrong with the token (one text), kUnreachable
/// where that cannot be found out now.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual Result<Principal> resolve(std::string_view token, std::string_view peer_address) = 0;
};

/// What a method demands. Deny by default: a method without a line in its service's table does not exist.
struct Need {
  bool anonymous = false;    ///< Login, Enroll: nobody is asked who he is
  std::uint32_t scopes = 0;  ///< all of these bits
  bool node = false;         ///< a node's credential, not a person's
  bool person = false;       ///< a person's token, not a node's credential

  static constexpr Need nobody() { return {.anonymous = true}; }
  static constexpr Need scope(std::uint32_t bits) { return {.scopes = bits}; }
  static constexpr Need person_scope(std::uint32_t bits) { return {.scopes = bits, .person = true}; }
  static constexpr Need node_scope(std::uint32_t bits) { return {.scopes = bits, .node = true}; }
};

/// kDenied unless the principal has what is needed.
Status check_need(const Principal& principal, const Need& need);

}  // namespace gridtorrent::rpc
