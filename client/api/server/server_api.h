#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "client/api/server/async_server_api.h"
#include "client/api/server/values.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::client::api {

/// Where the server is and who calls.
struct ServerApiOptions {
  std::string address;  ///< "host:port", "[v6]:port"
  std::string ca_file;  ///< PEM file of the CA that signs the server's certificate; also named in errors
  std::string token;    ///< personal token "gtp_…"; empty before login
  std::chrono::milliseconds deadline{15'000};  ///< of every short call; downloads of metadata get ten times as much
};

// Each method below is one RPC of proto/gridtorrent/v1: it blocks until the answer, the deadline or an error, and may
// be called from several threads. Errors are the server's own (one line that names the thing, the reason and the way
// out), or kUnreachable "no answer from HOST:PORT …" and the certificate errors of base/rpc. `hello` fields are filled
// in and checked here; a `request_id` left empty is made here, so only a caller that repeats a call across restarts
// needs to set it. Lists follow the server's pages to the end, one RPC each, or until `limit` items (0: all).

/// Login, tokens and users: service Accounts.
class AccountsApi {
 public:
  explicit AccountsApi(ServerChannel& channel) : channel_(channel) {}
  /// Needs no token; later calls of this ServerApi use the new one (see ServerApi::set_token).
  Result<v1::LoginReply> login(v1::LoginRequest request);
  /// As login(), with the code of an invitation.
  Result<v1::LoginReply> join(v1::JoinRequest request);
  Result<v1::CreateInviteReply> create_invite(v1::CreateInviteRequest request);
  Status logout();
  Result<v1::WhoAmIReply> who_am_i();
  Result<v1::CreateTokenReply> create_token(v1::CreateTokenRequest request);
  /// One's own, or for administrators another's.
  Result<Listed<v1::TokenInfo>> list_tokens(const std::string& user = "", std::size_t limit = 0);
  Status revoke_token(const std::string& token_id);
  Result<v1::User> add_user(v1::AddUserRequest request);
  Result<Listed<v1::User>> list_users(std::size_t limit = 0);
  Status disable_user(const std::string& user);
  Status enable_user(const std::string& user);
  Status change_password(v1::ChangePasswordRequest request);
  /// Of oneself where `user` is empty.
  Result<v1::QuotasReply> quotas(const std::string& user);
  Result<v1::QuotasReply> change_quotas(v1::ChangeQuotasRequest request);
  Result<v1::ListAuditRecordsReply> list_audit_records(const v1::ListAuditRecordsRequest& request);

 private:
  ServerChannel& channel_;
};

/// Search, show, access: service Contents. Publishing is a node's work and not here.
class ContentsApi {
 public:
  explicit ContentsApi(ServerChannel& channel) : channel_(channel) {}
  Result<v1::SearchReply> search(const v1::SearchRequest& request);
  /// By id, name or owner/name; of that version, 0: the newest, or what "NAME@2" names. kUnsupported: an older server,
  /// which knows one version.
  Result<v1::Content> get(const std::string& reference, std::uint32_t version = 0);
  /// Newest first.
  Result<std::vector<v1::Version>> list_versions(const std::string& content_id);
  Result<Listed<v1::Replica>> list_replicas(const std::string& content_id, std::size_t limit = 0,
                                            std::uint32_t version = 0);
  /// The same as a watch, as NodesApi::watch; `version` 0: the newest.
  Status watch_replicas(const std::string& content_id, std::uint32_t version, const ReplicasFn& on_list,
                        std::stop_token stop);
  /// kConflict where the access is not `expected` any more; an older server does not look.
  Result<v1::Content> set_access(const std::string& content_id, const v1::Access& access,
                                 const std::optional<v1::Access>& expected = {});
  Result<v1::ExplainAccessReply> explain_access(const std::string& content_id, const std::string& user);
  /// Who could find and fetch a content with this access, if the caller published it now.
  Result<v1::PreviewAccessReply> preview_access(const v1::Access& access);
  Result<v1::Content> unpublish(const std::string& content_id);
  /// Publishes again what was withdrawn, under another name where `name` is not empty.
  Result<v1::Content> restore(const std::string& content_id, const std::string& name = "");
  /// Corrects name, description, tags or license; what the request leaves out stays.
  Result<v1::Content> describe(v1::DescribeContentRequest request);
  /// Lines of a list of files from number `first` on, `limit` of them; `limit` and `page` of the request say nothing.
  /// kUnsupported: an older server.
  Result<FilePage> list_files(v1::ListFilesRequest request, std::size_t first, std::size_t limit);
  /// The files and folders of a version, checked against the metadata's SHA-256.
  Result<std::vector<FileEntry>> manifest(const std::string& content_id, std::uint32_t version);
  /// The same with each file's flat SHA-256; kNotFound while the publisher has not added them.
  Result<std::vector<FileEntry>> manifest_with_sha256(const std::string& content_id, std::uint32_t version);

