#include "client/core/task_manager.h"

#include "client/core/named_roots.h"
#include "client/core/result_json.h"
#include "common/cut_text.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

constexpr std::chrono::seconds kReportEvery{1};
/// A task whose work the server has no time for is begun so often, over some minutes.
constexpr int kBeginAttempts = 10;

bool ended(TaskState state) {
  return state == TaskState::kDone || state == TaskState::kFailed || state == TaskState::kCancelled ||
         state == TaskState::kUnsupported;
}

/// What a server takes of a report (docs/protocol.md); it refuses a longer one, and the task would never end there.
constexpr std::size_t kMaxResultBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxMessageBytes = 8192;

Error too_long(std::size_t bytes) {
  return {Code::kExhausted, "it is done, but what it found has " + std::to_string(bytes) +
                                " bytes, and a server takes " + std::to_string(kMaxResultBytes) +
                                "; for a folder with many entries list one below it"};
}

/// A publish by task has a request id even where whoever made the task gave none.
std::string request_id_of(const TaskId& id, const PublishTask& task) {
  return task.publish.request_id.empty() ? id.str().substr(2) : task.publish.request_id;
}

/// In a folder that is there already, such a name may be that of somebody's settings.
Status check_base_name(const std::string& name) {
  if (!name.starts_with('.')) return {};
  return Error{Code::kDenied, escape_for_display(name) +
                                  " begins with a dot: a task may not choose such a name for what it fetches; choose "
                                  "another one, or run the get on the node's machine"};
}

/// It does not wait for who cannot be reached, be that seeders or the server.
bool waits_for_nobody(const Task& task, const Error& error) {
  const auto* get = std::get_if<GetTask>(&task.work);
  return get != nullptr && get->if_seeded && error.code == Code::kUnreachable;
}

std::vector<NamedRoot> all_roots(NodeSettings settings) {
  auto& roots = settings.share_roots;
  roots.insert(roots.end(), settings.download_roots.begin(), settings.download_roots.end());
  return std::move(roots);
}

}  // namespace

Status TaskManager::restore() {
  GT_ASSIGN(const std::vector<TaskRow> rows, c_.ports.store.open_tasks());
  const std::lock_guard lock(mutex_);
  for (const auto& row : rows) {
    auto& running = tasks_[row.task.id];
    running.row = row;
    running.ended = ended(row.report.state);
  }
  return {};
}

Status TaskManager::accept(const Task& task) {
  const auto not_taken = [&](const Error& error) {
    return Error{error.code, "task " + task.id.str() + " is not taken: " + error.message};
  };
  const auto known = c_.ports.store.find_task(task.id);
  if (!known) return not_taken(known.error());
  if (*known) {
    // Delivered again: the effect is there or under way; the server has missed the acknowledgement, perhaps the report
    // too.
    acknowledge(task.sequence);
    const std::lock_guard lock(mutex_);
    if (!tasks_.contains(task.id) && (*known)->report.state != TaskState::kCancelled) {
      auto& running = tasks_[task.id];
      running.row = **known;
      running.row.report_pending = true;
      running.ended = ended(running.row.report.state);
    }
    return {};
  }
  TaskRow row;
  row.task = task;
  row.report.id = task.id;
  row.report.state = TaskState::kDelivered;
  if (const auto stored = c_.ports.store.put_task(row); !stored) return not_taken(stored.error());
  acknowledge(task.sequence);
  {
    const std::lock_guard lock(mutex_);
    tasks_[task.id].row = row;
  }
  begin(task.id);
  return {};
}

void TaskManager::acknowledge(std::uint64_t sequence) {
  const auto later = [this](std::uint64_t missing) {
    unacknowledged_ = std::max(unacknowledged_, missing);
    ack_due_ = c_.ports.clock.mono() + c_.retry_pause(++ack_failures_);
  };
  const bool posted = c_.calls.post([this, sequence, later] {
    const auto done = c_.ports.link.ack_task(sequence);
    const std::lock_guard lock(mutex_);
    if (!done) return later(sequence);
    ack_failures_ = 0;
  });
  if (posted) return;
  const std::lock_guard lock(mutex_);
  later(sequence);
}

void TaskManager::begin(const TaskId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.begun || found->second.ended) return;
  auto& running = found->second;
  running.begun =
      workers_.post([this, id, task = running.row.task, stop = running.stop.get_token()] { run(id, task, stop); });
}

