#include "base/sql/connection.h"

#include <sqlite3.h>

#include <utility>

#include "base/sql/transaction.h"
#include "common/interruptible.h"

namespace gridtorrent::sql {

namespace {
constexpr std::size_t kMaxPrepared = 256;
// Between two looks at whether a read should end: some 10,000 steps of SQLite's virtual machine take about 1 ms.
constexpr int kStepsBetweenLooks = 10'000;

std::string_view shortened(std::string_view sql) {
  return sql.substr(0, 120);
}

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  struct Binder {
    sqlite3_stmt* statement;
    int index;
    int operator()(std::monostate) const { return sqlite3_bind_null(statement, index); }
    int operator()(std::int64_t v) const { return sqlite3_bind_int64(statement, index, v); }
    int operator()(double v) const { return sqlite3_bind_double(statement, index, v); }
    int operator()(std::string_view v) const {
      // A null pointer would bind NULL: an empty text is a text.
      return sqlite3_bind_text64(statement, index, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    int operator()(const Blob& v) const {
      return sqlite3_bind_blob64(statement, index, v.bytes.empty() ? "" : v.bytes.data(), v.bytes.size(),
                                 SQLITE_STATIC);
    }
  };
  return std::visit(Binder{statement, index}, value.held());
}

/// Gives a statement back, whatever way the function is left.
class InUse {
 public:
  InUse(sqlite3_stmt* statement, bool* busy) : statement_(statement), busy_(busy) {
    if (busy_ != nullptr) *busy_ = true;
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  ~InUse() {
    if (busy_ == nullptr) {
      sqlite3_finalize(statement_);
      return;
    }
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
    *busy_ = false;
  }

 private:
  sqlite3_stmt* statement_;
  bool* busy_;
};
}  // namespace

bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t Row::i64(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Row::real(int column) const {
  return sqlite3_column_double(statement_, column);
}
std::string Row::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int bytes = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string() : std::string(static_cast<const char*>(data), static_cast<std::size_t>(bytes));
}

Code code_of(int sqlite_result) {
  switch (sqlite_result & 0xff) {
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOLFS:
      return Code::kDisk;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return Code::kUnreachable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Code::kCorrupt;
    case SQLITE_CONSTRAINT:
      return Code::kConflict;
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return Code::kExhausted;
    case SQLITE_INTERRUPT:
      return Code::kCancelled;
    default:
      return Code::kInternal;
  }
}

bool is_fatal(int sqlite_result) {
  return (sqlite_result & 0xff) == SQLITE_IOERR;
}

Connection::Connection(sqlite3* db, std::string path, std::string restore_hint)
    : db_(db), path_(std::move(path)), restore_hint_(std::move(restore_hint)) {}

Connection::~Connection() {
  forget_statements();
  sqlite3_close_v2(db_);
}

Result<std::unique_ptr<Connection>> Connection::open(const OpenOptions& options) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  if (options.mode == Mode::kReader) {
    flags |= SQLITE_OPEN_READONLY;
  } else {
    flags |= SQLITE_OPEN_READWRITE | (options.must_exist ? 0 : SQLITE_OPEN_CREATE);
  }
  sqlite3* db = nullptr;
  const int opened = sqlite3_open_v2(options.path.c_str(), &db, flags, nullptr);
  std::unique_ptr<Connection> connection(new Connection(db, options.path, options.restore_hint));
  if (opened != SQLITE_OK) return connection->error(opened, "cannot be opened");
  GT_TRY(connection->configure(options.mode));
  connection->on_statement_ = options.on_statement;
  return connection;
}

Status Connection::configure(Mode mode) {
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
  GT_TRY(script("PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"));
  switch (mode) {
    case Mode::kWriter:
      sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
      return script(
          "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0;"
          "PRAGMA journal_size_limit=67108864;");
    case Mode::kReader:
      // Only the writer may checkpoint, closing included (SQLite 3.40's WAL-reset race).
      sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
      sqlite3_progress_handler(
          db_, kStepsBetweenLooks, [](void* self) { return static_cast<Connection*>(self)->look_up(); }, this);
      return script("PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0;");
    case Mode::kPlain:
      return script("PRAGMA synchronous=FULL;");
  }
  return {};
}

int Connection::look_up() {
  interrupted_ = Interruptible::reason();
  return interrupted_ ? 1 : 0;
}

Error Connection::error(int result, std::string_view doing) {
  last_failure_ = result;
  if ((result & 0xff) == SQLITE_INTERRUPT && interrupted_) return *std::exchange(interrupted_, std::nullopt);
  const std::string detail = db_ != nullptr ? sqlite3_errmsg(db_) : sqlite3_errstr(result);
  const std::string head = "database " + path_ + " " + std::string(doing) + ": ";
  const Code code = code_of(result);
  switch (code) {
    case Code::kConflict:
      return {code, detail};
    case Code::kDisk:
      if ((result & 0xff) == SQLITE_FULL) return {code, head + "the disk is full; free some space and try again"};
      if ((result & 0xff) == SQLITE_READONLY) return {code, head + "it is read-only; make file and folder writable"};
      return {code, head + detail + " (" + sqlite3_errstr(result) + "); check the disk and the permissions"};
    case Code::kUnreachable:
      return {code, head + "another process holds a lock on it; try again in a few seconds"};
    case Code::kCorrupt:
      return {code, head + detail + "; it is not repaired by itself: " + restore_hint_};
    default:
      return {code, head + detail};
  }
}

void Connection::forget_statements() {
  for (auto& [sql, prepared] : statements_) sqlite3_finalize(prepared.statement);
  statements_.clear();
}

Result<sqlite3_stmt*> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int result =
      sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &statement, &tail);
  if (result != SQLITE_OK) return error(result, "refused \"" + std::string(shortened(sql)) + "\"");
  if (statement == nullptr) return Error{Code::kInternal, "empty SQL statement"};
  const std::string_view rest(tail, static_cast<std::size_t>(sql.data() + sql.size() - tail));
  if (rest.find_first_not_of(" \n\t;") != std::string_view::npos) {
    sqlite3_finalize(statement);
    return Error{Code::kInternal, "more than one SQL statement in \"" + std::string(shortened(sql)) + "\""};
  }
  return statement;
}

