#include "client/api/server/async_server_api.h"

#include <utility>

#include "base/rpc/diagnosis.h"
#include "base/rpc/hello.h"
#include "client/api/server/server_calls.h"

namespace gridtorrent::client::api {
namespace {

using Accounts = v1::Accounts::Stub;
using Nodes = v1::Nodes::Stub;
using Tasks = v1::Tasks::Stub;

Status check_hello(const ServerChannel& channel, const v1::Hello& hello) {
  return rpc::check_hello(hello, channel.now(), "the server " + channel.options().address);
}

/// Within the callback, so that a login that was cancelled changes nothing here.
Answer<v1::LoginReply> with_token(ServerChannel& channel, Answer<v1::LoginReply> done) {
  return [&channel, done = std::move(done)](Result<v1::LoginReply> reply) {
    if (reply) channel.set_token(reply->token());
    done(std::move(reply));
  };
}

auto checked_login(ServerChannel& channel) {
  return [&channel](v1::LoginReply&& reply) -> Result<v1::LoginReply> {
    GT_TRY(check_hello(channel, reply.hello()));
    return std::move(reply);
  };
}

}  // namespace

// --- accounts

Call AsyncAccountsApi::login(v1::LoginRequest request, Answer<v1::LoginReply> done) {
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncLogin, request, with_token(channel_, std::move(done)),
           checked_login(channel_));
}

Call AsyncAccountsApi::join(v1::JoinRequest request, Answer<v1::LoginReply> done) {
  *request.mutable_login()->mutable_hello() = rpc::make_hello(channel_.now());
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncJoin, request, with_token(channel_, std::move(done)),
           checked_login(channel_));
}

Call AsyncAccountsApi::create_invite(v1::CreateInviteRequest request, Answer<v1::CreateInviteReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncCreateInvite, channel_.with_id(std::move(request)), done);
}

Call AsyncAccountsApi::logout(Ended done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncLogout, channel_.with_id<v1::LogoutRequest>(), done, kNothing);
}

Call AsyncAccountsApi::who_am_i(Answer<v1::WhoAmIReply> done) {
  v1::WhoAmIRequest request;
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncWhoAmI, request, done,
           [&channel = channel_](v1::WhoAmIReply&& reply) -> Result<v1::WhoAmIReply> {
             GT_TRY(check_hello(channel, reply.hello()));
             return std::move(reply);
           });
}

Call AsyncAccountsApi::create_token(v1::CreateTokenRequest request, Answer<v1::CreateTokenReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncCreateToken, channel_.with_id(std::move(request)), done);
}

Call AsyncAccountsApi::list_tokens(const std::string& user, std::size_t limit, Answer<Listed<v1::TokenInfo>> done) {
  v1::ListTokensRequest request;
  request.set_user(user);
  return ServerCalls(channel_, loop_)
      .list(channel_.accounts(), &Accounts::PrepareAsyncListTokens, std::move(request), limit, done,
            &v1::ListTokensReply::mutable_tokens);
}

Call AsyncAccountsApi::revoke_token(const std::string& token_id, Ended done) {
  auto request = channel_.with_id<v1::RevokeTokenRequest>();
  request.set_token_id(token_id);
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncRevokeToken, request, done, kNothing);
}

Call AsyncAccountsApi::add_user(v1::AddUserRequest request, Answer<v1::User> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncAddUser, channel_.with_id(std::move(request)), done,
           inner(&v1::AddUserReply::mutable_user));
}

Call AsyncAccountsApi::list_users(std::size_t limit, Answer<Listed<v1::User>> done) {
  return ServerCalls(channel_, loop_)
      .list(channel_.accounts(), &Accounts::PrepareAsyncListUsers, v1::ListUsersRequest(), limit, done,
            &v1::ListUsersReply::mutable_users);
}

Call AsyncAccountsApi::disable_user(const std::string& user, Ended done) {
  auto request = channel_.with_id<v1::DisableUserRequest>();
  request.set_user(user);
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncDisableUser, request, done, kNothing);
}

Call AsyncAccountsApi::enable_user(const std::string& user, Ended done) {
  auto request = channel_.with_id<v1::EnableUserRequest>();
  request.set_user(user);
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncEnableUser, request, done, kNothing);
}

Call AsyncAccountsApi::change_password(v1::ChangePasswordRequest request, Ended done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncChangePassword, channel_.with_id(std::move(request)), done,
           kNothing);
}

Call AsyncAccountsApi::quotas(const std::string& user, Answer<v1::QuotasReply> done) {
  v1::GetQuotasRequest request;
  request.set_user(user);
  return ServerCalls(channel_, loop_).one(channel_.accounts(), &Accounts::PrepareAsyncGetQuotas, request, done);
}

Call AsyncAccountsApi::change_quotas(v1::ChangeQuotasRequest request, Answer<v1::QuotasReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.accounts(), &Accounts::PrepareAsyncChangeQuotas, channel_.with_id(std::move(request)), done);
}

Call AsyncAccountsApi::list_audit_records(const v1::ListAuditRecordsRequest& request,
                                          Answer<v1::ListAuditRecordsReply> done) {
  return ServerCalls(channel_, loop_).one(channel_.accounts(), &Accounts::PrepareAsyncListAuditRecords, request, done);
}

