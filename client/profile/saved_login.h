#pragma once

#include <optional>
#include <string>

#include "client/profile/profile.h"
#include "common/result.h"

namespace gridtorrent::client {

/// What a program needs to call the server as the person who is logged in.
struct SavedLogin {
  Profile profile;
  std::string token;  ///< empty: the profile's token is gone
};

/// A variable of this process's environment.
std::optional<std::string> environment_variable(const std::string& name);

/// The login that the profile holds; nothing where nobody is logged in. Reads files. kInvalid: a bad name, or a damaged
/// profile; kDenied: others can read the token; kUnauthenticated: no place for profiles.
Result<std::optional<SavedLogin>> saved_login(const std::string& profile_name,
                                              const ProfileStore::Variable& variable = environment_variable);

/// Where this user's node has its control socket, unless it was told otherwise. kUnreachable: XDG_RUNTIME_DIR does not
/// say so. Pure but for `variable`.
Result<std::string> default_control_socket(const ProfileStore::Variable& variable = environment_variable);

}  // namespace gridtorrent::client
