#pragma once

#include <functional>

#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// Shows the node's transfers as they change, until Ctrl-C. With --json an event for each change, the first ones of
/// which together are a snapshot; else `show` gets all of them, at once and then once a second at most, where something
/// has changed. kUnsupported: an older node, which does not tell of changes.
Status watch_transfers(Context& context, const std::function<void(const v1::ListTransfersReply&)>& show);

}  // namespace gridtorrent::client::cli
