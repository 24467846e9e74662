#include "client/api/server/server_api.h"

#include <array>
#include <utility>

#include "base/rpc/access_text.h"
#include "base/rpc/diagnosis.h"
#include "base/rpc/hello.h"
#include "base/rpc/status.h"
#include "client/api/server/server_channel.h"
#include "common/hex.h"
#include "common/text.h"
#include "metainfo/metadata.h"

namespace gridtorrent::client::api {
namespace {

constexpr std::size_t kSha256Bytes = 32;

/// Where the type of an inner message is the answer.
template <class Reply, class Inner>
Result<Inner> unwrap(Result<Reply> reply, Inner* (Reply::*release)()) {
  if (!reply) return reply.error();
  Inner inner;
  if (const std::unique_ptr<Inner> owned{((*reply).*release)()}) inner = std::move(*owned);
  return inner;
}

template <class Reply>
Status without_value(const Result<Reply>& reply) {
  return reply ? Status() : Status(reply.error());
}

using MetadataMethod = std::unique_ptr<grpc::ClientReader<v1::MetadataChunk>> (v1::Contents::Stub::*)(
    grpc::ClientContext*, const v1::GetMetadataRequest&);

Error unusable(const std::string& content_id, const std::string& reason) {
  return {Code::kCorrupt, "the metadata of " + content_id + " cannot be used (" + reason +
                              "): ask the server's operator to run `gridtorrent-server check`"};
}

/// One document whole, with the SHA-256 that the server announced.
Result<std::string> download(ServerChannel& channel, MetadataMethod method, const std::string& content_id,
                             std::uint32_t version) {
  v1::GetMetadataRequest request;
  request.set_content_id(content_id);
  request.set_version(version);
  grpc::ClientContext context;
  rpc::prepare(context, channel.options().deadline * 10, channel.token());
  const auto reader = (channel.contents().*method)(&context, request);
  std::string document, sha256;
  std::uint64_t total = 0;
  v1::MetadataChunk chunk;
  while (reader->Read(&chunk)) {
    if (document.empty()) {
      total = chunk.total_bytes();
      sha256 = chunk.sha256();
    }
    if (total > metainfo::kMaxMetadataBytes || document.size() + chunk.data().size() > total) {
      context.TryCancel();
      return unusable(content_id, "the server sends more than it announced");
    }
    document += chunk.data();
  }
  if (const grpc::Status status = reader->Finish(); !status.ok()) {
    const Error error = channel.explain(rpc::from_grpc(status));
    return error.code == Code::kCorrupt ? unusable(content_id, error.message) : error;
  }
  if (document.size() != total || hex_encode(crypto::sha256(as_bytes(document))) != sha256) {
    return unusable(content_id, "it does not arrive as the server announced it");
  }
  return document;
}

FileEntry to_entry(const metainfo::Manifest& manifest, const metainfo::ManifestEntry& entry) {
  FileEntry out;
  out.path = metainfo::full_path(manifest, entry);
  out.folder = entry.kind == metainfo::EntryKind::kFolder;
  out.bytes = entry.size;
  out.mode = entry.mode;
  out.mtime_ns = entry.mtime_ns;
  if (!out.folder && entry.size > 0) out.merkle_root = hex_encode(entry.root);
  return out;
}

}  // namespace

// --- accounts

Result<v1::LoginReply> AccountsApi::login(v1::LoginRequest request) {
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  auto reply = channel_.call(channel_.accounts(), &v1::Accounts::Stub::Login, request);
  if (!reply) return reply;
  GT_TRY(rpc::check_hello(reply->hello(), channel_.now(), "the server " + channel_.options().address));
  channel_.set_token(reply->token());
  return reply;
}

Status AccountsApi::logout() {
  v1::LogoutRequest request;
  channel_.ensure_request_id(request);
  return without_value(channel_.call(channel_.accounts(), &v1::Accounts::Stub::Logout, request));
}

Result<v1::WhoAmIReply> AccountsApi::who_am_i() {
  v1::WhoAmIRequest request;
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  auto reply = channel_.call(channel_.accounts(), &v1::Accounts::Stub::WhoAmI, request);
  if (!reply) return reply;
  GT_TRY(rpc::check_hello(reply->hello(), channel_.now(), "the server " + channel_.options().address));
  return reply;
}

Result<v1::CreateTokenReply> AccountsApi::create_token(v1::CreateTokenRequest request) {
  channel_.ensure_request_id(request);
  return channel_.call(channel_.accounts(), &v1::Accounts::Stub::CreateToken, request);
}

Result<Listed<v1::TokenInfo>> AccountsApi::list_tokens(const std::string& user, std::size_t limit) {
  v1::ListTokensRequest request;
  request.set_user(user);
  return channel_.pages<v1::TokenInfo>(channel_.accounts(), &v1::Accounts::Stub::ListTokens, std::move(request), limit,
                                       &v1::ListTokensReply::mutable_tokens);
}

Status AccountsApi::revoke_token(const std::string& token_id) {
  v1::RevokeTokenRequest request;
  channel_.ensure_request_id(request);
  request.set_token_id(token_id);
  return without_value(channel_.call(channel_.accounts(), &v1::Accounts::Stub::RevokeToken, request));
}

Result<v1::User> AccountsApi::add_user(v1::AddUserRequest request) {
  channel_.ensure_request_id(request);
  return unwrap(channel_.call(channel_.accounts(), &v1::Accounts::Stub::AddUser, request),
                &v1::AddUserReply::release_user);
}

Result<Listed<v1::User>> AccountsApi::list_users(std::size_t limit) {
  return channel_.pages<v1::User>(channel_.accounts(), &v1::Accounts::Stub::ListUsers, v1::ListUsersRequest(), limit,
                                  &v1::ListUsersReply::mutable_users);
}

Status AccountsApi::disable_user(const std::string& user) {
  v1::DisableUserRequest request;
  channel_.ensure_request_id(request);
  request.set_user(user);
  return without_value(channel_.call(channel_.accounts(), &v1::Accounts::Stub::DisableUser, request));
}

Status AccountsApi::enable_user(const std::string& user) {
  v1::EnableUserRequest request;
  channel_.ensure_request_id(request);
  request.set_user(user);
  return without_value(channel_.call(channel_.accounts(), &v1::Accounts::Stub::EnableUser, request));
}

Status AccountsApi::change_password(v1::ChangePasswordRequest request) {
  channel_.ensure_request_id(request);
  return without_value(channel_.call(channel_.accounts(), &v1::Accounts::Stub::ChangePassword, request));
}

Result<v1::QuotasReply> AccountsApi::quotas(const std::string& user) {
  v1::GetQuotasRequest request;
  request.set_user(user);
  return channel_.call(channel_.accounts(), &v1::Accounts::Stub::GetQuotas, request);
}

Result<v1::QuotasReply> AccountsApi::change_quotas(v1::ChangeQuotasRequest request) {
  channel_.ensure_request_id(request);
  return channel_.call(channel_.accounts(), &v1::Accounts::Stub::ChangeQuotas, request);
}

Result<v1::ListAuditRecordsReply> AccountsApi::list_audit_records(const v1::ListAuditRecordsRequest& request) {
  return channel_.call(channel_.accounts(), &v1::Accounts::Stub::ListAuditRecords, request);
}

// --- contents

Result<v1::SearchReply> ContentsApi::search(const v1::SearchRequest& request) {
  return channel_.call(channel_.contents(), &v1::Contents::Stub::Search, request);
}

Result<v1::Content> ContentsApi::get(const std::string& reference) {
  v1::GetContentRequest request;
  request.set_reference(reference);
  return unwrap(channel_.call(channel_.contents(), &v1::Contents::Stub::GetContent, request),
                &v1::GetContentReply::release_content);
}

Result<Listed<v1::Replica>> ContentsApi::list_replicas(const std::string& content_id, std::size_t limit) {
  v1::ListReplicasRequest request;
  request.set_content_id(content_id);
  return channel_.pages<v1::Replica>(channel_.contents(), &v1::Contents::Stub::ListReplicas, std::move(request), limit,
                                     &v1::ListReplicasReply::mutable_replicas);
}

Result<v1::Content> ContentsApi::set_access(const std::string& content_id, const v1::Access& access) {
  v1::SetAccessRequest request;
  channel_.ensure_request_id(request);
  request.set_content_id(content_id);
  *request.mutable_access() = access;
  return unwrap(channel_.call(channel_.contents(), &v1::Contents::Stub::SetAccess, request),
                &v1::SetAccessReply::release_content);
}

Result<v1::ExplainAccessReply> ContentsApi::explain_access(const std::string& content_id, const std::string& user) {
  v1::ExplainAccessRequest request;
  request.set_content_id(content_id);
  request.set_user(user);
  return channel_.call(channel_.contents(), &v1::Contents::Stub::ExplainAccess, request);
}

Result<v1::Content> ContentsApi::unpublish(const std::string& content_id) {
  v1::UnpublishRequest request;
  channel_.ensure_request_id(request);
  request.set_content_id(content_id);
  return unwrap(channel_.call(channel_.contents(), &v1::Contents::Stub::Unpublish, request),
                &v1::UnpublishReply::release_content);
}

Result<std::vector<FileEntry>> ContentsApi::manifest(const std::string& content_id, std::uint32_t version) {
  GT_ASSIGN(const std::string document, download(channel_, &v1::Contents::Stub::GetMetadata, content_id, version));
  const auto metadata = metainfo::decode(document);
  // What a person gives us wrongly is kInvalid; what a server gives us wrongly is not that person's to mend.
  if (!metadata && metadata.error().code == Code::kInvalid) return unusable(content_id, metadata.error().message);
  if (!metadata) return metadata.error();
  std::vector<FileEntry> entries;
  entries.reserve(metadata->manifest.entries.size());
  for (const metainfo::ManifestEntry& entry : metadata->manifest.entries) {
    entries.push_back(to_entry(metadata->manifest, entry));
  }
  return entries;
}

Result<std::vector<FileEntry>> ContentsApi::manifest_with_sha256(const std::string& content_id, std::uint32_t version) {
  GT_ASSIGN(std::vector<FileEntry> entries, manifest(content_id, version));
  GT_ASSIGN(const std::string digests, download(channel_, &v1::Contents::Stub::GetChecksums, content_id, version));
  if (digests.size() != entries.size() * kSha256Bytes) {
    return unusable(content_id, "the checksums do not fit the manifest");
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].folder) continue;
    entries[i].sha256 = hex_encode(as_bytes(std::string_view(digests).substr(i * kSha256Bytes, kSha256Bytes)));
  }
  return entries;
}

