#include "client/cli/local_node.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "client/doctor/doctor.h"
#include "client/profile/node_home.h"
#include "client/profile/saved_login.h"
#include "common/host.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::milliseconds kLookAgain{100};
constexpr const char* kFreePorts =
    "it listens on free ports; for a firewall, set lane-ports and tls-lane-ports in "
    "~/.config/gridtorrent/gridtorrentd.toml";

/// A name that nobody asked for is in the token alone: there the server tells it apart from one that is taken, by a
/// suffix. The wish of a person it refuses.
Result<FirstStart> first_start(Context& c, const NodeWish& wish) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const Context::Login login, c.known_login());
  const std::string usual = wish.former_name.empty() ? node_name_of(host_label()) : wish.former_name;
  v1::CreateEnrollTokenRequest request;
  request.set_node_name(wish.name.empty() ? usual : wish.name);
  request.set_uses(1);
  GT_ASSIGN(const v1::CreateEnrollTokenReply reply, server->nodes().create_enroll_token(std::move(request)));
  return FirstStart{login.server, login.ca_file, reply.token(), wish.name};
}

/// Until when it runs, as the end of a sentence.
std::string lasting(const NodeService& service) {
  if (service.keeper() == NodeKeeper::kNobody) return " until 'gridtorrent node stop' or a shutdown";
  if (service.lingers()) return ", also after the next boot";
  return " while you are logged in; to keep it running without: loginctl enable-linger";
}

Result<v1::StatusReply> ask_node(Context& c) {
  c.forget_node();
  GT_ASSIGN(api::NodeApi* const node, c.node());
  return node->status();
}

/// One that runs is as it was wished.
Status check_running(const v1::StatusReply& running, const NodeWish& wish) {
  if (wish.data_folder.empty() || wish.data_folder == running.data_dir()) return {};
  return Error{Code::kConflict, "node " + escape_for_display(running.node_name()) + " runs here with its data in " +
                                    escape_for_display(running.data_dir()) + "; for another one in " +
                                    escape_for_display(wish.data_folder) + ", first: gridtorrent node stop"};
}

Result<NodeService> node_service(const NodeWish& wish) {
  GT_ASSIGN(NodeHome home, node_home(environment_variable));
  if (!wish.data_folder.empty()) home.data_folder = wish.data_folder;
  home.to_be_kept = !wish.data_folder.empty();
  std::error_code ignored;
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "gridtorrentd";
  const bool is_there = ::access(beside.c_str(), X_OK) == 0;
  return NodeService(std::move(home), is_there ? beside.string() : "gridtorrentd");
}

Status start_node(Context& c, NodeService& service, const NodeWish& wish) {
  GT_TRY(service.check_place());
  std::optional<FirstStart> first;
  if (!service.is_enrolled()) {
    GT_ASSIGN(first, first_start(c, wish));
  } else if (!wish.name.empty()) {
    c.terminal.message("this node is enrolled and keeps its name; --name is for a new one");
  }
  std::string socket;
  if (c.options.has("socket")) {
    GT_ASSIGN(socket, c.socket_path());
  }
  const Status started = service.start(first, socket);
  if (started || started.error().code != Code::kNotFound) return started;
  return Error{Code::kNotFound,
               "gridtorrentd is not installed here: install gridtorrent-node, or put it beside gridtorrent"};
}

/// Nobody but its unit knows where a node listens that systemd starts.
Error listens_elsewhere(const std::string& socket) {
  const std::string shown = escape_for_display(socket);
  return {Code::kConflict, "systemd runs your node, and it does not listen at " + shown +
                               ": name no socket (--socket, GRIDTORRENT_SOCKET, 'socket' in gridtorrent.toml), or "
                               "write socket = \"" +
                               shown +
                               "\" into gridtorrentd.toml and start it again with 'gridtorrent node stop' "
                               "and 'gridtorrent node start'"};
}

/// Where several commands start it at once, all but one find the data folder taken, and ask on for the node that won.
Result<v1::StatusReply> wait_for_node(Context& c, NodeService& service) {
  GT_ASSIGN(const std::string socket, c.socket_path());
  const MonoTime until = c.clock.mono() + kPatience;
  std::optional<Error> taken;
  for (;;) {
    auto answer = ask_node(c);
    if (answer || answer.error().code != Code::kUnreachable) return answer;
    if (auto failed = service.failure()) {
      if (!failed->folder_in_use) return *failed;
      taken = *failed;
    }
    // systemd answers once the node serves.
    const bool serves = !taken && service.keeper() == NodeKeeper::kSystemd;
    if (serves && c.options.has("socket")) return listens_elsewhere(socket);
    if (c.clock.mono() > until) break;
    std::this_thread::sleep_for(kLookAgain);
  }
  if (taken) return *taken;
  return Error{Code::kTimeout, "the node was started, and does not answer at " + escape_for_display(socket) +
                                   " yet; look with 'gridtorrent node status'"};
}

}  // namespace

