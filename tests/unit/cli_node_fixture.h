#pragma once

#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "client/cli/interrupt.h"
#include "client/cli/transfer_names.h"
#include "client/control/control_server.h"
#include "tests/support/played_transfers.h"
#include "tests/unit/cli_fixture.h"

/// The command line against a control server whose node is played by the test.
namespace gridtorrent::client::cli {

using std::chrono::milliseconds;

inline TransferId id_of(std::uint8_t tag) {
  TransferId::Bytes bytes{};
  bytes[0] = tag;
  return TransferId(bytes);
}

/// Plays scripted states of one transfer, one a look, and remembers what it was asked for. Own mutex.
class PlayedNode final : public Node {
 public:
  Status set_limits(const NodeLimits& wanted) override {
    GT_TRY(check_limits(wanted));
    limits = wanted;
    return {};
  }
  NodeLimits limits;
  UserId owner_id = UserId(UserId::Bytes{2});
  std::string server = "lab:7443";
  std::string server_error;  ///< not empty: it is not connected
  NodeStatus status() override {
    NodeStatus status;
    NodeId::Bytes bytes{};
    bytes[0] = 1;
    status.node = NodeId(bytes);
    status.node_name = "alpha";
    status.owner = "mia";
    status.owner_id = owner_id;
    status.server = server;
    status.server_connected = server_error.empty();
    status.server_error = server_error;
    status.data_dir = "/";
    status.listeners = {{{"198.18.0.1", 50000, false, ""}, Reachability::kReachable}};
    status.limits = limits;
    return status;
  }

  Result<PublishOutcome> publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) override {
    const std::lock_guard lock(mutex_);
    published_.push_back(job);
    hashing(1, 2);
    if (stop_publish_by_signal) {
      std::raise(SIGINT);
      std::condition_variable_any never;
      std::mutex mine;
      std::unique_lock waiting(mine);
      never.wait_for(waiting, stop, std::chrono::seconds(20), [] { return false; });
      return Error{Code::kCancelled, "stopped"};
    }
    if (publish_failures > 0) {
      --publish_failures;
      return Error{Code::kUnreachable, "no server at lab:7443"};
    }
    if (publish_error) return *publish_error;
    PublishOutcome outcome;
    outcome.content.name = job.request.name;
    outcome.content.bytes = 2;
    outcome.content.files = 1;
    outcome.content.access_level = job.request.access;
    if (job.request.update) {
      outcome.content.version = 2;
      outcome.content.bytes = 1000;
      outcome.unchanged_files = 9;
      outcome.unchanged_bytes = 900;
      outcome.read_bytes = update_reads;
      outcome.rules_as_before = rules_as_before;
    }
    outcome.skipped = 1;
    outcome.warnings = {"skipped the link x"};
    return outcome;
  }

