#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/sql/transaction.h"
#include "common/result.h"

namespace gridtorrent::sql {

/// One step of a schema, as compiled in. Versions count 1, 2, 3 …; a released one never changes (the database keeps the
/// text it was made with and refuses another). `sql` may hold several statements; all tables are STRICT. `then` does
/// what SQL cannot, after it and in the same transaction.
struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
  Status (*then)(Transaction&) = nullptr;
};

struct Options {
  std::string path;                  ///< of the file; its folder must exist; -wal and -shm lie beside it
  std::uint32_t application_id = 0;  ///< four bytes that mark whose file it is; another's is refused
  std::span<const Migration> migrations;
  std::size_t readers = 4;
  std::chrono::microseconds group_window{2000};   ///< how long a running group takes in further writes
  std::size_t group_limit = 128;                  ///< and how many
  std::string restore_hint = "restore a backup";  ///< way out, named in errors about corruption
  /// Called once, on the writer thread, after which every write is refused: the disk did not take a commit, so what it
  /// holds is unknown until the file is opened anew. The program should end.
  std::function<void(const Error&)> on_fatal;
  /// Called with each statement before it runs, on the thread that runs it; for tests and for hunting slow queries.
  std::function<void(std::string_view sql)> on_statement;
};

/// A SQLite database in WAL mode with synchronous=FULL: what a write returned is on the disk.
///
/// One thread ("sql-writer") owns the only connection that writes and checkpoints (SQLite 3.40's WAL-reset race needs
/// two); writes of many threads share commits, each in its own savepoint. Reads run on the caller's thread over a pool
/// of read-only connections. Thread-safe. Do not call write() from inside a write: it would wait for itself (CHECKed).
class Database {
 public:
  /// Makes or opens it, brings its schema up to date (an existing file is first copied to "<path>.before-v<N>"), checks
  /// it. Errors: kUnsupported a newer schema or a network file system; kCorrupt; kConflict another application's
  /// file, or one that another process has open; kDisk.
  static Result<std::unique_ptr<Database>> open(Options options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs `work(Transaction&)`, which returns Status or Result<T>, on the writer thread, and returns its result once
  /// that is durable. An error rolls back what this call did, and nothing else.
  template <class F>
  auto write(F&& work) -> std::invoke_result_t<F&, Transaction&> {
    using R = std::invoke_result_t<F&, Transaction&>;
    std::optional<R> result;
    Status committed = run_write([&](Transaction& tx) -> Status {
      result.emplace(work(tx));
      if (!result->ok()) return result->error();
      return {};
    });
    if (!committed) return committed.error();
    return std::move(*result);
  }

  /// Runs `work(Transaction&)` on this thread in one read transaction: a consistent picture that holds every write that
  /// returned before. Should take less than 100 ms, so that checkpoints get through.
  /// Ends early where an Interruptible of this thread says so (common/interruptible.h), with its error.
  template <class F>
  auto read(F&& work) -> std::invoke_result_t<F&, Transaction&> {
    using R = std::invoke_result_t<F&, Transaction&>;
    std::optional<R> result;
    Status ran = run_read([&](Transaction& tx) -> Status {
      result.emplace(work(tx));
      return {};
    });
    if (!ran) return ran.error();
    return std::move(*result);
  }

  /// integrity_check and foreign_key_check; kCorrupt with the first findings.
  Status check();
  /// A copy of the live database in a new file (refused where one exists), checked, synced, one file without -wal.
  Status backup(const std::string& file);
  int schema_version() const;
  const std::string& path() const;

 private:
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  Status run_write(const std::function<Status(Transaction&)>& work);
  Status run_read(const std::function<Status(Transaction&)>& work);
  std::unique_ptr<Impl> impl_;
};

// For subcommands, beside a running program or without one; they open the file for reading only.
/// Whether the file holds at least the first schema step; false where it is missing or empty. Errors: as
/// Database::open.
Result<bool> holds_schema(const Options& options);
/// As Database::check; kCorrupt also where there is no schema.
Status check_file(const Options& options);
/// As Database::backup; kCorrupt also where there is no schema.
Status backup_file(const Options& options, const std::string& file);
/// As Database::read, over a connection of its own.
Status run_read_file(const Options& options, const std::function<Status(Transaction&)>& work);
template <class F>
auto read_file(const Options& options, F&& work) -> std::invoke_result_t<F&, Transaction&> {
  std::optional<std::invoke_result_t<F&, Transaction&>> result;
  Status ran = run_read_file(options, [&](Transaction& tx) -> Status {
    result.emplace(work(tx));
    return {};
  });
  if (!ran) return ran.error();
  return std::move(*result);
}

/// Puts a backup in the place of the database of `options`, which no process may have open (kConflict). The file that
/// was there is kept as "<path>.replaced-<n>". The backup is checked first (application, schema not newer, integrity).
/// `adjust` changes what is restored, all of it or nothing, before that takes its place.
Status restore(const Options& options, const std::string& backup_file,
               const std::function<Status(Transaction&)>& adjust = nullptr);

/// Refuses network and cluster file systems (NFS, Lustre, GPFS, BeeGFS, CIFS, …): WAL needs shared memory that works.
Status require_local_file_system(const std::string& path);

}  // namespace gridtorrent::sql
