#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// kService: a program's account. It has no password; an administrator makes its tokens, each with scopes and an end.
enum class Role : std::uint8_t { kUser, kAdmin, kService };
std::string_view role_name(Role role);
Result<Role> parse_role(std::string_view text);

/// What a token is good for. A set is a bit mask.
enum class Scope : std::uint32_t {
  kContentRead = 1u << 0,
  kContentPublish = 1u << 1,
  kTaskRead = 1u << 2,
  kTaskWrite = 1u << 3,
  kNodeRun = 1u << 4,
  kAccount = 1u << 5,  ///< own tokens and enrolment tokens
  kAdmin = 1u << 6,
  kGroup = 1u << 7,  ///< groups, buddies and the inbox, to read and to change
};
class Scopes {
 public:
  constexpr Scopes() = default;
  constexpr explicit Scopes(std::uint32_t bits) : bits_(bits) {}
  constexpr Scopes(std::initializer_list<Scope> scopes) {
    for (Scope s : scopes) bits_ |= static_cast<std::uint32_t>(s);
  }
  constexpr bool has(Scope scope) const { return (bits_ & static_cast<std::uint32_t>(scope)) != 0; }
  constexpr bool within(Scopes other) const { return (bits_ & ~other.bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr std::uint32_t bits() const { return bits_; }
  friend bool operator==(const Scopes&, const Scopes&) = default;

 private:
  std::uint32_t bits_ = 0;
};
/// "content:read", "content:publish", "task:read", "task:write", "node:run", "account", "admin", "group".
std::string_view scope_name(Scope scope);
std::vector<std::string> scope_names(Scopes scopes);
Result<Scopes> parse_scopes(const std::vector<std::string>& names);
/// All that a person's own login may carry; with `admin` for those who have that role.
Scopes full_scopes(bool admin);
/// What a node's credential carries: read, publish, run.
Scopes node_scopes();

struct User {
  UserId id;
  std::string name;
  bool admin = false;  ///< every account has the role user; some have admin as well
  bool disabled = false;
  WallTime created;
  std::string password_hash;  ///< PHC string; empty: cannot log in by password. Never leaves the server.
  bool service = false;       ///< Role::kService, which excludes admin

  std::vector<Role> roles() const;
  friend bool operator==(const User&, const User&) = default;
};

enum class TokenKind : std::uint8_t {
  kPersonal,
  kNode,
  kEnroll,
  kDevice,  ///< shown beside the password at a login from a device that logged in before; opens nothing by itself
  kInvite,  ///< makes an account or a membership, at InviteService; opens nothing else
};
std::string_view token_kind_name(TokenKind kind);
Result<TokenKind> parse_token_kind(std::string_view text);

/// A token as it is kept: never its secret, only that secret's hash.
struct Token {
  std::string id;           ///< public part, unique
  std::string secret_hash;  ///< bytes
  TokenKind kind = TokenKind::kPersonal;
  UserId user;
  NodeId node;  ///< of kNode
  Scopes scopes;
  std::string label;
  WallTime created, expires;
  WallTime last_used;           ///< 0: never; exact to a minute
  WallTime revoked;             ///< 0: not
  std::uint32_t uses_left = 0;  ///< of kEnroll and kInvite
  std::string only_name;        ///< of kEnroll the only node, of kInvite the only account that it may make; or empty
  bool ephemeral = false;       ///< of kEnroll
  GroupId group;                ///< of kInvite, that the account becomes a member of; nil: none

  bool is_good(WallTime now) const { return revoked.ms == 0 && now < expires; }
  friend bool operator==(const Token&, const Token&) = default;
};

/// Who tries a password of an account, as far as it can be told before the password is looked at.
struct LoginAttempt {
  std::string account;  ///< as it was given: it need not exist
  std::string address;  ///< cut to a /64 for IPv6
  /// What the caller has proven: the id of a device that logged in to this account before, or that they hold a token of
  /// it. Empty: a stranger. An address proves nothing: many share one behind NAT.
  std::string proof;

  bool is_known() const { return !proof.empty(); }
};

/// Who asks, as the authenticator found out; a value that travels with every call.
struct Actor {
  UserId user;
  std::string name;  ///< of the user
  bool admin = false;
  NodeId node;  ///< nil unless a node's credential was shown
  Scopes scopes;
  std::string token_id;
  std::string address;  ///< numeric, of the caller, for the audit
};
/// The person with all that a login of theirs may do.
Actor actor_of(const User& user, std::string address);
/// Role and scope: a token without the scope admin is no administrator's.
bool is_server_admin(const Actor& actor);

}  // namespace gridtorrent::ccm
