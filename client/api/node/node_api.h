#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "client/api/node/async_node_api.h"
#include "common/result.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::api {

struct NodeApiOptions {
  std::string socket_path;
  /// The caller's login ("u_…"), put into every request that leaves it empty: the node serves nobody but its owner.
  /// Empty where the caller is not logged in; then the socket's peer credentials alone decide.
  std::string user_id;
  std::chrono::milliseconds deadline{30'000};  ///< of every call that is no stream
  /// Of `get`, `choose_files` and `remove_files`: up to a million files.
  std::chrono::milliseconds begin_deadline{900'000};
};

/// The local node as people's programs (command line, GUI) see it, by its control socket: one method per RPC of
/// proto/gridtorrent/v1/control.proto. Thread-safe. One object is one connection: once a call said kUnreachable, open
/// another. Errors are the node's own lines, or kUnreachable naming the socket.
///
/// The methods here block, and call back on the caller's thread; async() has each as a call that does not. Destroying
/// the object ends all asynchronous calls without their callbacks and waits for a callback that runs: never destroy it
/// in one. No blocking call may be under way then.
class NodeApi {
 public:
  /// Connects. kUnreachable: no socket there, or nobody behind it; kDenied: it belongs to another user; kInvalid: the
  /// path is too long for a socket (107 bytes).
  static Result<std::unique_ptr<NodeApi>> open(NodeApiOptions options);
  ~NodeApi();
  NodeApi(const NodeApi&) = delete;
  NodeApi& operator=(const NodeApi&) = delete;

  /// The asynchronous form; its thread begins with the first use. Lives as long as this object.
  AsyncNodeApi& async();

  Result<v1::StatusReply> status();
  /// The status now, then at each change, at most once a second. It ends by `on_change`, a stop request or an error
  /// only.
  Status watch_status(const NodeStatusFn& on_change, std::stop_token stop);
  /// The options that the node runs with.
  Result<v1::Settings> settings();
  /// All changes, or none; they are kept. Returns what holds from now on.
  Result<v1::Settings> set_settings(v1::SetSettingsRequest request);
  /// Returns what holds from now on.
  Result<v1::NodeLimits> set_limits(v1::SetNodeLimitsRequest request);
  /// Hashing, warnings, then `published`, after which it returns. A stop request (kCancelled) stops the hashing too; a
  /// later call with the same request_id goes on from there. An empty request_id is made here.
  Status publish(v1::PublishRequest request, const PublishEventFn& on_event, std::stop_token stop);
  /// A stop request (kCancelled) ends the wait; what was asked for may go on. So with seed.
  Result<v1::GetReply> get(v1::GetRequest request, std::stop_token stop = {});
  /// How a probe goes, if there is one, then the result, after which it returns.
  Status estimate(v1::EstimateRequest request, const EstimateEventFn& on_event, std::stop_token stop);
  Result<v1::GetReply> seed(v1::SeedRequest request, std::stop_token stop = {});
  /// The state now, then changes (at most ten a second) until it ends: complete, failed, cancelled, or seeding.
  Status watch_transfer(const std::string& transfer_id, const TransferFn& on_change, std::stop_token stop);
  Result<v1::ListTransfersReply> list_transfers();
  Result<v1::Transfer> get_transfer(const std::string& transfer_id);
  Result<v1::Transfer> pause_transfer(const std::string& transfer_id);
  Result<v1::Transfer> resume_transfer(const std::string& transfer_id);
  Result<v1::Transfer> cancel_transfer(const std::string& transfer_id);
  Result<v1::Transfer> set_transfer(v1::SetTransferRequest request);
  Result<v1::Tuning> explain_transfer(const std::string& transfer_id);
  /// All that is kept, then what is new (at most four times a second) until it no longer fetches.
  Status watch_tuning(const std::string& transfer_id, const TuningFn& on_change, std::stop_token stop);
  Result<v1::ListTuningsReply> list_tunings();
  Result<v1::ListTunersReply> list_tuners();
  Result<v1::History> list_history();
  /// What was forgotten: of one node by its id, or of all where that is empty.
  Result<v1::History> forget_history(const std::string& node_id);
  Status verify(v1::VerifyRequest request, const VerifyEventFn& on_event, std::stop_token stop);
  /// All transfers without their peers: a snapshot in pages, then what changed, at most four times a second. It ends by
  /// `on_event`, a stop request or an error only.
  Status watch_transfers(v1::WatchTransfersRequest since, const TransfersEventFn& on_event, std::stop_token stop);
  /// As watch_transfer, but also while it seeds, until it is gone.
  Status follow_transfer(const std::string& transfer_id, const TransferFn& on_change, std::stop_token stop);
  Result<v1::RateHistoryReply> rate_history(v1::RateHistoryRequest request);
  Result<v1::ChangeTransfersReply> change_transfers(v1::ChangeTransfersRequest request);
  Result<v1::Transfer> choose_files(v1::ChooseFilesRequest request);
  Result<v1::ListChosenFilesReply> list_chosen_files(const std::string& transfer_id);
  /// Forgets a finished get and removes its files; returns when they are gone.
  Result<v1::RemoveFilesReply> remove_files(v1::RemoveFilesRequest request);
  /// Progress, then the result, after which it returns.
  Status scan_publish(const std::string& path, const ScanPublishEventFn& on_event, std::stop_token stop);
  /// The same with rules.
  Status scan_chosen(v1::ScanPublishRequest request, const ScanPublishEventFn& on_event, std::stop_token stop);
  /// The transfer that hashes and then seeds; it goes on without the caller. A repeated request_id answers that one.
  Result<v1::Transfer> start_publish(v1::PublishRequest request, std::stop_token stop = {});
  /// Another credential for the node's key; the token is used up.
  Result<v1::ReenrollReply> reenroll(const std::string& enroll_token);

 private:
  struct Impl;
  explicit NodeApi(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gridtorrent::client::api
