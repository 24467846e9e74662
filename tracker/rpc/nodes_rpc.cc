#include "tracker/rpc/nodes_rpc.h"

#include <array>

#include "base/rpc/hello.h"
#include "base/rpc/list_watch.h"
#include "base/rpc/page.h"
#include "tracker/rpc/convert.h"

namespace gridtorrent::tracker::rpc {

namespace {

using wire::Call;
using wire::Need;

constexpr wire::Method kCreateEnrollToken{"Nodes/CreateEnrollToken",
                                          Need::scope(bit(ccm::Scope::kAccount)),
                                          wire::Lane::kNormal,
                                          {.rate_per_s = 0.2, .burst = 100, .quota = "enroll-tokens"}};
// The enrolment token in the header is checked by Enrollment: it is no identity, and good for this alone.
// Counted by address: all nodes of a cluster may come through one. What a token gives is bounded by its uses.
constexpr wire::Method kEnroll{
    "Nodes/Enroll", Need::nobody(), wire::Lane::kNormal, {.rate_per_s = 10, .burst = 10'000, .quota = "nodes"}};
constexpr wire::Method kListNodes{"Nodes/ListNodes", Need::scope(bit(ccm::Scope::kContentRead)), wire::Lane::kReads,
                                  wire::reads()};
constexpr wire::Method kWatchNodes{"Nodes/WatchNodes", Need::scope(bit(ccm::Scope::kContentRead)), wire::Lane::kNormal,
                                   wire::reads(5, 100)};
constexpr wire::Method kGetNode{"Nodes/GetNode", Need::scope(bit(ccm::Scope::kContentRead)), wire::Lane::kNormal,
                                wire::reads()};
constexpr wire::Method kRemoveNode{
    "Nodes/RemoveNode", Need::scope(bit(ccm::Scope::kAccount)), wire::Lane::kNormal, {.rate_per_s = 1, .burst = 1000}};
constexpr wire::Method kRenameNode{
    "Nodes/RenameNode", Need::scope(bit(ccm::Scope::kAccount)), wire::Lane::kNormal, {.rate_per_s = 1, .burst = 1000}};
constexpr wire::Method kRenewNode{
    "Nodes/RenewNode", Need::node_scope(bit(ccm::Scope::kNodeRun)), wire::Lane::kNormal, {.rate_per_s = 0.1}};
// A node asks twice a week; one that starts again and again a little more often.
constexpr wire::Method kCertify{"Nodes/Certify",
                                Need::node_scope(bit(ccm::Scope::kNodeRun)),
                                wire::Lane::kNormal,
                                {.rate_per_s = 1.0 / 60, .burst = 20}};
constexpr wire::Method kListDataCa{"Nodes/ListDataCa", Need::scope(bit(ccm::Scope::kAdmin)), wire::Lane::kReads,
                                   wire::reads()};
constexpr wire::Method kRotateDataCa{"Nodes/RotateDataCa",
                                     Need::scope(bit(ccm::Scope::kAdmin)),
                                     wire::Lane::kNormal,
                                     {.rate_per_s = 1.0 / 60, .burst = 20, .bytes = 16 * 1024}};
constexpr std::array kMethods = {&kCreateEnrollToken, &kEnroll,     &kListNodes,   &kWatchNodes,
                                 &kGetNode,           &kRemoveNode, &kRenameNode,  &kRenewNode,
                                 &kCertify,           &kListDataCa, &kRotateDataCa};

using NodesWatch = wire::ListWatch<v1::ListNodesReply>;

/// One that is online gives signs of life all the time.
void without_signs(v1::ListNodesReply& reply) {
  for (v1::Node& node : *reply.mutable_nodes())
    if (node.online()) node.clear_last_seen_ms();
}

}  // namespace

// Here, as it takes seconds to compile the handlers of all methods.
NodesRpc::NodesRpc(Deps deps) : d_(deps) {}

wire::Methods NodesRpc::methods() {
  return kMethods;
}

NodesRpc::Reactor* NodesRpc::CreateEnrollToken(Context* context, const v1::CreateEnrollTokenRequest* request,
                                               v1::CreateEnrollTokenReply* reply) {
  return d_.door.unary(context, kCreateEnrollToken, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         authority::Enrollment::TokenWish wish;
                         wish.request_id = q.request_id();
                         wish.node_name = q.node_name();
                         wish.uses = q.uses();
                         wish.ttl = std::chrono::milliseconds(q.ttl_ms());
                         wish.ephemeral = q.ephemeral();
                         GT_ASSIGN(const auto issued, d_.enrollment.create_token(actor_of(call), wish));
                         p.set_token(issued.text);
                         p.set_expires_ms(issued.expires.ms);
                         return {};
                       });
}

NodesRpc::Reactor* NodesRpc::Enroll(Context* context, const v1::EnrollRequest* request, v1::EnrollReply* reply) {
  return d_.door.unary(context, kEnroll, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return enroll(call, q, p); });
}

Status NodesRpc::enroll(const Call& call, const v1::EnrollRequest& request, v1::EnrollReply& reply) {
  if (call.token.empty()) {
    return Error{Code::kUnauthenticated,
                 "enrolling needs an enrolment token: make one with 'gridtorrent node enroll-token'"};
  }
  GT_TRY(d_.enrollment.check_token(call.token));
  GT_TRY(wire::check_hello(request.hello(), d_.clock.wall(), "the node", "the server's"));
  authority::Enrollment::Request enroll;
  enroll.token = call.token;
  enroll.request_id = request.request_id();
  enroll.name = request.name();
  enroll.public_key = request.public_key();
  enroll.proof = request.proof();
  enroll.program_version = request.hello().program_version();
  enroll.address = call.address;
  GT_ASSIGN(const authority::Enrollment::Enrolled enrolled, d_.enrollment.enroll(enroll));
  *reply.mutable_hello() = wire::make_hello(d_.clock.wall());
  reply.set_node_id(enrolled.node.node.id.str());
  reply.set_node_token(enrolled.token_text);
  reply.set_owner_id(enrolled.node.owner.id.str());
  reply.set_owner(enrolled.node.owner.name);
  reply.set_expires_ms(enrolled.node.token.expires.ms);
  reply.set_name(enrolled.node.node.name);
  return {};
}

NodesRpc::Reactor* NodesRpc::ListNodes(Context* context, const v1::ListNodesRequest* request,
                                       v1::ListNodesReply* reply) {
  return d_.door.unary(context, kListNodes, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return list(actor_of(call), q, p); });
}

