#include "client/control/service.h"

#include <pthread.h>

#include <chrono>
#include <thread>
#include <utility>

#include "base/rpc/hello.h"
#include "base/rpc/status.h"
#include "client/control/convert.h"
#include "common/text.h"

namespace gridtorrent::client::control {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReportPause{100};

/// The latest progress, passed from hashing threads to the one that writes to the caller. Own mutex.
class ProgressSlot {
 public:
  void put(std::uint64_t done, std::uint64_t total) {
    const std::lock_guard lock(mutex_);
    latest_ = {done, total};
  }
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    changed_.notify_all();
  }
  /// Waits for the end of the work or `pause`; true once it has ended.
  bool wait(milliseconds pause) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, pause, [&] { return finished_; });
  }
  std::optional<std::pair<std::uint64_t, std::uint64_t>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> latest_;
  bool finished_ = false;
};

gridtorrent::Status cancelled() {
  return Error{Code::kCancelled, "the caller ended the call"};
}

}  // namespace

void ControlService::stop() {
  stopping_ = true;
  streams_.stop();
  status_streams_.stop();
  transfer_watches_.stop();
  tuning_watches_.stop();
}

ControlService::Owner ControlService::owner_of(const NodeStatus& status) {
  return {status.owner_id.str(), status.owner};
}

gridtorrent::Status ControlService::check_caller(const std::string& user_id) {
  if (stopping()) return Error{Code::kUnreachable, "the node is shutting down: try again once it runs"};
  if (user_id.empty()) return {};
  if (user_id == owner_.user_id) return {};
  return Error{Code::kDenied, "this node belongs to user " + owner_.name + ", and you are logged in as another (" +
                                  escape_for_display(user_id) + "): log in as " + owner_.name +
                                  ", or use a node of your own"};
}

grpc::Status ControlService::Status(grpc::ServerContext*, const v1::StatusRequest* request, v1::StatusReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  *reply = status_now();
  return grpc::Status::OK;
}

v1::StatusReply ControlService::status_now() {
  v1::StatusReply reply;
  fill(reply, node_.status());
  *reply.mutable_hello() = rpc::make_hello(clock_.wall());
  reply.set_hash_backend(hash_backend_);
  reply.set_credential_refused(hooks_.credential_refused && hooks_.credential_refused());
  return reply;
}

grpc::ServerWriteReactor<v1::StatusReply>* ControlService::WatchStatus(grpc::CallbackServerContext*,
                                                                       const v1::StatusRequest* request) {
  if (const auto ok = check_caller(request->user_id()); !ok) return StatusStreams::Streams::refuse(ok.error());
  return status_streams_.open();
}

grpc::Status ControlService::GetSettings(grpc::ServerContext*, const v1::GetSettingsRequest* request,
                                         v1::Settings* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (!hooks_.settings.list) return rpc::to_grpc(Error{Code::kUnsupported, "this node tells no settings"});
  *reply = to_message(hooks_.settings.list());
  return grpc::Status::OK;
}

grpc::Status ControlService::SetSettings(grpc::ServerContext*, const v1::SetSettingsRequest* request,
                                         v1::Settings* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (!hooks_.settings.change) return rpc::to_grpc(Error{Code::kUnsupported, "this node takes no settings"});
  if (auto ok = hooks_.settings.change(to_changes(*request)); !ok) return rpc::to_grpc(ok.error());
  *reply = to_message(hooks_.settings.list());
  return grpc::Status::OK;
}

grpc::Status ControlService::SetNodeLimits(grpc::ServerContext*, const v1::SetNodeLimitsRequest* request,
                                           v1::NodeLimits* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  NodeLimits limits = node_.status().limits;
  if (request->has_upload_bits_per_s()) limits.send_bits_per_s = request->upload_bits_per_s();
  if (request->has_download_bits_per_s()) limits.receive_bits_per_s = request->download_bits_per_s();
  if (auto ok = node_.set_limits(limits); !ok) return rpc::to_grpc(ok.error());
  const NodeStatus now = node_.status();
  *reply = to_message(now.limits, now.limits_why);
  return grpc::Status::OK;
}

void ControlService::run_reporting(grpc::ServerContext& context, const char* thread_name,
                                   const std::function<void(std::stop_token, const ProgressFn&)>& work,
                                   const std::function<bool(std::uint64_t, std::uint64_t)>& report) {
  ProgressSlot slot;
  std::jthread worker([&](std::stop_token stop) {
    pthread_setname_np(pthread_self(), thread_name);
    work(stop, [&](std::uint64_t done, std::uint64_t total) { slot.put(done, total); });
    slot.finish();
  });
  bool listening = true;
  while (!slot.wait(kReportPause)) {
    if (listening) {
      const auto progress = slot.take();
      if (progress) listening = report(progress->first, progress->second);
    }
    if (!listening || context.IsCancelled() || stopping()) worker.request_stop();
  }
  worker.join();
  if (listening) {
    if (const auto progress = slot.take()) report(progress->first, progress->second);
  }
}