void TaskManager::run(const TaskId& id, const Task& task, std::stop_token stop) {
  if (stop.stop_requested()) return end(id, Error{Code::kCancelled, "cancelled before it began"});
  {
    const std::lock_guard lock(mutex_);
    auto& running = tasks_[id];
    running.row.report.state = TaskState::kRunning;
    running.row.report_pending = true;
  }
  const auto result = std::visit([&](const auto& kind) { return work(id, kind, stop); }, task.work);
  if (!result && begin_again(id, result.error())) return;
  if (!result || !result->empty()) end(id, result);  // an empty result: a transfer goes on with it
}

/// The server did not answer what the work begins with, or had too much to do: that passes.
bool TaskManager::begin_again(const TaskId& id, const Error& error) {
  if (!may_pass(error)) return false;
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.ended || found->second.stop.stop_requested()) return false;
  auto& running = found->second;
  if (waits_for_nobody(running.row.task, error)) return false;
  if (++running.failures >= kBeginAttempts) return false;
  running.begin_due = c_.ports.clock.mono() + c_.retry_pause(running.failures);
  running.begun = false;
  return true;
}

Result<Place> TaskManager::resolve(const std::string& text, const std::vector<NamedRoot>& roots, std::string_view kind,
                                   bool must_exist) {
  GT_ASSIGN(const RootPath path, parse_root_path(text, roots, kind, kind == "download"));
  return c_.ports.guard.resolve_below(path.root, path.relative, must_exist);
}

Result<std::string> TaskManager::work(const TaskId& id, const PublishTask& task, std::stop_token stop) {
  PublishJob job;
  GT_ASSIGN(const Place place, resolve(task.root_path, c_.settings().share_roots, "share", true));
  job.path = place.path;
  job.root = place.root;
  job.request = task.publish;
  job.request.request_id = request_id_of(id, task);
  job.strict = task.strict;
  job.rules = task.rules;
  job.as_before = task.as_before;
  const auto hashing = [this, id](std::uint64_t done, std::uint64_t total) { progress(id, done, total); };
  GT_ASSIGN(const PublishOutcome outcome, node_.publish(job, hashing, stop));
  return published_json(outcome, c_.ports.clock.wall());
}

Result<std::string> TaskManager::work(const TaskId& id, const GetTask& task, std::stop_token) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto transfer = tasks_[id].row.transfer; !transfer.is_nil() && node_.transfer(transfer)) {
      return std::string();  // after a restart: the transfer went on by itself
    }
  }
  GT_TRY(check_base_name(task.base_name));
  GetJob job;
  job.content = task.content;
  GT_ASSIGN(const Place target, resolve(task.root_path, c_.settings().download_roots, "download", false));
  job.target = target.path;
  job.root = target.root;
  job.globs = task.globs;
  job.lanes = task.lanes;
  job.seeders = task.seeders;
  job.limit_bits_per_s = task.rate_limit_bits_per_s;
  job.wish = task.wish;
  job.priority = task.priority;
  job.refetch = task.refetch;
  job.base_name = task.base_name;
  job.if_seeded = task.if_seeded;
  job.version = task.version;
  job.update = task.update;
  bool joined = false;
  GT_ASSIGN(const TransferView view, node_.get(job, joined));
  wait_for(id, view.id);
  return std::string();
}

Result<std::string> TaskManager::work(const TaskId& id, const SeedTask& task, std::stop_token) {
  const auto roots = all_roots(c_.settings());
  GT_ASSIGN(const Place path, resolve(task.root_path, roots, "share", true));
  GT_ASSIGN(const TransferView view, node_.seed(task.content, path));
  wait_for(id, view.id);
  return std::string();
}

Result<std::string> TaskManager::work(const TaskId&, const StopSeedingTask& task, std::stop_token) {
  const auto lock = c_.book.lock();
  std::uint64_t stopped = 0;
  for (auto& [id, transfer] : c_.book.all()) {
    if (transfer->row.content.id != task.content || !transfer->holds()) continue;
    transfer->row.content.withdrawn = true;
    c_.settle_only(*transfer);
    transfer->announce.soon(c_.ports.clock.mono());
    GT_TRY(c_.book.save(*transfer));
    c_.book.touch(*transfer);
    ++stopped;
  }
  return "{\"content_id\":\"" + task.content.str() + "\",\"stopped\":" + std::to_string(stopped) + "}";
}

