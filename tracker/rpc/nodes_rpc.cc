#include "tracker/rpc/nodes_rpc.h"

#include "base/rpc/hello.h"
#include "tracker/rpc/convert.h"

namespace gridtorrent::tracker::rpc {

namespace {

using wire::Call;
using wire::Need;

constexpr wire::Method kCreateEnrollToken{"Nodes/CreateEnrollToken", Need::scope(bit(ccm::Scope::kAccount))};
// The enrolment token in the header is checked by Enrollment: it is no identity, and good for this alone.
constexpr wire::Method kEnroll{"Nodes/Enroll", Need::nobody()};
constexpr wire::Method kListNodes{"Nodes/ListNodes", Need::scope(bit(ccm::Scope::kContentRead))};
constexpr wire::Method kGetNode{"Nodes/GetNode", Need::scope(bit(ccm::Scope::kContentRead))};
constexpr wire::Method kRenewNode{"Nodes/RenewNode", Need::node_scope(bit(ccm::Scope::kNodeRun))};

}  // namespace

NodesRpc::Reactor* NodesRpc::CreateEnrollToken(Context* context, const v1::CreateEnrollTokenRequest* request,
                                               v1::CreateEnrollTokenReply* reply) {
  return door_.unary(context, kCreateEnrollToken, request, reply,
                     [this](const Call& call, const auto& q, auto& p) -> Status {
                       authority::Enrollment::TokenWish wish;
                       wish.request_id = q.request_id();
                       wish.node_name = q.node_name();
                       wish.uses = q.uses();
                       wish.ttl = std::chrono::milliseconds(q.ttl_ms());
                       wish.ephemeral = q.ephemeral();
                       GT_ASSIGN(const auto issued, enrollment_.create_token(actor_of(call), wish));
                       p.set_token(issued.text);
                       p.set_expires_ms(issued.expires.ms);
                       return {};
                     });
}

NodesRpc::Reactor* NodesRpc::Enroll(Context* context, const v1::EnrollRequest* request, v1::EnrollReply* reply) {
  return door_.unary(context, kEnroll, request, reply,
                     [this](const Call& call, const auto& q, auto& p) { return enroll(call, q, p); });
}

Status NodesRpc::enroll(const Call& call, const v1::EnrollRequest& request, v1::EnrollReply& reply) {
  if (call.token.empty()) {
    return Error{Code::kUnauthenticated,
                 "enrolling needs an enrolment token: make one with 'gridtorrent node enroll-token'"};
  }
  GT_TRY(enrollment_.check_token(call.token));
  GT_TRY(wire::check_hello(request.hello(), clock_.wall(), "the node", "the server's"));
  authority::Enrollment::Request enroll;
  enroll.token = call.token;
  enroll.request_id = request.request_id();
  enroll.name = request.name();
  enroll.public_key = request.public_key();
  enroll.proof = request.proof();
  enroll.program_version = request.hello().program_version();
  enroll.address = call.address;
  GT_ASSIGN(const authority::Enrollment::Enrolled enrolled, enrollment_.enroll(enroll));
  *reply.mutable_hello() = wire::make_hello(clock_.wall());
  reply.set_node_id(enrolled.node.node.id.str());
  reply.set_node_token(enrolled.token_text);
  reply.set_owner_id(enrolled.node.owner.id.str());
  reply.set_owner(enrolled.node.owner.name);
  reply.set_expires_ms(enrolled.node.token.expires.ms);
  return {};
}

NodesRpc::Reactor* NodesRpc::ListNodes(Context* context, const v1::ListNodesRequest* request,
                                       v1::ListNodesReply* reply) {
  return door_.unary(context, kListNodes, request, reply, [this](const Call& call, const auto&, auto& p) -> Status {
    GT_ASSIGN(const std::vector<NodeView> nodes, nodes_.list(actor_of(call)));
    for (const NodeView& node : nodes) *p.add_nodes() = to_wire(node);
    return {};
  });
}

NodesRpc::Reactor* NodesRpc::GetNode(Context* context, const v1::GetNodeRequest* request, v1::GetNodeReply* reply) {
  return door_.unary(context, kGetNode, request, reply, [this](const Call& call, const auto& q, auto& p) -> Status {
    GT_ASSIGN(const NodeView node, nodes_.get(actor_of(call), q.node()));
    *p.mutable_node() = to_wire(node);
    return {};
  });
}

NodesRpc::Reactor* NodesRpc::RenewNode(Context* context, const v1::RenewNodeRequest* request,
                                       v1::RenewNodeReply* reply) {
  return door_.unary(context, kRenewNode, request, reply,
                     [this](const Call& call, const auto& q, auto& p) { return renew(call, q, p); });
}

Status NodesRpc::renew(const Call& call, const v1::RenewNodeRequest& request, v1::RenewNodeReply& reply) {
  if (request.has_hello()) GT_TRY(wire::check_hello(request.hello(), clock_.wall(), "the node", "the server's"));
  GT_ASSIGN(const authority::Enrollment::Enrolled renewed,
            enrollment_.renew(actor_of(call), call.principal.token_expires));
  *reply.mutable_hello() = wire::make_hello(clock_.wall());
  reply.set_node_id(renewed.node.node.id.str());
  reply.set_name(renewed.node.node.name);
  reply.set_owner_id(renewed.node.owner.id.str());
  reply.set_owner(renewed.node.owner.name);
  reply.set_node_token(renewed.token_text);
  reply.set_expires_ms(renewed.node.token.expires.ms);
  return {};
}

}  // namespace gridtorrent::tracker::rpc
