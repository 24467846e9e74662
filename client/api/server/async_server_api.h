#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/api/call/call.h"
#include "client/api/server/values.h"
#include "common/clock.h"

namespace gridtorrent::client::api {

class CallLoop;
class ServerChannel;

// Every call of the five parts of ServerApi for programs that must not wait: same requests, answers, errors and
// deadlines. Each returns at once with a handle (see Call), which must be kept: destroying it cancels the call.
// Thread-safe.
//
// Callbacks come on the thread `api-calls` of the ServerApi, one at a time; what they do holds up all others of the
// same object, so they hand the answer over and return. They may begin and cancel calls, also their own. A stream's
// next event is read after the callback of the one before has returned. Why a server gives no answer is found out on
// that thread too, by one connection that lasts up to 3 s an address, and manifests are checked and decoded on it:
// answers behind these come as much later.

/// The calls of AccountsApi.
class AsyncAccountsApi {
 public:
  AsyncAccountsApi(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}
  Call login(v1::LoginRequest request, Answer<v1::LoginReply> done);
  Call join(v1::JoinRequest request, Answer<v1::LoginReply> done);
  Call create_invite(v1::CreateInviteRequest request, Answer<v1::CreateInviteReply> done);
  Call logout(Ended done);
  Call who_am_i(Answer<v1::WhoAmIReply> done);
  Call create_token(v1::CreateTokenRequest request, Answer<v1::CreateTokenReply> done);
  Call list_tokens(const std::string& user, std::size_t limit, Answer<Listed<v1::TokenInfo>> done);
  Call revoke_token(const std::string& token_id, Ended done);
  Call add_user(v1::AddUserRequest request, Answer<v1::User> done);
  Call list_users(std::size_t limit, Answer<Listed<v1::User>> done);
  Call disable_user(const std::string& user, Ended done);
  Call enable_user(const std::string& user, Ended done);
  Call change_password(v1::ChangePasswordRequest request, Ended done);
  Call quotas(const std::string& user, Answer<v1::QuotasReply> done);
  Call change_quotas(v1::ChangeQuotasRequest request, Answer<v1::QuotasReply> done);
  Call list_audit_records(const v1::ListAuditRecordsRequest& request, Answer<v1::ListAuditRecordsReply> done);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
};

/// The calls of ContentsApi.
class AsyncContentsApi {
 public:
  AsyncContentsApi(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}
  Call search(const v1::SearchRequest& request, Answer<v1::SearchReply> done);
  Call get(const std::string& reference, Answer<v1::Content> done) {
    return get_version(reference, 0, std::move(done));
  }
  Call get_version(const std::string& reference, std::uint32_t version, Answer<v1::Content> done);
  Call list_versions(const std::string& content_id, Answer<std::vector<v1::Version>> done);
  Call list_replicas(const std::string& content_id, std::size_t limit, Answer<Listed<v1::Replica>> done) {
    return list_replicas_of(content_id, 0, limit, std::move(done));
  }
  Call list_replicas_of(const std::string& content_id, std::uint32_t version, std::size_t limit,
                        Answer<Listed<v1::Replica>> done);
  Call watch_replicas(const std::string& content_id, std::uint32_t version, ReplicasFn on_list, Ended on_end);
  Call set_access(const std::string& content_id, const v1::Access& access, const std::optional<v1::Access>& expected,
                  Answer<v1::Content> done);
  Call explain_access(const std::string& content_id, const std::string& user, Answer<v1::ExplainAccessReply> done);
  Call preview_access(const v1::Access& access, Answer<v1::PreviewAccessReply> done);
  Call unpublish(const std::string& content_id, Answer<v1::Content> done);
  Call restore(const std::string& content_id, const std::string& name, Answer<v1::Content> done);
  Call describe(v1::DescribeContentRequest request, Answer<v1::Content> done);
  Call list_files(v1::ListFilesRequest request, std::size_t first, std::size_t limit, Answer<FilePage> done);
  Call manifest(const std::string& content_id, std::uint32_t version, Answer<std::vector<FileEntry>> done);
  Call manifest_with_sha256(const std::string& content_id, std::uint32_t version, Answer<std::vector<FileEntry>> done);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
};

/// The calls of CollaborationApi.
class AsyncCollaborationApi {
 public:
  AsyncCollaborationApi(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}
  Call create_group(v1::CreateGroupRequest request, Answer<v1::Group> done);
  Call delete_group(const std::string& group, Ended done);
  Call describe_group(v1::DescribeGroupRequest request, Answer<v1::Group> done);
  Call list_groups(bool all, Answer<std::vector<v1::Group>> done);
  Call group(const std::string& group, Answer<v1::Group> done);
  Call change_membership(const std::string& group, const std::string& user, const std::string& step,
                         const std::string& message, Answer<v1::Group> done);
  Call add_buddy(const std::string& user, Answer<v1::BuddyReply> done);
  Call remove_buddy(const std::string& user, Answer<v1::BuddyReply> done);
  Call buddies(std::size_t limit, Answer<Listed<v1::BuddyReply>> done);
  Call inbox(Answer<v1::Inbox> done);
  Call watch_inbox(InboxFn on_inbox, Ended on_end);
  Call mark_inbox_read(std::int64_t until_ms, Ended done);
  Call offer_content(v1::OfferContentRequest request, Answer<v1::Offer> done);
  Call answer_offer(v1::AnswerOfferRequest request, Answer<v1::Offer> done);
  Call offers(Answer<v1::ListOffersReply> done);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
};

/// The calls of NodesApi.
class AsyncNodesApi {
 public:
  AsyncNodesApi(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}
  Call create_enroll_token(v1::CreateEnrollTokenRequest request, Answer<v1::CreateEnrollTokenReply> done);
  Call list(std::size_t limit, Answer<Listed<v1::Node>> done);
  Call watch(NodesFn on_list, Ended on_end);
  Call get(const std::string& node, Answer<v1::Node> done);
  Call remove(const std::string& node, Answer<v1::RemoveNodeReply> done);
  Call rename(const std::string& node, const std::string& name, Answer<v1::Node> done);
  Call data_ca(Answer<v1::ListDataCaReply> done);
  Call rotate_data_ca(v1::RotateDataCaRequest request, Answer<v1::ListDataCaReply> done);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
};

/// The calls of TasksApi.
class AsyncTasksApi {
 public:
  AsyncTasksApi(ServerChannel& channel, CallLoop& loop) : channel_(channel), loop_(loop) {}
  Call create(v1::CreateTaskRequest request, Answer<v1::Task> done);
  Call create_many(v1::CreateTasksRequest request, Answer<v1::CreateTasksReply> done);
  Call list(const std::string& node, bool include_ended, std::size_t limit, Answer<Listed<v1::Task>> done);
  Call watch_list(const std::string& node, bool include_ended, TasksFn on_list, Ended on_end);
  Call get(const std::string& task_id, Answer<v1::Task> done);
  Call cancel(const std::string& task_id, Answer<v1::Task> done);
  Call watch(const std::string& task_id, TaskFn on_task, Ended on_end);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
};

/// The five together; by ServerApi::async(), which says how long it lives.
class AsyncServerApi {
 public:
  AsyncServerApi(ServerChannel& channel, CallLoop& loop)
      : channel_(channel),
        loop_(loop),
        accounts_(channel, loop),
        contents_(channel, loop),
        collaboration_(channel, loop),
        nodes_(channel, loop),
        tasks_(channel, loop) {}

  AsyncAccountsApi& accounts() { return accounts_; }
  AsyncContentsApi& contents() { return contents_; }
  AsyncCollaborationApi& collaboration() { return collaboration_; }
  AsyncNodesApi& nodes() { return nodes_; }
  AsyncTasksApi& tasks() { return tasks_; }
  /// By a connection of its own, on the thread of callbacks: others come up to 3 s an address later.
  Call certificate_end(Answer<WallTime> done);

 private:
  ServerChannel& channel_;
  CallLoop& loop_;
  AsyncAccountsApi accounts_;
  AsyncContentsApi contents_;
  AsyncCollaborationApi collaboration_;
  AsyncNodesApi nodes_;
  AsyncTasksApi tasks_;
};

}  // namespace gridtorrent::client::api
