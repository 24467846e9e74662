#include <unistd.h>

#include "client/cli/context.h"
#include "client/cli/text_view.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

std::string device_label() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "command line";
  name.resize(name.find('\0'));
  return name;
}

/// Proves who it is by the token or the password; the token to keep and whose it is.
Status authenticate(Context& c, api::ServerApi& server, Profile& profile, std::string& token) {
  if (c.options.has("token-file") && c.options.has("password-file"))
    return Error{Code::kInvalid, "--token-file and --password-file both say who you are: give one of the two"};
  if (c.options.has("token-file")) {
    GT_ASSIGN(token, c.options.secret("token-file"));
    server.set_token(token);
    GT_ASSIGN(const v1::WhoAmIReply who, server.accounts().who_am_i());
    if (!profile.user.empty() && profile.user != who.user())
      return Error{Code::kDenied, "the token is that of " + escape_for_display(who.user()) + ", not of " +
                                      escape_for_display(profile.user) + ": leave --user out, or give the right token"};
    profile.user = who.user();
    profile.user_id = who.user_id();
    return {};
  }
  if (profile.user.empty())
    return Error{Code::kInvalid, "who are you? Say it with --user NAME, or give --token-file FILE"};
  v1::LoginRequest request;
  request.set_user(profile.user);
  request.set_device(device_label());
  if (c.options.has("password-file")) {
    GT_ASSIGN(*request.mutable_password(), c.options.secret("password-file"));
  } else {
    GT_ASSIGN(*request.mutable_password(), ask_password("Password of " + escape_for_display(profile.user) + ": "));
  }
  GT_ASSIGN(const v1::LoginReply reply, server.accounts().login(std::move(request)));
  token = reply.token();
  profile.user = reply.user();
  profile.user_id = reply.user_id();
  return {};
}

Status login(Context& c) {
  GT_ASSIGN(const ProfileStore store, c.profiles());
  GT_ASSIGN(const std::unique_ptr<api::ServerApi> server, c.server_without_login());
  GT_ASSIGN(const Context::Login known, c.known_login());
  Profile profile{known.server, known.ca_file, c.options.has("user") ? c.options.str("user") : known.user, ""};
  std::string token;
  GT_TRY(authenticate(c, *server, profile, token));
  GT_ASSIGN(profile, store.save(profile, token));
  if (c.json) {
    c.print({{"user", json_text(profile.user)},
             {"user_id", profile.user_id},
             {"server", profile.server},
             {"profile", store.name()}});
  } else {
    c.terminal.message("logged in to " + profile.server + " as " + escape_for_display(profile.user));
  }
  return {};
}

Status logout(Context& c) {
  GT_ASSIGN(const ProfileStore store, c.profiles());
  Status told = Error{Code::kUnauthenticated, "not logged in"};
  if (auto server = c.server()) told = (*server)->accounts().logout();
  GT_TRY(store.remove());
  if (c.json) c.print({{"profile", store.name()}, {"token_revoked", told.ok()}});
  // A token that is no good any more is as logged out as can be.
  if (told.ok() || told.error().code == Code::kUnauthenticated) {
    if (!c.json) c.terminal.message("logged out");
    return {};
  }
  return told.error().with_context("the login was removed here, but its token could not be revoked (admins can do it)");
}

Status whoami(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::WhoAmIReply who, server->accounts().who_am_i());
  const auto needed = c.options.duration("valid-for");
  const std::int64_t now_ms = who.hello().time_ms() != 0 ? who.hello().time_ms() : c.clock.wall().ms;
  if (c.options.has("valid-for") && who.token_expires_ms() != 0 && who.token_expires_ms() < now_ms + needed.count())
    return Error{Code::kUnauthenticated, "the login ends at " + to_rfc3339({who.token_expires_ms()}) +
                                             ", sooner than in " + format_duration(needed) + ": log in again"};
  if (c.json) {
    c.print({{"user", json_text(who.user())},
             {"user_id", who.user_id()},
             {"roles", std::vector<std::string>(who.roles().begin(), who.roles().end())},
             {"scopes", std::vector<std::string>(who.scopes().begin(), who.scopes().end())},
             {"server", server->address()},
             {"token_id", who.token_id()},
             {"token_expires", json_time(who.token_expires_ms())}});
    return {};
  }
  std::string roles;
  for (const std::string& role : who.roles()) roles += (roles.empty() ? "" : ", ") + escape_for_display(role);
  c.terminal.result(escape_for_display(who.user()) + " (" + roles + ") on " + server->address() + ", login ends " +
                    (who.token_expires_ms() == 0 ? std::string("never") : short_time(who.token_expires_ms())));
  return {};
}

