#pragma once

#include <string>
#include <string_view>

#include "client/cli/context.h"
#include "client/service/node_service.h"

namespace gridtorrent::client::cli {

/// This machine's node of the caller. gridtorrentd is taken from the folder of this program, else from the PATH.
Result<NodeService> local_node();

/// What a person says of the node that is to run; all empty: as it was, or as is usual.
struct NodeWish {
  std::string name = {};         ///< of a node that is enrolled; refused where it is taken
  std::string former_name = {};  ///< that it had before; with a suffix where it is taken
  std::string data_folder = {};  ///< absolute
};
/// By --data-dir and the option with this name.
Result<NodeWish> node_wish(const Context& context, const std::string& name_option);
options::Option node_data_dir_option();

/// A node runs here as it is wished, or can have its data there: before anything is made at the server. kConflict: it
/// has its data elsewhere; else as NodeService::check_place().
Status check_node_place(Context& context, const NodeWish& wish);

/// The node of this machine, whether it runs or not, is of `user` at `server`, or there is none. kConflict: it is of
/// somebody else, and a second one would have no place.
Status check_node_owner(Context& context, const NodeWish& wish, const std::string& server, const std::string& user);

/// Starts it unless one answers at the control socket, enrols it as the person who is logged in where it is not, and
/// waits until it answers. Says what it does on stderr. kDenied: the node that runs is another account's; kConflict:
/// systemd runs it, and it listens elsewhere; kTimeout; else as NotStarted, check_node_place() and a call to the
/// server.
Status ensure_node_runs(Context& context, const NodeWish& wish);

/// The command line or a variable names its socket: a certain node is meant, as that of a job or the second one of a
/// host. What the configuration names is where this person's own node listens.
bool names_a_node(const options::Parsed& options);

/// The node, for a command that gives it work: where none runs, and no certain one is meant, this person's own is
/// started, as ensure_node_runs() does. Where nobody is logged in either, the error of the missing node.
Result<api::NodeApi*> node_for_work(Context& context);

/// kUnsupported where the option was given and the node does not name the field in its status: an older node would pass
/// over what is asked for, and do something else.
Status node_knows(Context& context, api::NodeApi& node, const std::string& option, std::string_view field);

/// The host's name as a device's label; "here" where it has none.
std::string host_label();
/// What a node on this host is called: a name like a user's (2 to 64 characters of a-z, 0-9 and others), of the host's
/// the first label. Empty where nothing fits: the server makes one. Pure.
std::string node_name_of(const std::string& host);

}  // namespace gridtorrent::client::cli
