#pragma once

#include <string>

#include "base/sql/connection.h"
#include "base/sql/database.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace gridtorrent::sql {

// Internal to base/sql.

/// Whose file it is and how old: kConflict another application's, kUnsupported a newer schema, kCorrupt no database.
/// Returns the schema version, 0 for an empty file.
Result<int> identify(Connection& connection, const Options& options);

/// Brings the schema up to date, each step in its own transaction; an existing database is copied first.
Status migrate(Connection& connection, const Options& options);

/// integrity_check (or the quicker quick_check) and foreign_key_check: kCorrupt with the first findings.
Status check_connection(Connection& connection, bool quick, const std::string& restore_hint);

/// Copies what the connection sees into a new file, checked and synced, under its name only when complete.
/// `replace`: an older file of that name goes; otherwise it is kConflict.
Status copy_database(Connection& from, const std::string& file, bool replace, const std::string& restore_hint);

/// Held for as long as the file is open for writing, by "<path>.lock": kConflict names the process that has it.
Result<UniqueFd> lock_for_writing(const std::string& path);

Status sync_file(const std::string& path);
Status sync_folder_of(const std::string& path);

}  // namespace gridtorrent::sql
