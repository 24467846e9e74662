#include "client/cli/context.h"
#include "client/cli/follow.h"
#include "client/cli/listing.h"
#include "client/cli/node_names.h"
#include "client/cli/text_view.h"

namespace gridtorrent::client::cli {

namespace {

Status list(Context& c) {
  GT_ASSIGN(api::ServerApi* const server, c.server());
  GT_ASSIGN(const api::Listed<v1::Task> list,
            server->tasks().list(c.options.str("node"), c.options.flag("all"), limit_of(c)));
  Json tasks = Json::array();
  std::vector<v1::Task> shown;
  const NodeNames names = c.json || list.items.empty() ? NodeNames() : names_of_own_nodes(c, *server);
  for (const v1::Task& task : list.items) {
    tasks.push_back(to_json(task));
    shown.push_back(named(task, names));
  }
  print_list(c, "tasks", std::move(tasks), tasks_table(shown), list.cut);
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