// --- nodes

Result<v1::CreateEnrollTokenReply> NodesApi::create_enroll_token(v1::CreateEnrollTokenRequest request) {
  channel_.ensure_request_id(request);
  return channel_.call(channel_.nodes(), &v1::Nodes::Stub::CreateEnrollToken, request);
}

Result<Listed<v1::Node>> NodesApi::list(std::size_t limit) {
  return channel_.pages<v1::Node>(channel_.nodes(), &v1::Nodes::Stub::ListNodes, v1::ListNodesRequest(), limit,
                                  &v1::ListNodesReply::mutable_nodes);
}

Result<v1::Node> NodesApi::get(const std::string& node) {
  v1::GetNodeRequest request;
  request.set_node(node);
  return unwrap(channel_.call(channel_.nodes(), &v1::Nodes::Stub::GetNode, request), &v1::GetNodeReply::release_node);
}

Result<v1::ListDataCaReply> NodesApi::data_ca() {
  return channel_.call(channel_.nodes(), &v1::Nodes::Stub::ListDataCa, v1::ListDataCaRequest());
}

Result<v1::ListDataCaReply> NodesApi::rotate_data_ca(v1::RotateDataCaRequest request) {
  channel_.ensure_request_id(request);
  return channel_.call(channel_.nodes(), &v1::Nodes::Stub::RotateDataCa, request);
}

