#pragma once

#include "base/rpc/door.h"
#include "ccm/domain/content.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/group_service.h"
#include "ccm/domain/inbox_service.h"
#include "ccm/domain/user.h"
#include "common/result.h"
#include "gridtorrent/v1/ccm.pb.h"
#include "gridtorrent/v1/types.pb.h"

namespace gridtorrent::ccm::rpc {

namespace wire = gridtorrent::rpc;

/// The caller as the domain knows it.
inline Actor actor_of(const wire::Call& call) {
  return wire::actor_from<Actor>(call);
}
constexpr std::uint32_t bit(Scope scope) {
  return static_cast<std::uint32_t>(scope);
}

v1::Access to_wire(const Access& access);
Result<Access> from_wire(const v1::Access& access);
v1::Content to_wire(const ContentView& view);
v1::Version to_wire(const VersionView& view);
v1::PreviewAccessReply to_wire(const AccessPreview& preview);
v1::Membership to_wire(const Membership& membership);
v1::Group to_wire(const GroupView& view);
v1::Offer to_wire(const Offer& offer);
v1::Inbox to_wire(const Inbox& inbox, WallTime now);
v1::Replica to_wire(const ReplicaView& view);
v1::User to_wire(const User& user);
v1::TokenInfo to_wire(const Token& token);

}  // namespace gridtorrent::ccm::rpc