Result<std::string> TaskManager::work(const TaskId&, const ListFolderTask& task, std::stop_token) {
  const auto roots = all_roots(c_.settings());
  if (task.root_path.empty()) {
    std::vector<FolderEntry> names;
    for (const auto& root : roots) names.push_back({root.name, metainfo::EntryKind::kFolder, 0});
    return folder_json("", names);
  }
  GT_ASSIGN(const Place path, resolve(task.root_path, roots, "share", true));
  GT_ASSIGN(const std::vector<FolderEntry> entries, c_.ports.guard.list(path));
  return folder_json(task.root_path, entries);
}

Result<std::string> TaskManager::work(const TaskId&, const TransferCommandTask& task, std::stop_token) {
  GT_ASSIGN(const TransferId id, TransferId::parse(task.transfer_id));
  Result<TransferView> view = Error{
      Code::kUnsupported, "a transfer cannot be told to '" + task.command + "'; it takes pause, resume or cancel"};
  if (task.command == "pause") view = node_.pause(id);
  if (task.command == "resume") view = node_.resume(id);
  if (task.command == "cancel") view = node_.cancel(id);
  if (!view) return view.error();
  return transfer_json(*view);
}

Result<std::string> TaskManager::work(const TaskId&, const UnknownTask& task, std::stop_token) {
  return Error{Code::kUnsupported, "this node does not know tasks of the kind '" + task.kind + "'; it may be too old"};
}

void TaskManager::wait_for(const TaskId& id, const TransferId& transfer) {
  TaskRow row;
  bool cancelled = false;
  {
    const std::lock_guard lock(mutex_);
    auto& running = tasks_[id];
    running.row.transfer = transfer;
    row = running.row;
    cancelled = running.stop.stop_requested() && !stopping_;
  }
  if (const auto stored = c_.ports.store.put_task(row); !stored) {
    c_.log(NodeLogLevel::kWarning, "task " + id.str() + ": " + stored.error().message);
  }
  if (cancelled) cancel(id);  // while it began: there was no transfer to cancel yet
}

void TaskManager::watch_transfer(const TaskId& id, const TransferId& transfer) {
  const auto view = node_.transfer(transfer);
  if (!view) return end(id, view.error());
  switch (view->state) {
    case TransferState::kSeeding:
    case TransferState::kComplete:
      return end_with(id, *view);
    case TransferState::kFailed:
      return end(id, view->error.value_or(Error{Code::kInternal, "the transfer failed"}));
    case TransferState::kCancelled:
      return end(id, Error{Code::kCancelled, "transfer " + transfer.str() + " was cancelled"});
    default:
      return progress(id, view->verified_bytes, view->total_bytes);
  }
}

/// Who asks a node itself is told at once of patterns that mean no file; this is the place for who asks by a task.
void TaskManager::end_with(const TaskId& id, TransferView view) {
  std::vector<std::string> globs;
  {
    const std::lock_guard lock(mutex_);
    if (const auto* get = std::get_if<GetTask>(&tasks_[id].row.task.work)) globs = get->globs;
  }
  std::optional<TransferRow> row;
  if (!globs.empty()) {
    const auto lock = c_.book.lock();
    if (const auto* transfer = c_.book.find(view.id)) row = transfer->row;
  }
  if (row) {
    const auto metadata = c_.metadata(*row);
    if (metadata) {
      const auto chosen = choose_files((*metadata)->manifest, globs);
      if (chosen) view.unmatched = chosen->unmatched;
    }
  }
  end(id, done_json(view, c_.ports.clock.wall()));
}

void TaskManager::progress(const TaskId& id, std::uint64_t done, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.ended) return;
  auto& running = found->second;
  running.row.report.done = done;
  running.row.report.total = total;
  if (done != running.reported_done) running.row.report_pending = true;
}

void TaskManager::end(const TaskId& id, const Result<std::string>& result) {
  if (result && result->size() > kMaxResultBytes) return end(id, too_long(result->size()));
  TaskRow row;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(id);
    if (found == tasks_.end() || found->second.ended) return;
    // Cut off by the node's own end, not by anybody's wish: it begins again at the next start.
    if (stopping_ && !result) return;
    auto& report = found->second.row.report;
    if (result) {
      report.state = TaskState::kDone;
      report.result_json = *result;
      report.done = report.total;
    } else {
      report.error = result.error();
      report.error.message = cut_text(std::move(report.error.message), kMaxMessageBytes);
      report.state = result.error().code == Code::kCancelled ? TaskState::kCancelled : TaskState::kFailed;
      const bool unknown = std::holds_alternative<UnknownTask>(found->second.row.task.work);
      if (unknown) report.state = TaskState::kUnsupported;
    }
    found->second.ended = true;
    found->second.row.report_pending = true;
    found->second.report_due = {};
    row = found->second.row;
  }
  if (const auto stored = c_.ports.store.put_task(row); !stored) {
    c_.log(NodeLogLevel::kError, "the end of task " + id.str() + " is not written down: " + stored.error().message);
  }
  c_.wake();
}

