#pragma once

#include <optional>
#include <string>

#include "client/profile/profile.h"
#include "common/result.h"

namespace gridtorrent::client {

/// What a program needs to call the server as the person who is logged in.
struct SavedLogin {
  Profile profile;
  std::string token;  ///< empty: logged out, and the profile names no user_id
};

/// A variable of this process's environment.
std::optional<std::string> environment_variable(const std::string& name);

/// The login that the profile holds; nothing where nobody is logged in. Reads files. kInvalid: a bad name, or a damaged
/// profile; kDenied: others can read the token; kUnauthenticated: no place for profiles.
Result<std::optional<SavedLogin>> saved_login(const std::string& profile_name,
                                              const ProfileStore::Variable& variable = environment_variable);

/// A server that runs on this machine and whose first token this process may read: its administrator's way in.
struct ServerHere {
  std::string address, ca_file, token;
};
/// By the ready file of the packaged server (/run/gridtorrent-server), or of one that runs as this user
/// ($XDG_RUNTIME_DIR/gridtorrent-server). Nothing where there is none, or its files are not this user's to read.
std::optional<ServerHere> server_here(const ProfileStore::Variable& variable = environment_variable);

/// Where this user's node on this host has its control socket, unless it was told otherwise: in the folder of the
/// session, as where systemd runs it, in its data folder, as where `gridtorrent node start` did, or in whatever folder
/// XDG_RUNTIME_DIR names. The first of them at which one answers now, else the first. kUnreachable: there is neither
/// session nor HOME.
Result<std::string> default_control_socket(const ProfileStore::Variable& variable = environment_variable);

}  // namespace gridtorrent::client
