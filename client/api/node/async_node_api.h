#pragma once

#include <functional>
#include <string>

#include "client/api/call/call.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::api {

class CallLoop;
struct NodeConnection;

/// Each takes one event of a stream; false ends it early (which is success).
using PublishEventFn = std::function<bool(const v1::PublishEvent&)>;
using TransferFn = std::function<bool(const v1::Transfer&)>;
using TuningFn = std::function<bool(const v1::Tuning&)>;
using EstimateEventFn = std::function<bool(const v1::EstimateEvent&)>;
using VerifyEventFn = std::function<bool(const v1::VerifyEvent&)>;
using TransfersEventFn = std::function<bool(const v1::TransfersEvent&)>;
using NodeStatusFn = std::function<bool(const v1::StatusReply&)>;
using ScanPublishEventFn = std::function<bool(const v1::ScanPublishEvent&)>;

/// Every call of NodeApi for programs that must not wait: same requests, answers, errors and deadlines. Each returns at
/// once with a handle (see Call), which must be kept: destroying it cancels the call. Thread-safe.
///
/// Callbacks come on the thread `api-calls` of the NodeApi, one at a time; what they do holds up all others of the same
/// object, so they hand the answer over and return. They may begin and cancel calls, also their own. A stream's next
/// event is read after the callback of the one before has returned, so a slow callback holds up the sender.
class AsyncNodeApi {
 public:
  /// By NodeApi::async().
  AsyncNodeApi(const NodeConnection& connection, CallLoop& loop) : connection_(connection), loop_(loop) {}

  Call status(Answer<v1::StatusReply> done);
  Call watch_status(NodeStatusFn on_change, Ended on_end);
  Call settings(Answer<v1::Settings> done);
  Call set_settings(v1::SetSettingsRequest request, Answer<v1::Settings> done);
  Call set_limits(v1::SetNodeLimitsRequest request, Answer<v1::NodeLimits> done);
  Call publish(v1::PublishRequest request, PublishEventFn on_event, Ended on_end);
  Call get(v1::GetRequest request, Answer<v1::GetReply> done);
  Call estimate(v1::EstimateRequest request, EstimateEventFn on_event, Ended on_end);
  Call seed(v1::SeedRequest request, Answer<v1::GetReply> done);
  Call watch_transfer(const std::string& transfer_id, TransferFn on_change, Ended on_end);
  Call list_transfers(Answer<v1::ListTransfersReply> done);
  Call get_transfer(const std::string& transfer_id, Answer<v1::Transfer> done);
  Call pause_transfer(const std::string& transfer_id, Answer<v1::Transfer> done);
  Call resume_transfer(const std::string& transfer_id, Answer<v1::Transfer> done);
  Call cancel_transfer(const std::string& transfer_id, Answer<v1::Transfer> done);
  Call set_transfer(v1::SetTransferRequest request, Answer<v1::Transfer> done);
  Call explain_transfer(const std::string& transfer_id, Answer<v1::Tuning> done);
  Call watch_tuning(const std::string& transfer_id, TuningFn on_change, Ended on_end);
  Call list_tunings(Answer<v1::ListTuningsReply> done);
  Call list_tuners(Answer<v1::ListTunersReply> done);
  Call list_history(Answer<v1::History> done);
  Call forget_history(const std::string& node_id, Answer<v1::History> done);
  Call verify(v1::VerifyRequest request, VerifyEventFn on_event, Ended on_end);
  Call watch_transfers(v1::WatchTransfersRequest since, TransfersEventFn on_event, Ended on_end);
  /// As watch_transfer, but also while it seeds, until it is gone.
  Call follow_transfer(const std::string& transfer_id, TransferFn on_change, Ended on_end);
  Call rate_history(v1::RateHistoryRequest request, Answer<v1::RateHistoryReply> done);
  Call change_transfers(v1::ChangeTransfersRequest request, Answer<v1::ChangeTransfersReply> done);
  Call choose_files(v1::ChooseFilesRequest request, Answer<v1::Transfer> done);
  Call list_chosen_files(const std::string& transfer_id, Answer<v1::ListChosenFilesReply> done);
  Call remove_files(v1::RemoveFilesRequest request, Answer<v1::RemoveFilesReply> done);
  Call scan_publish(const std::string& path, ScanPublishEventFn on_event, Ended on_end);
  Call scan_chosen(v1::ScanPublishRequest request, ScanPublishEventFn on_event, Ended on_end);
  Call start_publish(v1::PublishRequest request, Answer<v1::Transfer> done);
  Call reenroll(const std::string& enroll_token, Answer<v1::ReenrollReply> done);

 private:
  const NodeConnection& connection_;
  CallLoop& loop_;
};

}  // namespace gridtorrent::client::api