grpc::Status ControlService::Publish(grpc::ServerContext* context, const v1::PublishRequest* request,
                                     grpc::ServerWriter<v1::PublishEvent>* writer) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  auto job = to_job(*request);
  if (!job) return rpc::to_grpc(job.error());
  std::optional<Result<PublishOutcome>> outcome;
  run_reporting(
      *context, "gt-publish",
      [&](std::stop_token stop, const ProgressFn& progress) { outcome = node_.publish(*job, progress, stop); },
      [&](std::uint64_t done, std::uint64_t total) {
        v1::PublishEvent event;
        event.mutable_hashing()->set_done_bytes(done);
        event.mutable_hashing()->set_total_bytes(total);
        return writer->Write(event);
      });
  if (!*outcome) return rpc::to_grpc(outcome->error());
  for (const std::string& warning : (*outcome)->warnings) {
    v1::PublishEvent event;
    event.set_warning(is_valid_utf8(warning) ? warning : escape_for_display(warning));
    if (!writer->Write(event)) return rpc::to_grpc(cancelled().error());
  }
  v1::PublishEvent event;
  *event.mutable_published() = to_message(**outcome);
  writer->Write(event);
  return grpc::Status::OK;
}

/// On gRPC's thread of the call: what counts also writes, so a slow reader holds up nobody else.
grpc::Status ControlService::ScanPublish(grpc::ServerContext* context, const v1::ScanPublishRequest* request,
                                         grpc::ServerWriter<v1::ScanPublishEvent>* writer) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (auto ok = check_absolute("the path to publish", request->path()); !ok) return rpc::to_grpc(ok.error());
  const auto rules = to_rules(request->rules());
  if (!rules) return rpc::to_grpc(rules.error());
  std::stop_source stop;
  const auto tell = [&](const ScanFigures& figures) {
    v1::ScanPublishEvent event;
    *event.mutable_progress() = to_message(figures);
    if (!writer->Write(event) || context->IsCancelled() || stopping()) stop.request_stop();
  };
  const auto scanned = node_.scan_publish({request->path(), *rules, request->as_before()}, tell, stop.get_token());
  if (!scanned) return rpc::to_grpc(scanned.error());
  v1::ScanPublishEvent event;
  *event.mutable_result() = to_message(*scanned);
  writer->Write(event);
  return grpc::Status::OK;
}

grpc::Status ControlService::StartPublish(grpc::ServerContext*, const v1::PublishRequest* request,
                                          v1::TransferReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto job = to_job(*request);
  if (!job) return rpc::to_grpc(job.error());
  const auto view = node_.start_publish(*job);
  if (!view) return rpc::to_grpc(view.error());
  *reply->mutable_transfer() = to_message(*view);
  return grpc::Status::OK;
}

grpc::Status ControlService::Get(grpc::ServerContext*, const v1::GetRequest* request, v1::GetReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  auto job = to_job(*request, clock_.wall());
  if (!job) return rpc::to_grpc(job.error());
  bool joined = false;
  const auto view = node_.get(*job, joined);
  if (!view) return rpc::to_grpc(view.error());
  *reply->mutable_transfer() = to_message(*view);
  reply->set_joined(joined);
  for (const std::string& glob : view->unmatched) reply->add_unmatched(glob);
  return grpc::Status::OK;
}

grpc::Status ControlService::Estimate(grpc::ServerContext* context, const v1::EstimateRequest* request,
                                      grpc::ServerWriter<v1::EstimateEvent>* writer) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto job = to_job(*request);
  if (!job) return rpc::to_grpc(job.error());
  std::optional<Result<EstimateOutcome>> outcome;
  run_reporting(
      *context, "gt-estimate",
      [&](std::stop_token stop, const ProgressFn& probing) { outcome = node_.estimate(*job, probing, stop); },
      [&](std::uint64_t done, std::uint64_t total) {
        v1::EstimateEvent event;
        event.mutable_probing()->set_done_bytes(done);
        event.mutable_probing()->set_total_bytes(total);
        return writer->Write(event);
      });
  if (!*outcome) return rpc::to_grpc(outcome->error());
  v1::EstimateEvent event;
  *event.mutable_result() = to_message(**outcome);
  writer->Write(event);
  return grpc::Status::OK;
}

grpc::Status ControlService::Seed(grpc::ServerContext*, const v1::SeedRequest* request, v1::GetReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (request->content().empty()) return rpc::to_grpc(Error{Code::kInvalid, "no content was named"});
  if (auto ok = check_absolute("the path to seed from", request->from()); !ok) return rpc::to_grpc(ok.error());
  const auto view = node_.seed(request->content(), request->from());
  if (!view) return rpc::to_grpc(view.error());
  *reply->mutable_transfer() = to_message(*view);
  return grpc::Status::OK;
}

