#include <utility>

#include "base/rpc/hello.h"
#include "base/rpc/status.h"
#include "client/api/server/server_api.h"
#include "client/api/server/server_channel.h"

namespace gridtorrent::client::api {

namespace {

Result<v1::Group> group_of(Result<v1::GroupReply> reply) {
  if (!reply) return reply.error();
  return std::move(*reply->mutable_group());
}

}  // namespace

Result<v1::Group> CollaborationApi::create_group(v1::CreateGroupRequest request) {
  channel_.ensure_request_id(request);
  return group_of(channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::CreateGroup, request));
}

Status CollaborationApi::delete_group(const std::string& group) {
  v1::DeleteGroupRequest request;
  channel_.ensure_request_id(request);
  request.set_group(group);
  GT_TRY(channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::DeleteGroup, request));
  return {};
}

Result<v1::Group> CollaborationApi::describe_group(v1::DescribeGroupRequest request) {
  channel_.ensure_request_id(request);
  return group_of(channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::DescribeGroup, request));
}

Result<std::vector<v1::Group>> CollaborationApi::list_groups(bool all) {
  std::vector<v1::Group> groups;
  v1::ListGroupsRequest request;
  request.set_all(all);
  while (true) {
    GT_ASSIGN(const v1::ListGroupsReply page,
              channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::ListGroups, request));
    if (page.groups().empty()) return groups;
    groups.insert(groups.end(), page.groups().begin(), page.groups().end());
    request.set_after(groups.back().name());
  }
}

Result<v1::Group> CollaborationApi::group(const std::string& group) {
  v1::GetGroupRequest request;
  request.set_group(group);
  v1::Group whole;
  for (;;) {
    GT_ASSIGN(v1::GroupReply reply,
              channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::GetGroup, request));
    if (request.page().empty()) {
      whole = std::move(*reply.mutable_group());
    } else {
      for (v1::Membership& member : *reply.mutable_group()->mutable_members()) *whole.add_members() = std::move(member);
    }
    if (reply.next_page().empty() || reply.next_page() == request.page()) return whole;
    request.set_page(reply.next_page());
  }
}

Result<v1::Group> CollaborationApi::change_membership(const std::string& group, const std::string& user,
                                                      const std::string& step, const std::string& message) {
  v1::ChangeMembershipRequest request;
  channel_.ensure_request_id(request);
  request.set_group(group);
  request.set_user(user);
  request.set_step(step);
  request.set_message(message);
  return group_of(channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::ChangeMembership, request));
}

Result<v1::BuddyReply> CollaborationApi::add_buddy(const std::string& user) {
  v1::BuddyRequest request;
  channel_.ensure_request_id(request);
  request.set_user(user);
  return channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::AddBuddy, request);
}

Result<v1::BuddyReply> CollaborationApi::remove_buddy(const std::string& user) {
  v1::BuddyRequest request;
  channel_.ensure_request_id(request);
  request.set_user(user);
  return channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::RemoveBuddy, request);
}

Result<Listed<v1::BuddyReply>> CollaborationApi::buddies(std::size_t limit) {
  return channel_.pages<v1::BuddyReply>(channel_.collaboration(), &v1::Collaboration::Stub::ListBuddies,
                                        v1::ListBuddiesRequest(), limit, &v1::ListBuddiesReply::mutable_buddies);
}

Result<v1::Inbox> CollaborationApi::inbox() {
  return channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::GetInbox, v1::GetInboxRequest());
}

Status CollaborationApi::watch_inbox(const InboxFn& on_inbox, std::stop_token stop) {
  v1::GetInboxRequest request;
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::milliseconds(0), channel_.token());
  const auto reader = channel_.collaboration().WatchInbox(&context, request);
  const rpc::StopGuard guard(std::move(stop), context);
  v1::Inbox inbox;
  bool wanted = true;
  while (wanted && reader->Read(&inbox)) wanted = on_inbox(inbox);
  if (!wanted) {
    context.TryCancel();
    // The rest is of no interest, and gRPC wants it read or cancelled before Finish.
    static_cast<void>(reader->Finish());
    return {};
  }
  const grpc::Status status = reader->Finish();
  if (status.ok()) return {};
  if (guard.stopped()) return Error{Code::kCancelled, "watching the inbox was cancelled"};
  return channel_.explain(rpc::from_grpc(status));
}

Status CollaborationApi::mark_inbox_read(std::int64_t until_ms) {
  v1::MarkInboxReadRequest request;
  request.set_until_ms(until_ms);
  GT_TRY(channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::MarkInboxRead, request));
  return {};
}

Result<v1::Offer> CollaborationApi::offer_content(v1::OfferContentRequest request) {
  channel_.ensure_request_id(request);
  GT_ASSIGN(v1::OfferReply reply,
            channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::OfferContent, request));
  return std::move(*reply.mutable_offer());
}

Result<v1::Offer> CollaborationApi::answer_offer(v1::AnswerOfferRequest request) {
  channel_.ensure_request_id(request);
  GT_ASSIGN(v1::OfferReply reply,
            channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::AnswerOffer, request));
  return std::move(*reply.mutable_offer());
}

Result<v1::ListOffersReply> CollaborationApi::offers() {
  v1::ListOffersRequest request;
  v1::ListOffersReply all;
  for (;;) {
    GT_ASSIGN(v1::ListOffersReply page,
              channel_.call(channel_.collaboration(), &v1::Collaboration::Stub::ListOffers, request));
    for (v1::Offer& one : *page.mutable_to_me()) *all.add_to_me() = std::move(one);
    for (v1::Offer& one : *page.mutable_by_me()) *all.add_by_me() = std::move(one);
    if (page.next_page().empty() || page.next_page() == request.page()) {
      all.set_cut(page.cut());
      return all;
    }
    request.set_page(page.next_page());
  }
}

}  // namespace gridtorrent::client::api