  Result<ScannedTree> scan_publish(const ScanJob& job, const ScanFn&, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    scanned = job;
    ScannedTree tree;
    if (!job.as_before.empty()) tree.rules_as_before = "--exclude secrets";
    return tree;
  }
  Result<TransferView> start_publish(const PublishJob& job) override {
    signal_before_the_answer();
    const std::lock_guard lock(mutex_);
    if (start_error) return *start_error;
    started_.push_back(job);
    TransferView view = script.front();
    view.publishing = PublishState{"first", PublishPhase::kHash, 1, 0};
    return view;
  }
  Result<TransferView> get(const GetJob& job, bool& joined) override {
    signal_before_the_answer();
    const std::lock_guard lock(mutex_);
    if (get_error) return *get_error;
    got = job;
    joined = false;
    return script.front();
  }
  Result<TransferView> seed(const std::string& content, const Place& from) override {
    signal_before_the_answer();
    const std::lock_guard lock(mutex_);
    got.content = content;
    got.target = from.path;
    return script.front();
  }
  Result<RemovedFiles> remove_files(const TransferId& id, bool look_only) override {
    GT_TRY(ask(look_only ? "look" : "remove", id));
    return RemovedFiles{12, 240'000'000, 1, "/data/run42/notes"};
  }
  std::vector<TransferView> transfers() override {
    const std::lock_guard lock(mutex_);
    return {script.begin(), script.end()};
  }
  std::optional<TransfersUpdate> next_transfers(JournalPlace& place, std::uint64_t until) override {
    return played.next(place, until, limits);
  }
  std::uint64_t transfers_revision() override { return played.revision(); }
  void ring_after(std::uint64_t seen, std::function<void()> bell) override { played.ring_after(seen, std::move(bell)); }
  PlayedTransfers played;
  Result<TransferView> transfer(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    if (script.empty() || id != script.front().id) return Error{Code::kNotFound, "no transfer " + id.str()};
    return script.front();
  }
  /// Whoever watches sees the next state of the script.
  void ring_on_change(const TransferId&, std::uint64_t seen, std::function<void()> bell) override {
    const std::lock_guard lock(mutex_);
    if (script.size() > 1) {
      script.pop_front();
      script.front().revision = seen + 1;
      return bell();
    }
    if (std::exchange(signal_at_end, false)) std::raise(SIGINT);
    watched_ = true;
    changed_.notify_all();
  }
  Result<TransferView> wait_for_change(const TransferId& id, std::uint64_t, milliseconds) override {
    return transfer(id);
  }
  /// Returns once somebody watches the last state of the script.
  void wait_until_watched() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return watched_; });
  }
  void play(std::deque<TransferView> states) {
    const std::lock_guard lock(mutex_);
    script = std::move(states);
    for (const auto& view : script) played.put(view);
  }
  Result<TransferView> pause(const TransferId& id) override { return ask("pause", id); }
  Result<TransferView> resume(const TransferId& id) override { return ask("resume", id); }
  Result<TransferView> cancel(const TransferId& id) override { return ask("cancel", id); }
  Result<TransferView> set(const TransferId& id, const TransferSettings& wanted) override {
    settings = wanted;
    return ask("set", id);
  }
  Result<TransferView> choose_files(const TransferId& id, const FileChoice& wanted) override {
    choice = wanted;
    return ask("choose", id);
  }
  FileChoice choice;
  Result<std::vector<std::uint32_t>> chosen_files(const TransferId& id) override {
    GT_TRY(transfer(id));
    return std::vector<std::uint32_t>{1};
  }
  ChangeOutcome change_all(const std::vector<TransferId>& ids, const TransferChange& wanted) override {
    return change_each(*this, ids, wanted);
  }
  Result<TuningRecord> tuning(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    if (tuned.transfer != id) return Error{Code::kNotFound, "nothing is known; `gridtorrent tune list` lists"};
    if (std::exchange(signal_at_tuning, false)) std::raise(SIGINT);
    return tuned;
  }
  Result<RateHistory> rates(const TransferId& id, WallTime from) override {
    GT_TRY(transfer(id));
    rates_asked_from = from;
    return rated;
  }
  RateHistory rated;
  WallTime rates_asked_from;
  std::vector<TuningRecord> tunings() override {
    const std::lock_guard lock(mutex_);
    if (tuned.transfer.is_nil()) return {};
    return {tuned};
  }
  TuningRecord tuned;
  std::vector<PathRecord> path_history() override {
    const std::lock_guard lock(mutex_);
    return remembered;
  }
  Result<std::vector<PathRecord>> forget_paths(const std::optional<NodeId>& node) override {
    const std::lock_guard lock(mutex_);
    if (!node) return std::exchange(remembered, {});
    const auto path = std::ranges::find_if(remembered, [&](const auto& one) { return one.facts.node == *node; });
    if (path == remembered.end())
      return Error{Code::kNotFound, "nothing is remembered of it; `gridtorrent tune history` lists what is"};
    forgotten = *node;
    return std::vector{*path};
  }
  std::optional<NodeId> forgotten;
  std::vector<PathRecord> remembered;
  Result<EstimateOutcome> estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token) override {
    if (!job.may_probe) return Error{Code::kNotFound, "nothing is remembered: leave out --no-probe"};
    probing(1, 4);
    EstimateOutcome outcome;
    outcome.content.owner = "mia";
    outcome.content.name = job.content;
    outcome.bytes = 1'000'000;
    outcome.seeders = outcome.known_seeders = 1;
    outcome.likely = outcome.least = outcome.most = milliseconds(8'000);
    outcome.bits_per_s = 1'000'000;
    outcome.transfers = 2;
    return outcome;
  }
  Result<VerifyOutcome> verify(const std::string& content, const std::string& path, bool sha256,
                               const ProgressFn& progress, std::stop_token) override {
    {
      const std::lock_guard lock(mutex_);
      verified_.emplace_back(content, path);
    }
    if (content == "only-a-path") return Error{Code::kNotFound, "no content only-a-path here"};
    progress(1, 1);
    VerifyOutcome outcome;
    outcome.name = "run42";
    outcome.report.files = 2;
    outcome.report.bytes = 7;
    outcome.report.faults = faults;
    outcome.report.fault_count = faults.size();
    if (sha256) outcome.digests.emplace_back("run42/a\nb", crypto::Sha256Digest{});
    return outcome;
  }

  std::vector<std::pair<std::string, std::string>> verified() {
    const std::lock_guard lock(mutex_);
    return verified_;
  }
  std::vector<PublishJob> started() {
    const std::lock_guard lock(mutex_);
    return started_;
  }
  std::vector<PublishJob> published() {
    const std::lock_guard lock(mutex_);
    return published_;
  }

  /// Lets the call answer that `signal_at_begin` holds, and waits for it.
  void answer() {
    std::unique_lock lock(mutex_);
    may_answer_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return !answer_is_due_; });
  }

  std::deque<TransferView> script;
  int publish_failures = 0;
  std::uint64_t update_reads = 100;  ///< bytes of a new version that has 100 in changed files
  std::string rules_as_before;       ///< of a new version
  ScanJob scanned;
  bool stop_publish_by_signal = false;
  bool signal_at_end = false;
  bool signal_at_tuning = false;
  bool signal_at_begin = false;  ///< the next get, seed or publish answers at `answer()` then
  std::optional<Error> publish_error, get_error, step_error;
  std::optional<Error> start_error;  ///< of StartPublish; kUnsupported: a node that does not know it
  GetJob got;
  TransferSettings settings;
  std::vector<std::string> asked;
  std::vector<EntryFault> faults;

 private:
  void signal_before_the_answer() {
    if (!std::exchange(signal_at_begin, false)) return;
    std::unique_lock lock(mutex_);
    answer_is_due_ = true;
    lock.unlock();
    std::raise(SIGINT);
    lock.lock();
    changed_.wait_for(lock, std::chrono::seconds(20), [this] { return may_answer_; });
    answer_is_due_ = may_answer_ = false;
    changed_.notify_all();
  }
  Result<TransferView> ask(const std::string& what, const TransferId& id) {
    asked.push_back(what);
    const std::lock_guard lock(mutex_);
    if (step_error) return *step_error;
    for (const TransferView& view : script)
      if (view.id == id) return view;
    return Error{Code::kNotFound, "no transfer " + id.str()};
  }

  std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> verified_;
  std::vector<PublishJob> published_, started_;
  std::condition_variable_any changed_;
  bool watched_ = false;
  bool answer_is_due_ = false, may_answer_ = false;
};

