#include "ccm/domain/user.h"

#include <array>
#include <utility>

#include "common/text.h"

namespace gridtorrent::ccm {

namespace {
constexpr std::array<std::pair<Scope, std::string_view>, 8> kScopes = {{{Scope::kContentRead, "content:read"},
                                                                        {Scope::kContentPublish, "content:publish"},
                                                                        {Scope::kTaskRead, "task:read"},
                                                                        {Scope::kTaskWrite, "task:write"},
                                                                        {Scope::kNodeRun, "node:run"},
                                                                        {Scope::kAccount, "account"},
                                                                        {Scope::kAdmin, "admin"},
                                                                        {Scope::kGroup, "group"}}};
constexpr std::array<std::pair<TokenKind, std::string_view>, 5> kTokenKinds = {{{TokenKind::kPersonal, "personal"},
                                                                                {TokenKind::kNode, "node"},
                                                                                {TokenKind::kEnroll, "enroll"},
                                                                                {TokenKind::kDevice, "device"},
                                                                                {TokenKind::kInvite, "invite"}}};
}  // namespace

std::string_view role_name(Role role) {
  return role == Role::kAdmin ? "admin" : role == Role::kService ? "service" : "user";
}

Result<Role> parse_role(std::string_view text) {
  if (text == "user") return Role::kUser;
  if (text == "admin") return Role::kAdmin;
  if (text == "service") return Role::kService;
  return Error{Code::kInvalid, "no role \"" + escape_for_display(text) + "\": there are user, admin and service"};
}

std::string_view scope_name(Scope scope) {
  for (const auto& [known, name] : kScopes) {
    if (known == scope) return name;
  }
  return "";
}

std::vector<std::string> scope_names(Scopes scopes) {
  std::vector<std::string> names;
  for (const auto& [scope, name] : kScopes) {
    if (scopes.has(scope)) names.emplace_back(name);
  }
  return names;
}

Result<Scopes> parse_scopes(const std::vector<std::string>& names) {
  std::uint32_t bits = 0;
  for (const std::string& wanted : names) {
    std::uint32_t bit = 0;
    for (const auto& [scope, name] : kScopes) {
      if (name == wanted) bit = static_cast<std::uint32_t>(scope);
    }
    if (bit == 0) {
      return Error{Code::kInvalid, "no scope \"" + escape_for_display(wanted) +
                                       "\": there are content:read, content:publish, task:read, task:write, account, "
                                       "group and admin"};
    }
    bits |= bit;
  }
  return Scopes(bits);
}

Scopes full_scopes(bool admin) {
  Scopes scopes{Scope::kContentRead, Scope::kContentPublish, Scope::kTaskRead,
                Scope::kTaskWrite,   Scope::kAccount,        Scope::kGroup};
  return admin ? Scopes(scopes.bits() | static_cast<std::uint32_t>(Scope::kAdmin)) : scopes;
}

Scopes node_scopes() {
  return {Scope::kContentRead, Scope::kContentPublish, Scope::kNodeRun};
}

std::vector<Role> User::roles() const {
  if (service) return {Role::kService};
  return admin ? std::vector<Role>{Role::kUser, Role::kAdmin} : std::vector<Role>{Role::kUser};
}

Actor actor_of(const User& user, std::string address) {
  Actor actor;
  actor.user = user.id;
  actor.name = user.name;
  actor.admin = user.admin;
  actor.scopes = full_scopes(user.admin);
  actor.address = std::move(address);
  return actor;
}

bool is_server_admin(const Actor& actor) {
  return actor.admin && actor.scopes.has(Scope::kAdmin);
}

std::string_view token_kind_name(TokenKind kind) {
  for (const auto& [known, name] : kTokenKinds) {
    if (known == kind) return name;
  }
  return "";
}

Result<TokenKind> parse_token_kind(std::string_view text) {
  for (const auto& [kind, name] : kTokenKinds) {
    if (name == text) return kind;
  }
  return Error{Code::kInvalid, "no kind of token \"" + escape_for_display(text) + "\""};
}

}  // namespace gridtorrent::ccm
