#include "client/profile/saved_login.h"

#include <cstdlib>

namespace gridtorrent::client {

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Result<std::optional<SavedLogin>> saved_login(const std::string& profile_name, const ProfileStore::Variable& variable) {
  GT_ASSIGN(const ProfileStore store, ProfileStore::open(profile_name, variable));
  GT_ASSIGN(std::optional<Profile> profile, store.load());
  if (!profile) return std::optional<SavedLogin>();
  GT_ASSIGN(std::optional<std::string> token, store.load_token());
  return std::optional(SavedLogin{*std::move(profile), std::move(token).value_or("")});
}

Result<std::string> default_control_socket(const ProfileStore::Variable& variable) {
  const auto folder = variable("XDG_RUNTIME_DIR");
  if (folder && folder->starts_with('/')) return *folder + "/gridtorrent/control.sock";
  return Error{Code::kUnreachable,
               "XDG_RUNTIME_DIR is not set, so the node's socket is not known: start gridtorrentd and name its "
               "control_socket (see its ready file) with --socket PATH"};
}

}  // namespace gridtorrent::client