// --- tasks

Result<v1::Task> TasksApi::create(v1::CreateTaskRequest request) {
  channel_.ensure_request_id(request);
  return unwrap(channel_.call(channel_.tasks(), &v1::Tasks::Stub::CreateTask, request),
                &v1::CreateTaskReply::release_task);
}

Result<v1::CreateTasksReply> TasksApi::create_many(v1::CreateTasksRequest request) {
  channel_.ensure_request_id(request);
  return channel_.call(channel_.tasks(), &v1::Tasks::Stub::CreateTasks, request);
}

Result<Listed<v1::Task>> TasksApi::list(const std::string& node, bool include_ended, std::size_t limit) {
  v1::ListTasksRequest request;
  request.set_node(node);
  request.set_include_ended(include_ended);
  return channel_.pages<v1::Task>(channel_.tasks(), &v1::Tasks::Stub::ListTasks, std::move(request), limit,
                                  &v1::ListTasksReply::mutable_tasks);
}

Result<v1::Task> TasksApi::get(const std::string& task_id) {
  v1::GetTaskRequest request;
  request.set_task_id(task_id);
  return unwrap(channel_.call(channel_.tasks(), &v1::Tasks::Stub::GetTask, request), &v1::GetTaskReply::release_task);
}

Result<v1::Task> TasksApi::cancel(const std::string& task_id) {
  v1::CancelTaskRequest request;
  channel_.ensure_request_id(request);
  request.set_task_id(task_id);
  return unwrap(channel_.call(channel_.tasks(), &v1::Tasks::Stub::CancelTask, request),
                &v1::CancelTaskReply::release_task);
}

