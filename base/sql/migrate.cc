#include <chrono>
#include <string>

#include "base/sql/maintenance.h"

namespace gridtorrent::sql {

namespace {

constexpr const char* kMigrationTable =
    "CREATE TABLE IF NOT EXISTS schema_migration("
    "version INTEGER PRIMARY KEY, name TEXT NOT NULL, sql TEXT NOT NULL, at_ms INTEGER NOT NULL) STRICT";

int newest_version(const Options& options) {
  return options.migrations.empty() ? 0 : options.migrations.back().version;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A released migration never changes: what the database was made with must be what we have.
Status compare_history(Connection& connection, const Options& options) {
  std::size_t seen = 0;
  GT_TRY(connection.run(
      "SELECT version, name, sql FROM schema_migration ORDER BY version", {}, [&](const Row& row) -> Status {
        const Migration* known = seen < options.migrations.size() ? &options.migrations[seen] : nullptr;
        ++seen;
        if (known != nullptr && known->version == row.i32(0) && known->name == row.text(1) &&
            known->sql == row.text(2)) {
          return {};
        }
        return Error{Code::kUnsupported, "database " + connection.path() + ": its schema step " +
                                             std::to_string(row.i64(0)) + " (" + row.text(1) +
                                             ") differs from this program's; use the program that " + "made it, or " +
                                             options.restore_hint};
      }));
  return {};
}

Status apply(Connection& connection, const Migration& migration) {
  GT_TRY(connection.script("BEGIN EXCLUSIVE"));
  const auto steps = [&]() -> Status {
    GT_TRY(connection.script(kMigrationTable));
    GT_TRY(connection.script(std::string(migration.sql)));
    if (migration.then != nullptr) {
      Transaction tx(connection);
      GT_TRY(migration.then(tx));
    }
    const Value values[] = {migration.version, migration.name, migration.sql, now_ms()};
    GT_TRY(
        connection.run("INSERT INTO schema_migration(version, name, sql, at_ms) VALUES (?, ?, ?, ?)", values, nullptr));
    GT_TRY(connection.script("PRAGMA user_version=" + std::to_string(migration.version)));
    return connection.script("COMMIT");
  };
  const Status done = steps();
  if (done) return {};
  const Error error = done.error();
  if (connection.in_transaction()) (void)connection.script("ROLLBACK");  // the first error is the one to tell
  return error.with_context("schema step " + std::to_string(migration.version) + " (" + std::string(migration.name) +
                            ")");
}

}  // namespace

Result<int> identify(Connection& connection, const Options& options) {
  GT_ASSIGN(const std::int64_t application, connection.number("PRAGMA application_id"));
  GT_ASSIGN(const std::int64_t version, connection.number("PRAGMA user_version"));
  GT_ASSIGN(const std::int64_t objects, connection.number("SELECT count(*) FROM sqlite_schema"));
  if (objects == 0 && application == 0 && version == 0) return 0;
  if (static_cast<std::uint32_t>(application) != options.application_id) {
    return Error{Code::kConflict,
                 "database " + connection.path() +
                     " belongs to another application; name another data folder, or move the file away"};
  }
  if (version > newest_version(options)) {
    return Error{Code::kUnsupported, "database " + connection.path() + " has schema " + std::to_string(version) +
                                         ", made by a newer program than this one, which knows up to " +
                                         std::to_string(newest_version(options)) + "; use the newer program, or " +
                                         options.restore_hint};
  }
  return static_cast<int>(version);
}

Status migrate(Connection& connection, const Options& options) {
  int expected = 0;
  for (const Migration& migration : options.migrations) GT_CHECK(migration.version == ++expected);
  GT_ASSIGN(const int version, identify(connection, options));
  if (version == 0) {
    // A negative number in SQLite's eyes where the top bit is set; the four bytes are the same.
    GT_TRY(connection.script("PRAGMA application_id=" +
                             std::to_string(static_cast<std::int32_t>(options.application_id))));
  } else {
    GT_TRY(compare_history(connection, options));
  }
  if (version == newest_version(options)) return {};
  if (version > 0) {
    GT_TRY(copy_database(connection, options.path + ".before-v" + std::to_string(newest_version(options)), true,
                         options.restore_hint));
  }
  for (const Migration& migration : options.migrations) {
    if (migration.version > version) GT_TRY(apply(connection, migration));
  }
  connection.forget_statements();
  return {};
}

}  // namespace gridtorrent::sql
