#pragma once

#include <string_view>

#include "ccm/domain/user.h"
#include "common/result.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker {

/// One of the owner's nodes, by id or name. kNotFound: missing or another's.
Result<NodeRecord> own_node(Tx& tx, const UserId& owner, std::string_view reference);

/// As own_node(); administrators also name the nodes of others, by id or as OWNER/NAME.
Result<NodeRecord> node_to_manage(Tx& tx, const ccm::Actor& actor, std::string_view reference);

/// The node whose credential the actor shows: kDenied without one; kUnauthenticated if it is no longer enrolled.
Result<NodeRecord> node_of(Tx& tx, const ccm::Actor& actor);

}  // namespace gridtorrent::tracker
