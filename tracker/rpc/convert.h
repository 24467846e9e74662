#pragma once

#include "base/rpc/door.h"
#include "ccm/domain/user.h"
#include "common/result.h"
#include "gridtorrent/v1/tracker.pb.h"
#include "gridtorrent/v1/types.pb.h"
#include "tracker/core/audiences.h"
#include "tracker/core/hub.h"
#include "tracker/core/node.h"
#include "tracker/core/swarms.h"
#include "tracker/core/task.h"

namespace gridtorrent::tracker::rpc {

namespace wire = gridtorrent::rpc;

inline ccm::Actor actor_of(const wire::Call& call) {
  return wire::actor_from<ccm::Actor>(call);
}
constexpr std::uint32_t bit(ccm::Scope scope) {
  return static_cast<std::uint32_t>(scope);
}

v1::Endpoint to_wire(const Endpoint& endpoint);
Result<Endpoint> from_wire(const v1::Endpoint& endpoint);
v1::NodeEndpoint to_wire(const NodeEndpoint& endpoint);
v1::Node to_wire(const NodeView& view);
v1::Peer to_wire(const Peer& peer);
v1::PeerChanged to_wire(const PeerChanged& changed);
v1::Audience to_wire(const Audience& audience);
Result<Announce> from_wire(const NodeId& node, const v1::AnnounceRequest& request);
v1::Task to_wire(const Task& task);
v1::TaskWork to_wire(const TaskWork& work);
/// kUnsupported: a kind of work that this server does not know.
Result<TaskWork> from_wire(const v1::TaskWork& work);
Result<TaskReport> from_wire(const v1::ReportTaskRequest& request);

}  // namespace gridtorrent::tracker::rpc
