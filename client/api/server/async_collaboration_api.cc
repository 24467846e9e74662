#include <utility>

#include "base/rpc/hello.h"
#include "client/api/server/async_server_api.h"
#include "client/api/server/server_calls.h"

namespace gridtorrent::client::api {
namespace {

using Stub = v1::Collaboration::Stub;

v1::BuddyRequest buddy(ServerChannel& channel, const std::string& user) {
  auto request = channel.with_id<v1::BuddyRequest>();
  request.set_user(user);
  return request;
}

}  // namespace

Call AsyncCollaborationApi::create_group(v1::CreateGroupRequest request, Answer<v1::Group> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncCreateGroup, channel_.with_id(std::move(request)), done,
           inner(&v1::GroupReply::mutable_group));
}

Call AsyncCollaborationApi::delete_group(const std::string& group, Ended done) {
  auto request = channel_.with_id<v1::DeleteGroupRequest>();
  request.set_group(group);
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncDeleteGroup, request, done, kNothing);
}

Call AsyncCollaborationApi::describe_group(v1::DescribeGroupRequest request, Answer<v1::Group> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncDescribeGroup, channel_.with_id(std::move(request)), done,
           inner(&v1::GroupReply::mutable_group));
}

Call AsyncCollaborationApi::list_groups(bool all, Answer<std::vector<v1::Group>> done) {
  v1::ListGroupsRequest request;
  request.set_all(all);
  return ServerCalls(channel_, loop_)
      .gather(
          channel_.collaboration(), &Stub::PrepareAsyncListGroups, std::move(request), done,
          [](std::vector<v1::Group>& groups, v1::ListGroupsReply& page, v1::ListGroupsRequest& next) -> Result<bool> {
            if (page.groups().empty()) return false;
            for (v1::Group& group : *page.mutable_groups()) groups.push_back(std::move(group));
            next.set_after(groups.back().name());
            return true;
          });
}

Call AsyncCollaborationApi::group(const std::string& group, Answer<v1::Group> done) {
  v1::GetGroupRequest request;
  request.set_group(group);
  return ServerCalls(channel_, loop_)
      .gather(channel_.collaboration(), &Stub::PrepareAsyncGetGroup, std::move(request), done,
              [](v1::Group& whole, v1::GroupReply& page, v1::GetGroupRequest& next) -> Result<bool> {
                if (next.page().empty()) {
                  whole = std::move(*page.mutable_group());
                } else {
                  for (v1::Membership& member : *page.mutable_group()->mutable_members())
                    *whole.add_members() = std::move(member);
                }
                if (page.next_page().empty() || page.next_page() == next.page()) return false;
                next.set_page(page.next_page());
                return true;
              });
}

Call AsyncCollaborationApi::change_membership(const std::string& group, const std::string& user,
                                              const std::string& step, const std::string& message,
                                              Answer<v1::Group> done) {
  auto request = channel_.with_id<v1::ChangeMembershipRequest>();
  request.set_group(group);
  request.set_user(user);
  request.set_step(step);
  request.set_message(message);
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncChangeMembership, request, done,
           inner(&v1::GroupReply::mutable_group));
}

Call AsyncCollaborationApi::add_buddy(const std::string& user, Answer<v1::BuddyReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncAddBuddy, buddy(channel_, user), done);
}

Call AsyncCollaborationApi::remove_buddy(const std::string& user, Answer<v1::BuddyReply> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncRemoveBuddy, buddy(channel_, user), done);
}

Call AsyncCollaborationApi::buddies(std::size_t limit, Answer<Listed<v1::BuddyReply>> done) {
  return ServerCalls(channel_, loop_)
      .list(channel_.collaboration(), &Stub::PrepareAsyncListBuddies, v1::ListBuddiesRequest(), limit, done,
            &v1::ListBuddiesReply::mutable_buddies);
}

Call AsyncCollaborationApi::inbox(Answer<v1::Inbox> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncGetInbox, v1::GetInboxRequest(), done);
}

Call AsyncCollaborationApi::watch_inbox(InboxFn on_inbox, Ended on_end) {
  v1::GetInboxRequest request;
  *request.mutable_hello() = rpc::make_hello(channel_.now());
  CallTerms terms = channel_.terms(kNoDeadline);
  terms.cancelled = "watching the inbox was cancelled";
  return loop_.watch(std::move(terms), channel_.collaboration(), &Stub::PrepareAsyncWatchInbox, request,
                     std::move(on_inbox), on_end);
}

Call AsyncCollaborationApi::mark_inbox_read(std::int64_t until_ms, Ended done) {
  v1::MarkInboxReadRequest request;
  request.set_until_ms(until_ms);
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncMarkInboxRead, request, done, kNothing);
}

Call AsyncCollaborationApi::offer_content(v1::OfferContentRequest request, Answer<v1::Offer> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncOfferContent, channel_.with_id(std::move(request)), done,
           inner(&v1::OfferReply::mutable_offer));
}

Call AsyncCollaborationApi::answer_offer(v1::AnswerOfferRequest request, Answer<v1::Offer> done) {
  return ServerCalls(channel_, loop_)
      .one(channel_.collaboration(), &Stub::PrepareAsyncAnswerOffer, channel_.with_id(std::move(request)), done,
           inner(&v1::OfferReply::mutable_offer));
}

Call AsyncCollaborationApi::offers(Answer<v1::ListOffersReply> done) {
  return ServerCalls(channel_, loop_)
      .gather(channel_.collaboration(), &Stub::PrepareAsyncListOffers, v1::ListOffersRequest(), done,
              [](v1::ListOffersReply& all, v1::ListOffersReply& page, v1::ListOffersRequest& next) -> Result<bool> {
                for (v1::Offer& one : *page.mutable_to_me()) *all.add_to_me() = std::move(one);
                for (v1::Offer& one : *page.mutable_by_me()) *all.add_by_me() = std::move(one);
                all.set_cut(page.cut());
                if (page.next_page().empty() || page.next_page() == next.page()) return false;
                next.set_page(page.next_page());
                return true;
              });
}

}  // namespace gridtorrent::client::api
