#include <cstdint>
#include <set>

#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/local_node.h"
#include "client/cli/text_view.h"
#include "client/doctor/doctor.h"
#include "common/text.h"

// This machine's node, as a service.

namespace gridtorrent::client::cli {

namespace {

Status start(Context& c) {
  GT_ASSIGN(const NodeWish wish, node_wish(c, "name"));
  GT_TRY(ensure_node_runs(c, wish));
  if (c.json) {
    GT_ASSIGN(api::NodeApi* const node, c.node());
    GT_ASSIGN(const v1::StatusReply status, node->status());
    c.print({{"node_id", status.node_id()}, {"node", json_text(status.node_name())}});
  }
  return {};
}

Status stop(Context& c) {
  GT_ASSIGN(const NodeService service, local_node());
  GT_TRY(service.stop());
  if (c.json) {
    c.print({{"running", false}});
  } else {
    c.terminal.message("the node has ended; what it was at goes on after: gridtorrent node start");
  }
  return {};
}

/// How the node is, and what keeps it running.
struct NodeFacts {
  std::string socket, keeper;
};

/// Each port once, rising.
Json lane_ports_json(const v1::StatusReply& status) {
  std::set<std::uint32_t> ports;
  for (const v1::NodeListener& listener : status.listeners()) ports.insert(listener.endpoint().port());
  return Json(ports);
}

Json status_json(const v1::StatusReply& status, const NodeFacts& facts) {
  return {{"node_id", status.node_id()},
          {"node", json_text(status.node_name())},
          {"owner", json_text(status.owner())},
          {"server", status.server()},
          {"server_connected", status.server_connected()},
          {"server_error", status.server_error().empty() ? Json() : Json(json_text(status.server_error()))},
          {"data_dir", json_text(status.data_dir())},
          {"lane_ports", lane_ports_json(status)},
          {"socket", json_text(facts.socket)},
          {"kept_by", facts.keeper}};
}

std::string status_text(const v1::StatusReply& status, const NodeFacts& facts) {
  return "node     " + escape_for_display(status.node_name()) + " of " + escape_for_display(status.owner()) +
         "\nserver   " + status.server() +
         (status.server_connected()       ? ", connected"
          : status.server_error().empty() ? ", still connecting"
                                          : ", not connected: " + escape_for_display(status.server_error())) +
         "\nlanes    on " + lane_ports_text(status) + "\ndata     " + escape_for_display(status.data_dir()) +
         "\nsocket   " + escape_for_display(facts.socket);
}

Status watch_status(Context& c, api::NodeApi& node, const NodeFacts& facts) {
  Interrupt interrupt;
  const auto show = [&](const v1::StatusReply& status) {
    if (c.json) {
      Json line = event("status", c.clock.wall());
      line.update(status_json(status, facts));
      c.emit(line);
    } else {
      c.terminal.clear_screen();
      c.terminal.result(cut_lines(status_text(status, facts), c.terminal.out_width()));
    }
    return c.terminal.finish().ok();
  };
  const Status ended = node.watch_status(show, interrupt.token());
  if (interrupt.stopped() || ended) return {};
  if (ended.error().code == Code::kUnsupported)
    return ended.error().with_context("this node is older, and tells no changes");
  return ended;
}

Status status(Context& c) {
  GT_ASSIGN(const NodeService service, local_node());
  GT_ASSIGN(const std::string socket, c.socket_path());
  const auto node = c.node();
  const auto answer = node ? (*node)->status() : Result<v1::StatusReply>(node.error());
  if (!answer) {
    return answer.error().with_context(service.is_enrolled() ? "your node does not answer" : "you have no node here");
  }
  const NodeFacts facts{socket, service.keeper() == NodeKeeper::kSystemd ? "systemd" : "nobody"};
  if (c.options.flag("watch")) return watch_status(c, **node, facts);
  if (c.json) {
    c.print(status_json(*answer, facts));
  } else {
    c.terminal.result(status_text(*answer, facts));
  }
  return {};
}

/// Where the node runs, it is told; else its next start, which is now, enrols it again.
Status reenroll(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const auto node = c.node();
  const auto running = node ? (*node)->status() : Result<v1::StatusReply>(node.error());
  if (!running) {
    const Result<NodeService> service = local_node();
    const std::string name = service ? service->enrolled_name() : "";
    if (running.error().code != Code::kUnreachable || names_a_node(c.options) || name.empty()) return running.error();
    GT_TRY(service->set_enrolment_aside());
    GT_TRY(ensure_node_runs(c, {.former_name = name}));
    GT_ASSIGN(api::NodeApi* const started, c.node());
    GT_ASSIGN(const v1::StatusReply status, started->status());
    if (c.json)
      c.print({{"node_id", status.node_id()}, {"node", json_text(status.node_name())}, {"restart_needed", false}});
    return {};
  }
  v1::CreateEnrollTokenRequest request;
  request.set_uses(1);
  GT_ASSIGN(const v1::CreateEnrollTokenReply token, server->nodes().create_enroll_token(std::move(request)));
  GT_ASSIGN(const v1::ReenrollReply reply, (*node)->reenroll(token.token()));
  if (c.json) {
    c.print({{"node_id", reply.node_id()},
             {"node", json_text(running->node_name())},
             {"restart_needed", reply.restart_needed()}});
  } else if (reply.restart_needed()) {
    c.terminal.message("node " + escape_for_display(running->node_name()) + " had been removed, and is a new one, " +
                       reply.node_id() + ", once it starts again: gridtorrent node stop && gridtorrent node start");
  } else {
    c.terminal.message("node " + escape_for_display(running->node_name()) + " has another credential, good until " +
                       short_time(reply.credential_expires_ms()) + "; what it was at goes on");
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> local_node_commands() {
  const std::string group = "Nodes";
  return {
      {{.name = "node start",
        .summary = "start this machine's node, and enrol it where it is new",
        .description = "Your systemd runs it where there is one: while you are logged in, or always after 'loginctl "
                       "enable-linger'. Elsewhere it runs until 'gridtorrent node stop' or a shutdown. A new node is "
                       "enrolled for who is logged in. Its data is in ~/.local/share/gridtorrent/node, or where "
                       "--data-dir said once on this host, its options in ~/.config/gridtorrent/gridtorrentd.toml.",
        .options = {{.name = "name",
                     .value = "NAME",
                     .help = "of a new node; without it, the host's",
                     .check = options::is_not_empty},
                    node_data_dir_option()},
        .group = group},
       start},
      {{.name = "node stop",
        .summary = "end this machine's node in order; what it was at goes on when it starts again",
        .group = group},
       stop},
      {{.name = "node reenroll",
        .summary = "give this machine's node another credential, where its own was revoked or has run out",
        .description = "As after 'user disable' and 'user enable', or where the node was away for longer than 90 days. "
                       "It keeps its id, its transfers and its files, and takes the credential over while it runs. A "
                       "node that was removed becomes a new one, with the transfers and files that it had.",
        .group = group},
       reenroll},
      {{.name = "node status",
        .summary = "say whether this machine's node runs, and for whom",
        .options = {{.name = "watch", .help = "as it changes, until Ctrl-C"}},
        .group = group},
       status,
       false}};
}

}  // namespace gridtorrent::client::cli
