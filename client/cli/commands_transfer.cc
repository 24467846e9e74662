#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "client/cli/context.h"
#include "client/cli/follow.h"
#include "client/cli/interrupt.h"
#include "client/cli/node_names.h"
#include "client/cli/text_view.h"
#include "client/cli/transfer_names.h"
#include "client/cli/transfer_steps.h"
#include "client/cli/watch_transfers.h"
#include "client/cli/wishes.h"
#include "client/doctor/doctor.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::seconds kWatchInterval{1};

Result<v1::ListTransfersReply> list(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  return node->list_transfers();
}

Json as_json(const v1::ListTransfersReply& reply) {
  Json array = Json::array();
  for (const v1::Transfer& transfer : reply.transfers()) array.push_back(to_json(transfer));
  return {{"transfers", std::move(array)}, {"limits", to_json(reply.limits())}};
}

std::string as_text(const v1::ListTransfersReply& reply, std::size_t width, NamesInMessages& names) {
  const bool limited = reply.limits().upload_bits_per_s() > 0 || reply.limits().download_bits_per_s() > 0;
  return transfers_table(names.named(reply.transfers()), width) +
         (limited ? "\nlimits of the node: " + limits_text(reply.limits()) + "\n" : "");
}

void show_table(Context& c, const v1::ListTransfersReply& transfers, NamesInMessages& names) {
  const std::size_t width = c.terminal.out_width();
  const std::string table = cut_lines(as_text(transfers, width, names), width);
  c.terminal.clear_screen();
  c.terminal.result(table);
}

/// For nodes that do not tell of changes.
Status list_again_and_again(Context& c, NamesInMessages& names) {
  Interrupt interrupt;
  do {
    GT_ASSIGN(const v1::ListTransfersReply transfers, list(c));
    if (c.json) {
      Json json = event("transfers", c.clock.wall());
      json.update(as_json(transfers));
      c.emit(json);
    } else {
      show_table(c, transfers, names);
    }
    GT_TRY(c.terminal.finish());
  } while (!interrupt.wait_for(kWatchInterval));
  return {};
}

Status watch(Context& c) {
  NamesInMessages names(c);
  const Status ended = watch_transfers(c, [&](const v1::ListTransfersReply& all) { show_table(c, all, names); });
  if (!ended && ended.error().code == Code::kUnsupported) return list_again_and_again(c, names);
  return ended;
}

Status transfers(Context& c) {
  if (c.options.flag("watch")) return watch(c);
  GT_ASSIGN(const v1::ListTransfersReply all, list(c));
  if (c.json) {
    c.print(as_json(all));
  } else {
    NamesInMessages names(c);
    c.terminal.result(as_text(all, c.terminal.out_width(), names));
  }
  return {};
}

using Call = Result<v1::Transfer> (api::NodeApi::*)(const std::string&);

Result<v1::Transfer> call(Context& c, Call method, const std::string& id) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  return (node->*method)(id);
}

Result<v1::Transfer> named_transfer(Context& c) {
  GT_ASSIGN(const std::string id, transfer_named(c, c.options.str("ID")));
  return call(c, &api::NodeApi::get_transfer, id);
}

Status print_transfer(Context& c, const Result<v1::Transfer>& transfer, std::string_view what_happened) {
  GT_TRY(transfer);
  if (c.json) {
    c.print(to_json(*transfer));
  } else if (what_happened.empty()) {
    GT_ASSIGN(api::NodeApi* const node, c.node());
    const bool asks = names_nodes(*transfer);
    const NodeNames names = asks ? names_for_content(c, *node, transfer->content_id()) : NodeNames();
    c.terminal.result(transfer_text(named(*transfer, names), c.clock.wall()));
  } else {
    c.terminal.message(std::string(what_happened) + " " + transfer->transfer_id() + " (" +
                       escape_for_display(transfer->name()) + ")");
  }
  return {};
}

Status show(Context& c) {
  return print_transfer(c, named_transfer(c), "");
}

