#pragma once

#include "base/rpc/door.h"
#include "ccm/domain/buddy_service.h"
#include "ccm/domain/group_service.h"
#include "ccm/domain/handover_service.h"
#include "ccm/domain/inbox_service.h"
#include "ccm/rpc/inbox_hub.h"
#include "common/clock.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"

namespace gridtorrent::ccm::rpc {

/// gridtorrent.v1.Collaboration over the services of groups, buddies and inboxes: validates, calls, maps. Thread-safe.
class CollaborationRpc final : public v1::Collaboration::CallbackService {
 public:
  struct Deps {
    gridtorrent::rpc::Door& door;
    GroupService& groups;
    BuddyService& buddies;
    InboxService& inbox;
    HandoverService& handovers;
    InboxHub& inboxes;
    const Clock& clock;
  };
  explicit CollaborationRpc(Deps deps);

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* CreateGroup(Context* context, const v1::CreateGroupRequest* request, v1::GroupReply* reply) override;
  Reactor* DeleteGroup(Context* context, const v1::DeleteGroupRequest* request, v1::DeleteGroupReply* reply) override;
  Reactor* DescribeGroup(Context* context, const v1::DescribeGroupRequest* request, v1::GroupReply* reply) override;
  Reactor* ListGroups(Context* context, const v1::ListGroupsRequest* request, v1::ListGroupsReply* reply) override;
  Reactor* GetGroup(Context* context, const v1::GetGroupRequest* request, v1::GroupReply* reply) override;
  Reactor* ChangeMembership(Context* context, const v1::ChangeMembershipRequest* request,
                            v1::GroupReply* reply) override;
  Reactor* AddBuddy(Context* context, const v1::BuddyRequest* request, v1::BuddyReply* reply) override;
  Reactor* RemoveBuddy(Context* context, const v1::BuddyRequest* request, v1::BuddyReply* reply) override;
  Reactor* ListBuddies(Context* context, const v1::ListBuddiesRequest* request, v1::ListBuddiesReply* reply) override;
  Reactor* GetInbox(Context* context, const v1::GetInboxRequest* request, v1::Inbox* reply) override;
  grpc::ServerWriteReactor<v1::Inbox>* WatchInbox(Context* context, const v1::GetInboxRequest* request) override;
  Reactor* MarkInboxRead(Context* context, const v1::MarkInboxReadRequest* request,
                         v1::MarkInboxReadReply* reply) override;
  Reactor* OfferContent(Context* context, const v1::OfferContentRequest* request, v1::OfferReply* reply) override;
  Reactor* AnswerOffer(Context* context, const v1::AnswerOfferRequest* request, v1::OfferReply* reply) override;
  Reactor* ListOffers(Context* context, const v1::ListOffersRequest* request, v1::ListOffersReply* reply) override;

 private:
  Status change_membership(const gridtorrent::rpc::Call& call, const v1::ChangeMembershipRequest& request,
                           v1::GroupReply& reply);

  Deps d_;
};

}  // namespace gridtorrent::ccm::rpc
