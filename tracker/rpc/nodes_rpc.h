#pragma once

#include <functional>

#include "base/rpc/door.h"
#include "base/rpc/limits.h"
#include "common/clock.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tracker/authority/data_authority.h"
#include "tracker/authority/enrollment.h"
#include "tracker/core/hub.h"
#include "tracker/core/node_service.h"

namespace gridtorrent::tracker::rpc {

/// gridtorrent.v1.Nodes over NodeService, Enrollment and DataAuthority: validates, calls, maps. Thread-safe.
class NodesRpc final : public v1::Nodes::CallbackService {
 public:
  struct Deps {
    gridtorrent::rpc::Door& door;
    NodeService& nodes;
    authority::Enrollment& enrollment;
    authority::DataAuthority& data_ca;
    const Clock& clock;
    TaskHub& task_hub;
    std::function<void()> rotated;            ///< called after a rotation, to have contents moved
    std::function<void()> credentials_ended;  ///< what is cached about them counts no more
  };
  explicit NodesRpc(Deps deps);

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* CreateEnrollToken(Context* context, const v1::CreateEnrollTokenRequest* request,
                             v1::CreateEnrollTokenReply* reply) override;
  Reactor* Enroll(Context* context, const v1::EnrollRequest* request, v1::EnrollReply* reply) override;
  Reactor* ListNodes(Context* context, const v1::ListNodesRequest* request, v1::ListNodesReply* reply) override;
  grpc::ServerWriteReactor<v1::ListNodesReply>* WatchNodes(Context* context,
                                                           const v1::ListNodesRequest* request) override;
  Reactor* GetNode(Context* context, const v1::GetNodeRequest* request, v1::GetNodeReply* reply) override;
  Reactor* RemoveNode(Context* context, const v1::RemoveNodeRequest* request, v1::RemoveNodeReply* reply) override;
  Reactor* RenameNode(Context* context, const v1::RenameNodeRequest* request, v1::GetNodeReply* reply) override;
  Reactor* RenewNode(Context* context, const v1::RenewNodeRequest* request, v1::RenewNodeReply* reply) override;
  Reactor* Certify(Context* context, const v1::CertifyRequest* request, v1::CertifyReply* reply) override;
  Reactor* ListDataCa(Context* context, const v1::ListDataCaRequest* request, v1::ListDataCaReply* reply) override;
  Reactor* RotateDataCa(Context* context, const v1::RotateDataCaRequest* request, v1::ListDataCaReply* reply) override;

 private:
  Status list(const ccm::Actor& actor, const v1::ListNodesRequest& request, v1::ListNodesReply& reply);
  Status enroll(const gridtorrent::rpc::Call& call, const v1::EnrollRequest& request, v1::EnrollReply& reply);
  Status remove(const gridtorrent::rpc::Call& call, const v1::RemoveNodeRequest& request, v1::RemoveNodeReply& reply);
  Status renew(const gridtorrent::rpc::Call& call, const v1::RenewNodeRequest& request, v1::RenewNodeReply& reply);

  Status describe_data_ca(v1::ListDataCaReply& reply);
  Status certify(const gridtorrent::rpc::Call& call, const v1::CertifyRequest& request, v1::CertifyReply& reply);

  Deps d_;
};

}  // namespace gridtorrent::tracker::rpc
