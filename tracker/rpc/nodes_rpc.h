#pragma once

#include "base/rpc/door.h"
#include "common/clock.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tracker/authority/enrollment.h"
#include "tracker/core/node_service.h"

namespace gridtorrent::tracker::rpc {

/// gridtorrent.v1.Nodes over NodeService and Enrollment: validates, calls, maps. Thread-safe.
class NodesRpc final : public v1::Nodes::CallbackService {
 public:
  NodesRpc(gridtorrent::rpc::Door& door, NodeService& nodes, authority::Enrollment& enrollment, const Clock& clock)
      : door_(door), nodes_(nodes), enrollment_(enrollment), clock_(clock) {}

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* CreateEnrollToken(Context* context, const v1::CreateEnrollTokenRequest* request,
                             v1::CreateEnrollTokenReply* reply) override;
  Reactor* Enroll(Context* context, const v1::EnrollRequest* request, v1::EnrollReply* reply) override;
  Reactor* ListNodes(Context* context, const v1::ListNodesRequest* request, v1::ListNodesReply* reply) override;
  Reactor* GetNode(Context* context, const v1::GetNodeRequest* request, v1::GetNodeReply* reply) override;
  Reactor* RenewNode(Context* context, const v1::RenewNodeRequest* request, v1::RenewNodeReply* reply) override;

 private:
  Status enroll(const gridtorrent::rpc::Call& call, const v1::EnrollRequest& request, v1::EnrollReply& reply);
  Status renew(const gridtorrent::rpc::Call& call, const v1::RenewNodeRequest& request, v1::RenewNodeReply& reply);

  gridtorrent::rpc::Door& door_;
  NodeService& nodes_;
  authority::Enrollment& enrollment_;
  const Clock& clock_;
};

}  // namespace gridtorrent::tracker::rpc
