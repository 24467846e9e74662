#include "client/cli/follow.h"

#include <algorithm>
#include <set>

#include "client/cli/interrupt.h"
#include "client/cli/node_names.h"
#include "client/cli/pace.h"
#include "client/cli/speed.h"
#include "client/cli/stepping_stone.h"
#include "client/cli/text_view.h"
#include "common/codes.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::milliseconds kRetryInterval{300};
constexpr std::chrono::seconds kPatience{60};

bool has_arrived(const v1::Transfer& transfer) {
  return transfer.state() == "seeding" || transfer.state() == "complete";
}

bool has_ended(const v1::Transfer& transfer) {
  return has_arrived(transfer) || transfer.state() == "failed" || transfer.state() == "cancelled";
}

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

/// Prints the states of one transfer as they come.
class TransferPrinter {
 public:
  explicit TransferPrinter(Context& context) : context_(context) {}

  void show(const v1::Transfer& transfer) {
    if (!context_.json) {
      if (has_ended(transfer)) return;
      tell_closed(transfer);
      const std::string line = line_of(transfer);
      tell_cut(transfer, line);
      context_.terminal.progress(line);
      return;
    }
    if (has_ended(transfer)) return;
    if (transfer.state() != last_state_) pace_.hurry();
    last_state_ = transfer.state();
    if (!pace_.due(context_.clock.mono())) return;
    context_.emit(progress_event(transfer, context_.clock.wall()));
  }

  Status end(const v1::Transfer& transfer) {
    if (has_arrived(transfer)) {
      if (context_.json) {
        context_.emit(done_event(transfer, context_.clock.wall()));
      } else {
        context_.terminal.result(done_text(transfer));
      }
      return {};
    }
    return outcome_of(context_.json ? transfer : names_.named(transfer));
  }

 private:
  /// Where no node can be dialled somebody has to open a port, and the line of progress has no room for how.
  void tell_closed(const v1::Transfer& transfer) {
    if (told_closed_ || transfer.message().find("no path to ") == std::string::npos) return;
    told_closed_ = true;
    const auto node = context_.node();
    const std::string message = escape_for_display(names_.named(transfer).message());
    told_.insert(without_digits(message));
    context_.terminal.message(message);
    const auto own = node ? own_nodes(context_, **node) : std::vector<v1::Node>();
    const std::string stone = stepping_stone(own, transfer.owner() + "/" + transfer.name());
    if (!stone.empty()) context_.terminal.message(stone);
  }

  /// What the line has no room for, once in full; not again for a figure in it that changed.
  void tell_cut(const v1::Transfer& transfer, const std::string& line) {
    if (transfer.message().empty() || transfer.payload_bits_per_s() > 0) return;
    const std::string message = escape_for_display(names_.named(transfer).message());
    if (line.find(message) == std::string::npos && told_.insert(without_digits(message)).second)
      context_.terminal.message(message);
  }

  std::string line_of(const v1::Transfer& transfer) {
    // Of reading files the node says only how far it is.
    const bool reads = transfer.state() == "hashing" || transfer.state() == "verifying";
    const Speed speed =
        reads ? meter_.note(context_.clock.mono(), transfer.verified_bytes(), transfer.total_bytes()) : Speed();
    return progress_line(names_.named(transfer), context_.terminal.progress_width(), context_.clock.wall(), speed);
  }

  Context& context_;
  Pace pace_;
  SpeedMeter meter_;
  NamesInMessages names_{context_};
  std::string last_state_;
  bool told_closed_ = false;
  std::set<std::string> told_;
};

/// How it is left: what stands still says why.
std::string left_as(const v1::Transfer& transfer) {
  const std::string why =
      transfer.message().empty() || transfer.payload_bits_per_s() > 0 ? "" : ": " + transfer.message();
  if (transfer.state() != "paused") return "it goes on" + (why.empty() ? "" : ", " + transfer.state() + why);
  if (!why.empty()) return "it is paused" + why;
  return "it is paused; 'gridtorrent transfer resume " + transfer.transfer_id() + "' lets it go on";
}

