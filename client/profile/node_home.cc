#include "client/profile/node_home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/text.h"

namespace gridtorrent::client {

namespace {

constexpr std::string_view kBegin = "GRIDTORRENT_DATA_DIR=\"", kEnd = "\"\n";

/// Empty where none was chosen.
std::string chosen_folder(const NodeHome& home) {
  std::ifstream file(chosen_folder_file(home), std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const std::size_t around = kBegin.size() + kEnd.size();
  if (text.size() <= around || !text.starts_with(kBegin) || !text.ends_with(kEnd)) return "";
  return text.substr(kBegin.size(), text.size() - around);
}

/// Nothing where there is no such file.
std::optional<uid_t> owner_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

}  // namespace

Result<NodeHome> node_home(const ProfileStore::Variable& variable, const std::string& host) {
  const auto home = variable("HOME");
  if (!home || !home->starts_with('/')) {
    return Error{Code::kInvalid, "HOME is not set: no place for your node; set it, or run gridtorrentd --data-dir DIR"};
  }
  NodeHome found{*home + "/.local/share/gridtorrent/node", *home + "/.local/state/gridtorrent/node/" + host};
  if (std::string chosen = chosen_folder(found); !chosen.empty()) found.data_folder = std::move(chosen);
  return found;
}

std::string chosen_folder_file(const NodeHome& home) {
  return home.state_folder + "/data-dir.env";
}

Result<std::string> chosen_folder_text(const std::string& data_folder) {
  if (data_folder.find_first_of("\"\\$`\n\r") != std::string::npos) {
    return Error{Code::kInvalid, "the data folder " + escape_for_display(data_folder) +
                                     " has a quote, backslash, dollar sign or line break in its name: choose another"};
  }
  return std::string(kBegin) + data_folder + std::string(kEnd);
}

std::optional<std::string> own_runtime_folder(const ProfileStore::Variable& variable, const std::string& all) {
  const uid_t self = ::geteuid();
  auto named = variable("XDG_RUNTIME_DIR");
  if (named && named->starts_with('/') && owner_of(*named) == self) return named;
  std::string usual = all + "/" + std::to_string(self);
  if (owner_of(usual) == self) return usual;
  return std::nullopt;
}

}  // namespace gridtorrent::client