Status Connection::run(std::string_view sql, std::span<const Value> values,
                       const std::function<Status(const Row&)>& visit) {
  if (on_statement_) on_statement_(sql);
  auto cached = statements_.find(std::string(sql));
  sqlite3_stmt* statement = nullptr;
  bool* busy = nullptr;
  if (cached != statements_.end() && !cached->second.busy) {
    statement = cached->second.statement;
    busy = &cached->second.busy;
  } else {
    GT_ASSIGN(statement, prepare(sql));
    if (cached == statements_.end() && statements_.size() < kMaxPrepared) {
      busy = &statements_.emplace(std::string(sql), Prepared{statement, false}).first->second.busy;
    }
  }
  const InUse in_use(statement, busy);
  if (static_cast<std::size_t>(sqlite3_bind_parameter_count(statement)) != values.size()) {
    return Error{Code::kInternal, "wrong number of parameters for \"" + std::string(shortened(sql)) + "\""};
  }
  int index = 0;
  for (const Value& value : values) {
    const int bound = bind(statement, ++index, value);
    if (bound != SQLITE_OK) return error(bound, "refused a parameter");
  }
  while (true) {
    const int step = sqlite3_step(statement);
    if (step == SQLITE_DONE) return {};
    if (step != SQLITE_ROW) return error(step, "failed at \"" + std::string(shortened(sql)) + "\"");
    if (visit) GT_TRY(visit(Row(statement)));
  }
}

Status Connection::script(const std::string& sql) {
  const int result = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) return error(result, "failed at \"" + std::string(shortened(sql)) + "\"");
  return {};
}

Result<std::int64_t> Connection::number(std::string_view sql) {
  std::int64_t value = 0;
  GT_TRY(run(sql, {}, [&](const Row& row) -> Status {
    value = row.i64(0);
    return {};
  }));
  return value;
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}
std::int64_t Connection::changes() const {
  return sqlite3_changes64(db_);
}
std::int64_t Connection::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(db_);
}

Status Transaction::run(std::string_view sql, std::span<const Value> values,
                        const std::function<Status(const Row&)>& visit) {
  return connection_.run(sql, values, visit);
}
Status Transaction::exec(std::string_view sql, Values values) {
  return connection_.run(sql, {values.begin(), values.size()}, nullptr);
}
Result<std::int64_t> Transaction::change(std::string_view sql, Values values) {
  GT_TRY(exec(sql, values));
  return connection_.changes();
}
std::int64_t Transaction::last_insert_rowid() const {
  return connection_.last_insert_rowid();
}

}  // namespace gridtorrent::sql