/// Ctrl-C leaves the work running, which is no failure of it; a time limit that is over is one of the command.
Error stopped_watching(Context& context, const Interrupt& interrupt, std::string_view kind, const std::string& id,
                       const std::string& how = "it goes on") {
  const std::string what = "the " + std::string(kind) + " " + id;
  const std::string way_out = " " + how + "; 'gridtorrent " + std::string(kind) + " cancel " + id + "' ends it";
  if (interrupt.timed_out()) return {Code::kTimeout, what + " did not end in time:" + way_out};
  Error detached{Code::kCancelled, what + " is no longer watched:" + way_out};
  if (context.json) context.emit(detached_event(kind, id, detached, context.clock.wall()));
  context.end_told = context.json;
  return detached;
}

/// A watch that ended before what it watches: whoever tells of it went away, or drains and therefore ends its calls.
class Absence {
 public:
  Absence(Context& context, Interrupt& interrupt, std::string who, std::string way_back = {})
      : context_(context), interrupt_(interrupt), who_(std::move(who)), way_back_(std::move(way_back)) {}

  static bool is(const Status& ended) {
    return ended.ok() || ended.error().code == Code::kUnreachable || ended.error().code == Code::kCancelled;
  }
  void is_over() { since_.reset(); }
  /// Until it may be asked again; false: it has been away for too long.
  bool wait() {
    const MonoTime now = context_.clock.mono();
    if (!since_) {
      since_ = now;
      context_.terminal.message(who_ + " went away; waiting for it to come back" + way_back_);
    }
    if (now - *since_ > kPatience) return false;
    interrupt_.wait_for(kRetryInterval);
    return true;
  }

 private:
  Context& context_;
  Interrupt& interrupt_;
  const std::string who_, way_back_;
  std::optional<MonoTime> since_;
};

}  // namespace

std::optional<std::chrono::milliseconds> time_limit(const options::Parsed& options) {
  if (!options.has("timeout")) return std::nullopt;
  return options.duration("timeout");
}

Status outcome_of(const v1::Transfer& transfer) {
  if (has_arrived(transfer)) return {};
  if (transfer.state() == "cancelled")
    return Error{Code::kCancelled, "the transfer " + transfer.transfer_id() + " was cancelled"};
  return Error{parse_code(transfer.error_code()).value_or(Code::kInternal),
               transfer.message().empty() ? "the transfer " + transfer.transfer_id() + " failed" : transfer.message()};
}

Result<v1::Transfer> watch_to_end(Context& context, const v1::Transfer& first, Interrupt& interrupt,
                                  const std::function<Status(const v1::Transfer&)>& show) {
  const std::string id = first.transfer_id();
  v1::Transfer last = first;
  Status shown;
  Absence absence(context, interrupt, "the node", " ('gridtorrent node start' starts it)");
  while (!has_ended(last)) {
    Status status;
    if (const auto node = context.node(); !node) {
      status = node.error();
    } else {
      status = (*node)->watch_transfer(
          id,
          [&](const v1::Transfer& transfer) {
            absence.is_over();
            last = transfer;
            shown = show(transfer);
            return shown.ok() && !has_ended(transfer);
          },
          interrupt.token());
    }
    if (has_ended(last)) break;
    GT_TRY(shown);
    if (interrupt.stopped())
      return stopped_watching(context, interrupt, "transfer", id,
                              left_as(context.json ? last : NamesInMessages(context).named(last)));
    if (!Absence::is(status)) return status.error();
    context.forget_node();
    if (!absence.wait())
      return Error{Code::kUnreachable,
                   "the node went away; the transfer goes on once it runs again: 'gridtorrent node start' starts it, "
                   "'gridtorrent transfer wait " +
                       id + "' watches on"};
  }
  return last;
}

Status follow_transfer(Context& context, const v1::Transfer& first,
                       std::optional<std::chrono::milliseconds> time_limit) {
  TransferPrinter printer(context);
  Interrupt interrupt(time_limit);
  if (context.json) context.emit(started_event(first, context.clock.wall()));
  GT_ASSIGN(const v1::Transfer last, watch_to_end(context, first, interrupt, [&](const v1::Transfer& transfer) {
              printer.show(transfer);
              return Status();
            }));
  return printer.end(last);
}