Status token_create(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::CreateTokenRequest request;
  request.set_label(c.options.str("label"));
  for (const std::string& scope : c.options.list("scope")) request.add_scopes(scope);
  if (c.options.has("ttl") && c.options.duration("ttl").count() == 0)
    return Error{Code::kInvalid, "--ttl: a token that is good for no time is of no use; write it like 30d"};
  request.set_ttl_ms(c.options.duration("ttl").count());
  GT_ASSIGN(const v1::CreateTokenReply reply, server->accounts().create_token(std::move(request)));
  if (c.json) {
    Json json = to_json(reply.info());
    json["token"] = reply.token();
    c.print(json);
  } else {
    c.terminal.result(reply.token());
    c.terminal.message("keep it in a file of mode 0600; it is shown only this once");
  }
  return {};
}

std::string token_state(const v1::TokenInfo& token, WallTime now) {
  if (token.revoked()) return "revoked";
  if (token.expires_ms() <= now.ms) return "expired";
  return token.kind() == "enroll" && token.uses_left() == 0 ? "used up" : "good";
}

Status token_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::ListTokensReply reply, server->accounts().list_tokens());
  Json tokens = Json::array();
  Table table({"ID", "LABEL", "KIND", "CREATED", "LAST USED", "ENDS", "STATE"});
  for (const v1::TokenInfo& token : reply.tokens()) {
    tokens.push_back(to_json(token));
    table.row({token.token_id(), escape_for_display(token.label()), token.kind(), short_time(token.created_ms()),
               short_time(token.last_used_ms()), short_time(token.expires_ms()), token_state(token, c.clock.wall())});
  }
  if (c.json) {
    c.print({{"tokens", std::move(tokens)}});
  } else {
    c.terminal.result(table.text("no tokens"));
  }
  return {};
}

Status token_revoke(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const std::string& id = c.options.str("TOKEN_ID");
  GT_TRY(server->accounts().revoke_token(id));
  if (c.json) {
    c.print({{"token_id", json_text(id)}, {"revoked", true}});
  } else {
    c.terminal.message("revoked " + escape_for_display(id));
  }
  return {};
}

Result<std::string> new_password(Context& c, const std::string& user) {
  if (c.options.has("password-file")) return c.options.secret("password-file");
  GT_ASSIGN(const std::string first, ask_password("Password for " + escape_for_display(user) + ": "));
  GT_ASSIGN(const std::string second, ask_password("The same again: "));
  if (first != second) return Error{Code::kInvalid, "the two passwords differ; try again"};
  return first;
}

Status user_add(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::AddUserRequest request;
  request.set_name(c.options.str("NAME"));
  GT_ASSIGN(*request.mutable_password(), new_password(c, request.name()));
  for (const std::string& role : c.options.list("role")) request.add_roles(role);
  if (request.roles_size() == 0) request.add_roles("user");
  GT_ASSIGN(const v1::User user, server->accounts().add_user(std::move(request)));
  if (c.json) {
    c.print(to_json(user));
  } else {
    c.terminal.message("added " + escape_for_display(user.name()) + " (" + user.user_id() + ")");
  }
  return {};
}

