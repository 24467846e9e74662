#pragma once

#include <optional>
#include <string>

#include "client/profile/profile.h"
#include "common/host.h"
#include "common/result.h"

namespace gridtorrent::client {

/// Where this person's own node on this host keeps what it has. Hosts may share a home: each has a node of its own.
struct NodeHome {
  std::string data_folder;   ///< ~/.local/share/gridtorrent/node, or what was chosen for this host
  std::string state_folder;  ///< ~/.local/state/gridtorrent/node/HOST: log, ready file, what was chosen
  bool to_be_kept = false;   ///< the data folder was chosen just now: the next start keeps it for those after
};

/// Of the host with this name; the chosen data folder is read from the state folder. kInvalid: HOME is not set.
Result<NodeHome> node_home(const ProfileStore::Variable& variable, const std::string& host = host_name());

/// The file that keeps which data folder was chosen for this host; the unit gridtorrent-node reads it, too.
std::string chosen_folder_file(const NodeHome& home);
/// What stands in it. kInvalid: a path with characters that systemd would take for its own.
Result<std::string> chosen_folder_text(const std::string& data_folder);

/// The folder for sockets of this person's session: XDG_RUNTIME_DIR, or the one below `all` where that is unset (cron,
/// sudo), another person's (su, runuser) or gone. Nothing where there is no session.
std::optional<std::string> own_runtime_folder(const ProfileStore::Variable& variable,
                                              const std::string& all = "/run/user");

}  // namespace gridtorrent::client