 private:
  ServerChannel& channel_;
};

/// Groups, buddies and the inbox: service Collaboration. Groups and users go by name or id.
class CollaborationApi {
 public:
  explicit CollaborationApi(ServerChannel& channel) : channel_(channel) {}
  Result<v1::Group> create_group(v1::CreateGroupRequest request);
  Status delete_group(const std::string& group);
  Result<v1::Group> describe_group(v1::DescribeGroupRequest request);
  /// All pages. `all`: also those that may be asked.
  Result<std::vector<v1::Group>> list_groups(bool all);
  /// With all members that the caller may see.
  Result<v1::Group> group(const std::string& group);
  /// `user` empty: oneself. `step` as in ccm.proto.
  Result<v1::Group> change_membership(const std::string& group, const std::string& user, const std::string& step,
                                      const std::string& message = "");
  Result<v1::BuddyReply> add_buddy(const std::string& user);
  Result<v1::BuddyReply> remove_buddy(const std::string& user);
  Result<Listed<v1::BuddyReply>> buddies(std::size_t limit = 0);
  Result<v1::Inbox> inbox();
  /// The inbox now, then each time it changed, until `on_inbox` says false (success) or `stop` is requested
  /// (kCancelled).
  Status watch_inbox(const InboxFn& on_inbox, std::stop_token stop);
  /// What came until then; 0: until now.
  Status mark_inbox_read(std::int64_t until_ms);
  Result<v1::Offer> offer_content(v1::OfferContentRequest request);
  Result<v1::Offer> answer_offer(v1::AnswerOfferRequest request);
  /// All of both kinds; `cut` where the server has no pages and there are more.
  Result<v1::ListOffersReply> offers();

 private:
  ServerChannel& channel_;
};

/// The people's side of service Nodes.
class NodesApi {
 public:
  explicit NodesApi(ServerChannel& channel) : channel_(channel) {}
  Result<v1::CreateEnrollTokenReply> create_enroll_token(v1::CreateEnrollTokenRequest request);
  Result<Listed<v1::Node>> list(std::size_t limit = 0);
  /// The list now, then each time that it has changed, every two seconds at most. When a node that is online was last
  /// heard is no change. Ends by `on_list`, a stop request (kCancelled) or an error; kUnsupported: an older server.
  Status watch(const NodesFn& on_list, std::stop_token stop);
  /// By id or name.
  Result<v1::Node> get(const std::string& node);
  /// One's own; administrators: anybody's, by id or OWNER/NAME.
  Result<v1::RemoveNodeReply> remove(const std::string& node);
  Result<v1::Node> rename(const std::string& node, const std::string& name);
  /// Administrators': the data CA's generations, oldest first.
  Result<v1::ListDataCaReply> data_ca();
  Result<v1::ListDataCaReply> rotate_data_ca(v1::RotateDataCaRequest request);

 private:
  ServerChannel& channel_;
};

/// The people's side of service Tasks: any command with --node becomes one.
class TasksApi {
 public:
  explicit TasksApi(ServerChannel& channel) : channel_(channel) {}
  Result<v1::Task> create(v1::CreateTaskRequest request);
  /// One for each node, or none at all.
  Result<v1::CreateTasksReply> create_many(v1::CreateTasksRequest request);
  /// `node` empty: of all own nodes. Large results are left out: get() has them.
  Result<Listed<v1::Task>> list(const std::string& node, bool include_ended, std::size_t limit = 0);
  /// The same as a watch, as NodesApi::watch.
  Status watch_list(const std::string& node, bool include_ended, const TasksFn& on_list, std::stop_token stop);
  Result<v1::Task> get(const std::string& task_id);
  Result<v1::Task> cancel(const std::string& task_id);
  /// The state now, then each change until the task ends (success), `on_task` says false (success) or `stop` is
  /// requested (kCancelled).
  Status watch(const std::string& task_id, const TaskFn& on_task, std::stop_token stop);

 private:
  ServerChannel& channel_;
};

/// "public", "private", or targets with commas between ("group:G,user:U,buddies"), and back. kInvalid names what is
/// wrong.
Result<v1::Access> parse_access(const std::string& text);
std::string access_text(const v1::Access& access);

/// The server as people's programs (command line, GUI) see it. Thread-safe. A failed call does not break it: gRPC
/// reconnects by itself on the next.
///
/// The five parts block, and call back on the caller's thread; async() has each of their calls as one that does not.
/// Destroying the object ends all asynchronous calls without their callbacks. It waits for a callback that runs, and
/// while it is being found out why the server did not answer (up to 3 s an address); never destroy it in a callback. No
/// blocking call may be under way then.
class ServerApi {
 public:
  /// Does not connect yet. kInvalid: no such CA file, or not a certificate, or an address without a port.
  static Result<std::unique_ptr<ServerApi>> open(ServerApiOptions options);
  ~ServerApi();
  ServerApi(const ServerApi&) = delete;
  ServerApi& operator=(const ServerApi&) = delete;

  AccountsApi& accounts() { return accounts_; }
  ContentsApi& contents() { return contents_; }
  CollaborationApi& collaboration() { return collaboration_; }
  NodesApi& nodes() { return nodes_; }
  TasksApi& tasks() { return tasks_; }
  /// The asynchronous form; its thread begins with the first use. Lives as long as this object.
  AsyncServerApi& async();

  /// Used by all calls from now on.
  void set_token(std::string token);
  const std::string& address() const;
  /// When the server's certificate ends; opens a connection of its own. kUnreachable.
  Result<WallTime> certificate_end() const;

 private:
  explicit ServerApi(std::unique_ptr<ServerChannel> channel);

  std::unique_ptr<ServerChannel> channel_;
  AccountsApi accounts_;
  ContentsApi contents_;
  CollaborationApi collaboration_;
  NodesApi nodes_;
  TasksApi tasks_;
  struct Asynchronous;
  std::once_flag async_begun_;
  std::unique_ptr<Asynchronous> async_;
};

}  // namespace gridtorrent::client::api
