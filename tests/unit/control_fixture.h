#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/api/node/node_api.h"
#include "client/control/control_server.h"
#include "tests/support/played_transfers.h"

namespace gridtorrent::client {

using api::NodeApi;
using std::chrono::milliseconds;

inline constexpr milliseconds kLong{20'000};

inline TransferId transfer_id(std::uint8_t tag) {
  TransferId::Bytes bytes{};
  bytes[0] = tag;
  return TransferId(bytes);
}

inline UserId owner_id() {
  UserId::Bytes bytes{};
  bytes[15] = 7;
  return UserId(bytes);
}

/// A Node whose transfers and publishes the test steers. Own mutex.
class FakeNode final : public Node {
 public:
  Status set_limits(const NodeLimits& wanted) override {
    GT_TRY(check_limits(wanted));
    const std::lock_guard lock(mutex_);
    limits = wanted;
    return {};
  }
  NodeLimits limits;
  NodeStatus status() override {
    NodeStatus status;
    NodeId::Bytes bytes{};
    bytes[3] = 9;
    status.node = NodeId(bytes);
    status.node_name = "lab-1";
    status.owner = "ann";
    status.owner_id = owner_id();
    status.listeners = {{{"198.18.0.1", 50000, false, "wan"}, Reachability::kReachable}};
    {
      const std::lock_guard lock(mutex_);
      status.limits = limits;
    }
    status.tuning.mode = TuningMode::kBackground;
    return status;
  }
  Result<PublishOutcome> publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      published_ = job;
    }
    hashing(1, 4);
    if (hash_until_stopped) {
      std::unique_lock lock(mutex_);
      hashing_started = true;
      changed_.notify_all();
      changed_.wait(lock, stop, [] { return false; });
      publish_stopped = true;
      changed_.notify_all();
      return Error{Code::kCancelled, "stopped"};
    }
    PublishOutcome outcome;
    outcome.content.name = job.request.name;
    outcome.content.bytes = 4;
    outcome.content.access_level = "public";
    outcome.transfer = transfer_id(1);
    outcome.warnings = {"skipped link\xff"};
    return outcome;
  }
  Result<ScannedTree> scan_publish(const ScanJob& job, const ScanFn& counting, std::stop_token stop) override {
    scan_rules = job.rules;
    scan_as_before = job.as_before;
    if (job.path == "/gone") return Error{Code::kNotFound, "'/gone' does not exist"};
    if (!scan_until_stopped) counting({.files = 1, .bytes = 2, .skipped = 0});
    while (scan_until_stopped && !stop.stop_requested()) counting({.files = 1, .bytes = 2, .skipped = 0});
    const std::lock_guard lock(mutex_);
    scan_stopped = stop.stop_requested();
    changed_.notify_all();
    return ScannedTree{
        {.files = 3, .bytes = 4, .skipped = 1}, "da\xff", {"skipped '/x/link\xff'"}, {"'/x/b': excluded by 'b'"}};
  }
  Result<TransferView> start_publish(const PublishJob& job) override {
    const std::lock_guard lock(mutex_);
    published_ = job;
    TransferView started = view(transfer_id(4), TransferState::kHashing);
    started.publishing = PublishState{job.request.request_id, PublishPhase::kScan, 7, 8};
    return started;
  }
  Result<RemovedFiles> remove_files(const TransferId& id, bool look_only) override {
    const auto found = transfer(id);
    if (found && found->state == TransferState::kFetching)
      return Error{Code::kConflict, "'data' is not done yet: end it with `gridtorrent transfer cancel`"};
    if (!found && id != transfer_id(2)) return Error{Code::kNotFound, "there is no transfer " + id.str()};
    return RemovedFiles{2, 8, look_only ? 0U : 1U, look_only ? "" : "/data/x\xff"};
  }
  Result<TransferView> get(const GetJob& job, bool& joined) override {
    got = job;
    joined = transfer(transfer_id(2)).ok();
    if (!joined) add(transfer_id(2), TransferState::kFetching);
    return transfer(transfer_id(2));
  }
  Result<TransferView> seed(const std::string& content, const Place& from) override {
    if (seed_error) return *seed_error;
    seeded = {content, from.path};
    return view(transfer_id(3), TransferState::kVerifying);
  }
  std::vector<TransferView> transfers() override {
    const std::lock_guard lock(mutex_);
    std::vector<TransferView> all;
    for (const auto& [id, one] : transfers_) all.push_back(one);
    return all;
  }
  std::optional<TransfersUpdate> next_transfers(JournalPlace& place, std::uint64_t until) override {
    const auto now = [&] {
      const std::lock_guard lock(mutex_);
      return limits;
    }();
    auto update = played.next(place, until, now);
    // A look with an `until` of before may find nothing though there is more.
    if (!update && on_all_told && place.revision == played.revision()) on_all_told();
    return update;
  }
  std::uint64_t transfers_revision() override { return played.revision(); }
  void ring_after(std::uint64_t seen, std::function<void()> bell) override { played.ring_after(seen, std::move(bell)); }
  PlayedTransfers played;
  std::function<void()> on_all_told;  ///< where a watcher of all transfers has seen all
  Result<TransferView> transfer(const TransferId& id) override {
    const std::lock_guard lock(mutex_);
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return Error{Code::kNotFound, "no transfer " + id.str() + " on this node"};
    return found->second;
  }
  void ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell) override {
    if (on_wait) on_wait();
    const std::lock_guard lock(mutex_);
    const auto found = transfers_.find(id);
    if (found == transfers_.end() || found->second.revision != seen) return bell();
    bells_[id].push_back(std::move(bell));
  }
  Result<TransferView> wait_for_change(const TransferId& id, std::uint64_t seen, milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] {
      const auto found = transfers_.find(id);
      return found == transfers_.end() || found->second.revision != seen;
    });
    const auto found = transfers_.find(id);
    if (found == transfers_.end()) return Error{Code::kNotFound, "forgotten"};
    return found->second;
  }
  Result<TransferView> pause(const TransferId& id) override { return change(id, TransferState::kPaused); }
  Result<TransferView> resume(const TransferId& id) override { return change(id, TransferState::kFetching); }
  Result<TransferView> cancel(const TransferId& id) override { return change(id, TransferState::kCancelled); }
  Result<TransferView> set(const TransferId& id, const TransferSettings& settings) override {
    last_settings = settings;
    {
      const std::lock_guard lock(mutex_);
      const auto found = transfers_.find(id);
      if (found != transfers_.end()) {
        TransferView& one = found->second;
        one.limit_bits_per_s = settings.limit_bits_per_s.value_or(one.limit_bits_per_s);
        one.priority = settings.priority.value_or(one.priority);
        one.lanes_wish = settings.lanes.value_or(one.lanes_wish);
      }
    }
    return transfer(id);
  }
  Result<TransferView> choose_files(const TransferId& id, const FileChoice& choice) override {
    last_choice = choice;
    return transfer(id);
  }
  FileChoice last_choice;
  Result<std::vector<std::uint32_t>> chosen_files(const TransferId& id) override {
    GT_TRY(transfer(id));
    return std::vector<std::uint32_t>{1, 3};
  }
  ChangeOutcome change_all(const std::vector<TransferId>& ids, const TransferChange& wanted) override {
    return change_each(*this, ids, wanted);
  }
  Result<TuningRecord> tuning(const TransferId& id) override {
    if (on_tuning) on_tuning();
    if (tuned.transfer != id) return Error{Code::kNotFound, "nothing is known of " + id.str()};
    return tuned;
  }
  Result<RateHistory> rates(const TransferId& id, WallTime from) override {
    GT_TRY(transfer(id));
    rates_asked_from = from;
    return rated;
  }
  RateHistory rated;
  WallTime rates_asked_from;
  std::vector<TuningRecord> tunings() override { return {tuned}; }
  std::vector<PathRecord> path_history() override { return {remembered}; }
  Result<std::vector<PathRecord>> forget_paths(const std::optional<NodeId>& node) override {
    if (node && *node != remembered.facts.node) return Error{Code::kNotFound, "nothing is remembered of it"};
    forgot = true;
    return std::vector{remembered};
  }
  Result<EstimateOutcome> estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token) override {
    estimated = job;
    if (job.content == "nowhere") return Error{Code::kUnreachable, "no seeder of it is online"};
    probing(1, 4);
    EstimateOutcome outcome;
    outcome.basis = EstimateBasis::kProbe;
    outcome.content.owner = "mia";
    outcome.content.name = "run42";
    outcome.bytes = 1'200'000'000;
    outcome.seeders = outcome.known_seeders = 3;
    outcome.likely = milliseconds(60'000);
    outcome.least = milliseconds(40'000);
    outcome.most = milliseconds(110'000);
    outcome.bits_per_s = 160'000'000;
    outcome.limit = Limit::kLoss;
    outcome.transfer = transfer_id(1);
    outcome.probed = milliseconds(3'000);
    outcome.kept_bytes = 41'000'000;
    return outcome;
  }
  EstimateJob estimated;
  PathRecord remembered;
  bool forgot = false;
  TuningRecord tuned;
  std::function<void()> on_tuning;  ///< before each look
  Result<VerifyOutcome> verify(const std::string&, const std::string&, bool sha256, const ProgressFn& progress,
                               std::stop_token) override {
    progress(5, 5);
    VerifyOutcome outcome;
    outcome.report.files = digest_count;
    outcome.report.fault_count = 1;
    outcome.report.faults = {{"a\nb", "missing"}};
    for (std::size_t i = 0; sha256 && i < digest_count; ++i) {
      outcome.digests.emplace_back(std::string(100, 'p'), crypto::Sha256Digest{});
    }
    return outcome;
  }

  Result<TransferView> change(const TransferId& id, TransferState state) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = transfers_.find(id);
      if (found == transfers_.end()) return Error{Code::kNotFound, "no transfer " + id.str() + " on this node"};
      found->second.state = state;
      ++found->second.revision;
      played.put(found->second);
      ring(id);
    }
    changed_.notify_all();
    return transfer(id);
  }
  void add(const TransferId& id, TransferState state) {
    const std::lock_guard lock(mutex_);
    transfers_[id] = view(id, state);
    played.put(transfers_[id]);
  }
  void remove(const TransferId& id) {
    {
      const std::lock_guard lock(mutex_);
      transfers_.erase(id);
      ring(id);
    }
    changed_.notify_all();
    played.remove(id);
  }
  void wait_until(const bool& flag) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, kLong, [&] { return flag; }));
  }
  PublishJob published() {
    const std::lock_guard lock(mutex_);
    return published_;
  }

  bool scan_until_stopped = false, scan_stopped = false;
  WalkRules scan_rules;
  std::string scan_as_before;
  bool hash_until_stopped = false;
  bool hashing_started = false, publish_stopped = false;  // guarded by mutex_
  std::optional<Error> seed_error;
  GetJob got;
  std::pair<std::string, std::string> seeded;
  TransferSettings last_settings;
  std::function<void()> on_wait;  ///< before a watch waits for a change
  std::size_t digest_count = 1;

 private:
  void ring(const TransferId& id) {
    for (const auto& bell : std::exchange(bells_[id], {})) bell();
  }
  static TransferView view(const TransferId& id, TransferState state) {
    TransferView one;
    one.id = id;
    one.state = state;
    one.name = "data";
    one.path = "/data/\xff";
    one.revision = 1;
    return one;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<TransferId, TransferView> transfers_;
  std::map<TransferId, std::vector<std::function<void()>>> bells_;
  PublishJob published_;
};

class Control : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gtctl-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    socket_ = folder_ + "/control.sock";
    restart();
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void restart(control::ControlOptions options = {}) {
    server_.reset();  // its socket is to be free
    options.socket_path = socket_;
    options.clock = &clock_;
    options.hash_backend = "test";
    auto server = control::ControlServer::start(options, node_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
  }
  std::unique_ptr<NodeApi> api(const std::string& user = {}) {
    auto opened = NodeApi::open({socket_, user, kLong});
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }

  FakeNode node_;
  SystemClock clock_;
  std::string folder_, socket_;
  std::unique_ptr<control::ControlServer> server_;
};

}  // namespace gridtorrent::client
