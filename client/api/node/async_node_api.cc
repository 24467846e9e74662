#include "client/api/node/async_node_api.h"

#include <utility>

#include "base/rpc/hello.h"
#include "client/api/call/call_loop.h"
#include "client/api/node/node_connection.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/rng.h"

namespace gridtorrent::client::api {
namespace {

using Stub = v1::Control::Stub;

template <class Request, class Reply>
Call ask(const NodeConnection& node, CallLoop& loop, UnaryMethod<Stub, Request, Reply> method,
         std::type_identity_t<Request> request, const std::type_identity_t<Answer<Reply>>& done) {
  return loop.call(node.terms(node.options.deadline), *node.stub, method, node.own(std::move(request)), done);
}

template <class Request, class Reply>
Call ask_for_transfer(const NodeConnection& node, CallLoop& loop, UnaryMethod<Stub, Request, Reply> method,
                      std::type_identity_t<Request> request, const Answer<v1::Transfer>& done) {
  return loop.call(node.terms(node.options.deadline), *node.stub, method, node.own(std::move(request)), done,
                   [](v1::TransferReply&& reply) { return std::move(*reply.mutable_transfer()); });
}

template <class Request, class Reply>
Call watch(const NodeConnection& node, CallLoop& loop, StreamMethod<Stub, Request, Reply> method,
           std::type_identity_t<Request> request, std::type_identity_t<std::function<bool(const Reply&)>> on_event,
           const Ended& on_end) {
  return loop.watch(node.terms(kNoDeadline), *node.stub, method, node.own(std::move(request)), std::move(on_event),
                    on_end);
}

v1::TransferRequest of_transfer(const std::string& transfer_id) {
  v1::TransferRequest request;
  request.set_transfer_id(transfer_id);
  return request;
}

std::string new_request_id() {
  SystemRng rng;
  return make_request_id(SystemClock().wall(), rng);
}

}  // namespace

Call AsyncNodeApi::status(Answer<v1::StatusReply> done) {
  v1::StatusRequest request;
  *request.mutable_hello() = rpc::make_hello(SystemClock().wall());
  return loop_.call(connection_.terms(connection_.options.deadline), *connection_.stub, &Stub::PrepareAsyncStatus,
                    connection_.own(std::move(request)), done, [](v1::StatusReply&& reply) -> Result<v1::StatusReply> {
                      GT_TRY(rpc::check_hello(reply.hello(), SystemClock().wall(), "the node"));
                      return std::move(reply);
                    });
}

Call AsyncNodeApi::watch_status(NodeStatusFn on_change, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncWatchStatus, {}, std::move(on_change), on_end);
}

Call AsyncNodeApi::settings(Answer<v1::Settings> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncGetSettings, {}, done);
}

Call AsyncNodeApi::set_settings(v1::SetSettingsRequest request, Answer<v1::Settings> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncSetSettings, std::move(request), done);
}

Call AsyncNodeApi::set_limits(v1::SetNodeLimitsRequest request, Answer<v1::NodeLimits> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncSetNodeLimits, std::move(request), done);
}

Call AsyncNodeApi::publish(v1::PublishRequest request, PublishEventFn on_event, Ended on_end) {
  if (request.request_id().empty()) request.set_request_id(new_request_id());
  return watch(connection_, loop_, &Stub::PrepareAsyncPublish, std::move(request), std::move(on_event), on_end);
}

Call AsyncNodeApi::get(v1::GetRequest request, Answer<v1::GetReply> done) {
  return loop_.call(connection_.terms(connection_.options.begin_deadline), *connection_.stub, &Stub::PrepareAsyncGet,
                    connection_.own(std::move(request)), done);
}

Call AsyncNodeApi::estimate(v1::EstimateRequest request, EstimateEventFn on_event, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncEstimate, std::move(request), std::move(on_event), on_end);
}

Call AsyncNodeApi::seed(v1::SeedRequest request, Answer<v1::GetReply> done) {
  return loop_.call(connection_.terms(connection_.options.begin_deadline), *connection_.stub, &Stub::PrepareAsyncSeed,
                    connection_.own(std::move(request)), done);
}

Call AsyncNodeApi::watch_transfer(const std::string& transfer_id, TransferFn on_change, Ended on_end) {
  return watch(
      connection_, loop_, &Stub::PrepareAsyncWatchTransfer, of_transfer(transfer_id),
      [on_change = std::move(on_change)](const v1::TransferReply& reply) { return on_change(reply.transfer()); },
      on_end);
}

Call AsyncNodeApi::list_transfers(Answer<v1::ListTransfersReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncListTransfers, {}, done);
}