Status TasksApi::watch(const std::string& task_id, const TaskFn& on_task, std::stop_token stop) {
  v1::GetTaskRequest request;
  request.set_task_id(task_id);
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::milliseconds(0), channel_.token());
  const auto reader = channel_.tasks().WatchTask(&context, request);
  const rpc::StopGuard guard(std::move(stop), context);
  v1::GetTaskReply reply;
  bool wanted = true;
  while (wanted && reader->Read(&reply)) wanted = on_task(reply.task());
  if (!wanted) {
    context.TryCancel();
    // The rest is of no interest, and gRPC wants it read or cancelled before Finish.
    static_cast<void>(reader->Finish());
    return {};
  }
  const grpc::Status status = reader->Finish();
  if (status.ok()) return {};
  if (guard.stopped()) return Error{Code::kCancelled, "watching task " + task_id + " was cancelled"};
  return channel_.explain(rpc::from_grpc(status));
}

// --- all together

Result<v1::Access> parse_access(const std::string& text) {
  return rpc::parse_access(text);
}

std::string access_text(const v1::Access& access) {
  return rpc::access_text(access);
}

Result<std::unique_ptr<ServerApi>> ServerApi::open(ServerApiOptions options) {
  GT_ASSIGN(std::shared_ptr<grpc::Channel> channel, rpc::connect_tls(options.address, options.ca_file));
  return std::unique_ptr<ServerApi>(
      new ServerApi(std::make_unique<ServerChannel>(std::move(options), std::move(channel))));
}

ServerApi::ServerApi(std::unique_ptr<ServerChannel> channel)
    : channel_(std::move(channel)),
      accounts_(*channel_),
      contents_(*channel_),
      collaboration_(*channel_),
      nodes_(*channel_),
      tasks_(*channel_) {}

ServerApi::~ServerApi() = default;

void ServerApi::set_token(std::string token) {
  channel_->set_token(std::move(token));
}

const std::string& ServerApi::address() const {
  return channel_->options().address;
}

Result<WallTime> ServerApi::certificate_end() const {
  return rpc::certificate_end(channel_->options().address, channel_->options().ca_file);
}

}  // namespace gridtorrent::client::api
