#include "tracker/app/first_start.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "base/sql/database.h"
#include "common/shell_words.h"
#include "common/text.h"
#include "tracker/store/metadata_folder.h"
#include "tracker/store/sqlite_store.h"

namespace gridtorrent::tracker::app {

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kFiles = {"ca.pem", "ca-key.pem", "tls.pem", "admin-token"};
/// Copies of a database: what a restore replaced or did not finish, what an upgrade kept.
constexpr std::array<const char*, 3> kCopies = {"gridtorrent.db.replaced-", "gridtorrent.db.restoring",
                                                "gridtorrent.db.before-v"};

Error cannot_read(const std::string& path, const std::error_code& why) {
  return {Code::kDisk, "cannot read " + escape_for_display(path) + ": " + errno_text(why.value())};
}

Result<bool> is_there(const std::string& path) {
  std::error_code failed;
  const bool there = fs::exists(path, failed);
  if (failed) return cannot_read(path, failed);
  return there;
}

Result<std::vector<std::string>> copies_in(const std::string& data_dir) {
  std::vector<std::string> copies;
  std::error_code failed;
  for (fs::directory_iterator entry(data_dir, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    for (const char* prefix : kCopies) {
      if (name.starts_with(prefix)) copies.push_back(escape_for_display(name));
    }
  }
  if (failed) return cannot_read(data_dir, failed);
  return copies;
}

}  // namespace

Result<DataFolderState> inspect_data_folder(const std::string& data_dir, const std::string& sealing_key) {
  DataFolderState state;
  GT_ASSIGN(state.has_database, sql::holds_schema(store::database_options(data_dir)));
  if (state.has_database) return state;
  for (const char* file : kFiles) {
    GT_ASSIGN(const bool there, is_there(data_dir + "/" + file));
    if (there) state.remains.emplace_back(file);
  }
  GT_ASSIGN(const bool sealed, is_there(sealing_key));
  if (sealed) state.remains.push_back("the sealing key " + escape_for_display(sealing_key));
  GT_ASSIGN(const std::size_t documents, store::MetadataFolder::count(data_dir));
  if (documents > 0) {
    state.remains.push_back(std::to_string(documents) +
                            (documents == 1 ? " metadata document" : " metadata documents"));
  }
  GT_ASSIGN(const auto copies, copies_in(data_dir));
  state.remains.insert(state.remains.end(), copies.begin(), copies.end());
  return state;
}

Status may_start(const DataFolderState& state, bool as_new, const std::string& data_dir) {
  const std::string database = escape_for_display(data_dir) + "/gridtorrent.db";
  if (state.has_database && as_new) {
    return Error{Code::kConflict,
                 "there is a database " + database + ": start without --new, or name another --data-dir"};
  }
  if (state.has_database || as_new || state.remains.empty()) return {};
  std::string list;
  for (std::size_t i = 0; i < state.remains.size(); ++i) {
    if (i > 0) list += i + 1 < state.remains.size() ? ", " : " and ";
    list += state.remains[i];
  }
  return Error{Code::kCorrupt,
               "the database " + database + " is missing or empty, but the folder of a server is here (" + list +
                   "): mount its disk or put a backup back with 'gridtorrent-server --data-dir " +
                   shell_word(data_dir) + " restore FILE'; --new starts a new server, without any account and content"};
}

std::vector<std::string> ready_files_that_clients_read(const std::string& runtime_folder) {
  std::vector<std::string> files{"/run/gridtorrent-server/ready.json"};
  if (runtime_folder.starts_with('/')) files.push_back(runtime_folder + "/gridtorrent-server/ready.json");
  return files;
}

std::string first_invitation(const std::string& address, const std::string& ca_file, const std::string& token_file,
                             bool needs_login) {
  const std::string login = "gridtorrent login --server " + shell_word(address) + " --ca " + shell_word(ca_file) +
                            " --user admin --token-file " + shell_word(token_file) + " && ";
  return "this server is new; next: " + std::string(needs_login ? login : "") + "gridtorrent invite NAME";
}

}  // namespace gridtorrent::tracker::app
