#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "client/core/announcer.h"
#include "client/core/engine_events.h"
#include "client/core/estimate_job.h"
#include "client/core/get_job.h"
#include "client/core/lasting_publish.h"
#include "client/core/node.h"
#include "client/core/node_context.h"
#include "client/core/node_steps.h"
#include "client/core/publish_job.h"
#include "client/core/rate_keeper.h"
#include "client/core/rights_keeper.h"
#include "client/core/seeding.h"
#include "client/core/task_manager.h"
#include "client/core/transfer_loop.h"
#include "client/core/tuning_keeper.h"

namespace gridtorrent::client {

/// The node itself: every transfer, its persistence, the swarms' upkeep and the tasks.
///
/// Threads: one named "gt-transfers" makes a round over all transfers every 200 ms while something moves, every second
/// otherwise, and at once when the engine, the server's stream, a finished job or a caller rings. What blocks (hashing,
/// moving files, calls to the server) runs on the context's small pools. All transfer state is guarded by the book's
/// one mutex, which is never held during blocking work; the engine's and the server's listeners only take short locks.
class NodeCore final : public Node, private ServerListener {
 public:
  /// `events` is the listener that the engine of `ports` was made with.
  NodeCore(const NodePorts& ports, NodeOptions options, EngineEvents& events);
  ~NodeCore() override;

  /// Reads what was before, starts the thread and the server's stream.
  Status start();
  /// Orderly end: ends jobs, saves resume data, leaves the swarms to expire. The engine is stopped by its owner
  /// afterwards.
  void stop();

  /// Roots count for tasks that begin from now on; any thread.
  void reconfigure(NodeSettings settings);

  /// The engine listens on others: the server is to know.
  void addresses_changed();
  /// As `status` tells them from now on; any thread.
  void identity_changed(const std::string& node_name, WallTime credential_expires);

  NodeStatus status() override;
  Status set_limits(const NodeLimits& limits) override;
  Result<ScannedTree> scan_publish(const ScanJob& job, const ScanFn& counting, std::stop_token stop) override;
  Result<PublishOutcome> publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) override;
  Result<TransferView> start_publish(const PublishJob& job) override;
  Result<TransferView> get(const GetJob& job, bool& joined) override;
  Result<EstimateOutcome> estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token stop) override;
  Result<TransferView> seed(const std::string& content, const Place& from) override;
  std::vector<TransferView> transfers() override;
  std::optional<TransfersUpdate> next_transfers(JournalPlace& place, std::uint64_t until) override;
  std::uint64_t transfers_revision() override;
  void ring_after(std::uint64_t seen, std::function<void()> bell) override;
  void ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell) override;
  Result<TransferView> transfer(const TransferId& id) override;
  Result<TransferView> wait_for_change(const TransferId& id, std::uint64_t seen,
                                       std::chrono::milliseconds timeout) override;
  Result<TransferView> pause(const TransferId& id) override;
  Result<TransferView> resume(const TransferId& id) override;
  Result<TransferView> cancel(const TransferId& id) override;
  Result<TransferView> set(const TransferId& id, const TransferSettings& settings) override;
  Result<TransferView> choose_files(const TransferId& id, const FileChoice& choice) override;
  Result<std::vector<std::uint32_t>> chosen_files(const TransferId& id) override;
  ChangeOutcome change_all(const std::vector<TransferId>& ids, const TransferChange& change) override;
  Result<RemovedFiles> remove_files(const TransferId& id, bool look_only) override;
  Result<TuningRecord> tuning(const TransferId& id) override;
  std::vector<TuningRecord> tunings() override;
  Result<RateHistory> rates(const TransferId& id, WallTime from) override;
  std::vector<PathRecord> path_history() override;
  Result<std::vector<PathRecord>> forget_paths(const std::optional<NodeId>& node) override;
  Result<VerifyOutcome> verify(const std::string& content, const std::string& path, bool sha256,
                               const ProgressFn& progress, std::stop_token stop) override;

 private:
  void connected() override;
  void disconnected(const Error& reason) override;
  Status task(const Task& task) override;
  void task_cancelled(const TaskId& id) override;
  void peer_changed(const ContentId& content, std::uint32_t version, const PeerInfo& peer) override;
  void audience(const AudienceList& list) override { rights_.learn(list); }
  void audiences_confirmed(const std::vector<AudienceRef>& refs) override { rights_.confirm(refs); }
  void content_changed(const std::optional<ContentId>& content) override;

  void run(const std::stop_token& stop);
  Status restore();
  void publish_endpoints();
  void note_published(const std::vector<LaneEndpoint>& endpoints, const Result<std::vector<Reachability>>& reply);
  std::vector<LaneEndpoint> endpoints_to_publish() const;
  std::chrono::milliseconds follow_hours();
  TransferLoop::Own own();

  NodeContext c_;
  Announcer announcer_;
  RightsKeeper rights_;
  GetFlow gets_;
  PublishFlow publishes_;
  LastingPublishFlow lasting_;
  SeedingFlow seeding_;
  EstimateFlow estimates_;
  TaskManager tasks_;
  TransferLoop loop_;
  TuningKeeper tuning_keeper_;
  RateKeeper rate_keeper_;
  NodeSteps steps_;

  std::mutex link_mutex_;  ///< guards the next six
  std::string node_name_;
  WallTime credential_expires_;
  std::string server_error_;
  std::vector<std::pair<LaneEndpoint, Reachability>> listeners_;
  MonoTime endpoints_due_{}, endpoints_log_due_{};

  std::atomic<bool> endpoints_in_flight_{false}, stopped_{false};
  std::jthread thread_;
};

}  // namespace gridtorrent::client
