#include "client/profile/saved_login.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace gridtorrent::client {

namespace {

/// Empty where it cannot be read.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

}  // namespace

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

std::optional<ServerHere> server_here(const ProfileStore::Variable& variable) {
  std::vector<std::string> files;
  if (const auto folder = variable("XDG_RUNTIME_DIR"); folder && folder->starts_with('/')) {
    files.push_back(*folder + "/gridtorrent-server/ready.json");
  }
  files.emplace_back("/run/gridtorrent-server/ready.json");
  for (const std::string& path : files) {
    const auto ready = nlohmann::json::parse(text_of(path), nullptr, false);
    const auto field = [&](const char* name) {
      return ready.is_object() && ready.contains(name) && ready[name].is_string() ? ready[name].get<std::string>() : "";
    };
    std::string token = text_of(field("admin_token_file"));
    token.resize(std::min(token.size(), token.find('\n')));
    if (!token.empty()) return ServerHere{field("address"), field("ca_file"), std::move(token)};
  }
  return std::nullopt;
}

Result<std::string> default_control_socket(const ProfileStore::Variable& variable) {
  const auto folder = variable("XDG_RUNTIME_DIR");
  if (folder && folder->starts_with('/')) return *folder + "/gridtorrent/control.sock";
  const auto home = variable("HOME");
  if (home && home->starts_with('/')) return *home + "/.local/share/gridtorrent/node/control.sock";
  return Error{
      Code::kUnreachable,
      "neither XDG_RUNTIME_DIR nor HOME is set, so the node's socket is not known: start gridtorrentd and name its "
      "control_socket (see its ready file) with --socket PATH"};
}

}  // namespace gridtorrent::client
