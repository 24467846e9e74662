#include "ccm/rpc/collaboration_rpc.h"

#include <array>

#include "base/rpc/hello.h"
#include "base/rpc/page.h"
#include "ccm/rpc/convert.h"
#include "ccm/rpc/inbox_watch.h"

namespace gridtorrent::ccm::rpc {

namespace {

using wire::Call;
using wire::Need;

// A class is invited at once; a script that invites and withdraws all day is slowed down.
constexpr wire::Allowance kChange{.rate_per_s = 0.5, .burst = 500, .bytes = 4096};
constexpr wire::Allowance kGroups{.rate_per_s = 0.5, .burst = 500, .quota = "groups", .bytes = 4096};
constexpr wire::Allowance kRequests{.rate_per_s = 0.5, .burst = 500, .quota = "open-requests", .bytes = 4096};
constexpr wire::Allowance kBuddies{.rate_per_s = 0.5, .burst = 500, .quota = "buddies"};
constexpr wire::Allowance kRead = wire::reads(5, 100);
constexpr Need kNeed = Need::scope(bit(Scope::kGroup));
constexpr wire::Method kCreateGroup{"Collaboration/CreateGroup", kNeed, wire::Lane::kNormal, kGroups};
constexpr wire::Method kDeleteGroup{"Collaboration/DeleteGroup", kNeed, wire::Lane::kNormal, kChange};
constexpr wire::Method kDescribeGroup{"Collaboration/DescribeGroup", kNeed, wire::Lane::kNormal, kChange};
constexpr wire::Method kListGroups{"Collaboration/ListGroups", kNeed, wire::Lane::kReads, kRead};
constexpr wire::Method kGetGroup{"Collaboration/GetGroup", kNeed, wire::Lane::kReads, kRead};
constexpr wire::Method kChangeMembership{"Collaboration/ChangeMembership", kNeed, wire::Lane::kNormal, kRequests};
constexpr wire::Method kAddBuddy{"Collaboration/AddBuddy", kNeed, wire::Lane::kNormal, kBuddies};
constexpr wire::Method kRemoveBuddy{"Collaboration/RemoveBuddy", kNeed, wire::Lane::kNormal, kChange};
constexpr wire::Method kListBuddies{"Collaboration/ListBuddies", kNeed, wire::Lane::kReads, kRead};
constexpr wire::Method kGetInbox{"Collaboration/GetInbox", kNeed, wire::Lane::kReads, kRead};
constexpr wire::Method kWatchInbox{"Collaboration/WatchInbox", kNeed, wire::Lane::kNormal, kRead};
constexpr wire::Method kMarkInboxRead{"Collaboration/MarkInboxRead", kNeed, wire::Lane::kNormal, kChange};
// What is offered and taken is content: a token for groups alone is not enough, nor is a node's for publishing.
constexpr Need kNeedBoth = Need::scope(bit(Scope::kGroup) | bit(Scope::kContentPublish));
constexpr wire::Method kOfferContent{"Collaboration/OfferContent", kNeedBoth, wire::Lane::kNormal, kRequests};
constexpr wire::Method kAnswerOffer{"Collaboration/AnswerOffer", kNeedBoth, wire::Lane::kNormal, kChange};
constexpr wire::Method kListOffers{"Collaboration/ListOffers", kNeed, wire::Lane::kReads, kRead};

constexpr std::array kMethods = {&kCreateGroup,      &kDeleteGroup,   &kDescribeGroup, &kListGroups,  &kGetGroup,
                                 &kChangeMembership, &kAddBuddy,      &kRemoveBuddy,   &kListBuddies, &kGetInbox,
                                 &kWatchInbox,       &kMarkInboxRead, &kOfferContent,  &kAnswerOffer, &kListOffers};

}  // namespace

// Here, as it takes seconds to compile the handlers of all methods.
CollaborationRpc::CollaborationRpc(Deps deps) : d_(deps) {}

wire::Methods CollaborationRpc::methods() {
  return kMethods;
}

CollaborationRpc::Reactor* CollaborationRpc::CreateGroup(Context* context, const v1::CreateGroupRequest* request,
                                                         v1::GroupReply* reply) {
  return d_.door.unary(context, kCreateGroup, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         const NewGroup wanted{q.request_id(), q.name(), q.description(), q.hidden()};
                         GT_ASSIGN(const GroupView made, d_.groups.create(actor_of(call), wanted));
                         *p.mutable_group() = to_wire(made);
                         return {};
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::DeleteGroup(Context* context, const v1::DeleteGroupRequest* request,
                                                         v1::DeleteGroupReply* reply) {
  return d_.door.unary(context, kDeleteGroup, request, reply, [this](const Call& call, const auto& q, auto&) -> Status {
    return d_.groups.remove(actor_of(call), q.request_id(), q.group());
  });
}

CollaborationRpc::Reactor* CollaborationRpc::DescribeGroup(Context* context, const v1::DescribeGroupRequest* request,
                                                           v1::GroupReply* reply) {
  return d_.door.unary(context, kDescribeGroup, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         std::optional<std::string> description;
                         if (q.has_description()) description = q.description();
                         std::optional<bool> hidden;
                         if (q.has_hidden()) hidden = q.hidden();
                         GT_ASSIGN(const GroupView view,
                                   d_.groups.describe(actor_of(call), q.request_id(), q.group(), description, hidden));
                         *p.mutable_group() = to_wire(view);
                         return {};
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::ListGroups(Context* context, const v1::ListGroupsRequest* request,
                                                        v1::ListGroupsReply* reply) {
  return d_.door.unary(
      context, kListGroups, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        GT_ASSIGN(const auto page, d_.groups.list(actor_of(call), q.all(), q.after(), wire::page_request(q)));
        wire::answer_page(page, p,
                          [&p](const GroupView& view) -> const auto& { return *p.add_groups() = to_wire(view); });
        return {};
      });
}

CollaborationRpc::Reactor* CollaborationRpc::GetGroup(Context* context, const v1::GetGroupRequest* request,
                                                      v1::GroupReply* reply) {
  return d_.door.unary(context, kGetGroup, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const GroupView view, d_.groups.get(actor_of(call), q.group(), wire::page_request(q)));
    *p.mutable_group() = to_wire(view);
    p.set_next_page(view.next_page);
    return {};
  });
}

CollaborationRpc::Reactor* CollaborationRpc::ChangeMembership(Context* context,
                                                              const v1::ChangeMembershipRequest* request,
                                                              v1::GroupReply* reply) {
  return d_.door.unary(context, kChangeMembership, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return change_membership(call, q, p); });
}

Status CollaborationRpc::change_membership(const Call& call, const v1::ChangeMembershipRequest& request,
                                           v1::GroupReply& reply) {
  MembershipChange change;
  change.request_id = request.request_id();
  change.group = request.group();
  change.user = request.user();
  GT_ASSIGN(change.step, parse_step(request.step()));
  change.message = request.message();
  GT_ASSIGN(const GroupView view, d_.groups.change(actor_of(call), change));
  *reply.mutable_group() = to_wire(view);
  return {};
}

CollaborationRpc::Reactor* CollaborationRpc::AddBuddy(Context* context, const v1::BuddyRequest* request,
                                                      v1::BuddyReply* reply) {
  return d_.door.unary(context, kAddBuddy, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const User buddy, d_.buddies.add(actor_of(call), q.request_id(), q.user()));
    p.set_user_id(buddy.id.str());
    p.set_user(buddy.name);
    return {};
  });
}

