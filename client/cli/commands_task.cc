#include "client/cli/context.h"
#include "client/cli/follow.h"
#include "client/cli/listing.h"
#include "client/cli/node_names.h"
#include "client/cli/text_view.h"

namespace gridtorrent::client::cli {

namespace {

Json tasks_json(const api::Listed<v1::Task>& list) {
  Json tasks = Json::array();
  for (const v1::Task& task : list.items) tasks.push_back(to_json(task));
  return tasks;
}

std::string tasks_text(const api::Listed<v1::Task>& list, const NodeNames& names) {
  std::vector<v1::Task> shown;
  for (const v1::Task& task : list.items) shown.push_back(named(task, names));
  return tasks_table(shown);
}

Status list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  const std::string& node = c.options.str("node");
  const bool all = c.options.flag("all");
  if (c.options.flag("watch")) {
    const NodeNames names = c.json ? NodeNames() : names_of_own_nodes(c, *server);
    const auto text = [&](const api::Listed<v1::Task>& list) { return tasks_text(list, names); };
    const auto watch = [&](const api::TasksFn& show, std::stop_token stop) {
      return server->tasks().watch_list(node, all, show, std::move(stop));
    };
    return watch_list<v1::Task>(c, "tasks", watch, tasks_json, text);
  }
  GT_ASSIGN(const api::Listed<v1::Task> list, server->tasks().list(node, all, limit_of(c)));
  const NodeNames names = c.json || list.items.empty() ? NodeNames() : names_of_own_nodes(c, *server);
  print_list(c, "tasks", tasks_json(list), tasks_text(list, names), list.cut);
  return {};
}

Status print_task(Context& c, api::ServerApi& server, const Result<v1::Task>& task) {
  GT_TRY(task);
  if (c.json) {
    c.print(to_json(*task));
  } else {
    c.terminal.result(task_text(named(*task, names_of_own_nodes(c, server))));
  }
  return {};
}

Status show(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return print_task(c, *server, server->tasks().get(c.options.str("ID")));
}

Status cancel(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  return print_task(c, *server, server->tasks().cancel(c.options.str("ID")));
}

Status wait(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const v1::Task task, server->tasks().get(c.options.str("ID")));
  std::optional<std::chrono::milliseconds> limit;
  if (c.options.has("timeout")) limit = c.options.duration("timeout");
  GT_ASSIGN(const v1::Task ended, follow_task(c, task, limit));
  if (!c.json) c.terminal.result(task_text(named(ended, names_of_own_nodes(c, *server))));
  return {};
}

}  // namespace

std::vector<CommandEntry> task_commands() {
  const std::string group = "Tasks given to nodes";
  const std::vector<options::Positional> id{{.name = "ID", .help = "a task, as shown by task list"}};
  return {
      {{.name = "task list",
        .summary = "list the tasks of your nodes that have not ended",
        .options = {{.name = "node", .value = "NODE", .help = "only those of this node (name or id)"},
                    {.name = "all", .help = "those that ended too"},
                    watch_option(),
                    limit_option()},
        .group = group},
       list},
      {{.name = "task show", .summary = "show a task and its result", .positionals = id, .group = group}, show},
      {{.name = "task cancel", .summary = "take a task back, or stop it", .positionals = id, .group = group}, cancel},
      {{.name = "task wait",
        .summary = "wait until a task ends; the exit code tells how",
        .positionals = id,
        .options = {{.name = "timeout",
                     .value = "TIME",
                     .help = "give up waiting after this time, with exit code 9",
                     .check = options::is_duration}},
        .group = group},
       wait,
       true}};
}

}  // namespace gridtorrent::client::cli
