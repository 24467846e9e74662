#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "client/control/control_server.h"
#include "client/control/settings.h"
#include "client/control/status_streams.h"
#include "client/control/transfer_streams.h"
#include "client/control/watches.h"
#include "client/core/node.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.grpc.pb.h"

namespace gridtorrent::client::control {

/// The handlers of service Control. Synchronous: each call has a gRPC thread to itself, so blocking in `Node` is fine.
/// The four that watch, which last for hours, are reactors without a thread. Thread-safe; the node outlives it.
class ControlService final
    : public v1::Control::WithCallbackMethod_WatchTransfers<
          v1::Control::WithCallbackMethod_WatchStatus<v1::Control::WithCallbackMethod_WatchTransfer<
              v1::Control::WithCallbackMethod_WatchTuning<v1::Control::Service>>>> {
 public:
  /// What `Node` does not know of.
  struct Hooks {
    ReenrolFn reenrol;
    std::function<bool()> credential_refused;
    SettingsPort settings;
  };
  ControlService(Node& node, const Clock& clock, std::string hash_backend, TransferWatches::Limits watches,
                 TransferStreams::Limits streams, StatusStreams::Limits status_streams, Hooks hooks)
      : node_(node),
        owner_(owner_of(node.status())),
        clock_(clock),
        hash_backend_(std::move(hash_backend)),
        streams_(node, streams),
        hooks_(std::move(hooks)),
        status_streams_([this] { return status_now(); }, status_streams),
        transfer_watches_(node, watches),
        tuning_watches_(node, watches.most) {}

  /// From now on streams end with kCancelled and their work stops; calls return as soon as `Node` lets them.
  void stop();

  grpc::Status Status(grpc::ServerContext* context, const v1::StatusRequest* request, v1::StatusReply* reply) override;
  grpc::ServerWriteReactor<v1::StatusReply>* WatchStatus(grpc::CallbackServerContext* context,
                                                         const v1::StatusRequest* request) override;
  grpc::Status GetSettings(grpc::ServerContext* context, const v1::GetSettingsRequest* request,
                           v1::Settings* reply) override;
  grpc::Status SetSettings(grpc::ServerContext* context, const v1::SetSettingsRequest* request,
                           v1::Settings* reply) override;
  grpc::Status SetNodeLimits(grpc::ServerContext* context, const v1::SetNodeLimitsRequest* request,
                             v1::NodeLimits* reply) override;
  grpc::Status Publish(grpc::ServerContext* context, const v1::PublishRequest* request,
                       grpc::ServerWriter<v1::PublishEvent>* writer) override;
  grpc::Status ScanPublish(grpc::ServerContext* context, const v1::ScanPublishRequest* request,
                           grpc::ServerWriter<v1::ScanPublishEvent>* writer) override;
  grpc::Status StartPublish(grpc::ServerContext* context, const v1::PublishRequest* request,
                            v1::TransferReply* reply) override;
  grpc::Status Get(grpc::ServerContext* context, const v1::GetRequest* request, v1::GetReply* reply) override;
  grpc::Status Estimate(grpc::ServerContext* context, const v1::EstimateRequest* request,
                        grpc::ServerWriter<v1::EstimateEvent>* writer) override;
  grpc::Status Seed(grpc::ServerContext* context, const v1::SeedRequest* request, v1::GetReply* reply) override;
  grpc::ServerWriteReactor<v1::TransferReply>* WatchTransfer(grpc::CallbackServerContext* context,
                                                             const v1::TransferRequest* request) override;
  grpc::ServerWriteReactor<v1::TransfersEvent>* WatchTransfers(grpc::CallbackServerContext* context,
                                                               const v1::WatchTransfersRequest* request) override;
  grpc::Status ListTransfers(grpc::ServerContext* context, const v1::ListTransfersRequest* request,
                             v1::ListTransfersReply* reply) override;
  grpc::Status GetTransfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                           v1::TransferReply* reply) override;
  grpc::Status PauseTransfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                             v1::TransferReply* reply) override;
  grpc::Status ResumeTransfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                              v1::TransferReply* reply) override;
  grpc::Status CancelTransfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                              v1::TransferReply* reply) override;
  grpc::Status SetTransfer(grpc::ServerContext* context, const v1::SetTransferRequest* request,
                           v1::TransferReply* reply) override;
  grpc::Status ChooseFiles(grpc::ServerContext* context, const v1::ChooseFilesRequest* request,
                           v1::TransferReply* reply) override;
  grpc::Status ListChosenFiles(grpc::ServerContext* context, const v1::TransferRequest* request,
                               v1::ListChosenFilesReply* reply) override;
  grpc::Status RemoveFiles(grpc::ServerContext* context, const v1::RemoveFilesRequest* request,
                           v1::RemoveFilesReply* reply) override;
  grpc::Status ChangeTransfers(grpc::ServerContext* context, const v1::ChangeTransfersRequest* request,
                               v1::ChangeTransfersReply* reply) override;
  grpc::Status RateHistory(grpc::ServerContext* context, const v1::RateHistoryRequest* request,
                           v1::RateHistoryReply* reply) override;
  grpc::Status ExplainTransfer(grpc::ServerContext* context, const v1::TransferRequest* request,
                               v1::Tuning* reply) override;
  grpc::ServerWriteReactor<v1::Tuning>* WatchTuning(grpc::CallbackServerContext* context,
                                                    const v1::TransferRequest* request) override;
  grpc::Status ListTunings(grpc::ServerContext* context, const v1::ListTuningsRequest* request,
                           v1::ListTuningsReply* reply) override;
  grpc::Status ListTuners(grpc::ServerContext* context, const v1::ListTunersRequest* request,
                          v1::ListTunersReply* reply) override;
  grpc::Status ListHistory(grpc::ServerContext* context, const v1::ListHistoryRequest* request,
                           v1::History* reply) override;
  grpc::Status ForgetHistory(grpc::ServerContext* context, const v1::ForgetHistoryRequest* request,
                             v1::History* reply) override;
  grpc::Status Verify(grpc::ServerContext* context, const v1::VerifyRequest* request,
                      grpc::ServerWriter<v1::VerifyEvent>* writer) override;
  grpc::Status Reenroll(grpc::ServerContext* context, const v1::ReenrollRequest* request,
                        v1::ReenrollReply* reply) override;

 private:
  /// Asked once: it stays while the node runs, and a node's status asks the disk.
  struct Owner {
    std::string user_id, name;
  };
  static Owner owner_of(const NodeStatus& status);
  /// kDenied for the login of anyone but the node's owner. No login: the socket's peer credentials have decided.
  gridtorrent::Status check_caller(const std::string& user_id);
  v1::StatusReply status_now();
  /// Runs one of Node's transfer methods on the request's transfer.
  grpc::Status on_transfer(const v1::TransferRequest& request, v1::TransferReply& reply,
                           const std::function<Result<TransferView>(const TransferId&)>& act);
  /// Runs `work` on a thread of its own and `report` here at most ten times a second while it lasts; a cancelled call,
  /// a report that says false, or stop() request its stop. Returns once the work has ended.
  void run_reporting(grpc::ServerContext& context, const char* thread_name,
                     const std::function<void(std::stop_token, const ProgressFn&)>& work,
                     const std::function<bool(std::uint64_t done, std::uint64_t total)>& report);
  bool stopping() const { return stopping_.load(); }

  Node& node_;
  const Owner owner_;
  const Clock& clock_;
  const std::string hash_backend_;
  std::atomic<bool> stopping_{false};
  TransferStreams streams_;
  const Hooks hooks_;
  StatusStreams status_streams_;
  TransferWatches transfer_watches_;
  TuningWatches tuning_watches_;
};

}  // namespace gridtorrent::client::control