std::string host_label() {
  return host_name();
}

std::string node_name_of(const std::string& host) {
  std::string name;
  for (const char c : to_lower_ascii(host.substr(0, host.find('.')))) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && !name.empty())) name += c;
  }
  return name.size() < 2 ? "" : name.substr(0, 32);
}

options::Option node_data_dir_option() {
  return {.name = "data-dir",
          .value = "DIR",
          .help =
              "where the node of this host keeps what it must not lose, from now on: on a disk of this host, where "
              "the home is on NFS, Lustre or the like",
          .command_line_only = true,  // GRIDTORRENT_DATA_DIR is of a gridtorrentd that is started by hand
          .check = options::is_not_empty};
}

Result<NodeWish> node_wish(const Context& c, const std::string& name_option) {
  NodeWish wish{.name = c.options.str(name_option)};
  if (c.options.has("data-dir")) {
    GT_ASSIGN(wish.data_folder, Context::absolute(c.options.str("data-dir")));
  }
  return wish;
}

Result<NodeService> local_node() {
  return node_service({});
}

Status check_node_place(Context& c, const NodeWish& wish) {
  const auto running = ask_node(c);
  if (running) return check_running(*running, wish);
  GT_ASSIGN(const NodeService service, node_service(wish));
  return service.check_place();
}

Status check_node_owner(Context& c, const NodeWish& wish, const std::string& server, const std::string& user) {
  std::optional<Enrolment> present;
  if (const auto running = ask_node(c)) {
    present = Enrolment{running->node_name(), running->owner(), running->server()};
  } else {
    GT_ASSIGN(const NodeService service, node_service(wish));
    present = service.enrolment();
  }
  if (!present || (present->owner == user && present->server == server)) return {};
  const std::string name = escape_for_display(present->node_name);
  return Error{Code::kConflict, "this machine's node " + name + " is of " + escape_for_display(present->owner) +
                                    " at " + escape_for_display(present->server) +
                                    ", and there is one node a machine for each system user: join with --no-node, or "
                                    "end that node first with 'gridtorrent node remove " +
                                    name + "'"};
}

Status ensure_node_runs(Context& c, const NodeWish& wish) {
  const auto present = ask_node(c);
  if (present) {
    GT_TRY(check_running(*present, wish));
    c.terminal.message("node " + escape_for_display(present->node_name()) + " runs already");
    return {};
  }
  // One that answers and refuses is another account's.
  if (present.error().code != Code::kUnreachable) return present.error();
  GT_ASSIGN(NodeService service, node_service(wish));
  GT_TRY(start_node(c, service, wish));
  GT_ASSIGN(const v1::StatusReply started, wait_for_node(c, service));
  service.forget_first_start();
  c.terminal.message("node " + escape_for_display(started.node_name()) + " runs" + lasting(service));
  if (has_free_lane_ports(started)) c.terminal.message(kFreePorts);
  return {};
}

bool names_a_node(const options::Parsed& options) {
  return options.source("socket") >= options::Source::kEnvironment;
}

Result<api::NodeApi*> node_for_work(Context& c) {
  const auto node = c.node();
  if (node) {
    const auto answer = (*node)->status();
    if (answer || answer.error().code != Code::kUnreachable) return *node;
  }
  if (names_a_node(c.options) || (!node && node.error().code != Code::kUnreachable)) return node;
  GT_ASSIGN(const Context::Login login, c.known_login());
  const Result<NodeService> service = local_node();
  const bool enrolled = service && service->is_enrolled();
  // Nothing to start with: what there is to say is that no node is here.
  if (login.server.empty() && !enrolled && !server_here()) return node;
  GT_TRY(ensure_node_runs(c, {}));
  return c.node();
}

Status node_knows(Context& c, api::NodeApi& node, const std::string& option, std::string_view field) {
  if (!c.options.has(option)) return {};
  GT_ASSIGN(const v1::StatusReply status, node.status());
  if (std::ranges::find(status.knows(), field) != status.knows().end()) return {};
  return Error{Code::kUnsupported,
               "the node that runs here is of an older version and does not know --" + option + ": start a newer one"};
}

}  // namespace gridtorrent::client::cli