Status user_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::ListUsersReply reply, server->accounts().list_users());
  Json users = Json::array();
  Table table({"NAME", "ID", "ROLES", "STATE", "CREATED"});
  for (const v1::User& user : reply.users()) {
    users.push_back(to_json(user));
    std::string roles;
    for (const std::string& role : user.roles()) roles += (roles.empty() ? "" : ", ") + escape_for_display(role);
    table.row({escape_for_display(user.name()), user.user_id(), roles, user.disabled() ? "disabled" : "enabled",
               short_time(user.created_ms())});
  }
  if (c.json) {
    c.print({{"users", std::move(users)}});
  } else {
    c.terminal.result(table.text("no users"));
  }
  return {};
}

Status user_disable(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const std::string& name = c.options.str("USER");
  GT_TRY(server->accounts().disable_user(name));
  if (c.json) {
    c.print({{"user", json_text(name)}, {"disabled", true}});
  } else {
    c.terminal.message("disabled " + escape_for_display(name));
  }
  return {};
}

const options::Option kPasswordFile{.name = "password-file",
                                    .value = "FILE",
                                    .help = "the password is the first line of this file; without it you are asked",
                                    .secret_file = true};

}  // namespace

std::vector<CommandEntry> account_commands() {
  const std::string group = "Who you are";
  return {{{.name = "login",
            .summary = "log in to a server and remember it",
            .description = "Proves who you are with a password or a token, and keeps the login in a profile: the "
                           "server's address and a "
                           "copy of its CA below $XDG_CONFIG_HOME/gridtorrent/profiles, the token with mode 0600 below "
                           "$XDG_STATE_HOME/gridtorrent/tokens. Every other command then needs no further options.",
            .options = {{.name = "user", .value = "NAME", .help = "who you are"}, kPasswordFile},
            .examples = {{"gridtorrent login --server lab.example.org:7443 --ca ca.pem --user mia",
                          "asks for the password"},
                         {"gridtorrent login", "again, once the login has ended"}},
            .group = group},
           login},
          {{.name = "logout", .summary = "revoke the login's token and forget it", .group = group}, logout},
          {{.name = "whoami",
            .summary = "say who is logged in, and until when",
            .options = {{.name = "valid-for",
                         .value = "TIME",
                         .help = "fail with exit code 4 unless the login lasts at least that long",
                         .check = options::is_duration}},
            .examples = {{"gridtorrent whoami --valid-for 48h", "worth a line at the top of a job script"}},
            .group = group},
           whoami},
          {{.name = "token create",
            .summary = "make a token for a script or another machine",
            .options = {{.name = "label", .value = "TEXT", .help = "what it is for"},
                        {.name = "scope",
                         .value = "SCOPE",
                         .help = "what it may do, as in content:read; without any: all that you may",
                         .repeatable = true},
                        {.name = "ttl", .value = "TIME", .help = "how long it is good", .check = options::is_duration}},
            .examples = {{"(umask 077; gridtorrent token create --label cron --ttl 90d > cron.token)", ""}},
            .group = group},
           token_create},
          {{.name = "token list", .summary = "list your tokens", .group = group}, token_list},
          {{.name = "token revoke",
            .summary = "make a token worthless at once",
            .positionals = {{.name = "TOKEN_ID", .help = "as shown by token list"}},
            .group = group},
           token_revoke}};
}

std::vector<CommandEntry> user_commands() {
  const std::string group = "For administrators";
  return {{{.name = "user add",
            .summary = "make an account",
            .positionals = {{.name = "NAME", .help = "2 to 64 of a-z, 0-9, '.', '_' and '-'"}},
            .options = {kPasswordFile,
                        {.name = "role",
                         .value = "ROLE",
                         .help = "without any: user",
                         .repeatable = true,
                         .choices = {"user", "admin"}}},
            .examples = {{"gridtorrent user add mia", "asks for a first password"}},
            .group = group},
           user_add},
          {{.name = "user list", .summary = "list all accounts", .group = group}, user_list},
          {{.name = "user disable",
            .summary = "lock an account out at once; what it published stays",
            .positionals = {{.name = "USER", .help = "name or id"}},
            .group = group},
           user_disable}};
}

}  // namespace gridtorrent::client::cli