/// One is shown as it is then; of several it is told how many took the step.
Status take(Context& c, const char* step, Call method, std::string_view what_happened,
            const std::function<bool(const v1::Transfer&)>& wanted = {}) {
  GT_ASSIGN(const std::vector<std::string> ids, chosen_transfers(c, wanted));
  if (c.options.list("ID").size() == 1) return print_transfer(c, call(c, method, ids.front()), what_happened);
  v1::ChangeTransfersRequest request;
  request.set_step(step);
  return take_step_and_tell(c, request, ids, what_happened);
}

Status pause(Context& c) {
  return take(c, "pause", &api::NodeApi::pause_transfer, "paused", [](const v1::Transfer& transfer) {
    constexpr std::array kAtRest = {"paused", "complete", "failed", "cancelled"};
    return std::ranges::find(kAtRest, transfer.state()) == kAtRest.end();
  });
}
Status resume(Context& c) {
  return take(c, "resume", &api::NodeApi::resume_transfer, "resumed",
              [](const v1::Transfer& transfer) { return transfer.state() == "paused"; });
}
Status cancel(Context& c) {
  return take(c, "cancel", &api::NodeApi::cancel_transfer, "cancelled");
}

Status verify(Context& c) {
  GT_ASSIGN(const std::vector<std::string> ids, chosen_transfers(c, [](const v1::Transfer& transfer) {
              return transfer.state() == "seeding" || transfer.state() == "complete";
            }));
  v1::ChangeTransfersRequest request;
  request.set_step("verify");
  GT_TRY(take_step_and_tell(c, request, ids, "verifying"));
  if (!c.json && ids.size() == 1)
    c.terminal.message("wait for it with 'gridtorrent transfer wait " + ids.front() + "'");
  return {};
}

Status wait(Context& c) {
  GT_ASSIGN(const v1::Transfer transfer, named_transfer(c));
  return follow_transfer(c, transfer, time_limit(c.options));
}

/// --file and --all-files; nothing where neither was given.
Result<std::optional<v1::ChooseFilesRequest>> read_choice(Context& c) {
  const std::vector<std::string>& patterns = c.options.list("file");
  const bool all = c.options.flag("all-files");
  if (all && !patterns.empty()) return Error{Code::kInvalid, "--all-files is instead of --file; leave out one of both"};
  if (!all && patterns.empty()) return std::optional<v1::ChooseFilesRequest>();
  if (c.options.list("ID").size() > 1)
    return Error{Code::kInvalid, "files are chosen of one transfer at a time: give one ID"};
  v1::ChooseFilesRequest request;
  request.mutable_globs()->Add(patterns.begin(), patterns.end());
  return std::optional(std::move(request));
}

Status set(Context& c) {
  GT_ASSIGN(std::optional<v1::ChooseFilesRequest> choice, read_choice(c));
  v1::SetTransferRequest request;
  const auto number = [&](const char* name) {
    return c.options.str(name) == "auto" ? 0 : static_cast<std::int32_t>(c.options.integer(name));
  };
  if (c.options.has("lanes")) request.set_lanes(number("lanes"));
  if (c.options.has("seeders")) request.set_seeders(number("seeders"));
  if (c.options.has("limit")) request.set_limit_bits_per_s(c.options.bits_per_s("limit"));
  if (c.options.has("priority")) request.set_priority(number("priority"));
  GT_ASSIGN(const v1::TuningWish wish, read_wish_change(c.options, c.clock.wall()));
  if (!is_empty(wish)) *request.mutable_wish() = wish;
  const bool settings = request.has_lanes() || request.has_seeders() || request.has_limit_bits_per_s() ||
                        request.has_priority() || request.has_wish();
  if (!settings && !choice)
    return Error{Code::kInvalid,
                 "nothing to set: give --file, --all-files, --lanes, --seeders, --limit, --priority, --tuner, --mode, "
                 "--target-rate, --min-rate or --by"};
  GT_ASSIGN(const std::vector<std::string> ids, chosen_transfers(c));
  if (choice) {
    choice->set_transfer_id(ids.front());
    GT_ASSIGN(api::NodeApi* const node, c.node());
    const auto chosen = node->choose_files(*std::move(choice));
    if (!settings) return print_transfer(c, chosen, "changed");
    GT_TRY(chosen);
  }
  if (c.options.list("ID").size() > 1) {
    v1::ChangeTransfersRequest step;
    step.set_step("set");
    *step.mutable_settings() = std::move(request);
    return take_step_and_tell(c, step, ids, "changed");
  }
  request.set_transfer_id(ids.front());
  GT_ASSIGN(api::NodeApi* const node, c.node());
  return print_transfer(c, node->set_transfer(std::move(request)), "changed");
}

}  // namespace

