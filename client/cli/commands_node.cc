#include "client/cli/context.h"
#include "client/cli/doctor.h"
#include "client/cli/follow.h"
#include "client/cli/listing.h"
#include "client/cli/text_view.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

Status enroll_token(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  v1::CreateEnrollTokenRequest request;
  request.set_node_name(c.options.str("name"));
  request.set_uses(static_cast<std::uint32_t>(c.options.integer("uses")));
  request.set_ttl_ms(c.options.duration("ttl").count());
  request.set_ephemeral(c.options.flag("ephemeral"));
  GT_ASSIGN(const v1::CreateEnrollTokenReply reply, server->nodes().create_enroll_token(std::move(request)));
  if (c.json) {
    c.print({{"token", reply.token()}, {"expires", json_time(reply.expires_ms())}});
  } else {
    c.terminal.result(reply.token());
    c.terminal.message("good until " + short_time(reply.expires_ms()) +
                       "; give it to gridtorrentd with --enroll-token-file");
  }
  return {};
}

Json nodes_json(const api::Listed<v1::Node>& list) {
  Json nodes = Json::array();
  for (const v1::Node& node : list.items) nodes.push_back(to_json(node));
  return nodes;
}

Status list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const auto text = [&](const api::Listed<v1::Node>& list) { return nodes_table(list.items, c.options.flag("ids")); };
  if (c.options.flag("watch")) {
    const auto watch = [&](const api::NodesFn& show, std::stop_token stop) {
      return server->nodes().watch(show, std::move(stop));
    };
    return watch_list<v1::Node>(c, "nodes", watch, nodes_json, text);
  }
  GT_ASSIGN(const api::Listed<v1::Node> list, server->nodes().list(limit_of(c)));
  print_list(c, "nodes", nodes_json(list), text(list), list.cut);
  return {};
}

Status show(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Node node, server->nodes().get(c.options.str("NODE")));
  if (c.json) {
    c.print(to_json(node));
  } else {
    c.terminal.result(node_text(node));
  }
  return {};
}

Status remove(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const std::string& name = c.options.str("NODE");
  if (!c.options.flag("yes")) {
    GT_TRY(ask_yes("Remove node " + escape_for_display(name) +
                   "? Its rights end at once; to come back it is enrolled as a new one."));
  }
  GT_ASSIGN(const v1::RemoveNodeReply removed, server->nodes().remove(name));
  if (c.json) {
    c.print({{"node_id", removed.node_id()}, {"node", json_text(removed.name())}, {"removed", true}});
  } else {
    c.terminal.message("removed node " + escape_for_display(removed.name().empty() ? name : removed.name()) + " (" +
                       removed.node_id() + "): its rights have ended, its name is free, its program ends by itself; " +
                       "files stay where they are");
  }
  return {};
}

Status rename(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Node node, server->nodes().rename(c.options.str("NODE"), c.options.str("NAME")));
  if (c.json) {
    c.print(to_json(node));
  } else {
    c.terminal.message(node.node_id() + " is " + escape_for_display(node.name()) + " now");
  }
  return {};
}

Status limit(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  v1::SetNodeLimitsRequest request;
  if (c.options.has("upload")) request.set_upload_bits_per_s(c.options.bits_per_s("upload"));
  if (c.options.has("download")) request.set_download_bits_per_s(c.options.bits_per_s("download"));
  GT_ASSIGN(const v1::NodeLimits limits, node->set_limits(std::move(request)));
  if (c.json) {
    c.print(to_json(limits));
  } else {
    c.terminal.result(limits_text(limits) + "\n");
  }
  return {};
}

/// "NODE:ROOT/PATH" or "NODE:ROOT:PATH" → node and "ROOT:PATH"; "NODE:" and "NODE" stand for the list of roots.
std::pair<std::string, std::string> split_place(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  std::string below = text.substr(colon + 1);
  if (below.empty()) return {text.substr(0, colon), ""};
  const std::size_t end = below.find_first_of("/:");
  if (end == std::string::npos) return {text.substr(0, colon), below + ":"};
  below[end] = ':';
  return {text.substr(0, colon), below};
}

Status print_folder(Context& c, const v1::Task& task, const std::string& if_empty) {
  const Json folder = Json::parse(task.result_json(), nullptr, false);
  if (!folder.is_object() || !folder.contains("entries") || !folder["entries"].is_array())
    return Error{Code::kInternal, "the node's answer to the task " + task.task_id() + " makes no sense"};
  if (c.json) {
    c.print(folder);
    return {};
  }
  Table table({">SIZE", "NAME"});
  for (const Json& entry : folder["entries"]) {
    const bool is_folder = member(entry, "kind", std::string()) == "folder";
    table.row({is_folder ? "-" : format_bytes(member(entry, "bytes", std::uint64_t{0})),
               member(entry, "name", std::string()) + (is_folder ? "/" : "")});
  }
  c.terminal.result(table.text(if_empty));
  return {};
}

