#include "client/remote/grpc_link.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/logging/logging.h"
#include "base/rpc/access_text.h"
#include "base/rpc/channel.h"
#include "base/rpc/diagnosis.h"
#include "base/rpc/hello.h"
#include "base/rpc/status.h"
#include "client/remote/convert.h"
#include "client/remote/node_events.h"
#include "client/remote/node_stream.h"
#include "client/remote/pushback.h"
#include "common/hex.h"
#include "common/text.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"

namespace gridtorrent::client::remote {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kChunkBytes = 256 * 1024;
/// Long calls get this much more for each chunk: 256 KiB/s is a poor line.
constexpr milliseconds kPerChunk{1'000};
constexpr milliseconds kDiagnosisAge{10'000};
constexpr milliseconds kLookForConnection{200};
constexpr milliseconds kRenewalPause{3'600'000};
/// Until a renewed credential that could not be written down is tried again: a disk that is full stays so for a while.
constexpr milliseconds kKeepingPause{60'000};
constexpr char kServer[] = "the server";

milliseconds deadline_for(std::size_t bytes, milliseconds base) {
  return base + kPerChunk * static_cast<std::int64_t>(bytes / kChunkBytes);
}

/// One server under one CA. gRPC's stubs are thread-safe.
struct Stubs {
  Stubs(ServerAddress where, const std::shared_ptr<grpc::Channel>& via)
      : address(std::move(where)),
        channel(via),
        contents(v1::Contents::NewStub(via)),
        nodes(v1::Nodes::NewStub(via)),
        swarms(v1::Swarms::NewStub(via)),
        tasks(v1::Tasks::NewStub(via)) {}
  /// A call may be tried at once. After a failed attempt gRPC goes on to try by itself, every ten seconds at most.
  bool connected() const { return channel->GetState(false) == GRPC_CHANNEL_READY; }

  const ServerAddress address;
  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::Contents::Stub> contents;
  const std::unique_ptr<v1::Nodes::Stub> nodes;
  const std::unique_ptr<v1::Swarms::Stub> swarms;
  const std::unique_ptr<v1::Tasks::Stub> tasks;
};

/// See client/remote/grpc_link.h. `mutex_` guards credential, greeting, the last diagnosis, the pause asked for and
/// which stubs are in use (a call keeps its own alive); the stream belongs to `thread_` alone.
class GrpcLink final : public RemoteLink {
 public:
  GrpcLink(ServerLinkOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : options_(std::move(options)),
        clock_(*options_.clock),
        rng_(*options_.rng),
        stubs_(std::make_shared<const Stubs>(options_.server, channel)),
        credential_(options_.credential),
        node_name_(options_.node_name) {}
  ~GrpcLink() override { stop(); }

  using ServerLink::content;
  Result<ContentInfo> content(const std::string& reference, std::uint32_t version) override;
  Result<metainfo::VersionMetadata> metadata(const ContentId& content, std::uint32_t version) override;
  Result<PublishTicket> begin_publish(const PublishRequest& request) override;
  Result<PublishTicket> begin_update(const PublishRequest& request);
  Result<ContentInfo> finish_publish(const std::string& request_id, const PublishTicket& ticket,
                                     const metainfo::VersionMetadata& metadata) override;
  Status give_up_publish(const std::string& request_id) override;
  Status add_checksums(const ContentId& content, std::uint32_t version, const std::string& digests) override;
  Result<std::vector<IssuedCertificate>> certify(const std::string& request) override;
  Result<AnnounceReply> announce(const AnnounceRequest& request) override;
  Result<std::vector<Reachability>> update_endpoints(const std::vector<LaneEndpoint>& endpoints,
                                                     const RootNames& roots) override;
  Status ack_task(std::uint64_t sequence) override;
  Status report_task(const TaskReport& report) override;
  void start(ServerListener& listener, std::uint64_t cursor) override;
  void stop() override;
  bool is_connected() const override { return connected_; }
  milliseconds asked_pause() const override;
  Status use_ca(const std::string& ca_file) override;
  void use_credential(const NodeCredential& credential) override;
  bool credential_refused() const override { return credential_refused_; }
  milliseconds clock_offset() const override { return milliseconds(offset_ms_.load()); }

 private:
  template <class Stub, class Request, class Reply>
  Result<Reply> call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                     const Request& request);
  Status refusal() const;
  std::shared_ptr<const Stubs> stubs() const;
  std::string token() const;
  Error explain(const Error& error);
  Error explain(const grpc::ClientContext& context, const grpc::Status& status);
  Status greet(const v1::Hello& hello);
  void keep_stream(std::stop_token stop, ServerListener& listener);
  bool wait_to_retry(std::stop_token stop, const Stubs& server, bool was_connected, milliseconds pause);
  Status on_event(const v1::NodeEvent& event, ServerListener& listener);
  void tell_lost(const Error& reason, ServerListener& listener);
  void renew_if_due();
  void accept_renewal(const v1::RenewNodeReply& reply, const NodeCredential& before);
  void keep_credential();

  const ServerLinkOptions options_;
  Clock& clock_;
  Rng& rng_;
  std::atomic<bool> connected_{false}, credential_refused_{false};
  std::atomic<std::int64_t> offset_ms_{0};
  std::atomic<std::uint64_t> cursor_{0};

  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  bool try_now_ = false;
  std::shared_ptr<const Stubs> stubs_;
  NodeCredential credential_;
  std::optional<Error> refused_;  ///< by the last greeting
  struct Diagnosis {
    MonoTime when;
    Error error;
  };
  std::optional<Diagnosis> diagnosis_;
  MonoTime quiet_until_{};

  // The stream thread's own.
  MonoTime next_renewal_{};
  bool greeted_ = false;
  MonoTime greeted_at_{};
  std::optional<NodeCredential> unkept_;  ///< in use, and not written down yet
  MonoTime next_keeping_{};
  std::string node_name_;
  std::string ca_file_;              ///< of the present attempt
  std::optional<std::string> told_;  ///< the loss the listener knows of
  std::jthread thread_;
};

template <class Stub, class Request, class Reply>
Result<Reply> GrpcLink::call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
                             const Request& request) {
  GT_TRY(refusal());
  grpc::ClientContext context;
  rpc::prepare(context, options_.deadline, token());
  Reply reply;
  if (const grpc::Status status = (stub.*method)(&context, request, &reply); !status.ok()) {
    return explain(context, status);
  }
  return reply;
}

Status GrpcLink::refusal() const {
  const std::lock_guard lock(mutex_);
  if (refused_) return *refused_;
  return {};
}

std::string GrpcLink::token() const {
  const std::lock_guard lock(mutex_);
  return credential_.token;
}

/// Thousands of swarms may fail at once: one look at the server each ten seconds serves them all.
Error GrpcLink::explain(const Error& error) {
  if (error.code != Code::kUnreachable && error.code != Code::kTimeout) return error;
  {
    const std::lock_guard lock(mutex_);
    if (diagnosis_ && clock_.mono() - diagnosis_->when < kDiagnosisAge) return diagnosis_->error;
  }
  const Error unreachable{Code::kUnreachable, error.message};
  const ServerAddress server = stubs()->address;
  const Error found = rpc::diagnose(unreachable, server.address, server.ca_file, clock_.wall());
  const std::lock_guard lock(mutex_);
  diagnosis_ = Diagnosis{clock_.mono(), found};
  return found;
}

Error GrpcLink::explain(const grpc::ClientContext& context, const grpc::Status& status) {
  if (const auto pause = pushback_of(context)) {
    const std::lock_guard lock(mutex_);
    quiet_until_ = std::max(quiet_until_, clock_.mono() + *pause);
  }
  return explain(rpc::from_grpc(status));
}

milliseconds GrpcLink::asked_pause() const {
  const std::lock_guard lock(mutex_);
  const auto left = quiet_until_ - clock_.mono();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
}

std::shared_ptr<const Stubs> GrpcLink::stubs() const {
  const std::lock_guard lock(mutex_);
  return stubs_;
}

Status GrpcLink::use_ca(const std::string& ca_file) {
  const ServerAddress server{options_.server.address, ca_file};
  GT_ASSIGN(const std::shared_ptr<grpc::Channel> channel, rpc::connect_tls(server.address, server.ca_file));
  {
    const std::lock_guard lock(mutex_);
    stubs_ = std::make_shared<const Stubs>(server, channel);
    diagnosis_.reset();
    try_now_ = true;
  }
  wake_.notify_all();
  return {};
}

void GrpcLink::use_credential(const NodeCredential& credential) {
  {
    const std::lock_guard lock(mutex_);
    credential_ = credential;
    try_now_ = true;
  }
  wake_.notify_all();
}

// --- calls

Result<ContentInfo> GrpcLink::content(const std::string& reference, std::uint32_t version) {
  v1::GetContentRequest request;
  request.set_reference(reference);
  request.set_version(version);
  GT_ASSIGN(const v1::GetContentReply reply, call(*stubs()->contents, &v1::Contents::Stub::GetContent, request));
  // An older server does not know that another version was asked for.
  if (version != 0 && reply.content().version() != version) {
    return Error{Code::kUnsupported, "the server is older than this node and knows one version of " +
                                         escape_for_display(reference) + "; leave out --version"};
  }
  return to_content(reply.content());
}

Result<metainfo::VersionMetadata> GrpcLink::metadata(const ContentId& content, std::uint32_t version) {
  GT_TRY(refusal());
  v1::GetMetadataRequest request;
  request.set_content_id(content.str());
  request.set_version(version);
  grpc::ClientContext context;
  rpc::prepare(context, deadline_for(metainfo::kMaxMetadataBytes, options_.deadline), token());
  const auto server = stubs();
  const auto reader = server->contents->GetMetadata(&context, request);
  const Error cut{Code::kCorrupt, "it does not arrive as the server announced it"};
  std::string bytes, sha256;
  std::uint64_t total = 0;
  v1::MetadataChunk chunk;
  while (reader->Read(&chunk)) {
    if (bytes.empty()) {
      total = chunk.total_bytes();
      sha256 = chunk.sha256();
    }
    if (total > metainfo::kMaxMetadataBytes || bytes.size() + chunk.data().size() > total) {
      context.TryCancel();
      return cut;
    }
    bytes += chunk.data();
  }
  if (const grpc::Status status = reader->Finish(); !status.ok()) return explain(context, status);
  if (bytes.size() != total || hex_encode(crypto::sha256(as_bytes(bytes))) != sha256) return cut;
  auto metadata = metainfo::decode(bytes);
  // What a person gives us wrongly is kInvalid; what a server gives us wrongly is not that person's to mend.
  if (!metadata && metadata.error().code == Code::kInvalid) return Error{Code::kCorrupt, metadata.error().message};
  return metadata;
}

Result<PublishTicket> GrpcLink::begin_publish(const PublishRequest& request) {
  if (request.update) return begin_update(request);
  v1::BeginPublishRequest message;
  GT_ASSIGN(*message.mutable_access(), rpc::parse_access(request.access));
  message.set_request_id(request.request_id);
  message.set_name(request.name);
  message.set_description(request.description);
  message.set_license(request.license);
  for (const std::string& tag : request.tags) message.add_tags(tag);
  GT_ASSIGN(const v1::BeginPublishReply reply, call(*stubs()->contents, &v1::Contents::Stub::BeginPublish, message));
  return to_ticket(reply);
}

Result<PublishTicket> GrpcLink::begin_update(const PublishRequest& request) {
  v1::BeginUpdateRequest message;
  message.set_request_id(request.request_id);
  message.set_content(request.name);
  const Result<v1::BeginPublishReply> reply = call(*stubs()->contents, &v1::Contents::Stub::BeginUpdate, message);
  if (reply) return to_ticket(*reply);
  if (reply.error().code != Code::kUnsupported) return reply.error();
  return Error{Code::kUnsupported,
               "the server is older than this node and keeps one version of a content; publish under another name"};
}

Result<ContentInfo> GrpcLink::finish_publish(const std::string& request_id, const PublishTicket& ticket,
                                             const metainfo::VersionMetadata& metadata) {
  GT_TRY(refusal());
  const std::string document = metainfo::encode(metadata);
  grpc::ClientContext context;
  rpc::prepare(context, deadline_for(document.size(), options_.deadline), token());
  v1::FinishPublishReply reply;
  const auto server = stubs();
  const auto writer = server->contents->FinishPublish(&context, &reply);
  v1::FinishPublishChunk chunk;
  chunk.set_request_id(request_id);
  chunk.set_content_id(ticket.content.str());
  chunk.set_version(ticket.version);
  chunk.set_total_bytes(document.size());
  chunk.set_sha256(hex_encode(crypto::sha256(as_bytes(document))));
  std::size_t offset = 0;
  bool open = true;
  do {
    chunk.set_data(document.substr(offset, kChunkBytes));
    open = writer->Write(chunk);
    offset += kChunkBytes;
    chunk.Clear();
  } while (open && offset < document.size());
  if (open) writer->WritesDone();
  if (const grpc::Status status = writer->Finish(); !status.ok()) return explain(context, status);
  return to_content(reply.content());
}

Status GrpcLink::give_up_publish(const std::string& request_id) {
  v1::GiveUpPublishRequest message;
  message.set_request_id(make_request_id(clock_.wall(), rng_));
  message.set_publish_request_id(request_id);
  GT_TRY(call(*stubs()->contents, &v1::Contents::Stub::GiveUpPublish, message));
  return {};
}

Status GrpcLink::add_checksums(const ContentId& content, std::uint32_t version, const std::string& digests) {
  GT_TRY(refusal());
  grpc::ClientContext context;
  rpc::prepare(context, deadline_for(digests.size(), options_.deadline), token());
  v1::AddChecksumsReply reply;
  const auto server = stubs();
  const auto writer = server->contents->AddChecksums(&context, &reply);
  v1::AddChecksumsChunk chunk;
  chunk.set_content_id(content.str());
  chunk.set_version(version);
  std::size_t offset = 0;
  bool open = true;
  do {
    chunk.set_data(digests.substr(offset, kChunkBytes));
    open = writer->Write(chunk);
    offset += kChunkBytes;
  } while (open && offset < digests.size());
  if (open) writer->WritesDone();
  if (const grpc::Status status = writer->Finish(); !status.ok()) return explain(context, status);
  return {};
}

Result<std::vector<IssuedCertificate>> GrpcLink::certify(const std::string& request) {
  v1::CertifyRequest message;
  message.set_certificate_request(request);
  GT_ASSIGN(const v1::CertifyReply reply, call(*stubs()->nodes, &v1::Nodes::Stub::Certify, message));
  std::vector<IssuedCertificate> certificates;
  for (const v1::NodeCertificate& one : reply.certificates()) {
    GT_ASSIGN(IssuedCertificate certificate, to_certificate(one));
    certificates.push_back(std::move(certificate));
  }
  return certificates;
}

Result<AnnounceReply> GrpcLink::announce(const AnnounceRequest& request) {
  GT_ASSIGN(const v1::AnnounceReply message, call(*stubs()->swarms, &v1::Swarms::Stub::Announce, to_message(request)));
  AnnounceReply reply;
  for (const v1::Peer& peer : message.peers()) {
    GT_ASSIGN(PeerInfo one, to_peer(peer));
    reply.peers.push_back(std::move(one));
  }
  if (message.next_ms() > 0) reply.next = milliseconds(message.next_ms());
  reply.generation = message.generation();
  reply.audience = message.audience_id();
  reply.owner = message.owner();
  reply.name = message.name();
  return reply;
}

Result<std::vector<Reachability>> GrpcLink::update_endpoints(const std::vector<LaneEndpoint>& endpoints,
                                                             const RootNames& roots) {
  v1::UpdateEndpointsRequest request;
  request.mutable_roots()->mutable_shares()->Add(roots.shares.begin(), roots.shares.end());
  request.mutable_roots()->mutable_downloads()->Add(roots.downloads.begin(), roots.downloads.end());
  bool declared = !endpoints.empty();
  for (const LaneEndpoint& endpoint : endpoints) {
    fill(*request.add_endpoints(), endpoint);
    declared = declared && !endpoint.address.empty();
  }
  request.set_declared(declared);
  GT_ASSIGN(const v1::UpdateEndpointsReply reply, call(*stubs()->swarms, &v1::Swarms::Stub::UpdateEndpoints, request));
  std::vector<Reachability> reachability(endpoints.size(), Reachability::kUnknown);
  const auto answered = static_cast<std::size_t>(std::max(reply.endpoints_size(), 0));
  for (std::size_t i = 0; i < std::min(answered, endpoints.size()); ++i) {
    reachability[i] = to_reachability(reply.endpoints(static_cast<int>(i)).reachability());
  }
  return reachability;
}

Status GrpcLink::ack_task(std::uint64_t sequence) {
  v1::AckTaskRequest request;
  request.set_sequence(sequence);
  GT_TRY(call(*stubs()->tasks, &v1::Tasks::Stub::AckTask, request));
  std::uint64_t known = cursor_;
  while (known < sequence && !cursor_.compare_exchange_weak(known, sequence)) {
  }
  return {};
}

Status GrpcLink::report_task(const TaskReport& report) {
  GT_TRY(call(*stubs()->tasks, &v1::Tasks::Stub::ReportTask, to_message(report)));
  return {};
}

// --- the stream

void GrpcLink::start(ServerListener& listener, std::uint64_t cursor) {
  stop();
  cursor_ = cursor;
  thread_ = std::jthread([this, &listener](std::stop_token stop) { keep_stream(std::move(stop), listener); });
  pthread_setname_np(thread_.native_handle(), "gt-server-link");
}

void GrpcLink::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void GrpcLink::keep_stream(std::stop_token stop, ServerListener& listener) {
  told_.reset();
  for (int attempt = 0; !stop.stop_requested(); ++attempt) {
    greeted_ = false;
    const auto server = stubs();
    ca_file_ = server->address.ca_file;
    NodeStream stream(*server->tasks, {options_.deadline, options_.silence_max});
    v1::WatchNodeRequest request;
    *request.mutable_hello() = rpc::make_hello(clock_.wall());
    request.set_cursor(cursor_);
    request.set_node_name(node_name_);
    const Error ended =
        stream.run(request, token(), [&](const v1::NodeEvent& event) { return on_event(event, listener); }, stop);
    connected_ = false;
    if (stop.stop_requested()) return;
    const bool was_connected = server->connected();  // now: to explain the end may take seconds
    tell_lost(explain(ended), listener);
    credential_refused_ = ended.code == Code::kUnauthenticated;
    if (ended.code == Code::kDenied) {  // what else is wrong with a credential is kUnauthenticated
      if (options_.on_removed) options_.on_removed(ended);
      return;
    }
    if (greeted_) attempt = attempt_after(attempt, std::chrono::floor<milliseconds>(clock_.mono() - greeted_at_));
    const milliseconds pause = backoff_pause(attempt, options_.backoff_min, options_.backoff_max, rng_.next());
    if (wait_to_retry(stop, *server, was_connected, pause)) attempt = -1;
  }
}

/// Waits for `pause`, or less where a connection that was down is there again. Returns whether somebody asked to try at
/// once.
bool GrpcLink::wait_to_retry(std::stop_token stop, const Stubs& server, bool was_connected, milliseconds pause) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested() && !try_now_) {
    const bool connected = server.connected();
    const bool is_back = connected && !was_connected;
    was_connected = connected && was_connected;
    const auto left =
        start + (is_back ? std::min(pause, options_.least_pause) : pause) - std::chrono::steady_clock::now();
    if (left.count() <= 0) break;
    wake_.wait_for(lock, stop, std::min(std::chrono::ceil<milliseconds>(left), kLookForConnection),
                   [this] { return try_now_; });
  }
  return std::exchange(try_now_, false);
}

void GrpcLink::tell_lost(const Error& reason, ServerListener& listener) {
  if (told_ == reason.message) return;
  told_ = reason.message;
  listener.disconnected(reason);
}

Status GrpcLink::greet(const v1::Hello& hello) {
  const WallTime now = clock_.wall();
  const Status accepted = rpc::check_hello(hello, now, kServer);
  if (hello.time_ms() != 0) offset_ms_ = (WallTime{hello.time_ms()} - now).count();
  const std::lock_guard lock(mutex_);
  refused_ = accepted ? std::nullopt : std::optional(accepted.error());
  if (accepted) diagnosis_.reset();
  return accepted;
}

Status GrpcLink::on_event(const v1::NodeEvent& event, ServerListener& listener) {
  if (!greeted_ && event.event_case() != v1::NodeEvent::kHello) {
    return Error{Code::kUnsupported, "the server's stream does not open with a greeting: update it or this node"};
  }
  switch (event.event_case()) {
    case v1::NodeEvent::kHello:
      GT_TRY(greet(event.hello()));
      if (!greeted_) {
        greeted_ = true;
        greeted_at_ = clock_.mono();
        told_.reset();
        connected_ = true;
        credential_refused_ = false;
        if (options_.on_proven_ca) options_.on_proven_ca(ca_file_);
        listener.connected();
      }
      renew_if_due();
      return {};
    case v1::NodeEvent::kNodeName:
      node_name_ = event.node_name();
      if (options_.on_name) options_.on_name(node_name_);
      return {};
    default:
      return tell(event, listener);
  }
}

void GrpcLink::renew_if_due() {
  keep_credential();
  if (clock_.mono() < next_renewal_) return;
  NodeCredential before;
  {
    const std::lock_guard lock(mutex_);
    before = credential_;
  }
  const milliseconds life = before.expires - before.issued;
  if (life.count() <= 0 || clock_.wall() - before.issued < life * 2 / 3) return;
  next_renewal_ = clock_.mono() + kRenewalPause;
  v1::RenewNodeRequest request;
  *request.mutable_hello() = rpc::make_hello(clock_.wall());
  const auto reply = call(*stubs()->nodes, &v1::Nodes::Stub::RenewNode, request);
  if (reply) {
    accept_renewal(*reply, before);
  } else {
    logging::warning("this node's credential could not be renewed; trying again in an hour",
                     {{"reason", reply.error().message}});
  }
}

void GrpcLink::accept_renewal(const v1::RenewNodeReply& reply, const NodeCredential& before) {
  if (reply.node_token().empty()) return;
  const NodeCredential fresh{reply.node_token(), clock_.wall(), WallTime{reply.expires_ms()}};
  {
    const std::lock_guard lock(mutex_);
    if (credential_.token != before.token) return;  // somebody gave it another one, which ended both of these
    credential_ = fresh;                            // at once: the server ends the old one after a day
  }
  unkept_ = fresh;
  next_keeping_ = {};
  keep_credential();
}

void GrpcLink::keep_credential() {
  if (!unkept_ || clock_.mono() < next_keeping_) return;
  {
    const std::lock_guard lock(mutex_);
    if (credential_.token != unkept_->token) return unkept_.reset();  // somebody gave it another one meanwhile
  }
  const Status kept = options_.on_credential ? options_.on_credential(*unkept_) : Status();
  if (kept) return unkept_.reset();
  if (next_keeping_ == MonoTime{}) {
    logging::warning(
        "this node's renewed credential could not be written down; it is tried again each minute. A node that starts "
        "before that has the old one, which ends a day after the renewal",
        {{"reason", kept.error().message}});
  }
  next_keeping_ = clock_.mono() + kKeepingPause;
}

}  // namespace

