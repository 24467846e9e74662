#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/node_names.h"
#include "client/cli/transfer_names.h"
#include "client/cli/tuning_plot.h"
#include "client/cli/tuning_view.h"
#include "common/ids.h"
#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::cli {

namespace {

Error not_written(const std::string& path) {
  return {Code::kDisk, "the plot is not written: " + escape_for_display(path) + ": " + errno_text(errno)};
}

/// In place of what is there.
Status write_plot(const std::string& path, const std::string& picture) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666));
  if (!file) return not_written(path);
  for (std::size_t done = 0; done < picture.size();) {
    const ssize_t wrote = ::write(file.get(), picture.data() + done, picture.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return not_written(path);
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Status plot(Context& c, const v1::Tuning& tuning) {
  const std::string path = c.options.str("plot");
  if (path == "-") {
    c.terminal.result(tuning_svg(tuning));
    return {};
  }
  GT_TRY(write_plot(path, tuning_svg(tuning)));
  c.terminal.message("plot: " + escape_for_display(path));
  return {};
}

/// What came of the stream so far.
struct Followed {
  bool first = true;
  std::string limit;
  NodeNames names;
};

/// One message of the stream: the first is all that is kept.
void tell(Context& c, const v1::Tuning& told, Followed& so_far) {
  if (c.json) {
    Json json = event("tuning", c.clock.wall());
    json.update(to_json(told));
    c.emit(json);
    return;
  }
  const v1::Tuning tuning = named(told, so_far.names);
  const std::string now = limit_line(tuning);
  if (so_far.first) {
    c.terminal.result(tuning_text(tuning));
  } else {
    if (!now.empty() && now != so_far.limit) c.terminal.result(now);
    for (const v1::TuningDecision& decision : tuning.decisions()) c.terminal.result(decision_line(decision));
  }
  so_far.limit = now;
}

Status follow(Context& c, api::NodeApi& node, const std::string& id) {
  Interrupt interrupt;
  Followed so_far;
  Status written;
  const Status ended = node.watch_tuning(
      id,
      [&](const v1::Tuning& tuning) {
        if (so_far.first && !c.json) so_far.names = names_for_content(c, node, tuning.name());
        tell(c, tuning, so_far);
        so_far.first = false;
        written = c.terminal.finish();
        return written.ok();
      },
      interrupt.token());
  GT_TRY(written);
  if (!interrupt.stopped()) return ended;
  Error detached{Code::kCancelled, "no longer followed; the transfer goes on"};
  if (c.json) c.emit(detached_event("transfer", id, detached, c.clock.wall()));
  return detached;
}

Status explain(Context& c) {
  const bool plots = c.options.has("plot"), plots_to_stdout = plots && c.options.str("plot") == "-";
  const auto is_meant = [&](const char* other) { return !plots_to_stdout || !c.options.gives_way(other, "plot"); };
  const bool json = c.json && is_meant("json"), follows = c.options.flag("follow") && is_meant("follow");
  if (plots_to_stdout && (json || follows)) {
    return Error{Code::kInvalid,
                 "--plot - writes the picture to stdout, as --json and --follow do what they tell: name a file"};
  }
  GT_ASSIGN(const std::string id, tuning_named(c, c.options.str("ID")));
  GT_ASSIGN(api::NodeApi* const node, c.node());
  if (follows) GT_TRY(follow(c, *node, id));
  if (follows && !plots) return {};
  GT_ASSIGN(const v1::Tuning tuning, node->explain_transfer(id));
  if (json && !follows) c.print(to_json(tuning));
  if (json && !plots) return {};
  const v1::Tuning told = named(tuning, names_for_content(c, *node, tuning.name()));
  if (!json && !follows && !plots_to_stdout) c.terminal.result(tuning_text(told));
  return plots ? plot(c, told) : Status();
}

Status list(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::ListTuningsReply reply, node->list_tunings());
  if (c.json) {
    c.print(to_json(reply));
  } else {
    c.terminal.result(tunings_table(reply));
  }
  return {};
}

Status tuners(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::ListTunersReply reply, node->list_tuners());
  if (c.json) {
    c.print(to_json(reply));
  } else {
    c.terminal.result(tuners_text(reply));
  }
  return {};
}

/// The id of the seeder that is shown by this name; else the text.
std::string id_by_name(const NodeNames& names, const std::string& text) {
  const auto found = std::ranges::find_if(names, [&](const auto& one) { return one.second == text; });
  return found == names.end() ? text : found->first;
}

Status forget(Context& c) {
  const std::string& text = c.options.str("forget");
  GT_ASSIGN(api::NodeApi* const node, c.node());
  const bool by_name = text != "all" && !NodeId::parse(text);
  NodeNames names;
  if (by_name || !c.json) {
    GT_ASSIGN(const v1::History kept, node->list_history());
    names = names_for_history(c, *node, kept);
  }
  GT_ASSIGN(const v1::History gone, node->forget_history(text == "all" ? "" : id_by_name(names, text)));
  if (c.json) {
    Json json = to_json(gone);
    c.print({{"forgotten", std::move(json["paths"])}});
    return {};
  }
  if (gone.paths_size() > 0) c.terminal.result(history_table(named(gone, names), c.clock.wall()));
  c.terminal.message("forgotten: " + std::to_string(gone.paths_size()) + (gone.paths_size() == 1 ? " path" : " paths"));
  return {};
}

Status history(Context& c) {
  if (c.options.has("forget")) return forget(c);
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::History kept, node->list_history());
  if (c.json) {
    c.print(to_json(kept));
  } else {
    c.terminal.result(history_table(named(kept, names_for_history(c, *node, kept)), c.clock.wall()));
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> tune_commands() {
  const std::string group = "Transfers of this node";
  return {
      {{.name = "tune list",
        .summary = "list the transfers whose tuning can be explained: those that fetch, and the last that did",
        .group = group},
       list},
      {{.name = "tune tuners",
        .summary = "list the tuners and modes of this node, for get --tuner and --mode",
        .group = group},
       tuners},
      {{.name = "tune explain",
        .summary = "say what limits a transfer, and how many lanes it was given when and why",
        .positionals = {{.name = "ID", .help = kTransferHelp}},
        .options = {{.name = "follow", .help = "go on with what is new, until it no longer fetches or Ctrl-C"},
                    {.name = "plot",
                     .value = "FILE",
                     .help = "also draw rate and lanes over time, the decisions, and rate by lanes, as SVG; - is "
                             "stdout. With --follow when it ends",
                     .check = options::is_not_empty}},
        .examples = {{"gridtorrent tune explain run42", ""}, {"gridtorrent tune explain x_aguox6 --plot run.svg", ""}},
        .group = group},
       explain},
      {{.name = "tune history",
        .summary = "list what this node remembers of the paths from seeders, with which transfers begin",
        .options = {{.name = "forget",
                     .value = "NODE",
                     .help = "forget the paths from this node (name or id), or all; what is forgotten is listed",
                     .command_line_only = true}},
        .examples = {{"gridtorrent tune history --forget all", ""}},
        .group = group},
       history}};
}

}  // namespace gridtorrent::client::cli