grpc::ServerWriteReactor<v1::TransferReply>* ControlService::WatchTransfer(grpc::CallbackServerContext*,
                                                                           const v1::TransferRequest* request) {
  if (const auto ok = check_caller(request->user_id()); !ok) return TransferWatches::Streams::refuse(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return TransferWatches::Streams::refuse(id.error());
  return transfer_watches_.open(*id, request->while_seeding());
}

grpc::ServerWriteReactor<v1::TransfersEvent>* ControlService::WatchTransfers(grpc::CallbackServerContext*,
                                                                             const v1::WatchTransfersRequest* request) {
  if (auto ok = check_caller(request->user_id()); !ok) return TransferStreams::Streams::refuse(ok.error());
  return streams_.open(*request);
}

grpc::Status ControlService::ListTransfers(grpc::ServerContext*, const v1::ListTransfersRequest* request,
                                           v1::ListTransfersReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  for (const TransferView& view : node_.transfers()) *reply->add_transfers() = to_message(view);
  const NodeStatus status = node_.status();
  *reply->mutable_limits() = to_message(status.limits, status.limits_why);
  return grpc::Status::OK;
}

grpc::Status ControlService::on_transfer(const v1::TransferRequest& request, v1::TransferReply& reply,
                                         const std::function<Result<TransferView>(const TransferId&)>& act) {
  if (auto ok = check_caller(request.user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto id = TransferId::parse(request.transfer_id());
  if (!id) return rpc::to_grpc(id.error());
  const auto view = act(*id);
  if (!view) return rpc::to_grpc(view.error());
  *reply.mutable_transfer() = to_message(*view);
  return grpc::Status::OK;
}

grpc::Status ControlService::GetTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                         v1::TransferReply* reply) {
  return on_transfer(*request, *reply, [&](const TransferId& id) { return node_.transfer(id); });
}

grpc::Status ControlService::PauseTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                           v1::TransferReply* reply) {
  return on_transfer(*request, *reply, [&](const TransferId& id) { return node_.pause(id); });
}

grpc::Status ControlService::ResumeTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                            v1::TransferReply* reply) {
  return on_transfer(*request, *reply, [&](const TransferId& id) { return node_.resume(id); });
}

grpc::Status ControlService::CancelTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                            v1::TransferReply* reply) {
  return on_transfer(*request, *reply, [&](const TransferId& id) { return node_.cancel(id); });
}

grpc::Status ControlService::SetTransfer(grpc::ServerContext*, const v1::SetTransferRequest* request,
                                         v1::TransferReply* reply) {
  const auto settings = to_settings(*request, clock_.wall());
  if (!settings) return rpc::to_grpc(settings.error());
  v1::TransferRequest which;
  which.set_user_id(request->user_id());
  which.set_transfer_id(request->transfer_id());
  return on_transfer(which, *reply, [&](const TransferId& id) { return node_.set(id, *settings); });
}

grpc::Status ControlService::ChangeTransfers(grpc::ServerContext*, const v1::ChangeTransfersRequest* request,
                                             v1::ChangeTransfersReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto change = to_change(*request, clock_.wall());
  if (!change) return rpc::to_grpc(change.error());
  const auto ids = to_ids(*request);
  if (!ids) return rpc::to_grpc(ids.error());
  *reply = to_message(node_.change_all(*ids, *change));
  return grpc::Status::OK;
}

grpc::Status ControlService::RateHistory(grpc::ServerContext*, const v1::RateHistoryRequest* request,
                                         v1::RateHistoryReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return rpc::to_grpc(id.error());
  const auto history = node_.rates(*id, WallTime{request->from_ms()});
  if (!history) return rpc::to_grpc(history.error());
  *reply = to_message(*history);
  return grpc::Status::OK;
}

grpc::Status ControlService::ChooseFiles(grpc::ServerContext*, const v1::ChooseFilesRequest* request,
                                         v1::TransferReply* reply) {
  v1::TransferRequest which;
  which.set_user_id(request->user_id());
  which.set_transfer_id(request->transfer_id());
  const FileChoice choice = to_choice(*request);
  return on_transfer(which, *reply, [&](const TransferId& id) { return node_.choose_files(id, choice); });
}

grpc::Status ControlService::ListChosenFiles(grpc::ServerContext*, const v1::TransferRequest* request,
                                             v1::ListChosenFilesReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return rpc::to_grpc(id.error());
  const auto chosen = node_.chosen_files(*id);
  if (!chosen) return rpc::to_grpc(chosen.error());
  reply->mutable_entries()->Add(chosen->begin(), chosen->end());
  return grpc::Status::OK;
}