Result<v1::GetReply> begin_transfer(Context& context, const std::function<Result<v1::GetReply>(Interrupt&)>& call) {
  Interrupt interrupt;
  Result<v1::GetReply> reply = call(interrupt);
  if (!interrupt.stopped()) return reply;
  if (reply) return stopped_watching(context, interrupt, "transfer", reply->transfer().transfer_id());
  Error detached{Code::kCancelled,
                 "the node has not answered yet and may go on with it: 'gridtorrent transfers' shows what it does"};
  if (context.json) context.emit(detached_event("transfer", "", detached, context.clock.wall()));
  context.end_told = context.json;
  return detached;
}

Status detach(Context& context, const v1::Transfer& transfer) {
  if (context.json) {
    context.emit(started_event(transfer, context.clock.wall()));
  } else {
    context.terminal.result(transfer.transfer_id());
    context.terminal.message("wait for it with 'gridtorrent transfer wait " + transfer.transfer_id() + "'");
  }
  return {};
}

namespace {

bool has_ended(const v1::Task& task) {
  return task.state() == "done" || task.state() == "failed" || task.state() == "cancelled" ||
         task.state() == "unsupported";
}

std::string unknown_to_node(const v1::Task& task) {
  if (task.work().has_version_get()) return "--version and --update (or leave them out)";
  if (task.work().has_version_publish()) return "--update";
  if (task.work().has_chosen_get()) return "--as and --if-seeded (or leave them out)";
  if (task.work().has_chosen_publish()) return "--links, --exclude and --include";
  return "tasks of the kind '" + task.kind() + "'";
}

Status outcome_of(const v1::Task& task, const NodeNames& names) {
  if (task.state() == "done") return {};
  if (task.state() == "cancelled") return Error{Code::kCancelled, "the task " + task.task_id() + " was cancelled"};
  if (task.state() == "unsupported")
    return Error{Code::kUnsupported, "the node " + escape_for_display(name_or_id(names, task.node_id())) +
                                         " is of an older version and does not know " + unknown_to_node(task) +
                                         ": update its gridtorrentd"};
  return Error{parse_code(task.error_code()).value_or(Code::kInternal),
               task.error_message().empty() ? "the task " + task.task_id() + " failed" : task.error_message()};
}

void show_task(Context& context, const v1::Task& task, const NodeNames& names, SpeedMeter& meter) {
  const std::string what = task.kind() + " on " + escape_for_display(name_or_id(names, task.node_id()));
  if (context.json) {
    context.emit(task_event(task, context.clock.wall()));
  } else if (!has_ended(task)) {
    if (task.total() == 0)
      return context.terminal.progress(waiting_line(what, task.state(), context.terminal.progress_width()));
    const Speed speed = meter.note(context.clock.mono(), task.done(), task.total());
    context.terminal.progress(hashing_line(what, task.done(), task.total(), context.terminal.progress_width(), speed));
  }
}

}  // namespace

namespace {

/// No node's name: names begin with a letter or a digit.
constexpr std::string_view kAllNodes = "@all";

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Not waited for: each of the tasks ends in its own time.
Status give_to_nodes(Context& context, const std::vector<std::string>& nodes, v1::TaskWork work) {
  GT_ASSIGN(api::ServerApi* const server, context.server());
  v1::CreateTasksRequest request;
  if (nodes.size() == 1) {
    request.set_all_nodes(true);
  } else {
    for (const std::string& node : nodes) request.add_nodes(node);
  }
  *request.mutable_work() = std::move(work);
  GT_ASSIGN(const v1::CreateTasksReply reply, server->tasks().create_many(std::move(request)));
  if (context.json) {
    Json tasks = Json::array();
    for (const v1::TaskOfNode& one : reply.tasks())
      tasks.push_back({{"task_id", one.task_id()}, {"node_id", one.node_id()}});
    context.print({{"tasks", std::move(tasks)}});
    return {};
  }
  context.terminal.result("gave the task to " + std::to_string(reply.tasks_size()) +
                          (reply.tasks_size() == 1 ? " node" : " nodes"));
  context.terminal.message("see how far they are with 'gridtorrent task list --all'");
  return {};
}

/// Nothing more is to be told until the node is there.
void tell_offline(Context& context, api::ServerApi& server, const v1::Task& task) {
  const auto node = server.nodes().get(task.node_id());
  if (!node || node->online()) return;
  const std::string seen =
      node->last_seen_ms() == 0 ? "was never seen" : "was last seen " + short_time(node->last_seen_ms());
  context.terminal.message("node " + escape_for_display(node->name()) + " is offline, and " + seen +
                           ": the task waits for it; 'gridtorrent node start' on its machine starts it");
}

}  // namespace