Result<std::unique_ptr<RemoteLink>> make_server_link(ServerLinkOptions options) {
  GT_CHECK(options.clock != nullptr && options.rng != nullptr);
  GT_ASSIGN(const std::shared_ptr<grpc::Channel> channel,
            rpc::connect_tls(options.server.address, options.server.ca_file));
  return std::unique_ptr<RemoteLink>(std::make_unique<GrpcLink>(std::move(options), channel));
}

std::string enroll_proof_text(const std::string& enroll_token) {
  return "gridtorrent-enroll:" + enroll_token;
}

Result<Enrollment> enroll(const ServerAddress& server, const EnrollRequest& request, Clock& clock,
                          milliseconds deadline) {
  GT_ASSIGN(const std::shared_ptr<grpc::Channel> channel, rpc::connect_tls(server.address, server.ca_file));
  const auto stub = v1::Nodes::NewStub(channel);
  v1::EnrollRequest message;
  *message.mutable_hello() = rpc::make_hello(clock.wall());
  message.set_request_id(request.request_id);
  message.set_name(request.name);
  message.set_public_key(request.public_key);
  message.set_proof(request.proof);
  const auto reply = rpc::call(*stub, &v1::Nodes::Stub::Enroll, message, request.enroll_token, deadline);
  if (!reply) return rpc::diagnose(reply.error(), server.address, server.ca_file, clock.wall());
  GT_TRY(rpc::check_hello(reply->hello(), clock.wall(), kServer));
  Enrollment enrollment;
  GT_ASSIGN(enrollment.node, NodeId::parse(reply->node_id()));
  GT_ASSIGN(enrollment.owner_id, UserId::parse(reply->owner_id()));
  enrollment.node_name = reply->name();
  enrollment.owner = reply->owner();
  enrollment.credential = {reply->node_token(), clock.wall(), WallTime{reply->expires_ms()}};
  return enrollment;
}

}  // namespace gridtorrent::client::remote