grpc::Status ControlService::RemoveFiles(grpc::ServerContext*, const v1::RemoveFilesRequest* request,
                                         v1::RemoveFilesReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return rpc::to_grpc(id.error());
  const auto removed = node_.remove_files(*id, request->look_only());
  if (!removed) return rpc::to_grpc(removed.error());
  *reply = to_message(*removed);
  return grpc::Status::OK;
}

grpc::Status ControlService::ExplainTransfer(grpc::ServerContext*, const v1::TransferRequest* request,
                                             v1::Tuning* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return rpc::to_grpc(id.error());
  const auto record = node_.tuning(*id);
  if (!record) return rpc::to_grpc(record.error());
  *reply = to_message(*record);
  return grpc::Status::OK;
}

grpc::ServerWriteReactor<v1::Tuning>* ControlService::WatchTuning(grpc::CallbackServerContext*,
                                                                  const v1::TransferRequest* request) {
  if (const auto ok = check_caller(request->user_id()); !ok) return TuningWatches::Streams::refuse(ok.error());
  const auto id = TransferId::parse(request->transfer_id());
  if (!id) return TuningWatches::Streams::refuse(id.error());
  return tuning_watches_.open(*id);
}

grpc::Status ControlService::ListTunings(grpc::ServerContext*, const v1::ListTuningsRequest* request,
                                         v1::ListTuningsReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  for (const TuningRecord& record : node_.tunings()) *reply->add_tunings() = to_message(record);
  return grpc::Status::OK;
}

grpc::Status ControlService::ListTuners(grpc::ServerContext*, const v1::ListTunersRequest* request,
                                        v1::ListTunersReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  *reply = to_message(node_.status().tuning);
  return grpc::Status::OK;
}

grpc::Status ControlService::ListHistory(grpc::ServerContext*, const v1::ListHistoryRequest* request,
                                         v1::History* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  *reply = to_message(node_.path_history());
  return grpc::Status::OK;
}

grpc::Status ControlService::ForgetHistory(grpc::ServerContext*, const v1::ForgetHistoryRequest* request,
                                           v1::History* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  std::optional<NodeId> node;
  if (!request->node_id().empty()) {
    const auto named = NodeId::parse(request->node_id());
    if (!named) return rpc::to_grpc(named.error());
    node = *named;
  }
  const auto gone = node_.forget_paths(node);
  if (!gone) return rpc::to_grpc(gone.error());
  *reply = to_message(*gone);
  return grpc::Status::OK;
}

grpc::Status ControlService::Verify(grpc::ServerContext* context, const v1::VerifyRequest* request,
                                    grpc::ServerWriter<v1::VerifyEvent>* writer) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (request->content().empty() && request->path().empty()) {
    return rpc::to_grpc(Error{Code::kInvalid, "verify needs a content or a path"});
  }
  if (!request->path().empty()) {
    if (auto ok = check_absolute("the path to verify", request->path()); !ok) return rpc::to_grpc(ok.error());
  }
  std::optional<Result<VerifyOutcome>> outcome;
  run_reporting(
      *context, "gt-verify",
      [&](std::stop_token stop, const ProgressFn& progress) {
        outcome = node_.verify(request->content(), request->path(), request->sha256(), progress, stop);
      },
      [&](std::uint64_t done, std::uint64_t total) {
        v1::VerifyEvent event;
        event.mutable_progress()->set_done_bytes(done);
        event.mutable_progress()->set_total_bytes(total);
        return writer->Write(event);
      });
  if (!*outcome) return rpc::to_grpc(outcome->error());
  v1::VerifyEvent event;
  *event.mutable_result() = to_message(**outcome);
  writer->Write(event);
  return grpc::Status::OK;
}

grpc::Status ControlService::Reenroll(grpc::ServerContext*, const v1::ReenrollRequest* request,
                                      v1::ReenrollReply* reply) {
  if (auto ok = check_caller(request->user_id()); !ok) return rpc::to_grpc(ok.error());
  if (request->enroll_token().empty()) return rpc::to_grpc(Error{Code::kInvalid, "the enrolment token is missing"});
  if (!hooks_.reenrol)
    return rpc::to_grpc(Error{Code::kUnsupported, "this node cannot be enrolled anew while it runs"});
  const auto enrolled = hooks_.reenrol(request->enroll_token());
  if (!enrolled) return rpc::to_grpc(enrolled.error());
  reply->set_node_id(enrolled->node.str());
  reply->set_credential_expires_ms(enrolled->credential_expires.ms);
  reply->set_restart_needed(enrolled->restart_needed);
  return grpc::Status::OK;
}

}  // namespace gridtorrent::client::control