Status are_nodes(std::string_view text) {
  const std::vector<std::string> nodes = split_at_commas(text);
  const bool named = std::ranges::none_of(
      nodes, [&](const std::string& node) { return node.empty() || node.find(' ') != std::string::npos; });
  const bool all = std::ranges::find(nodes, kAllNodes) != nodes.end();
  if (named && (!all || nodes.size() == 1)) return {};
  return Error{Code::kInvalid, "'" + escape_for_display(text) +
                                   "' is neither a node, nor several with commas (no spaces) between, nor @all alone"};
}

Result<v1::Task> follow_task(Context& context, const v1::Task& first,
                             std::optional<std::chrono::milliseconds> time_limit, bool quiet) {
  GT_ASSIGN(api::ServerApi* const server, context.server());
  const NodeNames names = context.json || quiet ? NodeNames() : names_of_own_nodes(context, *server);
  Interrupt interrupt(time_limit);
  SpeedMeter meter;
  v1::Task last = first;
  Absence absence(context, interrupt, "the server");
  for (;;) {
    const Status status = server->tasks().watch(
        first.task_id(),
        [&](const v1::Task& task) {
          absence.is_over();
          last = task;
          if (!quiet) show_task(context, task, names, meter);
          return !has_ended(task);
        },
        interrupt.token());
    context.terminal.end_progress();
    if (has_ended(last)) break;
    if (interrupt.stopped()) return stopped_watching(context, interrupt, "task", first.task_id());
    const std::string watched_again = " ('gridtorrent task wait " + first.task_id() + "' watches it again)";
    if (!Absence::is(status))
      return status.error().with_context("lost sight of the task " + first.task_id() + watched_again);
    if (!absence.wait())
      return Error{Code::kUnreachable,
                   "the server went away; the task " + first.task_id() + " goes on at its node" + watched_again};
  }
  GT_TRY(outcome_of(last, names));
  return last;
}

Result<std::optional<v1::Task>> run_on_node(Context& context, v1::TaskWork work,
                                            std::optional<std::chrono::milliseconds> time_limit) {
  if (const std::vector<std::string> nodes = split_at_commas(context.options.str("node"));
      nodes.size() > 1 || nodes.front() == kAllNodes) {
    if (time_limit && context.options.given("timeout"))
      return Error{Code::kInvalid,
                   "--timeout: the tasks of several nodes are not waited for; leave it out, or name one"};
    GT_TRY(give_to_nodes(context, nodes, std::move(work)));
    return std::optional<v1::Task>();
  }
  GT_ASSIGN(api::ServerApi* const server, context.server());
  v1::CreateTaskRequest request;
  request.set_node(context.options.str("node"));
  *request.mutable_work() = std::move(work);
  GT_ASSIGN(const v1::Task task, server->tasks().create(std::move(request)));
  tell_offline(context, *server, task);
  if (!context.options.flag("detach")) {
    GT_ASSIGN(v1::Task ended, follow_task(context, task, time_limit));
    return std::optional(std::move(ended));
  }
  if (context.json) {
    context.emit(task_event(task, context.clock.wall()));
  } else {
    context.terminal.result(task.task_id());
    context.terminal.message("watch it with 'gridtorrent task wait " + task.task_id() + "'");
  }
  return std::optional<v1::Task>();
}

}  // namespace gridtorrent::client::cli
