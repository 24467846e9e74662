#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/tuning_view.h"

namespace gridtorrent::client::cli {

namespace {

/// One message of the stream: the first is all that is kept.
void tell(Context& c, const v1::Tuning& tuning, bool first, std::string& limit) {
  if (c.json) {
    Json json = event("tuning", c.clock.wall());
    json.update(to_json(tuning));
    c.emit(json);
    return;
  }
  const std::string now = limit_line(tuning);
  if (first) {
    c.terminal.result(tuning_text(tuning));
  } else {
    if (!now.empty() && now != limit) c.terminal.result(now);
    for (const v1::TuningDecision& decision : tuning.decisions()) c.terminal.result(decision_line(decision));
  }
  limit = now;
}

Status follow(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  Interrupt interrupt;
  bool first = true;
  std::string limit;
  Status written;
  const Status ended = node->watch_tuning(
      c.options.str("ID"),
      [&](const v1::Tuning& tuning) {
        tell(c, tuning, first, limit);
        first = false;
        written = c.terminal.finish();
        return written.ok();
      },
      interrupt.token());
  GT_TRY(written);
  if (interrupt.stopped()) return Error{Code::kCancelled, "no longer followed; the transfer goes on"};
  return ended;
}

Status explain(Context& c) {
  if (c.options.flag("follow")) return follow(c);
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::Tuning tuning, node->explain_transfer(c.options.str("ID")));
  if (c.json) {
    c.print(to_json(tuning));
  } else {
    c.terminal.result(tuning_text(tuning));
  }
  return {};
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

}  // namespace

std::vector<CommandEntry> tune_commands() {
  const std::string group = "Transfers of this node";
  return {{{.name = "tune list",
            .summary = "list the transfers whose tuning can be explained: those that fetch, and the last that did",
            .group = group},
           list},
          {{.name = "tune explain",
            .summary = "say what limits a transfer, and how many lanes it was given when and why",
            .positionals = {{.name = "ID", .help = "a transfer, as shown by tune list"}},
            .options = {{.name = "follow", .help = "go on with what is new, until it no longer fetches or Ctrl-C"}},
            .examples = {{"gridtorrent tune explain x_aguox6ktnj2w3jvyvdh2ehzvmi", ""}},
            .group = group},
           explain}};
}

}  // namespace gridtorrent::client::cli