Call AsyncNodeApi::get_transfer(const std::string& transfer_id, Answer<v1::Transfer> done) {
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncGetTransfer, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::pause_transfer(const std::string& transfer_id, Answer<v1::Transfer> done) {
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncPauseTransfer, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::resume_transfer(const std::string& transfer_id, Answer<v1::Transfer> done) {
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncResumeTransfer, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::cancel_transfer(const std::string& transfer_id, Answer<v1::Transfer> done) {
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncCancelTransfer, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::set_transfer(v1::SetTransferRequest request, Answer<v1::Transfer> done) {
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncSetTransfer, std::move(request), done);
}

Call AsyncNodeApi::explain_transfer(const std::string& transfer_id, Answer<v1::Tuning> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncExplainTransfer, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::watch_tuning(const std::string& transfer_id, TuningFn on_change, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncWatchTuning, of_transfer(transfer_id), std::move(on_change),
               on_end);
}

Call AsyncNodeApi::list_tunings(Answer<v1::ListTuningsReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncListTunings, {}, done);
}

Call AsyncNodeApi::list_tuners(Answer<v1::ListTunersReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncListTuners, {}, done);
}

Call AsyncNodeApi::list_history(Answer<v1::History> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncListHistory, {}, done);
}

Call AsyncNodeApi::forget_history(const std::string& node_id, Answer<v1::History> done) {
  v1::ForgetHistoryRequest request;
  request.set_node_id(node_id);
  return ask(connection_, loop_, &Stub::PrepareAsyncForgetHistory, std::move(request), done);
}

Call AsyncNodeApi::verify(v1::VerifyRequest request, VerifyEventFn on_event, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncVerify, std::move(request), std::move(on_event), on_end);
}

Call AsyncNodeApi::watch_transfers(v1::WatchTransfersRequest since, TransfersEventFn on_event, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncWatchTransfers, std::move(since), std::move(on_event), on_end);
}

Call AsyncNodeApi::follow_transfer(const std::string& transfer_id, TransferFn on_change, Ended on_end) {
  auto request = of_transfer(transfer_id);
  request.set_while_seeding(true);
  return watch(
      connection_, loop_, &Stub::PrepareAsyncWatchTransfer, std::move(request),
      [on_change = std::move(on_change)](const v1::TransferReply& reply) { return on_change(reply.transfer()); },
      on_end);
}

Call AsyncNodeApi::rate_history(v1::RateHistoryRequest request, Answer<v1::RateHistoryReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncRateHistory, std::move(request), done);
}

Call AsyncNodeApi::choose_files(v1::ChooseFilesRequest request, Answer<v1::Transfer> done) {
  return loop_.call(connection_.terms(connection_.options.begin_deadline), *connection_.stub,
                    &Stub::PrepareAsyncChooseFiles, connection_.own(std::move(request)), done,
                    [](v1::TransferReply&& reply) { return std::move(*reply.mutable_transfer()); });
}

Call AsyncNodeApi::list_chosen_files(const std::string& transfer_id, Answer<v1::ListChosenFilesReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncListChosenFiles, of_transfer(transfer_id), done);
}

Call AsyncNodeApi::remove_files(v1::RemoveFilesRequest request, Answer<v1::RemoveFilesReply> done) {
  return loop_.call(connection_.terms(connection_.options.begin_deadline), *connection_.stub,
                    &Stub::PrepareAsyncRemoveFiles, connection_.own(std::move(request)), done);
}

Call AsyncNodeApi::change_transfers(v1::ChangeTransfersRequest request, Answer<v1::ChangeTransfersReply> done) {
  return ask(connection_, loop_, &Stub::PrepareAsyncChangeTransfers, std::move(request), done);
}

Call AsyncNodeApi::scan_publish(const std::string& path, ScanPublishEventFn on_event, Ended on_end) {
  v1::ScanPublishRequest request;
  request.set_path(path);
  return scan_chosen(std::move(request), std::move(on_event), on_end);
}

Call AsyncNodeApi::scan_chosen(v1::ScanPublishRequest request, ScanPublishEventFn on_event, Ended on_end) {
  return watch(connection_, loop_, &Stub::PrepareAsyncScanPublish, std::move(request), std::move(on_event), on_end);
}

Call AsyncNodeApi::start_publish(v1::PublishRequest request, Answer<v1::Transfer> done) {
  if (request.request_id().empty()) request.set_request_id(new_request_id());
  return ask_for_transfer(connection_, loop_, &Stub::PrepareAsyncStartPublish, std::move(request), done);
}

Call AsyncNodeApi::reenroll(const std::string& enroll_token, Answer<v1::ReenrollReply> done) {
  v1::ReenrollRequest request;
  request.set_enroll_token(enroll_token);
  return ask(connection_, loop_, &Stub::PrepareAsyncReenroll, std::move(request), done);
}

}  // namespace gridtorrent::client::api
