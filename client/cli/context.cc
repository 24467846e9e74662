#include "client/cli/context.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>

#include "client/profile/saved_login.h"
#include "common/codes.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr char kHowToLogIn[] =
    "log in with 'gridtorrent login --server HOST:PORT --ca FILE --user NAME', or by an invitation with 'gridtorrent "
    "join LINK'";

constexpr char kHowToLogInAgain[] = "log in with 'gridtorrent login'";

/// Without "." and "..", which lead elsewhere, or nowhere, once a folder on the way is gone. The last name stays, be it
/// that of a symbolic link; what cannot be looked up stays as it was, for whoever opens it to say why.
std::string without_dots(const std::string& text) {
  std::filesystem::path path(text);
  bool climbs = false;
  for (const auto& name : path) climbs = climbs || name == "..";
  if (climbs) {
    while (!path.has_filename()) path = path.parent_path();
    const bool named = path.filename() != "." && path.filename() != "..";
    std::error_code error;
    const auto folder = std::filesystem::weakly_canonical(named ? path.parent_path() : path, error);
    if (error) return text;
    path = named ? folder / path.filename() : folder;
  }
  std::string normal = path.lexically_normal().native();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

}  // namespace

Context::Context(const options::Parsed& parsed, Terminal& terminal_, const Clock& clock_)
    : options(parsed), terminal(terminal_), clock(clock_), json(parsed.flag("json")) {}

Result<ProfileStore> Context::profiles() const {
  return ProfileStore::open(options.str("profile"), environment_variable);
}

Result<Context::Login> Context::known_login() const {
  Login login;
  const auto store = profiles();
  if (store) {
    GT_ASSIGN(const std::optional<Profile> profile, store->load());
    if (profile) login = {profile->server, profile->ca_file, profile->user, profile->user_id};
    // Logged out: server and CA are known for the next login, and nobody is who asks.
    if (const auto kept = store->load_token(); kept && !*kept) login.user_id.clear();
  } else if (store.error().code != Code::kUnauthenticated) {
    return store.error();
  }
  if (options.has("server") && options.str("server") != login.server)
    login = {options.str("server"), login.ca_file, "", ""};
  if (options.has("ca")) {
    GT_ASSIGN(login.ca_file, absolute(options.str("ca")));
  }
  return login;
}

Result<std::string> Context::token(const Login& login) const {
  if (options.has("token-file")) return options.secret("token-file");
  // A profile's token is for the profile's server and shown to no other.
  if (login.user_id.empty()) return std::string();
  GT_ASSIGN(const ProfileStore store, profiles());
  GT_ASSIGN(const std::optional<std::string> kept, store.load_token());
  return kept.value_or("");
}

Status Context::check_complete(const Login& login) {
  if (login.server.empty())
    return Error{Code::kInvalid,
                 "no server is known: name it with --server HOST:PORT --ca FILE (its ready file tells both), or join "
                 "by a link with 'gridtorrent join LINK'"};
  if (login.ca_file.empty())
    return Error{Code::kInvalid,
                 "no CA file is known: name the server's with --ca FILE (its ready file tells where it is)"};
  return {};
}

Result<std::unique_ptr<api::ServerApi>> Context::server_without_login() {
  GT_ASSIGN(const Login found, known_login());
  GT_TRY(check_complete(found));
  return api::ServerApi::open({.address = found.server, .ca_file = found.ca_file, .token = {}});
}

Result<api::ServerApi*> Context::server(std::chrono::milliseconds deadline) {
  if (server_) return server_.get();
  GT_ASSIGN(const Login found, known_login());
  GT_ASSIGN(const std::string secret, token(found));
  if (found.server.empty() && !options.has("ca") && !options.has("token-file")) {
    if (const auto here = server_here()) return log_in_here(*here, deadline);
  }
  if (found.server.empty() || secret.empty()) {
    const std::string where = found.server.empty() ? "" : " to " + found.server;
    const bool is_of_profile = !found.user.empty();
    return Error{Code::kUnauthenticated,
                 "not logged in" + where + ": " + (is_of_profile ? kHowToLogInAgain : kHowToLogIn)};
  }
  GT_TRY(check_complete(found));
  GT_ASSIGN(server_, api::ServerApi::open(
                         {.address = found.server, .ca_file = found.ca_file, .token = secret, .deadline = deadline}));
  return server_.get();
}

