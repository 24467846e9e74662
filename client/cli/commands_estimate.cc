#include "client/cli/context.h"
#include "client/cli/interrupt.h"
#include "client/cli/pace.h"
#include "client/cli/text_view.h"
#include "client/cli/tuning_view.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

void show_probe(Context& c, const v1::PublishProgress& progress, Pace& pace) {
  if (!c.json) {
    c.terminal.progress(
        hashing_line("probing", progress.done_bytes(), progress.total_bytes(), c.terminal.progress_width()));
    return;
  }
  if (!pace.due(c.clock.mono())) return;
  Json json = event("probing", c.clock.wall());
  json["done_bytes"] = progress.done_bytes();
  json["total_bytes"] = progress.total_bytes();
  c.emit(json);
}

Status estimate(Context& c) {
  v1::EstimateRequest request;
  request.set_content(c.options.str("CONTENT"));
  GT_ASSIGN(*request.mutable_to(), Context::absolute(c.options.has("to") ? c.options.str("to") : "."));
  for (const std::string& glob : c.options.list("file")) request.add_globs(glob);
  request.set_no_probe(c.options.flag("no-probe"));
  GT_ASSIGN(api::NodeApi* const node, c.node());
  Interrupt interrupt;
  Pace pace;
  std::optional<v1::EstimateResult> result;
  const auto take = [&](const v1::EstimateEvent& event) {
    if (event.has_probing()) show_probe(c, event.probing(), pace);
    if (event.has_result()) result = event.result();
    return true;
  };
  const Status status = node->estimate(std::move(request), take, interrupt.token());
  if (!status && interrupt.stopped()) {
    return Error{
        Code::kCancelled,
        "the probe was stopped; what it fetched is kept for a get, 'gridtorrent transfers' lists it as paused"};
  }
  GT_TRY(status);
  if (!result) return Error{Code::kInternal, "the node ended the call without an estimate: see its log"};
  for (const std::string& glob : result->unmatched()) c.warn("no file matches '" + glob + "'");
  if (c.json) {
    Json json = event("estimate", c.clock.wall());
    json.update(to_json(*result));
    c.emit(json);
  } else {
    c.terminal.result(escape_for_display(result->name()) + ": " + result->text());
  }
  return {};
}

}  // namespace

std::vector<CommandEntry> estimate_commands() {
  return {{{.name = "estimate",
            .summary = "say how long a get would take, and why",
            .description =
                "By what this node remembers of the paths from the seeders that are online ('gridtorrent tune "
                "history'). Where it knows fewer than half of them it probes: it begins the get, fetches for 5 s at "
                "most and pauses it. What came is kept: a get to the same folder goes on with it.",
            .positionals = {{.name = "CONTENT", .help = "an id, a name, or owner/name"}},
            .options = {{.name = "to", .value = "DIR", .help = "the folder of the get to come (default: this one)"},
                        {.name = "file",
                         .value = "GLOB",
                         .help = "only files whose path matches, as in '*.nc' or 'raw/2026-*/**'",
                         .repeatable = true,
                         .check = options::is_not_empty},
                        {.name = "no-probe", .help = "fetch nothing; exit code 3 where nothing is remembered"}},
            .examples = {{"gridtorrent estimate mia/run42 --to /data", ""}},
            .group = "Share and get"},
           estimate,
           true}};
}

}  // namespace gridtorrent::client::cli
