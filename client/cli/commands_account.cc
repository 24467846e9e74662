#include "client/cli/admin.h"
#include "client/cli/context.h"
#include "client/cli/listing.h"
#include "client/cli/local_node.h"
#include "client/cli/text_view.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

/// Proves who it is by the token or the password; the token to keep and whose it is.
Status authenticate(Context& c, const ProfileStore& store, api::ServerApi& server, Profile& profile,
                    std::string& token) {
  const bool by_token = c.options.has("token-file") && !c.options.gives_way("token-file", "password-file");
  const bool by_password = c.options.has("password-file") && !c.options.gives_way("password-file", "token-file");
  if (by_token && by_password)
    return Error{Code::kInvalid, "--token-file and --password-file both say who you are: give one of the two"};
  if (by_token) {
    GT_ASSIGN(token, c.options.secret("token-file"));
    server.set_token(token);
    GT_ASSIGN(const v1::WhoAmIReply who, server.accounts().who_am_i());
    if (c.options.given("user") && profile.user != who.user())
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
  request.set_device(host_label());
  if (by_password) {
    GT_ASSIGN(*request.mutable_password(), c.options.secret("password-file"));
  } else {
    GT_ASSIGN(*request.mutable_password(), ask_password("Password of " + escape_for_display(profile.user) + ": "));
  }
  GT_ASSIGN(*request.mutable_device_secret(), store.load_device_secret(profile.server, profile.user));
  GT_ASSIGN(const v1::LoginReply reply, server.accounts().login(std::move(request)));
  if (!reply.device_secret().empty()) {
    GT_TRY(store.save_device({profile.server, reply.user(), reply.device_secret()}));
  }
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
  GT_TRY(authenticate(c, store, *server, profile, token));
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

/// The token of a server on this machine is its administrators' way in, not that of this login alone.
bool has_token_of_server_here(const ProfileStore& store) {
  const auto token = store.load_token();
  const auto here = server_here();
  return token && *token && here && **token == here->token;
}

Status logout(Context& c) {
  GT_ASSIGN(const ProfileStore store, c.profiles());
  Status told = Error{Code::kUnauthenticated, "not logged in"};
  // The next command logs in there by itself, if there is no profile.
  if (has_token_of_server_here(store)) {
    GT_TRY(store.remove());
  } else {
    if (auto server = c.server_of_login()) told = (*server)->accounts().logout();
    GT_TRY(store.remove_token());
  }
  if (c.json) c.print({{"profile", store.name()}, {"token_revoked", told.ok()}});
  // A token that is no good any more is as logged out as can be.
  if (told.ok() || told.error().code == Code::kUnauthenticated) {
    if (!c.json) c.terminal.message("logged out");
    return {};
  }
  return told.error().with_context("the login was removed here, but its token could not be revoked (admins can do it)");
}

template <class Strings>
std::string joined_shown(const Strings& strings) {
  std::string text;
  for (const std::string& one : strings) text += (text.empty() ? "" : ", ") + escape_for_display(one);
  return text;
}

Status whoami(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::WhoAmIReply who, server->accounts().who_am_i());
  const auto needed = c.options.duration("valid-for");
  const std::int64_t now_ms = who.hello().time_ms() != 0 ? who.hello().time_ms() : c.clock.wall().ms;
  if (c.options.has("valid-for") && who.token_expires_ms() != 0 && who.token_expires_ms() < now_ms + needed.count())
    return Error{Code::kUnauthenticated, "the login ends at " + short_time(who.token_expires_ms()) +
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
  c.terminal.result(escape_for_display(who.user()) + " (" + joined_shown(who.roles()) + ") on " + server->address() +
                    ", login ends " +
                    (who.token_expires_ms() == 0 ? std::string("never") : short_time(who.token_expires_ms())) +
                    "\nscopes: " + joined_shown(who.scopes()));
  return {};
}

Status token_create(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::CreateTokenRequest request;
  request.set_label(c.options.str("label"));
  request.set_for_user(c.options.str("for"));
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
  const bool counts_uses = token.kind() == "enroll" || token.kind() == "invite";
  return counts_uses && token.uses_left() == 0 ? "used up" : "good";
}

Status token_list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const api::Listed<v1::TokenInfo> list, server->accounts().list_tokens(c.options.str("of"), limit_of(c)));
  Json tokens = Json::array();
  Table table({"ID", "LABEL", "KIND", "CREATED", "LAST USED", "ENDS", "STATE"});
  for (const v1::TokenInfo& token : list.items) {
    tokens.push_back(to_json(token));
    table.row({token.token_id(), escape_for_display(token.label()), token.kind(), short_time(token.created_ms()),
               short_time(token.last_used_ms()), short_time(token.expires_ms()), token_state(token, c.clock.wall())});
  }
  print_list(c, "tokens", std::move(tokens), table.text("no tokens"), list.cut);
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

Status change_password(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::WhoAmIReply who, server->accounts().who_am_i());
  const bool own =
      !c.options.has("USER") || c.options.str("USER") == who.user() || c.options.str("USER") == who.user_id();
  v1::ChangePasswordRequest request;
  if (!own) request.set_user(c.options.str("USER"));
  const std::string whose = own ? who.user() : request.user();
  if (own) {
    GT_ASSIGN(*request.mutable_old_password(), c.options.has("old-password-file")
                                                   ? c.options.secret("old-password-file")
                                                   : ask_password("Password now: ", "--old-password-file"));
  }
  GT_ASSIGN(*request.mutable_new_password(), new_password(c, whose));
  GT_TRY(server->accounts().change_password(std::move(request)));
  if (c.json) {
    c.print({{"user", json_text(whose)}, {"changed", true}});
  } else {
    c.terminal.message("changed the password of " + escape_for_display(whose) +
                       (own ? "; logins that there are go on" : ", whose logins have ended"));
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> account_commands() {
  const std::string group = "Who you are";
  return {{{.name = "login",
            .summary = "log in to a server and remember it",
            .description = "Proves who you are with a password or a token, and keeps the login in a profile: the "
                           "server's address and a "
                           "copy of its CA below $XDG_CONFIG_HOME/gridtorrent/profiles, the token with mode 0600 below "
                           "$XDG_STATE_HOME/gridtorrent/tokens. Every other command then needs no further options. "
                           "After a password it also keeps a secret below $XDG_STATE_HOME/gridtorrent/devices, which "
                           "lets this device log in again while somebody guesses passwords.",
            .options = {{.name = "user", .value = "NAME", .help = "who you are"}, password_file_option()},
            .examples = {{"gridtorrent login --server lab.example.org:7443 --ca ca.pem --user mia",
                          "asks for the password"},
                         {"gridtorrent login", "again, once the login has ended"}},
            .group = group},
           login},
          {{.name = "logout",
            .summary = "revoke the login's token and forget it",
            .description = "Server, CA and name stay known: 'gridtorrent login' alone logs in again.",
            .group = group},
           logout},
          {{.name = "whoami",
            .summary = "say who is logged in, until when, and what the login may do",
            .options = {{.name = "valid-for",
                         .value = "TIME",
                         .help = "fail with exit code 4 unless the login lasts at least that long",
                         .check = options::is_duration}},
            .examples = {{"gridtorrent whoami --valid-for 48h", "worth a line at the top of a job script"}},
            .group = group},
           whoami},
          {{.name = "password",
            .summary = "change your password, or as an administrator somebody's",
            .description = "Asks for the password as it is and for the new one. Logins and tokens that you have go on; "
                           "no device is a known one any more until it logs in with the new password. "
                           "An administrator gives others a new password without knowing the old one; their logins "
                           "end then, their nodes go on.",
            .positionals = {{.name = "USER", .help = "whose; without it: yours", .required = false}},
            .options = {password_file_option(),
                        {.name = "old-password-file",
                         .value = "FILE",
                         .help = "your password as it is, in the first line of this file",
                         .secret_file = true}},
            .group = group},
           change_password},
          {{.name = "token create",
            .summary = "make a token for a script or another machine",
            .options = {{.name = "label", .value = "TEXT", .help = "what it is for"},
                        {.name = "scope",
                         .value = "SCOPE",
                         .help = "what it may do, as in content:read; without any: all that you may, but admin",
                         .repeatable = true,
                         .suggestions = {"content:read", "content:publish", "task:read", "task:write", "account",
                                         "group", "admin"}},
                        {.name = "ttl",
                         .value = "TIME",
                         .help = "how long it is valid, at most 365d (default: 30d)",
                         .check = options::is_duration},
                        {.name = "for",
                         .value = "USER",
                         .help = "an administrator makes it for this service account; its scopes are to be named",
                         .check = options::is_not_empty}},
            .examples = {{"(umask 077; gridtorrent token create --label cron --ttl 90d > cron.token)", ""},
                         {"gridtorrent token create --for robot --scope content:read --ttl 90d", ""}},
            .group = group},
           token_create},
          {{.name = "token list",
            .summary = "list your tokens",
            .options = {{.name = "of",
                         .value = "USER",
                         .help = "those of another account, for administrators",
                         .check = options::is_not_empty},
                        limit_option()},
            .group = group},
           token_list},
          {{.name = "token revoke",
            .summary = "make a token worthless at once",
            .positionals = {{.name = "TOKEN_ID", .help = "as shown by token list"}},
            .group = group},
           token_revoke}};
}

}  // namespace gridtorrent::client::cli