Result<api::ServerApi*> Context::server_of_login(std::chrono::milliseconds deadline) {
  if (server_of_login_) return server_of_login_.get();
  GT_ASSIGN(const Login found, known_login());
  GT_ASSIGN(const std::string secret, token(found));
  if (secret.empty()) return Error{Code::kUnauthenticated, "not logged in"};
  GT_TRY(check_complete(found));
  GT_ASSIGN(
      server_of_login_,
      api::ServerApi::open({.address = found.server, .ca_file = found.ca_file, .token = secret, .deadline = deadline}));
  return server_of_login_.get();
}

Result<api::ServerApi*> Context::log_in_here(const ServerHere& here, std::chrono::milliseconds deadline) {
  GT_ASSIGN(const ProfileStore store, profiles());
  GT_ASSIGN(auto connected,
            api::ServerApi::open(
                {.address = here.address, .ca_file = here.ca_file, .token = here.token, .deadline = deadline}));
  GT_ASSIGN(const v1::WhoAmIReply who, connected->accounts().who_am_i());
  GT_TRY(store.save({here.address, here.ca_file, who.user(), who.user_id()}, here.token));
  terminal.message("logged in to the server of this machine, " + here.address + ", as " +
                   escape_for_display(who.user()));
  server_ = std::move(connected);
  return server_.get();
}

Result<std::string> Context::caller_id() {
  GT_ASSIGN(const Login found, known_login());
  if (!options.has("token-file")) return found.user_id;
  // Someone else's token may have been given, so the server says whose it is; without a server the socket's owner
  // decides.
  if (found.server.empty() || found.ca_file.empty()) return std::string();
  GT_ASSIGN(api::ServerApi* const server_api, server());
  const auto who = server_api->accounts().who_am_i();
  if (who) return who->user_id();
  if (who.error().code == Code::kUnreachable || who.error().code == Code::kTimeout) return std::string();
  return who.error();
}

Result<std::string> Context::socket_path() const {
  if (options.has("socket")) return absolute(options.str("socket"));
  return default_control_socket();
}

Result<api::NodeApi*> Context::node(std::chrono::milliseconds deadline) {
  if (node_) return node_.get();
  GT_ASSIGN(const std::string path, socket_path());
  GT_ASSIGN(std::string user_id, caller_id());
  GT_ASSIGN(node_, api::NodeApi::open({.socket_path = path, .user_id = std::move(user_id), .deadline = deadline}));
  return node_.get();
}

Result<std::string> Context::absolute(const std::string& path) {
  if (path.starts_with('/')) return without_dots(path);
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) == nullptr)
    return Error{Code::kNotFound, "the working directory is gone (" + errno_text(errno) +
                                      "): change into another, or give an absolute path"};
  return without_dots(std::string(folder.data()) + "/" + path);
}

void Context::warn(const std::string& text) {
  if (json) {
    Json warning = event("warning", clock.wall());
    warning["message"] = json_text(text);
    emit(warning);
  }
  terminal.message("warning: " + escape_for_display(text));
}

int run_command(const options::Parsed& parsed, Terminal& terminal, const Clock& clock) {
  const CommandEntry* chosen = nullptr;
  for (const CommandEntry& entry : all_commands())
    if (entry.table.name == parsed.command()) chosen = &entry;
  GT_CHECK(chosen != nullptr);
  Context context(parsed, terminal, clock);
  Status status = chosen->run(context);
  if (status) status = terminal.finish();
  const bool enough_was_read = !status && status.error().code == Code::kCancelled && terminal.reader_gone();
  if (status || enough_was_read) return static_cast<int>(Exit::kDone);
  if (chosen->emits_events && context.json && !context.end_told)
    context.emit(failed_event(status.error(), clock.wall()));
  terminal.error(status.error().message);
  return static_cast<int>(exit_code(status.error().code));
}

}  // namespace gridtorrent::client::cli
