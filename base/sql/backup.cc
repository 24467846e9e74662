#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/sql/maintenance.h"
#include "common/host.h"
#include "common/text.h"

namespace gridtorrent::sql {

namespace {

Error disk_error(std::string_view doing, const std::string& path, int error_number) {
  return {Code::kDisk, "cannot " + std::string(doing) + " " + path + ": " + errno_text(error_number)};
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Status move_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return disk_error("rename " + from + " to", to, errno);
  return {};
}

Status copy_pages(Connection& from, Connection& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) return to.error(sqlite3_errcode(to.handle()), "cannot take a copy");
  // In one step, so in one read transaction: a writer beside it is not stopped, and does not make it start over.
  int result = SQLITE_OK;
  do {
    result = sqlite3_backup_step(backup, -1);
  } while (result == SQLITE_OK);
  sqlite3_backup_finish(backup);
  if (result != SQLITE_DONE) return to.error(result, "cannot be copied to");
  return {};
}

}  // namespace

Status sync_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return disk_error("open", path, errno);
  if (::fsync(file.get()) != 0) return disk_error("sync", path, errno);
  return {};
}

Status sync_folder_of(const std::string& path) {
  const std::string folder = folder_of(path);
  const UniqueFd handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle) return disk_error("open", folder, errno);
  if (::fsync(handle.get()) != 0) return disk_error("sync", folder, errno);
  return {};
}

Status require_local_file_system(const std::string& path) {
  return require_local_disk(path, "choose a data folder on a local disk");
}

Result<UniqueFd> lock_for_writing(const std::string& path) {
  const std::string lock_path = path + ".lock";
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return disk_error("open", lock_path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return disk_error("lock", lock_path, errno);
    std::array<char, 32> holder = {};
    const ssize_t got = ::pread(lock.get(), holder.data(), holder.size() - 1, 0);
    const std::string who =
        got > 0 ? " (process " + std::string(holder.data(), static_cast<std::size_t>(got)) + ")" : "";
    return Error{Code::kConflict, "database " + path + " is in use by another program" + who +
                                      "; stop that one first, or name another data folder"};
  }
  const std::string pid = std::to_string(::getpid());
  // The number is for messages only: the lock itself does not depend on it.
  if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), pid.data(), pid.size(), 0) < 0) {
    return disk_error("write", lock_path, errno);
  }
  return lock;
}

Status check_connection(Connection& connection, bool quick, const std::string& restore_hint) {
  std::string findings;
  const auto note = [&](const std::string& finding) {
    if (findings.size() < 300) findings += (findings.empty() ? "" : "; ") + finding;
  };
  GT_TRY(
      connection.run(quick ? "PRAGMA quick_check(3)" : "PRAGMA integrity_check(3)", {}, [&](const Row& row) -> Status {
        if (row.text(0) != "ok") note(row.text(0));
        return {};
      }));
  GT_TRY(connection.run("PRAGMA foreign_key_check", {}, [&](const Row& row) -> Status {
    note("a row of " + row.text(0) + " refers to a row of " + row.text(2) + " that is missing");
    return {};
  }));
  if (findings.empty()) return {};
  return Error{Code::kCorrupt,
               "database " + connection.path() + " is damaged: " + escape_for_display(findings) + "; " + restore_hint};
}

Status copy_database(Connection& from, const std::string& file, bool replace, const std::string& restore_hint) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(file, ignored)) {
    return Error{Code::kConflict, file + " exists; name another file"};
  }
  const std::string partial = file + ".partial";
  std::filesystem::remove(partial, ignored);
  const UniqueFd created(::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!created) return disk_error("create", partial, errno);
  const auto fill = [&]() -> Status {
    GT_ASSIGN(auto to, Connection::open({partial, Connection::Mode::kPlain, true, restore_hint}));
    GT_TRY(copy_pages(from, *to));
    GT_TRY(to->script("PRAGMA journal_mode=DELETE"));  // one file, without -wal
    return check_connection(*to, false, restore_hint);
  };
  Status filled = fill();
  if (filled) filled = sync_file(partial);
  if (!filled) {
    std::filesystem::remove(partial, ignored);
    return filled;
  }
  // Atomically, and never over a file that has appeared meanwhile.
  if (replace) {
    GT_TRY(move_file(partial, file));
  } else {
    if (::link(partial.c_str(), file.c_str()) != 0) {
      const int error_number = errno;
      std::filesystem::remove(partial, ignored);
      if (error_number == EEXIST) return Error{Code::kConflict, file + " exists; name another file"};
      return disk_error("name", file, error_number);
    }
    std::filesystem::remove(partial, ignored);
  }
  return sync_folder_of(file);
}