class WithNode : public CommandLine {
 protected:
  WithNode() {
    install_default_interrupt();
    std::filesystem::create_directories(folder_ + "/gridtorrent");
    start();
  }

  void start() {
    control::ControlOptions options;
    options.socket_path = folder_ + "/gridtorrent/control.sock";
    options.clock = &system_clock_;
    options.credential_refused = [this] { return credential_refused_.load(); };
    auto started = control::ControlServer::start(options, node_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
  }

  static TransferView view(TransferState state, std::uint64_t verified = 0) {
    TransferView v;
    v.id = id_of(1);
    v.name = "run42";
    v.owner = "mia";
    v.state = state;
    v.verified_bytes = verified;
    v.total_bytes = 1000;
    v.path = "/data/run42";
    v.source = "swarm";
    v.fetch_time = milliseconds(500);
    return v;
  }
  std::vector<Json> events() const {
    std::vector<Json> all;
    std::istringstream lines(out_);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }
  std::vector<std::string> event_names() const {
    std::vector<std::string> names;
    for (const Json& event : events()) names.push_back(event["event"]);
    return names;
  }

  SystemClock system_clock_;
  PlayedNode node_;
  std::atomic<bool> credential_refused_ = false;  ///< by the server
  std::unique_ptr<control::ControlServer> server_;
};

}  // namespace gridtorrent::client::cli
