#include "client/cli/local_node.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "client/doctor/doctor.h"
#include "client/profile/saved_login.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::milliseconds kLookAgain{100};
constexpr const char* kFreePorts =
    "it listens on free ports; for a firewall, set lane-ports and tls-lane-ports in "
    "~/.config/gridtorrent/gridtorrentd.toml";

/// A node's name is like a user's: a-z, 0-9, '-', '_' and '.', of a host the first label. Empty where nothing is left.
std::string as_node_name(const std::string& host) {
  std::string name;
  for (const char c : to_lower_ascii(host.substr(0, host.find('.')))) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && !name.empty())) name += c;
  }
  return name.substr(0, 32);
}

Result<FirstStart> first_start(Context& c, const std::string& name) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const Context::Login login, c.known_login());
  FirstStart first{login.server, login.ca_file, "", name.empty() ? as_node_name(host_label()) : name};
  v1::CreateEnrollTokenRequest request;
  request.set_node_name(first.name);
  request.set_uses(1);
  GT_ASSIGN(const v1::CreateEnrollTokenReply reply, server->nodes().create_enroll_token(std::move(request)));
  first.enroll_token = reply.token();
  return first;
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

}  // namespace

std::string host_label() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "here";
  name.resize(name.find('\0'));
  return name.empty() ? "here" : name;
}

Result<NodeService> local_node() {
  GT_ASSIGN(NodeHome home, node_home(environment_variable));
  std::error_code ignored;
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / "gridtorrentd";
  const bool is_there = ::access(beside.c_str(), X_OK) == 0;
  return NodeService(std::move(home), is_there ? beside.string() : "gridtorrentd");
}

Status ensure_node_runs(Context& c, const std::string& name) {
  GT_ASSIGN(const std::string socket, c.socket_path());
  const auto present = ask_node(c);
  if (present) {
    c.terminal.message("node " + escape_for_display(present->node_name()) + " runs already");
    return {};
  }
  // One that answers and refuses is another account's.
  if (present.error().code != Code::kUnreachable) return present.error();
  GT_ASSIGN(NodeService service, local_node());
  std::optional<FirstStart> first;
  if (!service.is_enrolled()) {
    GT_ASSIGN(first, first_start(c, name));
  } else if (!name.empty()) {
    c.terminal.message("this node is enrolled and keeps its name; --name is for a new one");
  }
  const Status started = service.start(first);
  if (!started && started.error().code == Code::kNotFound) {
    return Error{Code::kNotFound,
                 "gridtorrentd is not installed here: install gridtorrent-node, or put it beside gridtorrent"};
  }
  GT_TRY(started);
  const MonoTime until = c.clock.mono() + kPatience;
  for (;;) {
    const auto answer = ask_node(c);
    if (answer) {
      service.forget_first_start();
      c.terminal.message("node " + escape_for_display(answer->node_name()) + " runs" + lasting(service));
      if (has_free_lane_ports(*answer)) c.terminal.message(kFreePorts);
      return {};
    }
    if (answer.error().code != Code::kUnreachable) return answer.error();
    if (const auto failed = service.failure()) return *failed;
    if (c.clock.mono() > until) {
      return Error{Code::kTimeout, "the node was started, and does not answer at " + escape_for_display(socket) +
                                       " yet; look with 'gridtorrent node status'"};
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<api::NodeApi*> node_for_work(Context& c) {
  const auto node = c.node();
  if (node) {
    const auto answer = (*node)->status();
    if (answer || answer.error().code != Code::kUnreachable) return *node;
  }
  if (c.options.has("socket") || (!node && node.error().code != Code::kUnreachable)) return node;
  GT_ASSIGN(const Context::Login login, c.known_login());
  const Result<NodeService> service = local_node();
  const bool enrolled = service && service->is_enrolled();
  // Nothing to start with: what there is to say is that no node is here.
  if (login.server.empty() && !enrolled && !server_here()) return node;
  GT_TRY(ensure_node_runs(c, ""));
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