Status NodesRpc::list(const ccm::Actor& actor, const v1::ListNodesRequest& request, v1::ListNodesReply& reply) {
  GT_ASSIGN(const auto page, d_.nodes.list(actor, wire::page_request(request)));
  wire::answer_page(page, reply,
                    [&](const NodeView& node) -> const auto& { return *reply.add_nodes() = to_wire(node); });
  return {};
}

grpc::ServerWriteReactor<v1::ListNodesReply>* NodesRpc::WatchNodes(Context* context,
                                                                   const v1::ListNodesRequest* request) {
  return d_.door.events<v1::ListNodesReply>(
      context, kWatchNodes,
      [this, request = *request](const Call& call, const std::shared_ptr<NodesWatch::Stream>& stream) {
        const auto read = [this, actor = actor_of(call), request = wire::watched_page(request)](auto& reply) {
          return list(actor, request, reply);
        };
        return NodesWatch::open(d_.door, call.principal.user.str(), read, without_signs, stream);
      });
}

NodesRpc::Reactor* NodesRpc::GetNode(Context* context, const v1::GetNodeRequest* request, v1::GetNodeReply* reply) {
  return d_.door.unary(context, kGetNode, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const NodeView node, d_.nodes.get(actor_of(call), q.node()));
    *p.mutable_node() = to_wire(node);
    return {};
  });
}

NodesRpc::Reactor* NodesRpc::RemoveNode(Context* context, const v1::RemoveNodeRequest* request,
                                        v1::RemoveNodeReply* reply) {
  return d_.door.unary(context, kRemoveNode, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return remove(call, q, p); });
}

