#include "client/api/server/server_api.h"

#include <cassert>
#include <utility>

#include "base/rpc/access_text.h"
#include "base/rpc/channel.h"
#include "client/api/call/call_loop.h"
#include "client/api/call/waiting.h"
#include "client/api/server/server_channel.h"

namespace gridtorrent::client::api {
namespace {

/// The asynchronous call `method`, waited for.
template <class T, class Api, class... Parameters, class... Arguments>
Result<T> wait(ServerChannel& channel, std::stop_token stop, Call (Api::*method)(Parameters...),
               Arguments&&... arguments) {
  CallLoop loop;
  Api calls(channel, loop);
  return loop.wait<T>(
      [&](Answer<T> done) { return (calls.*method)(std::forward<Arguments>(arguments)..., std::move(done)); },
      std::move(stop));
}

}  // namespace

// --- accounts

Result<v1::LoginReply> AccountsApi::login(v1::LoginRequest request) {
  return wait<v1::LoginReply>(channel_, {}, &AsyncAccountsApi::login, std::move(request));
}

Result<v1::LoginReply> AccountsApi::join(v1::JoinRequest request) {
  return wait<v1::LoginReply>(channel_, {}, &AsyncAccountsApi::join, std::move(request));
}

Result<v1::CreateInviteReply> AccountsApi::create_invite(v1::CreateInviteRequest request) {
  return wait<v1::CreateInviteReply>(channel_, {}, &AsyncAccountsApi::create_invite, std::move(request));
}

Status AccountsApi::logout() {
  return wait<void>(channel_, {}, &AsyncAccountsApi::logout);
}

Result<v1::WhoAmIReply> AccountsApi::who_am_i() {
  return wait<v1::WhoAmIReply>(channel_, {}, &AsyncAccountsApi::who_am_i);
}

Result<v1::CreateTokenReply> AccountsApi::create_token(v1::CreateTokenRequest request) {
  return wait<v1::CreateTokenReply>(channel_, {}, &AsyncAccountsApi::create_token, std::move(request));
}

Result<Listed<v1::TokenInfo>> AccountsApi::list_tokens(const std::string& user, std::size_t limit) {
  return wait<Listed<v1::TokenInfo>>(channel_, {}, &AsyncAccountsApi::list_tokens, user, limit);
}

Status AccountsApi::revoke_token(const std::string& token_id) {
  return wait<void>(channel_, {}, &AsyncAccountsApi::revoke_token, token_id);
}

Result<v1::User> AccountsApi::add_user(v1::AddUserRequest request) {
  return wait<v1::User>(channel_, {}, &AsyncAccountsApi::add_user, std::move(request));
}

Result<Listed<v1::User>> AccountsApi::list_users(std::size_t limit) {
  return wait<Listed<v1::User>>(channel_, {}, &AsyncAccountsApi::list_users, limit);
}

Status AccountsApi::disable_user(const std::string& user) {
  return wait<void>(channel_, {}, &AsyncAccountsApi::disable_user, user);
}

Status AccountsApi::enable_user(const std::string& user) {
  return wait<void>(channel_, {}, &AsyncAccountsApi::enable_user, user);
}

Status AccountsApi::change_password(v1::ChangePasswordRequest request) {
  return wait<void>(channel_, {}, &AsyncAccountsApi::change_password, std::move(request));
}

Result<v1::QuotasReply> AccountsApi::quotas(const std::string& user) {
  return wait<v1::QuotasReply>(channel_, {}, &AsyncAccountsApi::quotas, user);
}

Result<v1::QuotasReply> AccountsApi::change_quotas(v1::ChangeQuotasRequest request) {
  return wait<v1::QuotasReply>(channel_, {}, &AsyncAccountsApi::change_quotas, std::move(request));
}

Result<v1::ListAuditRecordsReply> AccountsApi::list_audit_records(const v1::ListAuditRecordsRequest& request) {
  return wait<v1::ListAuditRecordsReply>(channel_, {}, &AsyncAccountsApi::list_audit_records, request);
}

// --- contents

Result<v1::SearchReply> ContentsApi::search(const v1::SearchRequest& request) {
  return wait<v1::SearchReply>(channel_, {}, &AsyncContentsApi::search, request);
}

Result<v1::Content> ContentsApi::get(const std::string& reference, std::uint32_t version) {
  return wait<v1::Content>(channel_, {}, &AsyncContentsApi::get_version, reference, version);
}

Result<std::vector<v1::Version>> ContentsApi::list_versions(const std::string& content_id) {
  return wait<std::vector<v1::Version>>(channel_, {}, &AsyncContentsApi::list_versions, content_id);
}

Result<Listed<v1::Replica>> ContentsApi::list_replicas(const std::string& content_id, std::size_t limit,
                                                       std::uint32_t version) {
  return wait<Listed<v1::Replica>>(channel_, {}, &AsyncContentsApi::list_replicas_of, content_id, version, limit);
}

Status ContentsApi::watch_replicas(const std::string& content_id, std::uint32_t version, const ReplicasFn& on_list,
                                   std::stop_token stop) {
  return wait<void>(channel_, std::move(stop), &AsyncContentsApi::watch_replicas, content_id, version, on_list);
}

Result<v1::Content> ContentsApi::set_access(const std::string& content_id, const v1::Access& access,
                                            const std::optional<v1::Access>& expected) {
  return wait<v1::Content>(channel_, {}, &AsyncContentsApi::set_access, content_id, access, expected);
}

Result<v1::ExplainAccessReply> ContentsApi::explain_access(const std::string& content_id, const std::string& user) {
  return wait<v1::ExplainAccessReply>(channel_, {}, &AsyncContentsApi::explain_access, content_id, user);
}

Result<v1::PreviewAccessReply> ContentsApi::preview_access(const v1::Access& access) {
  return wait<v1::PreviewAccessReply>(channel_, {}, &AsyncContentsApi::preview_access, access);
}

Result<v1::Content> ContentsApi::unpublish(const std::string& content_id) {
  return wait<v1::Content>(channel_, {}, &AsyncContentsApi::unpublish, content_id);
}

Result<v1::Content> ContentsApi::restore(const std::string& content_id, const std::string& name) {
  return wait<v1::Content>(channel_, {}, &AsyncContentsApi::restore, content_id, name);
}

Result<v1::Content> ContentsApi::describe(v1::DescribeContentRequest request) {
  return wait<v1::Content>(channel_, {}, &AsyncContentsApi::describe, std::move(request));
}

Result<FilePage> ContentsApi::list_files(v1::ListFilesRequest request, std::size_t first, std::size_t limit) {
  return wait<FilePage>(channel_, {}, &AsyncContentsApi::list_files, std::move(request), first, limit);
}

Result<std::vector<FileEntry>> ContentsApi::manifest(const std::string& content_id, std::uint32_t version) {
  return wait<std::vector<FileEntry>>(channel_, {}, &AsyncContentsApi::manifest, content_id, version);
}

Result<std::vector<FileEntry>> ContentsApi::manifest_with_sha256(const std::string& content_id, std::uint32_t version) {
  return wait<std::vector<FileEntry>>(channel_, {}, &AsyncContentsApi::manifest_with_sha256, content_id, version);
}

// --- collaboration

Result<v1::Group> CollaborationApi::create_group(v1::CreateGroupRequest request) {
  return wait<v1::Group>(channel_, {}, &AsyncCollaborationApi::create_group, std::move(request));
}

Status CollaborationApi::delete_group(const std::string& group) {
  return wait<void>(channel_, {}, &AsyncCollaborationApi::delete_group, group);
}

Result<v1::Group> CollaborationApi::describe_group(v1::DescribeGroupRequest request) {
  return wait<v1::Group>(channel_, {}, &AsyncCollaborationApi::describe_group, std::move(request));
}

Result<std::vector<v1::Group>> CollaborationApi::list_groups(bool all) {
  return wait<std::vector<v1::Group>>(channel_, {}, &AsyncCollaborationApi::list_groups, all);
}

Result<v1::Group> CollaborationApi::group(const std::string& group) {
  return wait<v1::Group>(channel_, {}, &AsyncCollaborationApi::group, group);
}

Result<v1::Group> CollaborationApi::change_membership(const std::string& group, const std::string& user,
                                                      const std::string& step, const std::string& message) {
  return wait<v1::Group>(channel_, {}, &AsyncCollaborationApi::change_membership, group, user, step, message);
}

Result<v1::BuddyReply> CollaborationApi::add_buddy(const std::string& user) {
  return wait<v1::BuddyReply>(channel_, {}, &AsyncCollaborationApi::add_buddy, user);
}

Result<v1::BuddyReply> CollaborationApi::remove_buddy(const std::string& user) {
  return wait<v1::BuddyReply>(channel_, {}, &AsyncCollaborationApi::remove_buddy, user);
}

Result<Listed<v1::BuddyReply>> CollaborationApi::buddies(std::size_t limit) {
  return wait<Listed<v1::BuddyReply>>(channel_, {}, &AsyncCollaborationApi::buddies, limit);
}

Result<v1::Inbox> CollaborationApi::inbox() {
  return wait<v1::Inbox>(channel_, {}, &AsyncCollaborationApi::inbox);
}

Status CollaborationApi::watch_inbox(const InboxFn& on_inbox, std::stop_token stop) {
  return wait<void>(channel_, std::move(stop), &AsyncCollaborationApi::watch_inbox, on_inbox);
}

Status CollaborationApi::mark_inbox_read(std::int64_t until_ms) {
  return wait<void>(channel_, {}, &AsyncCollaborationApi::mark_inbox_read, until_ms);
}

Result<v1::Offer> CollaborationApi::offer_content(v1::OfferContentRequest request) {
  return wait<v1::Offer>(channel_, {}, &AsyncCollaborationApi::offer_content, std::move(request));
}

Result<v1::Offer> CollaborationApi::answer_offer(v1::AnswerOfferRequest request) {
  return wait<v1::Offer>(channel_, {}, &AsyncCollaborationApi::answer_offer, std::move(request));
}

Result<v1::ListOffersReply> CollaborationApi::offers() {
  return wait<v1::ListOffersReply>(channel_, {}, &AsyncCollaborationApi::offers);
}

// --- nodes

Result<v1::CreateEnrollTokenReply> NodesApi::create_enroll_token(v1::CreateEnrollTokenRequest request) {
  return wait<v1::CreateEnrollTokenReply>(channel_, {}, &AsyncNodesApi::create_enroll_token, std::move(request));
}

Result<Listed<v1::Node>> NodesApi::list(std::size_t limit) {
  return wait<Listed<v1::Node>>(channel_, {}, &AsyncNodesApi::list, limit);
}

Status NodesApi::watch(const NodesFn& on_list, std::stop_token stop) {
  return wait<void>(channel_, std::move(stop), &AsyncNodesApi::watch, on_list);
}

Result<v1::Node> NodesApi::get(const std::string& node) {
  return wait<v1::Node>(channel_, {}, &AsyncNodesApi::get, node);
}

Result<v1::RemoveNodeReply> NodesApi::remove(const std::string& node) {
  return wait<v1::RemoveNodeReply>(channel_, {}, &AsyncNodesApi::remove, node);
}

Result<v1::Node> NodesApi::rename(const std::string& node, const std::string& name) {
  return wait<v1::Node>(channel_, {}, &AsyncNodesApi::rename, node, name);
}

Result<v1::ListDataCaReply> NodesApi::data_ca() {
  return wait<v1::ListDataCaReply>(channel_, {}, &AsyncNodesApi::data_ca);
}

Result<v1::ListDataCaReply> NodesApi::rotate_data_ca(v1::RotateDataCaRequest request) {
  return wait<v1::ListDataCaReply>(channel_, {}, &AsyncNodesApi::rotate_data_ca, std::move(request));
}

// --- tasks

Result<v1::Task> TasksApi::create(v1::CreateTaskRequest request) {
  return wait<v1::Task>(channel_, {}, &AsyncTasksApi::create, std::move(request));
}

Result<v1::CreateTasksReply> TasksApi::create_many(v1::CreateTasksRequest request) {
  return wait<v1::CreateTasksReply>(channel_, {}, &AsyncTasksApi::create_many, std::move(request));
}

Result<Listed<v1::Task>> TasksApi::list(const std::string& node, bool include_ended, std::size_t limit) {
  return wait<Listed<v1::Task>>(channel_, {}, &AsyncTasksApi::list, node, include_ended, limit);
}

Status TasksApi::watch_list(const std::string& node, bool include_ended, const TasksFn& on_list, std::stop_token stop) {
  return wait<void>(channel_, std::move(stop), &AsyncTasksApi::watch_list, node, include_ended, on_list);
}

Result<v1::Task> TasksApi::get(const std::string& task_id) {
  return wait<v1::Task>(channel_, {}, &AsyncTasksApi::get, task_id);
}

Result<v1::Task> TasksApi::cancel(const std::string& task_id) {
  return wait<v1::Task>(channel_, {}, &AsyncTasksApi::cancel, task_id);
}

Status TasksApi::watch(const std::string& task_id, const TaskFn& on_task, std::stop_token stop) {
  return wait<void>(channel_, std::move(stop), &AsyncTasksApi::watch, task_id, on_task);
}

Result<v1::Access> parse_access(const std::string& text) {
  return rpc::parse_access(text);
}

std::string access_text(const v1::Access& access) {
  return rpc::access_text(access);
}

Result<std::unique_ptr<ServerApi>> ServerApi::open(ServerApiOptions options) {
  assert(may_wait());
  GT_ASSIGN(std::shared_ptr<grpc::Channel> channel, rpc::connect_tls(options.address, options.ca_file));
  return std::unique_ptr<ServerApi>(
      new ServerApi(std::make_unique<ServerChannel>(std::move(options), std::move(channel))));
}

struct ServerApi::Asynchronous {
  explicit Asynchronous(ServerChannel& channel) : calls(channel, thread.loop()) {}

  CallThread thread;
  AsyncServerApi calls;
};

ServerApi::ServerApi(std::unique_ptr<ServerChannel> channel)
    : channel_(std::move(channel)),
      accounts_(*channel_),
      contents_(*channel_),
      collaboration_(*channel_),
      nodes_(*channel_),
      tasks_(*channel_) {}

ServerApi::~ServerApi() = default;

AsyncServerApi& ServerApi::async() {
  std::call_once(async_begun_, [&] { async_ = std::make_unique<Asynchronous>(*channel_); });
  return async_->calls;
}

void ServerApi::set_token(std::string token) {
  channel_->set_token(std::move(token));
}

const std::string& ServerApi::address() const {
  return channel_->options().address;
}

Result<WallTime> ServerApi::certificate_end() const {
  return wait<WallTime>(*channel_, {}, &AsyncServerApi::certificate_end);
}

}  // namespace gridtorrent::client::api
