#pragma once

#include "base/rpc/deferred.h"
#include "base/rpc/door.h"
#include "base/rpc/limits.h"
#include "common/clock.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tracker/core/node_service.h"
#include "tracker/rpc/dialer.h"

namespace gridtorrent::tracker::rpc {

/// gridtorrent.v1.Swarms over NodeService and the Dialer: validates, calls, maps. Thread-safe.
class SwarmsRpc final : public v1::Swarms::CallbackService {
 public:
  struct Deps {
    gridtorrent::rpc::Door& door;
    NodeService& nodes;
    Dialer& dialer;
    const Clock& clock;
  };
  explicit SwarmsRpc(Deps deps);

  /// As they are declared, each with what a caller may do with it.
  static gridtorrent::rpc::Methods methods();

  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  Reactor* UpdateEndpoints(Context* context, const v1::UpdateEndpointsRequest* request,
                           v1::UpdateEndpointsReply* reply) override;
  Reactor* Announce(Context* context, const v1::AnnounceRequest* request, v1::AnnounceReply* reply) override;

 private:
  Status begin_update(const gridtorrent::rpc::Call& call, const v1::UpdateEndpointsRequest& request,
                      v1::UpdateEndpointsReply& reply, gridtorrent::rpc::EndCall end);
  Status end_update(const gridtorrent::rpc::Call& call, const std::vector<NodeEndpoint>& judged,
                    v1::UpdateEndpointsReply& reply);
  Status announce(const gridtorrent::rpc::Call& call, const v1::AnnounceRequest& request, v1::AnnounceReply& reply);

  Deps d_;
  gridtorrent::rpc::RateLimiter refusal_rate_, handshake_rate_;
};

}  // namespace gridtorrent::tracker::rpc
