#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/result.h"

namespace gridtorrent::client {

/// Who is logged in where. Lies in $XDG_CONFIG_HOME/gridtorrent/profiles/NAME.json with a copy of the server's CA
/// beside it; the token is a secret of its own in $XDG_STATE_HOME/gridtorrent/tokens/NAME (mode 0600),
/// and so is what makes the device known to the server: .../devices/NAME.
struct Profile {
  std::string server;   ///< "host:port"
  std::string ca_file;  ///< the copy
  std::string user;
  std::string user_id;
};

/// What makes this device a known one at its next login, for one user of one server. Opens nothing by itself.
struct KnownDevice {
  std::string server;  ///< "host:port"
  std::string user;
  std::string secret;  ///< "gtd_…"
};

/// Reads and writes profiles below two folders. Not thread-safe; holds no open files between calls.
class ProfileStore {
 public:
  using Variable = std::function<std::optional<std::string>(const std::string&)>;
  /// kUnauthenticated where neither XDG variables nor HOME say where a login would be; kInvalid where the name is no
  /// plain word.
  static Result<ProfileStore> open(const std::string& profile_name, const Variable& variable);

  /// Nothing where nobody is logged in.
  Result<std::optional<Profile>> load() const;
  /// Nothing where there is none. kDenied where others can read the file, with the chmod that mends it.
  Result<std::optional<std::string>> load_token() const;
  /// Copies `ca_file` and writes both files anew, in one piece each.
  Result<Profile> save(Profile profile, const std::string& token) const;
  /// Removes the login; no error where there is none. The device stays known.
  Status remove() const;
  /// Removes its token alone: who logs in again need not say where.
  Status remove_token() const;
  /// The secret to show to this user's server; empty where there is none. kDenied as load_token().
  Result<std::string> load_device_secret(const std::string& server, const std::string& user) const;
  /// In place of the one that the profile had, of whichever user and server.
  Status save_device(const KnownDevice& device) const;
  const std::string& name() const { return name_; }

 private:
  ProfileStore(std::string name, std::string config_folder, std::string state_folder, std::string device_folder);

  std::string name_, config_folder_, state_folder_, device_folder_;
};

}  // namespace gridtorrent::client