namespace {

/// Missing, or without a byte.
Result<bool> is_empty(const std::string& path) {
  struct stat there = {};
  if (::stat(path.c_str(), &there) == 0) return there.st_size == 0;
  if (errno == ENOENT) return true;
  return disk_error("look at", path, errno);
}

/// For reading, and with a schema.
Result<std::unique_ptr<Connection>> open_whole(const Options& options) {
  GT_ASSIGN(const bool empty, is_empty(options.path));
  if (!empty) {
    GT_ASSIGN(auto connection, Connection::open({options.path, Connection::Mode::kReader, true, options.restore_hint}));
    GT_ASSIGN(const int version, identify(*connection, options));
    if (version > 0) return connection;
  }
  return Error{Code::kCorrupt, "database " + options.path + " is missing or empty; " + options.restore_hint};
}

}  // namespace

Result<bool> holds_schema(const Options& options) {
  GT_ASSIGN(const bool empty, is_empty(options.path));
  if (empty) return false;
  // Not for reading only: a first start that was killed may have left a journal to roll back.
  GT_ASSIGN(auto connection, Connection::open({options.path, Connection::Mode::kPlain, true, options.restore_hint}));
  GT_ASSIGN(const int version, identify(*connection, options));
  return version > 0;
}

Status check_file(const Options& options) {
  GT_ASSIGN(auto connection, open_whole(options));
  return check_connection(*connection, false, options.restore_hint);
}

Status backup_file(const Options& options, const std::string& file) {
  GT_ASSIGN(auto connection, open_whole(options));
  return copy_database(*connection, file, false, options.restore_hint);
}

Status run_read_file(const Options& options, const std::function<Status(Transaction&)>& work) {
  GT_ASSIGN(auto connection, Connection::open({options.path, Connection::Mode::kReader, true, options.restore_hint}));
  GT_TRY(connection->script("BEGIN"));
  Transaction tx(*connection);
  return work(tx);
}

namespace {

Status adjust_copy(Connection& copy, const std::function<Status(Transaction&)>& adjust) {
  GT_TRY(copy.script("BEGIN"));
  Transaction tx(copy);
  GT_TRY(adjust(tx));  // where it fails, the copy goes
  return copy.script("COMMIT");
}

}  // namespace

Status restore(const Options& options, const std::string& backup, const std::function<Status(Transaction&)>& adjust) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_regular_file(backup, failed)) return Error{Code::kNotFound, "no backup file " + backup};
  GT_ASSIGN(const UniqueFd lock, lock_for_writing(options.path));
  const std::string incoming = options.path + ".restoring";
  fs::remove(incoming, failed);
  // A byte copy, so that the backup may lie where nothing can be written.
  if (!fs::copy_file(backup, incoming, failed)) {
    return Error{Code::kDisk, "cannot copy " + backup + " to " + incoming + ": " + failed.message()};
  }
  const auto prepare = [&]() -> Status {
    GT_ASSIGN(auto copy, Connection::open({incoming, Connection::Mode::kPlain, true, "take another backup file"}));
    GT_ASSIGN(const int version, identify(*copy, options));
    if (version == 0) return Error{Code::kInvalid, backup + " is an empty database, no backup of ours"};
    GT_TRY(copy->script("PRAGMA journal_mode=DELETE"));
    GT_TRY(check_connection(*copy, false, "take another backup file"));
    return adjust ? adjust_copy(*copy, adjust) : Status();
  };
  Status prepared = prepare();
  if (prepared) prepared = sync_file(incoming);
  if (!prepared) {
    fs::remove(incoming, failed);
    return prepared.error().with_context("backup " + backup);
  }
  if (fs::exists(options.path, failed)) {
    int number = 1;
    while (fs::exists(options.path + ".replaced-" + std::to_string(number), failed)) ++number;
    const std::string kept = options.path + ".replaced-" + std::to_string(number);
    GT_TRY(move_file(options.path, kept));
    // What was committed but not yet in the main file goes along.
    if (fs::exists(options.path + "-wal", failed)) GT_TRY(move_file(options.path + "-wal", kept + "-wal"));
    fs::remove(options.path + "-shm", failed);
  }
  GT_TRY(move_file(incoming, options.path));
  return sync_folder_of(options.path);
}

}  // namespace gridtorrent::sql