std::vector<CommandEntry> transfer_commands() {
  const std::string group = "Transfers of this node";
  const std::vector<options::Positional> id{{.name = "ID", .help = kTransferHelp}};
  const std::vector<options::Positional> ids{transfers_positional(false)}, any{transfers_positional(true)};
  const options::Option timeout{.name = "timeout",
                                .value = "TIME",
                                .help = "give up waiting after this time, with exit code 9",
                                .check = options::is_duration};
  return {
      {{.name = "transfers",
        .summary = "list what this node fetches and seeds",
        .options = {{.name = "watch", .help = "as they change, until Ctrl-C"}},
        .group = group},
       transfers},
      {{.name = "transfer show",
        .summary = "show one transfer with its peers and lanes",
        .positionals = id,
        .group = group},
       show},
      {{.name = "transfer wait",
        .summary = "wait until it is done",
        .positionals = id,
        .options = {timeout},
        .examples = {{"gridtorrent transfer wait run42 --timeout 2h", ""}},
        .group = group},
       wait,
       true},
      {{.name = "transfer pause",
        .summary = "stop it for now",
        .positionals = any,
        .options = {all_option("all that are not done, and all that seed")},
        .examples = {{"gridtorrent transfer pause run42 run43", ""}, {"gridtorrent transfer pause --all", ""}},
        .group = group},
       pause},
      {{.name = "transfer resume",
        .summary = "let a paused one go on, or try a failed one again",
        .positionals = any,
        .options = {all_option("all that are paused")},
        .group = group},
       resume},
      {{.name = "transfer verify",
        .summary = "read its files again and compare them; the node goes on with it by itself",
        .description = "It is served meanwhile. Where a file differs, the transfer fails and names it; get it again to "
                       "the same place, and what is missing is fetched. 'gridtorrent verify' does the same while the "
                       "command waits, and prints what differs.",
        .positionals = any,
        .options = {all_option("all that are complete")},
        .examples = {{"gridtorrent transfer verify --all", "as once a month, from cron"}},
        .group = group},
       verify},
      {{.name = "transfer cancel",
        .summary = "end a transfer and discard what it has fetched so far; a get that is done keeps its files",
        .positionals = ids,
        .group = group},
       cancel},
      {{.name = "transfer set",
        .summary = "change files, lanes, seeders, limit, priority or tuning of a transfer while it runs",
        .positionals = ids,
        .options = options::on_command_line_only(options::join(
            {{{.name = "file",
               .value = "PATTERN",
               .help = "only these files from now on, in place of those chosen before; as 'get --file' takes them. "
                       "What came of them is kept, what came of others goes",
               .repeatable = true},
              {.name = "all-files", .help = "all files from now on"},
              {.name = "lanes",
               .value = "N",
               .help = "parallel sockets to each seeder, 1 to 32, or auto",
               .check = options::auto_or_integer_between(1, 32)},
              {.name = "seeders",
               .value = "N",
               .help = "fetch from at most so many nodes at once, or auto",
               .check = options::auto_or_integer_between(1, 1000)},
              {.name = "limit", .value = "RATE", .help = "no faster than this; 0: no limit", .check = options::is_rate},
              {.name = "priority",
               .value = "N",
               .help = "higher ones go first, -100 to 100",
               .check = options::integer_between(-100, 100)}},
             wish_change_options()})),
        .examples = {{"gridtorrent transfer set run42 --lanes 8", "takes effect while it runs"},
                     {"gridtorrent transfer set run42 --file 'raw/*.nc' --file notes.txt", "these files and no others"},
                     {"gridtorrent transfer set x_aguox6 --by none --target-rate 30Mbit", "a rate in place of a time"}},
        .group = group},
       set}};
}

}  // namespace gridtorrent::client::cli