void TaskManager::cancel(const TaskId& id) {
  TransferId transfer;
  bool begun = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return report_unknown(id);
    if (found->second.ended) return;
    found->second.stop.request_stop();
    transfer = found->second.row.transfer;
    begun = found->second.begun;
  }
  if (!transfer.is_nil()) {
    if (const auto cancelled = node_.cancel(transfer); !cancelled) {
      c_.log(NodeLogLevel::kInfo, "task " + id.str() + ": " + cancelled.error().message);
    }
  }
  if (!transfer.is_nil() || !begun) end(id, Error{Code::kCancelled, "cancelled"});
}

void TaskManager::report_unknown(const TaskId& id) {
  TaskReport report;
  report.id = id;
  report.state = TaskState::kCancelled;
  report.error = {Code::kCancelled, "this node no longer has it"};
  const bool posted = c_.calls.post([this, report] {
    const auto sent = c_.ports.link.report_task(report);
    if (!sent) c_.log(NodeLogLevel::kInfo, "task " + report.id.str() + ": " + sent.error().message);
  });
  if (!posted)
    c_.log(NodeLogLevel::kInfo, "task " + id.str() + " is not known here; its end is told at the next connection");
}

void TaskManager::step(MonoTime now) {
  std::vector<TaskId> to_begin;
  std::vector<std::pair<TaskId, TransferId>> to_watch;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, running] : tasks_) {
      if (!running.begun && !running.ended && now >= running.begin_due) to_begin.push_back(id);
      if (!running.ended && !running.row.transfer.is_nil()) to_watch.emplace_back(id, running.row.transfer);
    }
  }
  for (const auto& id : to_begin) begin(id);
  for (const auto& [id, transfer] : to_watch) watch_transfer(id, transfer);
  if (const auto sequence = due_acknowledgement(now); sequence > 0) acknowledge(sequence);
  const std::lock_guard lock(mutex_);
  for (auto& [id, running] : tasks_) {
    if (!running.row.report_pending || running.report_in_flight || now < running.report_due) continue;
    running.report_in_flight = c_.calls.post([this, report = running.row.report] { send_report(report.id, report); });
  }
}

void TaskManager::send_report(const TaskId& id, const TaskReport& report) {
  const auto sent = c_.ports.link.report_task(report);
  TaskRow finished;
  {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) return;
    auto& running = found->second;
    running.report_in_flight = false;
    if (!sent && may_pass(sent.error())) {
      running.report_due = c_.ports.clock.mono() + c_.retry_pause(++running.report_failures);
      return;
    }
    running.report_failures = 0;
    running.reported_done = report.done;
    running.report_due = c_.ports.clock.mono() + kReportEvery;
    if (running.row.report.state != report.state) {
      running.report_due = {};
      return;
    }
    running.row.report_pending = running.row.report.done != report.done;
    if (!running.ended) return;
    running.row.report_pending = false;
    finished = running.row;
    tasks_.erase(found);
  }
  if (!sent) c_.log(NodeLogLevel::kWarning, "report of task " + id.str() + ": " + sent.error().message);
  if (const auto stored = c_.ports.store.put_task(finished); !stored) {
    c_.log(NodeLogLevel::kWarning, "task " + id.str() + ": " + stored.error().message);
  }
}

std::uint64_t TaskManager::due_acknowledgement(MonoTime now) {
  const std::lock_guard lock(mutex_);
  return now < ack_due_ ? 0 : std::exchange(unacknowledged_, 0);
}

void TaskManager::connected() {
  const std::lock_guard lock(mutex_);
  ack_due_ = {};
  for (auto& [id, running] : tasks_) running.report_due = {};
}

void TaskManager::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [id, running] : tasks_) running.stop.request_stop();
  }
  workers_.stop();
}

}  // namespace gridtorrent::client
