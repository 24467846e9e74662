#include "base/sql/database.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/sql/connection.h"
#include "base/sql/maintenance.h"
#include "common/text.h"

namespace gridtorrent::sql {

namespace {
constexpr int kCheckpointPages = 1024;  // 4 MiB of WAL
constexpr auto kIdleBeforeTruncate = std::chrono::seconds(2);
constexpr auto kReaderWait = std::chrono::seconds(5);

Status guarded(const std::function<Status(Transaction&)>& work, Connection& connection) {
  Transaction tx(connection);
  try {
    return work(tx);
  } catch (const std::exception& e) {
    return Error{Code::kInternal, std::string("database work threw: ") + e.what()};
  }
}
}  // namespace

struct Database::Impl {
  explicit Impl(Options o) : options(std::move(o)) {}
  ~Impl() { stop(); }

  struct Operation {
    const std::function<Status(Transaction&)>& work;
    Status result;
    bool done = false;
  };

  Status start();
  void stop();
  void writer_loop(const std::stop_token& stop_token);
  /// Takes one group off the queue, commits it, answers. Holds the lock on entry and exit.
  void run_group(std::unique_lock<std::mutex>& lock);
  Status run_in_savepoint(Operation& operation);
  Status commit(bool anything);
  void fail_for_good(const Error& error);
  void checkpoint(bool truncate);
  Result<std::unique_ptr<Connection>> take_reader();
  void give_back(std::unique_ptr<Connection> reader);

  const Options options;
  int version = 0;
  UniqueFd file_lock;

  // Of the writer thread alone, once it runs.
  std::unique_ptr<Connection> writer;
  int wal_pages = 0;
  int next_checkpoint_pages = kCheckpointPages;

  std::mutex write_mutex;
  std::condition_variable_any writes_waiting;
  std::condition_variable writes_done;
  std::deque<Operation*> queue;
  std::optional<Error> failed;  // under write_mutex

  std::mutex read_mutex;
  std::condition_variable reader_free;
  std::vector<std::unique_ptr<Connection>> readers;

