#pragma once

#include <string>
#include <vector>

#include "common/result.h"

namespace gridtorrent::tracker::app {

/// What a start finds in the data folder.
struct DataFolderState {
  bool has_database = false;  ///< the database holds a schema; false where the file is missing or empty
  /// Without a database: what only a server that had one leaves behind, as its operator knows it ("ca.pem").
  /// A start commits the schema before it makes any of these, so that a first start which was killed leaves none of
  /// them without a database.
  std::vector<std::string> remains;
};

/// Looks, changes nothing. `sealing_key`: its path, which may lie outside the data folder. kCorrupt, kConflict,
/// kUnsupported: the database is damaged, another program's or newer; kDisk.
Result<DataFolderState> inspect_data_folder(const std::string& data_dir, const std::string& sealing_key);

/// Whether the server may start on that folder. kCorrupt: the database is lost, since the rest of a server is there;
/// `as_new` (--new) allows it. kConflict: `as_new`, but there is a database: --new must not stay in a unit file, where
/// it would start a new server when the database is lost one day. Pure.
Status may_start(const DataFolderState& state, bool as_new, const std::string& data_dir);

/// Where clients of this machine look for the server's ready file, by $XDG_RUNTIME_DIR (empty: not set). Pure.
std::vector<std::string> ready_files_that_clients_read(const std::string& runtime_folder);

/// What to say once, when the first account was made: how somebody gets in. `needs_login`: no client of this machine
/// finds the server by itself, so the line logs in, too. Pure.
std::string first_invitation(const std::string& address, const std::string& ca_file, const std::string& token_file,
                             bool needs_login);

}  // namespace gridtorrent::tracker::app
