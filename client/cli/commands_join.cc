#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "client/api/server/authority.h"
#include "client/cli/admin.h"
#include "client/cli/context.h"
#include "client/cli/doctor.h"
#include "client/cli/local_node.h"
#include "client/cli/text_view.h"
#include "client/profile/link.h"
#include "client/profile/saved_login.h"
#include "common/server_address.h"
#include "common/text.h"
#include "common/unique_fd.h"

// One string that joins: made here, used there.

namespace gridtorrent::client::cli {

namespace {

// --- invite

/// The address for other people: what the server was told, else the one in use here unless it is of this host alone.
Result<std::string> address_for_others(Context& c, const std::string& advertised, const std::string& used) {
  if (c.options.has("address")) return c.options.str("address");
  const std::string& told = advertised.empty() ? used : advertised;
  if (!is_server_address(told)) {
    return Error{Code::kInvalid, "the server's address " + escape_for_display(told) +
                                     " cannot stand in a link: give one that others dial with --address HOST:PORT"};
  }
  for (const char* own : {"localhost:", "127.", "[::1]:"}) {
    if (!advertised.empty() || !used.starts_with(own)) continue;
    return Error{Code::kInvalid,
                 "the server does not know its address for other hosts: start it with --advertise "
                 "HOST:PORT, or give the address with --address HOST:PORT"};
  }
  return told;
}

void tell_link(Context& c, const std::string& link, const std::string& what_it_is) {
  c.terminal.result(link);
  c.terminal.message(what_it_is + ". They run:\n  gridtorrent join '" + link + "'");
}

/// For who has an account: it says where the server is and how to know it, and no more.
Status invite_without_code(Context& c, api::ServerApi& server, const std::string& used, Link link) {
  for (const char* name : {"USER", "group", "uses", "ttl"}) {
    if (c.options.given(name))
      return Error{Code::kInvalid, "--no-code gives nothing but the way to the server: leave out " +
                                       std::string(name == std::string_view("USER") ? "" : "--") + name};
  }
  GT_ASSIGN(const v1::WhoAmIReply who, server.accounts().who_am_i());
  GT_ASSIGN(link.server, address_for_others(c, who.address(), used));
  const std::string text = link_text(link);
  if (c.json) {
    c.print({{"link", text}});
  } else {
    tell_link(c, text, "no secret: who has an account joins another machine with it, by the account's password");
  }
  return {};
}

Status invite(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const Context::Login login, c.known_login());
  Link link;
  GT_ASSIGN(link.ca, api::authority_sha256(login.ca_file));
  if (c.options.has("content")) {
    GT_ASSIGN(const v1::Content content, server->contents().get(c.options.str("content")));
    link.content = content.content_id();
  }
  if (c.options.flag("no-code")) return invite_without_code(c, *server, login.server, std::move(link));
  v1::CreateInviteRequest request;
  request.set_user(c.options.str("USER"));
  request.set_group(c.options.str("group"));
  request.set_uses(static_cast<std::uint32_t>(c.options.integer("uses")));
  request.set_ttl_ms(c.options.duration("ttl").count());
  GT_ASSIGN(const v1::CreateInviteReply made, server->accounts().create_invite(std::move(request)));
  const Result<std::string> address = address_for_others(c, made.address(), login.server);
  if (!address) {
    // The code goes nowhere: it must not stay open.
    GT_TRY(server->accounts().revoke_token(made.token_id()));
    return address.error();
  }
  link.server = *address;
  link.code = made.code();
  const std::string text = link_text(link);
  if (c.json) {
    c.print({{"link", text},
             {"token_id", made.token_id()},
             {"uses", made.uses()},
             {"expires", json_time(made.expires_ms())}});
    return {};
  }
  tell_link(c, text,
            "good until " + short_time(made.expires_ms()) + " for " +
                (made.uses() == 1 ? "one person" : std::to_string(made.uses()) + " people") +
                "; whoever has it can use it, so send it by a private way");
  return {};
}

// --- join

constexpr std::chrono::seconds kFirstConnection{10};
constexpr std::chrono::milliseconds kLookAgain{100};

/// The certificate of the server's authority, which is the link's; asked about unless --yes.
Result<std::string> checked_authority(Context& c, const Link& link) {
  GT_ASSIGN(api::ShownAuthority shown, api::probe_authority(link.server));
  if (shown.sha256 != link.ca) {
    return Error{Code::kDenied, "the server " + link.server +
                                    " is not the one of the invitation: its certificate authority has SHA-256 " +
                                    shown.sha256 + ", the invitation says " + link.ca +
                                    "; somebody may be listening in, so ask who invited you by another way"};
  }
  c.terminal.message("server  " + link.server + "\nCA      " + shown.sha256 + " (SHA-256), as the invitation says");
  if (!c.options.flag("yes")) GT_TRY(ask_yes("Join it?"));
  return std::move(shown.pem);
}

/// Whom the profile is of, where that is this server; empty where nobody is logged in. kConflict: it is of another
/// server or account, whose login would be lost.
Result<std::string> check_profile(Context& c, const ProfileStore& store, const Link& link) {
  GT_ASSIGN(const std::optional<Profile> present, store.load());
  GT_ASSIGN(const std::optional<std::string> token, store.load_token());
  if (!present || !token) return std::string();
  const Result<std::string> ca = api::authority_sha256(present->ca_file);
  const bool same_user = !c.options.has("user") || c.options.str("user") == present->user;
  if (ca && *ca == link.ca && same_user) return present->user;
  return Error{Code::kConflict, "you are logged in to " + present->server + " as " + escape_for_display(present->user) +
                                    ": keep that login and join beside it with --profile NAME --no-node, or first: "
                                    "gridtorrent logout"};
}

/// Also after a logout: the node of who was logged in is theirs, by whatever address it knows the server.
bool is_known_account(const ProfileStore& store, const Link& link, const std::string& user) {
  const auto present = store.load();
  if (!present || !*present || (*present)->user != user) return false;
  const Result<std::string> ca = api::authority_sha256((*present)->ca_file);
  return ca && *ca == link.ca;
}

Result<std::string> own_name(Context& c, const std::string& logged_in) {
  if (c.options.has("user")) return c.options.str("user");
  if (!logged_in.empty()) return logged_in;
  const auto name = environment_variable("USER");
  if (name && !name->empty() && *name != "root") return *name;
  return Error{Code::kInvalid, "what shall your account be called? Say it with --user NAME"};
}

/// A file that lasts as long as this object.
class TemporaryFile {
 public:
  static Result<TemporaryFile> with(const std::string& text) {
    std::string path = (std::filesystem::temp_directory_path() / "gridtorrent-ca-XXXXXX").string();
    const UniqueFd file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file) return Error{Code::kDisk, "cannot write " + path + ": " + errno_text(errno)};
    TemporaryFile made(path);
    if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      return Error{Code::kDisk, "cannot write " + path + ": " + errno_text(errno)};
    }
    return made;
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// A link with a code may make the account; one without it is for who has one, whose password is known already.
Result<std::string> password_of(Context& c, const Link& link, const std::string& user) {
  const bool known = link.code.empty() && !c.options.has("password-file");
  return known ? ask_password("Password of " + escape_for_display(user) + ": ") : new_password(c, user);
}

Result<Profile> join_server(Context& c, const ProfileStore& store, const Link& link, const std::string& ca_pem,
                            const std::string& user) {
  GT_ASSIGN(const TemporaryFile ca, TemporaryFile::with(ca_pem));
  GT_ASSIGN(const std::unique_ptr<api::ServerApi> server,
            api::ServerApi::open({.address = link.server, .ca_file = ca.path(), .token = {}}));
  v1::LoginRequest login;
  login.set_user(user);
  c.terminal.message("account " + escape_for_display(login.user()) +
                     (c.options.has("user") ? "" : " (--user names another)"));
  login.set_device(host_label());
  GT_ASSIGN(*login.mutable_password(), password_of(c, link, login.user()));
  GT_ASSIGN(*login.mutable_device_secret(), store.load_device_secret(link.server, login.user()));
  v1::LoginReply reply;
  if (link.code.empty()) {
    GT_ASSIGN(reply, server->accounts().login(std::move(login)));
  } else {
    v1::JoinRequest request;
    *request.mutable_login() = std::move(login);
    request.set_code(link.code);
    GT_ASSIGN(reply, server->accounts().join(std::move(request)));
  }
  if (!reply.device_secret().empty()) GT_TRY(store.save_device({link.server, reply.user(), reply.device_secret()}));
  return store.save({link.server, ca.path(), reply.user(), reply.user_id()}, reply.token());
}

/// As it was given, or the first line of the standard input.
Result<Link> given_link(Context& c) {
  std::string text = c.options.str("LINK");
  if (text == "-") {
    if (::isatty(STDIN_FILENO) == 1) c.terminal.message("paste the link that 'gridtorrent invite' printed:");
    if (!std::getline(std::cin, text)) return Error{Code::kInvalid, "the standard input has no link"};
  }
  return parse_link(text);
}

/// A node that has just started is about to connect: the doctor is to judge that, and not its first second.
void wait_for_server(Context& c) {
  const MonoTime until = c.clock.mono() + kFirstConnection;
  while (c.clock.mono() < until) {
    const auto node = c.node();
    const auto status = node ? (*node)->status() : Result<v1::StatusReply>(node.error());
    if (!status || status->server_connected() || !status->server_error().empty()) return;
    std::this_thread::sleep_for(kLookAgain);
  }
}

Status join(Context& c) {
  GT_ASSIGN(const Link link, given_link(c));
  GT_ASSIGN(const ProfileStore store, c.profiles());
  GT_ASSIGN(const std::string logged_in, check_profile(c, store, link));
  const bool with_node = !c.options.flag("no-node") || c.options.gives_way("no-node", "data-dir");
  if (!with_node && c.options.has("data-dir"))
    return Error{Code::kInvalid, "--data-dir is of a node that is started: leave it out, or --no-node"};
  GT_ASSIGN(const NodeWish wish, node_wish(c, "node-name"));
  GT_ASSIGN(const std::string user, own_name(c, logged_in));
  if (with_node) {
    GT_TRY(check_node_place(c, wish));
    if (!is_known_account(store, link, user)) GT_TRY(check_node_owner(c, wish, link.server, user));
  }
  GT_ASSIGN(const std::string ca_pem, checked_authority(c, link));
  GT_ASSIGN(const Profile profile, join_server(c, store, link, ca_pem, user));
  c.terminal.message("joined " + profile.server + " as " + escape_for_display(profile.user));
  if (with_node) GT_TRY(ensure_node_runs(c, wish));
  if (c.json) {
    c.print({{"server", profile.server}, {"user", json_text(profile.user)}, {"user_id", profile.user_id}});
    return {};
  }
  if (with_node) {
    wait_for_server(c);
    GT_TRY(doctor(c));
  }
  c.terminal.message(link.content.empty() ? "next: gridtorrent search" : "next: gridtorrent get " + link.content);
  return {};
}

}  // namespace