Status NodesRpc::remove(const Call& call, const v1::RemoveNodeRequest& request, v1::RemoveNodeReply& reply) {
  GT_ASSIGN(const NodeService::RemovedNode removed,
            d_.nodes.remove(actor_of(call), request.request_id(), request.node()));
  d_.credentials_ended();
  for (const TaskId& task : removed.tasks) d_.task_hub.changed(task);
  reply.set_node_id(removed.id.str());
  reply.set_name(removed.name);
  reply.set_owner(removed.owner);
  return {};
}

NodesRpc::Reactor* NodesRpc::RenameNode(Context* context, const v1::RenameNodeRequest* request,
                                        v1::GetNodeReply* reply) {
  return d_.door.unary(
      context, kRenameNode, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
        GT_ASSIGN(const NodeView node, d_.nodes.rename(actor_of(call), q.request_id(), q.node(), q.name()));
        *p.mutable_node() = to_wire(node);
        return {};
      });
}

NodesRpc::Reactor* NodesRpc::RenewNode(Context* context, const v1::RenewNodeRequest* request,
                                       v1::RenewNodeReply* reply) {
  return d_.door.unary(context, kRenewNode, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return renew(call, q, p); });
}

Status NodesRpc::renew(const Call& call, const v1::RenewNodeRequest& request, v1::RenewNodeReply& reply) {
  if (request.has_hello()) GT_TRY(wire::check_hello(request.hello(), d_.clock.wall(), "the node", "the server's"));
  GT_ASSIGN(const authority::Enrollment::Enrolled renewed,
            d_.enrollment.renew(actor_of(call), call.principal.token_expires));
  *reply.mutable_hello() = wire::make_hello(d_.clock.wall());
  reply.set_node_id(renewed.node.node.id.str());
  reply.set_name(renewed.node.node.name);
  reply.set_owner_id(renewed.node.owner.id.str());
  reply.set_owner(renewed.node.owner.name);
  reply.set_node_token(renewed.token_text);
  reply.set_expires_ms(renewed.node.token.expires.ms);
  return {};
}

NodesRpc::Reactor* NodesRpc::Certify(Context* context, const v1::CertifyRequest* request, v1::CertifyReply* reply) {
  return d_.door.unary(context, kCertify, request, reply,
                       [this](const Call& call, const auto& q, auto& p) { return certify(call, q, p); });
}

Status NodesRpc::certify(const Call& call, const v1::CertifyRequest& request, v1::CertifyReply& reply) {
  GT_ASSIGN(const auto certificates, d_.data_ca.certify(actor_of(call), request.certificate_request()));
  for (const auto& one : certificates) {
    v1::NodeCertificate* out = reply.add_certificates();
    out->set_generation(one.generation.number);
    out->set_data_ca_pem(one.generation.ca_pem);
    out->set_certificate_pem(one.certificate_pem);
    out->set_expires_ms(one.expires.ms);
  }
  return {};
}

NodesRpc::Reactor* NodesRpc::ListDataCa(Context* context, const v1::ListDataCaRequest* request,
                                        v1::ListDataCaReply* reply) {
  return d_.door.unary(context, kListDataCa, request, reply,
                       [this](const Call&, const auto&, auto& p) { return describe_data_ca(p); });
}

NodesRpc::Reactor* NodesRpc::RotateDataCa(Context* context, const v1::RotateDataCaRequest* request,
                                          v1::ListDataCaReply* reply) {
  return d_.door.unary(context, kRotateDataCa, request, reply,
                       [this](const Call& call, const auto& q, auto& p) -> Status {
                         GT_TRY(d_.data_ca.rotate(actor_of(call), q.request_id(), q.sealing_key_lost()));
                         d_.rotated();
                         return describe_data_ca(p);
                       });
}

Status NodesRpc::describe_data_ca(v1::ListDataCaReply& reply) {
  GT_ASSIGN(const auto generations, d_.data_ca.describe());
  const std::uint32_t current = d_.data_ca.current().number;
  for (const auto& one : generations) {
    v1::DataCaGeneration* out = reply.add_generations();
    out->set_generation(one.generation);
    out->set_state(one.retired ? "ended" : one.generation == current ? "current" : "leaving");
    out->set_signs(one.signs);
    out->set_created_ms(one.created.ms);
    out->set_ended_ms(one.retired ? one.retired->ms : 0);
    out->set_contents(one.contents);
  }
  return {};
}

}  // namespace gridtorrent::tracker::rpc