  std::jthread thread;
};

Status Database::Impl::start() {
  namespace fs = std::filesystem;
  const std::string folder = fs::path(options.path).parent_path().string();
  GT_TRY(require_local_file_system(folder.empty() ? "." : folder));
  GT_ASSIGN(file_lock, lock_for_writing(options.path));
  {
    // Made here, so that it is the owner's alone; SQLite gives -wal and -shm the same mode.
    const UniqueFd created(::open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!created) return Error{Code::kDisk, "cannot open database " + options.path + ": " + errno_text(errno)};
  }
  {
    // Whose is it? Asked before a setting is changed in the file.
    GT_ASSIGN(auto plain, Connection::open({options.path, Connection::Mode::kPlain, true, options.restore_hint}));
    GT_TRY(identify(*plain, options));
  }
  GT_ASSIGN(writer, Connection::open(
                        {options.path, Connection::Mode::kWriter, true, options.restore_hint, options.on_statement}));
  GT_TRY(check_connection(*writer, true, options.restore_hint));
  GT_TRY(migrate(*writer, options));
  GT_ASSIGN(const std::int64_t schema, writer->number("PRAGMA user_version"));
  version = static_cast<int>(schema);
  sqlite3_wal_hook(
      writer->handle(),
      [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Impl*>(self)->wal_pages = pages;
        return SQLITE_OK;
      },
      this);
  for (std::size_t i = 0; i < options.readers; ++i) {
    GT_ASSIGN(auto reader, Connection::open({options.path, Connection::Mode::kReader, true, options.restore_hint,
                                             options.on_statement}));
    readers.push_back(std::move(reader));
  }
  thread = std::jthread([this](const std::stop_token& stop_token) { writer_loop(stop_token); });
  pthread_setname_np(thread.native_handle(), "sql-writer");
  return {};
}

void Database::Impl::stop() {
  if (thread.joinable()) {
    thread.request_stop();
    thread.join();
  }
  readers.clear();  // the writer opens first and closes last
  writer.reset();
}

void Database::Impl::writer_loop(const std::stop_token& stop_token) {
  std::unique_lock lock(write_mutex);
  while (true) {
    const auto has_work = [this] { return !queue.empty(); };
    if (wal_pages == 0) {
      writes_waiting.wait(lock, stop_token, has_work);
    } else if (!writes_waiting.wait_for(lock, stop_token, kIdleBeforeTruncate, has_work) &&
               !stop_token.stop_requested()) {
      lock.unlock();
      checkpoint(true);
      lock.lock();
      continue;
    }
    if (!queue.empty()) {
      run_group(lock);
    } else if (stop_token.stop_requested()) {
      lock.unlock();
      if (wal_pages > 0) checkpoint(true);
      return;
    }
  }
}

void Database::Impl::run_group(std::unique_lock<std::mutex>& lock) {
  std::vector<Operation*> group;
  std::optional<Error> all_failed = failed;
  const auto deadline = std::chrono::steady_clock::now() + options.group_window;
  bool anything = false;
  bool begun = false;
  bool lost = false;
  while (!queue.empty() && group.size() < options.group_limit) {
    Operation* operation = queue.front();
    queue.pop_front();
    group.push_back(operation);
    lock.unlock();
    if (!begun && !all_failed) {
      if (const Status began = writer->script("BEGIN IMMEDIATE"); !began) all_failed = began.error();
      begun = true;
    }
    if (!all_failed) {
      operation->result = run_in_savepoint(*operation);
      anything = anything || operation->result.ok();
      // SQLite rolls back everything by itself where the disk is full or fails.
      lost = !writer->in_transaction();
      if (lost) all_failed = operation->result.error();
    }
    lock.lock();
    // Where no transaction could be begun at all, the others in the queue would only wait as long for the same answer.
    if (lost || (!all_failed && std::chrono::steady_clock::now() >= deadline)) break;
  }
  lock.unlock();
  if (lost && is_fatal(writer->last_failure())) fail_for_good(*all_failed);
  if (!all_failed) {
    if (const Status committed = commit(anything); !committed) all_failed = committed.error();
  }
  lock.lock();
  for (Operation* operation : group) {
    if (all_failed && operation->result.ok()) operation->result = *all_failed;
    operation->done = true;
  }
  writes_done.notify_all();
  if (wal_pages >= next_checkpoint_pages) {
    lock.unlock();
    checkpoint(false);
    lock.lock();
  }
}

Status Database::Impl::run_in_savepoint(Operation& operation) {
  GT_TRY(writer->script("SAVEPOINT operation"));
  Status result = guarded(operation.work, *writer);
  if (!writer->in_transaction()) {
    return result ? Status(Error{Code::kInternal, "database work ended the transaction it ran in"}) : result;
  }
  if (!result) GT_TRY(writer->script("ROLLBACK TO operation"));
  GT_TRY(writer->script("RELEASE operation"));
  return result;
}

Status Database::Impl::commit(bool anything) {
  const Status committed = writer->script(anything ? "COMMIT" : "ROLLBACK");
  if (committed) return {};
  const Error error = committed.error();
  const bool fatal = is_fatal(writer->last_failure());
  if (writer->in_transaction()) (void)writer->script("ROLLBACK");  // the first error is the one to tell
  if (fatal) fail_for_good(error);
  return error;
}

void Database::Impl::fail_for_good(const Error& error) {
  {
    const std::lock_guard guard(write_mutex);
    if (failed) return;
    failed = Error{error.code, error.message + "; nothing more is written until a restart"};
  }
  if (options.on_fatal) options.on_fatal(error);
}

void Database::Impl::checkpoint(bool truncate) {
  int in_wal = 0;
  int done = 0;
  // Without waiting for readers: writes that come meanwhile must not wait with us.
  sqlite3_busy_timeout(writer->handle(), 0);
  const int result = sqlite3_wal_checkpoint_v2(
      writer->handle(), nullptr, truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, &in_wal, &done);
  sqlite3_busy_timeout(writer->handle(), Connection::kBusyTimeoutMs);
  if (is_fatal(result)) {
    fail_for_good(writer->error(result, "failed at a checkpoint"));
  }
  if (result == SQLITE_OK && (truncate || in_wal == done)) {
    wal_pages = 0;
    next_checkpoint_pages = kCheckpointPages;
    return;
  }
  // Readers hold it up, or the disk is full: what is committed is safe in the WAL. Again after as much more.
  next_checkpoint_pages = wal_pages + kCheckpointPages;
  if (truncate) wal_pages = 0;  // no busy loop while idle
}

Result<std::unique_ptr<Connection>> Database::Impl::take_reader() {
  std::unique_lock lock(read_mutex);
  if (!reader_free.wait_for(lock, kReaderWait, [this] { return !readers.empty(); })) {
    return Error{Code::kUnreachable, "database " + options.path + ": all readers are busy; try again in a few seconds"};
  }
  auto reader = std::move(readers.back());
  readers.pop_back();
  return reader;
}

void Database::Impl::give_back(std::unique_ptr<Connection> reader) {
  {
    const std::lock_guard lock(read_mutex);
    readers.push_back(std::move(reader));
  }
  reader_free.notify_one();
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(Options options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  GT_TRY(impl->start());
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

Status Database::run_write(const std::function<Status(Transaction&)>& work) {
  GT_CHECK(std::this_thread::get_id() != impl_->thread.get_id());
  Impl::Operation operation{work, {}, false};
  std::unique_lock lock(impl_->write_mutex);
  impl_->queue.push_back(&operation);
  impl_->writes_waiting.notify_one();
  impl_->writes_done.wait(lock, [&] { return operation.done; });
  return operation.result;
}

Status Database::run_read(const std::function<Status(Transaction&)>& work) {
  GT_ASSIGN(auto reader, impl_->take_reader());
  Status result = reader->script("BEGIN");
  if (result) {
    result = guarded(work, *reader);
    // Nothing was written: how it ends makes no difference, and it may have ended by itself after an error.
    if (reader->in_transaction()) (void)reader->script("ROLLBACK");
  }
  impl_->give_back(std::move(reader));
  return result;
}

Status Database::check() {
  GT_ASSIGN(auto reader, impl_->take_reader());
  Status result = check_connection(*reader, false, impl_->options.restore_hint);
  impl_->give_back(std::move(reader));
  return result;
}

Status Database::backup(const std::string& file) {
  GT_ASSIGN(auto reader, impl_->take_reader());
  Status result = copy_database(*reader, file, false, impl_->options.restore_hint);
  impl_->give_back(std::move(reader));
  return result;
}

int Database::schema_version() const {
  return impl_->version;
}
const std::string& Database::path() const {
  return impl_->options.path;
}

}  // namespace gridtorrent::sql