Status ls(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const auto [node, root_path] = split_place(c.options.str("PLACE"));
  if (node.empty()) return Error{Code::kInvalid, "PLACE is NODE:ROOT/PATH, as in cluster7:scratch/run42"};
  v1::CreateTaskRequest request;
  request.set_node(node);
  request.mutable_work()->mutable_list_folder()->set_root_path(root_path);
  GT_ASSIGN(const v1::Task task, server->tasks().create(std::move(request)));
  GT_ASSIGN(const v1::Task ended, follow_task(c, task, c.options.duration("timeout"), true));
  return print_folder(c, ended,
                      root_path.empty() ? "the node names no folders for tasks; --share-root and --download-root do"
                                        : "the folder is empty");
}

}  // namespace

std::vector<CommandEntry> node_commands() {
  const std::string group = "Nodes";
  return {
      {{.name = "node enroll-token",
        .summary = "make a token with which a new node of yours joins",
        .options =
            {{.name = "name", .value = "NAME", .help = "what the node will be called; without it, it says itself"},
             {.name = "uses",
              .value = "N",
              .help = "how many nodes may join with it",
              .default_value = "1",
              .check = options::integer_between(1, 100'000)},
             {.name = "ttl",
              .value = "TIME",
              .help = "how long it is good",
              .default_value = "15m",
              .check = options::is_duration},
             {.name = "ephemeral", .help = "the server removes each node a day after it was last seen; for jobs"}},
        .examples = {{"(umask 077; gridtorrent node enroll-token > enroll.token)",
                      "then: gridtorrentd --enroll-token-file enroll.token ..."},
                     {"gridtorrent node enroll-token --uses 64 --ttl 2h --ephemeral", "for an array of 64 jobs"}},
        .group = group},
       enroll_token},
      {{.name = "node list", .summary = "list your nodes", .options = {watch_option(), limit_option()}, .group = group},
       list},
      {{.name = "node show",
        .summary = "show a node with its addresses and whether they can be reached",
        .positionals = {{.name = "NODE", .help = "name or id"}},
        .group = group},
       show},
      {{.name = "node remove",
        .summary = "end a node's rights, and free its name",
        .description = "Others serve it nothing any more within seconds, and its program ends with exit code 4. "
                       "Its files stay where they are. Administrators remove the nodes of others, too.",
        .positionals = {{.name = "NODE", .help = "name or id; of another person: id or OWNER/NAME"}},
        .options = {{.name = "yes", .help = "do not ask"}},
        .examples = {{"gridtorrent node remove old-laptop", ""}},
        .group = group},
       remove},
      {{.name = "node rename",
        .summary = "give a node another name",
        .positionals = {{.name = "NODE", .help = "name or id; of another person: id or OWNER/NAME"},
                        {.name = "NAME", .help = "its name from now on"}},
        .group = group},
       rename},
      {{.name = "node ls",
        .summary = "list a folder on a node of yours",
        .positionals = {{.name = "PLACE", .help = "NODE:ROOT/PATH below a share or download root of that node"}},
        .options = {{.name = "timeout",
                     .value = "TIME",
                     .help = "wait no longer than this for the node",
                     .default_value = "30s",
                     .check = options::is_duration}},
        .examples = {{"gridtorrent node ls cluster7:scratch/run42", ""}},
        .group = group},
       ls},
      {{.name = "node limit",
        .summary = "show or set the limits of this machine's node, for all its transfers together",
        .description =
            "They hold until the node starts anew, or until its configuration or the hours in it change them; "
            "'gridtorrent node set upload-limit=200Mbit' is for good. Without options it says which hold, "
            "what makes them, and until when.",
        .options = options::on_command_line_only({{.name = "upload",
                                                   .value = "RATE",
                                                   .help = "send no faster than this; 0: no limit",
                                                   .check = options::is_rate},
                                                  {.name = "download",
                                                   .value = "RATE",
                                                   .help = "receive no faster than this; 0: no limit",
                                                   .check = options::is_rate}}),
        .examples = {{"gridtorrent node limit --upload 200Mbit", "takes effect at once"},
                     {"gridtorrent node limit", "shows them"}},
        .group = group},
       limit},
      {{.name = "doctor",
        .summary = "check node, server, clock, ports, disk and kernel, and say what to set",
        .description = "Each line is ok or warn; a warning comes with the line to run. Nothing is changed.",
        .group = group},
       doctor}};
}

}  // namespace gridtorrent::client::cli
