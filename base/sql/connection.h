#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/sql/value.h"
#include "common/result.h"

struct sqlite3;

namespace gridtorrent::sql {

/// What SQLite's extended result code means for us (security paper, fault matrix 4-6, 11, 12): kDisk full, read-only,
/// failing; kUnreachable locked; kCorrupt damaged or no database; kConflict a constraint; kInternal everything else.
Code code_of(int sqlite_result);

/// True where the disk refused to take what SQLite was told to make durable: what the file holds is unknown then.
bool is_fatal(int sqlite_result);

/// One connection with its settings and its prepared statements, used by one thread at a time. Internal to base/sql.
class Connection {
 public:
  static constexpr int kBusyTimeoutMs = 5000;
  enum class Mode { kWriter, kReader, kPlain };
  struct OpenOptions {
    std::string path;
    Mode mode = Mode::kWriter;
    bool must_exist = false;
    std::string restore_hint;
    std::function<void(std::string_view sql)> on_statement{};
  };
  /// kWriter: WAL, synchronous=FULL, no automatic checkpoints; kReader: read-only file, query_only; kPlain: a file of
  /// its own without WAL, for backups.
  static Result<std::unique_ptr<Connection>> open(const OpenOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Runs one statement, prepared and kept for the next time; `visit` gets the rows.
  Status run(std::string_view sql, std::span<const Value> values, const std::function<Status(const Row&)>& visit);
  /// Runs any number of statements without parameters.
  Status script(const std::string& sql);
  Result<std::int64_t> number(std::string_view sql);

  bool in_transaction() const;
  std::int64_t changes() const;
  std::int64_t last_insert_rowid() const;
  /// The result of the last statement that failed.
  int last_failure() const { return last_failure_; }
  sqlite3* handle() const { return db_; }
  const std::string& path() const { return path_; }
  Error error(int result, std::string_view doing);
  void forget_statements();

 private:
  Connection(sqlite3* db, std::string path, std::string restore_hint);
  Status configure(Mode mode);
  Result<sqlite3_stmt*> prepare(std::string_view sql);
  /// The progress handler: not 0 ends the statement.
  int look_up();

  struct Prepared {
    sqlite3_stmt* statement = nullptr;
    bool busy = false;
  };
  sqlite3* db_;
  std::string path_;
  std::string restore_hint_;
  std::unordered_map<std::string, Prepared> statements_;
  int last_failure_ = 0;
  std::optional<Error> interrupted_;  ///< why the statement under way was ended
  std::function<void(std::string_view)> on_statement_;
};

}  // namespace gridtorrent::sql
