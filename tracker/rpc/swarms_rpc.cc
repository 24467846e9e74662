#include "tracker/rpc/swarms_rpc.h"

#include <array>

#include "base/rpc/deferred.h"
#include "tracker/rpc/convert.h"

namespace gridtorrent::tracker::rpc {

namespace {

using wire::Call;
using wire::Need;

constexpr Need kNode = Need::node_scope(bit(ccm::Scope::kNodeRun));
constexpr wire::Method kUpdateEndpoints{
    "Swarms/UpdateEndpoints", kNode, wire::Lane::kNormal, {.rate_per_s = 0.1, .bytes = 16 * 1024}};
// A node with tens of thousands of contents announces them all when it starts, and afterwards each ever more rarely.
constexpr wire::Method kAnnounce{
    "Swarms/Announce", kNode, wire::Lane::kNormal, {.rate_per_s = 500, .burst = 25'000, .bytes = 512}};
constexpr std::array kMethods = {&kUpdateEndpoints, &kAnnounce};

// Audit records are kept for good: a node must not be able to write any number of them. Strangers without a certificate
// must not use up what is there for those with one.
constexpr wire::RateLimiter::Options kRefusalRate{.rate_per_s = 1.0 / 60, .burst = 20};

}  // namespace

SwarmsRpc::SwarmsRpc(Deps deps) : d_(deps), refusal_rate_(kRefusalRate), handshake_rate_(kRefusalRate) {}

wire::Methods SwarmsRpc::methods() {
  return kMethods;
}

// The call waits for other hosts, so it holds no thread meanwhile.
SwarmsRpc::Reactor* SwarmsRpc::UpdateEndpoints(Context* context, const v1::UpdateEndpointsRequest* request,
                                               v1::UpdateEndpointsReply* reply) {
  return wire::deferred(d_.door, context, kUpdateEndpoints, request, reply,
                        [this](const Call& call, const auto& q, auto& p, wire::EndCall end) {
                          return begin_update(call, q, p, std::move(end));
                        });
}

Status SwarmsRpc::begin_update(const Call& call, const v1::UpdateEndpointsRequest& request,
                               v1::UpdateEndpointsReply& reply, wire::EndCall end) {
  std::vector<Endpoint> wanted;
  for (const v1::Endpoint& endpoint : request.endpoints()) {
    GT_ASSIGN(Endpoint parsed, from_wire(endpoint));
    wanted.push_back(std::move(parsed));
  }
  const ccm::Actor actor = actor_of(call);
  GT_ASSIGN(std::vector<NodeEndpoint> planned,
            d_.nodes.plan_endpoints(actor, wanted, request.declared(), call.address));
  if (request.has_roots()) {
    GT_TRY(d_.nodes.set_roots(actor, {{request.roots().shares().begin(), request.roots().shares().end()},
                                      {request.roots().downloads().begin(), request.roots().downloads().end()}}));
  }
  d_.dialer.judge({actor.user, actor.node, std::move(planned), call.address},
                  [this, call, &reply, end = std::move(end)](std::vector<NodeEndpoint> judged) {
                    const bool taken =
                        d_.door.executor().post_always([this, call, &reply, end, judged = std::move(judged)] {
                          end(d_.door.guard(call, [&] { return end_update(call, judged, reply); }));
                        });
                    if (!taken) end(Error{Code::kBusy, "the server is about to end; try again in a few seconds"});
                  });
  return {};
}

Status SwarmsRpc::end_update(const Call& call, const std::vector<NodeEndpoint>& judged,
                             v1::UpdateEndpointsReply& reply) {
  GT_TRY(d_.nodes.set_endpoints(actor_of(call), judged));
  for (const NodeEndpoint& endpoint : judged) *reply.add_endpoints() = to_wire(endpoint);
  reply.set_observed_address(call.address);
  return {};
}

SwarmsRpc::Reactor* SwarmsRpc::Announce(Context* context, const v1::AnnounceRequest* request,
                                        v1::AnnounceReply* reply) {
  return d_.door.unary(context, kAnnounce, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return announce(call, q, p); });
}

Status SwarmsRpc::announce(const Call& call, const v1::AnnounceRequest& request, v1::AnnounceReply& reply) {
  const ccm::Actor actor = actor_of(call);
  GT_ASSIGN(tracker::Announce own, from_wire(actor.node, request));
  const auto bounded = [&](std::uint64_t& count, wire::RateLimiter& rate) {
    if (count > 0 && !rate.take("refusals", actor.node.str(), d_.clock.mono())) count = 0;
  };
  bounded(own.refused_lanes, refusal_rate_);
  bounded(own.refused_handshakes, handshake_rate_);
  GT_ASSIGN(const AnnounceResult result, d_.nodes.announce(actor, own));
  for (const Peer& peer : result.peers) *reply.add_peers() = to_wire(peer);
  reply.set_generation(result.generation);
  reply.set_audience_id(result.audience);
  reply.set_owner(result.owner);
  reply.set_name(result.name);
  reply.set_next_ms(static_cast<std::uint32_t>(result.next.count()));
  return {};
}

}  // namespace gridtorrent::tracker::rpc
