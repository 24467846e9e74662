#include "client/app/identity_keeper.h"

#include <utility>

namespace gridtorrent::client::app {

using security::NodeIdentity;

NodeIdentity IdentityKeeper::now() const {
  const std::lock_guard lock(mutex_);
  return identity_;
}

template <class Change>
Status IdentityKeeper::change(Change&& edit) {
  const std::lock_guard lock(mutex_);
  NodeIdentity next = identity_;
  edit(next);
  GT_TRY(security::save_identity(data_dir_, next));
  identity_ = std::move(next);
  return {};
}

Status IdentityKeeper::renew(const remote::NodeCredential& credential) {
  return change([&](NodeIdentity& next) {
    if (credential.issued < next.issued) return;
    next.token = credential.token;
    next.issued = credential.issued;
    next.expires = credential.expires;
  });
}

Status IdentityKeeper::rename(const std::string& node_name) {
  return change([&](NodeIdentity& next) { next.node_name = node_name; });
}

Status IdentityKeeper::take_over(const NodeIdentity& identity) {
  const std::lock_guard lock(mutex_);
  identity_ = identity;
  return security::save_identity(data_dir_, identity);
}

Result<NodeIdentity> enrol(const EnrolmentPlace& place, const std::string& token, Clock& clock, Rng& rng) {
  const auto ask = [&](const security::EnrolmentRequest& request) -> Result<NodeIdentity> {
    const remote::EnrollRequest wire{request.enroll_token, request.request_id, request.node_name, request.public_key,
                                     request.proof};
    GT_ASSIGN(const remote::Enrollment answer, remote::enroll({place.server, place.ca_file}, wire, clock));
    const std::string& name = answer.node_name.empty() ? request.node_name : answer.node_name;
    return NodeIdentity{answer.node,
                        name,
                        answer.owner_id,
                        answer.owner,
                        place.server,
                        answer.credential.token,
                        answer.credential.issued,
                        answer.credential.expires};
  };
  return security::enrol_once(place.data_dir, token, place.node_name, make_request_id(clock.wall(), rng),
                              remote::enroll_proof_text, ask);
}

Error set_aside(const std::string& data_dir, const NodeIdentity& identity, const Error& removed) {
  const std::string way_out =
      "; it ends. For a new node here: gridtorrent node start, or gridtorrentd with a new --enroll-token-file; "
      "transfers and files are kept";
  const Status kept = security::set_identity_aside(data_dir);
  return {removed.code, removed.message + " (as " + identity.node_name + " of " + identity.owner + ")" + way_out +
                            (kept ? "" : "; " + kept.error().message)};
}

}  // namespace gridtorrent::client::app