CollaborationRpc::Reactor* CollaborationRpc::RemoveBuddy(Context* context, const v1::BuddyRequest* request,
                                                         v1::BuddyReply* reply) {
  return d_.door.unary(context, kRemoveBuddy, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const User buddy, d_.buddies.remove(actor_of(call), q.request_id(), q.user()));
                         p.set_user_id(buddy.id.str());
                         p.set_user(buddy.name);
                         return {};
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::ListBuddies(Context* context, const v1::ListBuddiesRequest* request,
                                                         v1::ListBuddiesReply* reply) {
  return d_.door.unary(context, kListBuddies, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const auto page, d_.buddies.list(actor_of(call), wire::page_request(q)));
                         wire::answer_page(page, p, [&p](const User& buddy) -> const auto& {
                           v1::BuddyReply& one = *p.add_buddies();
                           one.set_user_id(buddy.id.str());
                           one.set_user(buddy.name);
                           return one;
                         });
                         return {};
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::GetInbox(Context* context, const v1::GetInboxRequest* request,
                                                      v1::Inbox* reply) {
  return d_.door.unary(context, kGetInbox, request, reply, [this](const Call& call, const auto&, auto& p) -> Status {
    GT_ASSIGN(const Inbox inbox, d_.inbox.read(actor_of(call)));
    p = to_wire(inbox, d_.clock.wall());
    return {};
  });
}

grpc::ServerWriteReactor<v1::Inbox>* CollaborationRpc::WatchInbox(Context* context,
                                                                  const v1::GetInboxRequest* request) {
  return d_.door.events<v1::Inbox>(
      context, kWatchInbox,
      [this, request = *request](const Call& call, const std::shared_ptr<InboxWatch::Stream>& stream) -> Status {
        GT_TRY(wire::check_hello(request.hello(), d_.clock.wall(), "the client", "the server's"));
        return InboxWatch::open({d_.inboxes, d_.inbox, d_.clock, d_.door.executor()}, actor_of(call), stream);
      });
}

CollaborationRpc::Reactor* CollaborationRpc::MarkInboxRead(Context* context, const v1::MarkInboxReadRequest* request,
                                                           v1::MarkInboxReadReply* reply) {
  return d_.door.unary(context, kMarkInboxRead, request, reply,
                       [this](const Call& call, const auto& q, auto&) -> Status {
                         const WallTime until = q.until_ms() == 0 ? d_.clock.wall() : WallTime{q.until_ms()};
                         return d_.inbox.mark_read(actor_of(call), until);
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::OfferContent(Context* context, const v1::OfferContentRequest* request,
                                                          v1::OfferReply* reply) {
  return d_.door.unary(context, kOfferContent, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         const NewOffer wanted{q.request_id(), q.content(), q.to(), q.message()};
                         GT_ASSIGN(const Offer offer, d_.handovers.offer(actor_of(call), wanted));
                         *p.mutable_offer() = to_wire(offer);
                         return {};
                       });
}

CollaborationRpc::Reactor* CollaborationRpc::AnswerOffer(Context* context, const v1::AnswerOfferRequest* request,
                                                         v1::OfferReply* reply) {
  return d_.door.unary(
      context, kAnswerOffer, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        const Actor actor = actor_of(call);
        Result<Offer> answered = Error{Code::kInvalid, "an offer is answered by accept, decline or withdraw"};
        if (q.answer() == "accept") answered = d_.handovers.accept(actor, q.request_id(), q.content(), q.name());
        if (q.answer() == "decline") answered = d_.handovers.decline(actor, q.request_id(), q.content());
        if (q.answer() == "withdraw") answered = d_.handovers.withdraw(actor, q.request_id(), q.content());
        if (!answered) return answered.error();
        *p.mutable_offer() = to_wire(*answered);
        return {};
      });
}

CollaborationRpc::Reactor* CollaborationRpc::ListOffers(Context* context, const v1::ListOffersRequest* request,
                                                        v1::ListOffersReply* reply) {
  return d_.door.unary(context, kListOffers, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_ASSIGN(const Offers offers, d_.handovers.list(actor_of(call), wire::page_request(q)));
                         for (const Offer& one : offers.to_me) *p.add_to_me() = to_wire(one);
                         for (const Offer& one : offers.by_me) *p.add_by_me() = to_wire(one);
                         p.set_next_page(offers.next_page);
                         p.set_cut(!offers.next_page.empty());
                         return {};
                       });
}

}  // namespace gridtorrent::ccm::rpc
