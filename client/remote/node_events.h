#pragma once

#include "client/core/server_link.h"
#include "common/result.h"
#include "gridtorrent/v1/tracker.pb.h"

namespace gridtorrent::client::remote {

/// Tells the listener of an event of the server's stream: tasks, peers, audiences, contents. What a newer server tells
/// beyond these is passed by: such hints need no answer. An id that is none: kInvalid, and nothing is told.
Status tell(const v1::NodeEvent& event, ServerListener& listener);

}  // namespace gridtorrent::client::remote