std::vector<CommandEntry> join_commands() {
  const std::string group = "Who you are";
  return {
      {{.name = "join",
        .summary = "join a server by an invitation: account, login and this machine's node in one step",
        .description = "LINK is what 'gridtorrent invite' printed; quote it. The server shows its certificate "
                       "authority, which must be the invitation's. Where there is no account of that name, one is made "
                       "with the password that you give; where there is one, it is that one's password. "
                       "The link's code is a secret: where others use this machine, give '-' for LINK, and the link "
                       "at the terminal or as standard input, since arguments are for all to see for a moment, "
                       "and your shell keeps them.",
        .positionals = {{.name = "LINK",
                         .help = "gridtorrent:HOST:PORT[/CONTENT_ID]?ca=HEX[&code=CODE]; '-' asks for it"}},
        .options = {{.name = "user",
                     .value = "NAME",
                     .help = "of your account; without it, your name on this machine",
                     .check = options::is_not_empty},
                    password_file_option(),
                    {.name = "yes", .help = "do not ask"},
                    {.name = "no-node", .help = "start no node here"},
                    {.name = "node-name",
                     .value = "NAME",
                     .help = "of a new node; without it, the host's",
                     .check = options::is_not_empty},
                    node_data_dir_option()},
        .examples = {{"gridtorrent join 'gridtorrent:lab.example.org:7443?ca=…&code=gti_…'", ""}},
        .group = group},
       join},
      {{.name = "invite",
        .summary = "print a string with which somebody joins",
        .description = "Administrators invite to the server; managers invite people who have an account to their "
                       "group, and others too where the server lets them (--managers-invite). The string is a secret: "
                       "whoever has it can use it, but with --no-code. 'token list' shows open ones, 'token revoke' "
                       "ends them.",
        .positionals = {{.name = "USER",
                         .help = "the only account that may use it; without it, whoever has it",
                         .required = false}},
        .options = {{.name = "group", .value = "GROUP", .help = "they become a member of this group of yours"},
                    {.name = "content",
                     .value = "CONTENT",
                     .help = "what they are to get first: 'join' names the command; it gives them no right to it",
                     .check = options::is_not_empty},
                    {.name = "uses",
                     .value = "N",
                     .help = "how many people may use it",
                     .default_value = "1",
                     .check = options::integer_between(1, 10'000)},
                    {.name = "ttl",
                     .value = "TIME",
                     .help = "how long it is good",
                     .default_value = "48h",
                     .check = options::is_duration},
                    {.name = "address",
                     .value = "HOST:PORT",
                     .help = "of the server, for them; without it, what the server was told with --advertise",
                     .check = options::is_server_address},
                    {.name = "no-code",
                     .help = "without a code, for another machine of somebody who has an account: it is no secret, and "
                             "'join' asks for the password",
                     .command_line_only = true}},
        .examples = {{"gridtorrent invite mia", "an account for mia"},
                     {"gridtorrent invite --group lab --uses 20 --ttl 7d", "for a course"},
                     {"gridtorrent invite --no-code", "for a second machine of yours"}},
        .group = group},
       invite}};
}

}  // namespace gridtorrent::client::cli