// --- nodes

Call AsyncNodesApi::create_enroll_token(v1::CreateEnrollTokenRequest request, Answer<v1::CreateEnrollTokenReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncCreateEnrollToken, channel_.with_id(std::move(request)), done);
}

Call AsyncNodesApi::list(std::size_t limit, Answer<Listed<v1::Node>> done) {
  return ServerCalls(channel_, loop_)
      .list(channel_.nodes(), &Nodes::PrepareAsyncListNodes, v1::ListNodesRequest(), limit, done,
            &v1::ListNodesReply::mutable_nodes);
}

Call AsyncNodesApi::watch(NodesFn on_list, Ended on_end) {
  return ServerCalls(channel_, loop_)
      .watch(channel_.nodes(), &Nodes::PrepareAsyncWatchNodes, v1::ListNodesRequest(), "nodes",
             &v1::ListNodesReply::nodes, std::move(on_list), on_end);
}

Call AsyncNodesApi::get(const std::string& node, Answer<v1::Node> done) {
  v1::GetNodeRequest request;
  request.set_node(node);
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncGetNode, request, done, inner(&v1::GetNodeReply::mutable_node));
}

Call AsyncNodesApi::remove(const std::string& node, Answer<v1::RemoveNodeReply> done) {
  v1::RemoveNodeRequest request;
  request.set_node(node);
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncRemoveNode, channel_.with_id(std::move(request)), done);
}

Call AsyncNodesApi::rename(const std::string& node, const std::string& name, Answer<v1::Node> done) {
  v1::RenameNodeRequest request;
  request.set_node(node);
  request.set_name(name);
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncRenameNode, channel_.with_id(std::move(request)), done,
           inner(&v1::GetNodeReply::mutable_node));
}

Call AsyncNodesApi::data_ca(Answer<v1::ListDataCaReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncListDataCa, v1::ListDataCaRequest(), done);
}

Call AsyncNodesApi::rotate_data_ca(v1::RotateDataCaRequest request, Answer<v1::ListDataCaReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.nodes(), &Nodes::PrepareAsyncRotateDataCa, channel_.with_id(std::move(request)), done);
}

// --- tasks

Call AsyncTasksApi::create(v1::CreateTaskRequest request, Answer<v1::Task> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.tasks(), &Tasks::PrepareAsyncCreateTask, channel_.with_id(std::move(request)), done,
           inner(&v1::CreateTaskReply::mutable_task));
}

Call AsyncTasksApi::create_many(v1::CreateTasksRequest request, Answer<v1::CreateTasksReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.tasks(), &Tasks::PrepareAsyncCreateTasks, channel_.with_id(std::move(request)), done);
}

Call AsyncTasksApi::list(const std::string& node, bool include_ended, std::size_t limit,
                         Answer<Listed<v1::Task>> done) {
  v1::ListTasksRequest request;
  request.set_node(node);
  request.set_include_ended(include_ended);
  return ServerCalls(channel_, loop_)
      .list(channel_.tasks(), &Tasks::PrepareAsyncListTasks, std::move(request), limit, done,
            &v1::ListTasksReply::mutable_tasks);
}

Call AsyncTasksApi::watch_list(const std::string& node, bool include_ended, TasksFn on_list, Ended on_end) {
  v1::ListTasksRequest request;
  request.set_node(node);
  request.set_include_ended(include_ended);
  return ServerCalls(channel_, loop_)
      .watch(channel_.tasks(), &Tasks::PrepareAsyncWatchTasks, request, "tasks", &v1::ListTasksReply::tasks,
             std::move(on_list), on_end);
}

Call AsyncTasksApi::get(const std::string& task_id, Answer<v1::Task> done) {
  v1::GetTaskRequest request;
  request.set_task_id(task_id);
  return ServerCalls(channel_, loop_)
      .one(channel_.tasks(), &Tasks::PrepareAsyncGetTask, request, done, inner(&v1::GetTaskReply::mutable_task));
}

Call AsyncTasksApi::cancel(const std::string& task_id, Answer<v1::Task> done) {
  auto request = channel_.with_id<v1::CancelTaskRequest>();
  request.set_task_id(task_id);
  return ServerCalls(channel_, loop_)
      .one(channel_.tasks(), &Tasks::PrepareAsyncCancelTask, request, done, inner(&v1::CancelTaskReply::mutable_task));
}

Call AsyncTasksApi::watch(const std::string& task_id, TaskFn on_task, Ended on_end) {
  v1::GetTaskRequest request;
  request.set_task_id(task_id);
  CallTerms terms = channel_.terms(kNoDeadline);
  terms.cancelled = "watching task " + task_id + " was cancelled";
  return loop_.watch(
      std::move(terms), channel_.tasks(), &Tasks::PrepareAsyncWatchTask, request,
      [on_task = std::move(on_task)](const v1::GetTaskReply& reply) { return on_task(reply.task()); }, on_end);
}

Call AsyncServerApi::certificate_end(Answer<WallTime> done) {
  return loop_.run_here<WallTime>(
      [&options = channel_.options()] { return rpc::certificate_end(options.address, options.ca_file); }, done);
}

}  // namespace gridtorrent::client::api
