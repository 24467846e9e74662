#include "client/profile/saved_login.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "client/profile/node_home.h"
#include "common/unique_fd.h"

namespace gridtorrent::client {

namespace {

/// Empty where it cannot be read.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

/// Somebody listens at a socket of this user's or root's. One that a program left behind answers nothing.
bool own_socket_is_served(const std::string& path) {
  struct stat status{};
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path || ::stat(path.c_str(), &status) != 0) return false;
  if (!S_ISSOCK(status.st_mode) || (status.st_uid != ::geteuid() && status.st_uid != 0)) return false;
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
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
  if (!token) profile->user_id.clear();
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
  std::vector<std::string> places;
  if (const auto session = own_runtime_folder(variable)) places.push_back(*session + "/gridtorrent/control.sock");
  if (const auto home = node_home(variable)) places.push_back(home->data_folder + "/control.sock");
  if (places.empty()) {
    return Error{
        Code::kUnreachable,
        "neither XDG_RUNTIME_DIR nor HOME is set, so the node's socket is not known: start gridtorrentd and name its "
        "control_socket (see its ready file) with --socket PATH"};
  }
  // A folder that others have, too, as /tmp: only for a socket of one's own.
  if (const auto named = variable("XDG_RUNTIME_DIR"); named && named->starts_with('/')) {
    places.push_back(*named + "/gridtorrent/control.sock");
  }
  const auto served = std::ranges::find_if(places, own_socket_is_served);
  return served == places.end() ? places.front() : *served;
}

}  // namespace gridtorrent::client
