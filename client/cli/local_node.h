#pragma once

#include <string>
#include <string_view>

#include "client/cli/context.h"
#include "client/service/node_service.h"

namespace gridtorrent::client::cli {

/// This machine's node of the caller. gridtorrentd is taken from the folder of this program, else from the PATH.
Result<NodeService> local_node();

/// Starts it unless one answers at the control socket, enrols it as the person who is logged in where it is not, and
/// waits until it answers. `name`: of a node that is enrolled; empty: the host's. Says what it does on stderr.
/// kDenied: the node that runs is another account's; kUnreachable: it does not come up, with the reason; kTimeout; else
/// as a call to the server.
Status ensure_node_runs(Context& context, const std::string& name);

/// The node, for a command that gives it work: where none runs, and nobody said which with --socket, this person's own
/// is started, as ensure_node_runs() does. Where nobody is logged in either, the error of the missing node.
Result<api::NodeApi*> node_for_work(Context& context);

/// kUnsupported where the option was given and the node does not name the field in its status: an older node would pass
/// over what is asked for, and do something else.
Status node_knows(Context& context, api::NodeApi& node, const std::string& option, std::string_view field);

/// The host's name as a node's or a device's label; "here" where it has none.
std::string host_label();

}  // namespace gridtorrent::client::cli
