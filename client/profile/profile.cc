#include "client/profile/profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client {

namespace {

using nlohmann::json;

constexpr mode_t kPrivateFile = 0600;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

Error failed(const std::string& what, const std::string& path) {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT || error == EROFS || error == EIO || error == EACCES;
  return {full ? Code::kDisk : Code::kInvalid, what + " " + escape_for_display(path) + ": " + errno_text(error)};
}

Status make_private_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return failed("cannot make the folder", folder);
  return {};
}

Result<std::string> read_all(const UniqueFd& file, const std::string& path) {
  std::string text;
  std::array<char, 8192> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read", path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<std::optional<std::string>> read_if_there(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file && errno == ENOENT) return std::optional<std::string>();
  if (!file) return failed("cannot read", path);
  GT_ASSIGN(std::string text, read_all(file, path));
  return std::optional(std::move(text));
}

/// Nothing where there is no such file. kDenied where others can read it.
Result<std::optional<std::string>> read_secret(const std::string& what, const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file && errno == ENOENT) return std::optional<std::string>();
  if (!file) return failed("cannot read", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failed("cannot read", path);
  if ((status.st_mode & kOthers) != 0)
    return Error{Code::kDenied, what + " " + escape_for_display(path) +
                                    " can be read by others: run 'chmod 600' on it, and log in anew if it was seen"};
  GT_ASSIGN(std::string text, read_all(file, path));
  return std::optional(std::move(text));
}

std::string string_at(const json& document, const char* key) {
  return document.is_object() && document.contains(key) && document[key].is_string() ? document[key].get<std::string>()
                                                                                     : std::string();
}

/// Whole or not at all: beside it first, synced, then renamed over it.
Status write_private(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  ::unlink(beside.c_str());
  UniqueFd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kPrivateFile));
  if (!file) return failed("cannot write", beside);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(file.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed("cannot write", beside);
    done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(file.get()) != 0) return failed("cannot write", beside);
  if (::rename(beside.c_str(), path.c_str()) != 0) return failed("cannot write", path);
  return {};
}

bool is_plain_word(const std::string& name) {
  if (name.empty() || name.size() > 64 || name.front() == '.') return false;
  for (const char c : name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!good) return false;
  }
  return true;
}

Result<std::string> base_folder(const ProfileStore::Variable& variable, const char* xdg, const char* below_home) {
  if (const auto folder = variable(xdg); folder && folder->starts_with('/')) return *folder + "/gridtorrent";
  if (const auto home = variable("HOME"); home && home->starts_with('/')) return *home + below_home + "/gridtorrent";
  return Error{Code::kUnauthenticated,
               std::string("neither ") + xdg + " nor HOME is set: no place for your login; set one of them"};
}

/// No error where there is none.
Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("cannot remove", path);
  return {};
}

}  // namespace

ProfileStore::ProfileStore(std::string name, std::string config_folder, std::string state_folder,
                           std::string device_folder)
    : name_(std::move(name)),
      config_folder_(std::move(config_folder)),
      state_folder_(std::move(state_folder)),
      device_folder_(std::move(device_folder)) {}

Result<ProfileStore> ProfileStore::open(const std::string& profile_name, const Variable& variable) {
  if (!is_plain_word(profile_name))
    return Error{Code::kInvalid, "--profile: '" + escape_for_display(profile_name) +
                                     "' is no plain word of letters, digits, '-', '_' and '.'"};
  GT_ASSIGN(const std::string config, base_folder(variable, "XDG_CONFIG_HOME", "/.config"));
  GT_ASSIGN(const std::string state, base_folder(variable, "XDG_STATE_HOME", "/.local/state"));
  return ProfileStore(profile_name, config + "/profiles", state + "/tokens", state + "/devices");
}

Result<std::optional<Profile>> ProfileStore::load() const {
  const std::string path = config_folder_ + "/" + name_ + ".json";
  GT_ASSIGN(const std::optional<std::string> text, read_if_there(path));
  if (!text) return std::optional<Profile>();
  const json document = json::parse(*text, nullptr, false);
  Profile profile{string_at(document, "server"), config_folder_ + "/" + name_ + ".ca.pem", string_at(document, "user"),
                  string_at(document, "user_id")};
  if (profile.server.empty() || profile.user_id.empty())
    return Error{Code::kInvalid,
                 "the profile " + escape_for_display(path) + " is damaged: log in again with 'gridtorrent login'"};
  return std::optional(std::move(profile));
}

Result<std::optional<std::string>> ProfileStore::load_token() const {
  GT_ASSIGN(std::optional<std::string> text, read_secret("the token file", state_folder_ + "/" + name_));
  if (text) text->resize(std::min(text->size(), text->find('\n')));
  return text;
}

Result<std::string> ProfileStore::load_device_secret(const std::string& server, const std::string& user) const {
  GT_ASSIGN(const std::optional<std::string> text, read_secret("the device's secret", device_folder_ + "/" + name_));
  if (!text) return std::string();
  const json document = json::parse(*text, nullptr, false);
  const bool same = string_at(document, "server") == server && string_at(document, "user") == user;
  return same ? string_at(document, "secret") : std::string();
}

Status ProfileStore::save_device(const KnownDevice& device) const {
  GT_TRY(make_private_folder(device_folder_));
  const json document{{"server", device.server}, {"user", device.user}, {"secret", device.secret}};
  return write_private(device_folder_ + "/" + name_, document.dump(2) + "\n");
}

Result<Profile> ProfileStore::save(Profile profile, const std::string& token) const {
  GT_TRY(make_private_folder(config_folder_));
  GT_TRY(make_private_folder(state_folder_));
  GT_ASSIGN(const std::optional<std::string> certificate, read_if_there(profile.ca_file));
  if (!certificate)
    return Error{Code::kInvalid, "there is no CA file " + escape_for_display(profile.ca_file) + ": name it with --ca"};
  profile.ca_file = config_folder_ + "/" + name_ + ".ca.pem";
  GT_TRY(write_private(profile.ca_file, *certificate));
  GT_TRY(write_private(state_folder_ + "/" + name_, token + "\n"));
  const json document{{"server", profile.server}, {"user", profile.user}, {"user_id", profile.user_id}};
  GT_TRY(write_private(config_folder_ + "/" + name_ + ".json", document.dump(2) + "\n"));
  return profile;
}

Status ProfileStore::remove() const {
  GT_TRY(remove_token());
  GT_TRY(remove_file(config_folder_ + "/" + name_ + ".json"));
  return remove_file(config_folder_ + "/" + name_ + ".ca.pem");
}

Status ProfileStore::remove_token() const {
  return remove_file(state_folder_ + "/" + name_);
}

}  // namespace gridtorrent::client
