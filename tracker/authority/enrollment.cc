#include "tracker/authority/enrollment.h"

#include "base/crypto/keys.h"
#include "base/crypto/random.h"
#include "base/logging/logging.h"
#include "common/hex.h"

namespace gridtorrent::tracker::authority {

namespace {

Error refused() {
  return {
      Code::kUnauthenticated,
      "the enrolment token is not valid, used up or out of date: make another with 'gridtorrent node enroll-token'"};
}

}  // namespace

Result<Enrollment::IssuedToken> Enrollment::create_token(const ccm::Actor& actor, const TokenWish& wish) {
  const auto ttl = wish.ttl.count() == 0 ? std::chrono::milliseconds(kDefaultTokenLife) : wish.ttl;
  if (ttl < std::chrono::seconds(1) || ttl > kLongestTokenLife) {
    return Error{Code::kInvalid, "an enrolment token lives between a second and 30 days (--ttl)"};
  }
  if (wish.uses > kMostUses) {
    return Error{Code::kInvalid,
                 "an enrolment token is good for at most " + std::to_string(kMostUses) + " nodes (--uses)"};
  }
  const MintedToken minted = mint_token(ccm::TokenKind::kEnroll);
  ccm::Token token;
  token.id = minted.id;
  token.secret_hash = minted.secret_hash;
  token.kind = ccm::TokenKind::kEnroll;
  token.user = actor.user;
  token.label = wish.node_name.empty() ? "enrolment" : wish.node_name;
  token.created = clock_.wall();
  token.expires = token.created + ttl;
  token.uses_left = wish.uses == 0 ? 1 : wish.uses;
  token.only_name = wish.node_name;
  token.ephemeral = wish.ephemeral;
  GT_TRY(nodes_.add_enroll_token(actor, wish.request_id, token));
  return IssuedToken{minted.text, token.expires};
}

ccm::Token Enrollment::node_token(const MintedToken& minted) const {
  ccm::Token token;
  token.id = minted.id;
  token.secret_hash = minted.secret_hash;
  token.kind = ccm::TokenKind::kNode;
  token.scopes = ccm::node_scopes();
  token.label = "node";
  token.created = clock_.wall();
  token.expires = token.created + kNodeTokenLife;
  return token;
}

Status Enrollment::check_token(const std::string& token) {
  GT_TRY(find_token(token));
  return {};
}

Result<ccm::Token> Enrollment::find_token(const std::string& text) {
  const auto parsed = parse_token(text);
  if (!parsed || parsed->kind != ccm::TokenKind::kEnroll) return refused();
  GT_ASSIGN(const auto known, accounts_.find_token(parsed->id));
  // Dates and uses are the domain's: a node that asks again with its key gets the same answer even after the last use.
  if (!known || known->token.kind != ccm::TokenKind::kEnroll || known->user.disabled ||
      !crypto::equal_in_constant_time(as_bytes(known->token.secret_hash), as_bytes(parsed->secret_hash))) {
    return refused();
  }
  return known->token;
}

Result<Enrollment::Enrolled> Enrollment::enroll(const Request& request) {
  GT_ASSIGN(const ccm::Token token, find_token(request.token));
  GT_ASSIGN(const bool proven,
            crypto::verify_signature(request.public_key, kEnrollProofLabel + request.token, request.proof));
  if (!proven) {
    return Error{Code::kInvalid, "the proof does not fit the public key: the node's key file may be damaged"};
  }
  const MintedToken minted = mint_token(ccm::TokenKind::kNode);
  EnrollNode enroll;
  enroll.request_id = request.request_id;
  enroll.token_id = token.id;
  enroll.name = request.name;
  enroll.public_key = request.public_key;
  enroll.program_version = request.program_version;
  enroll.node_token = node_token(minted);
  GT_ASSIGN(EnrolledNode node, nodes_.enroll(enroll));
  return Enrolled{std::move(node), minted.text};
}

Result<Enrollment::Enrolled> Enrollment::renew(const ccm::Actor& actor, WallTime expires) {
  if (expires - clock_.wall() > kNodeTokenLife / 3) {
    GT_ASSIGN(const NodeView self, nodes_.self(actor));
    Enrolled unchanged;
    unchanged.node.node = self.record;
    unchanged.node.owner.id = actor.user;
    unchanged.node.owner.name = actor.name;
    unchanged.node.token.expires = expires;
    return unchanged;
  }
  const MintedToken minted = mint_token(ccm::TokenKind::kNode);
  GT_ASSIGN(EnrolledNode node, nodes_.renew(actor, node_token(minted)));
  return Enrolled{std::move(node), minted.text};
}

}  // namespace gridtorrent::tracker::authority
