#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/sql/connection.h"
#include "base/sql/database.h"
#include "tests/unit/sql_fixture.h"

namespace gridtorrent::sql {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array<Migration, 2> kSteps = {
    {{1, "items", "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, data BLOB) STRICT;"},
     {2, "parts",
      "CREATE TABLE part(id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES item(id)) STRICT;"
      "CREATE INDEX part_of ON part(item);"}}};

Options options_for(const TempFolder& folder, std::size_t steps = 2) {
  Options options;
  options.path = folder.file("t.db");
  options.application_id = 0xF1234567;
  options.migrations = std::span(kSteps).first(steps);
  options.restore_hint = "restore with: tool restore FILE";
  return options;
}

std::unique_ptr<Database> open_ok(const Options& options) {
  auto database = Database::open(options);
  EXPECT_TRUE(database.ok()) << (database.ok() ? "" : database.error().message);
  return database.ok() ? std::move(*database) : nullptr;
}

Status add(Database& database, const std::string& name) {
  return database.write([&](Transaction& tx) { return tx.exec("INSERT INTO item(name) VALUES (?)", {name}); });
}

std::int64_t count(Database& database) {
  const auto rows = database.read([](Transaction& tx) {
    return tx.one("SELECT count(*) FROM item", {}, [](const Row& row) { return row.i64(0); });
  });
  return rows.ok() ? rows->value_or(-1) : -1;
}

TEST(Sql, KeepsEveryTypeOfValue) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(database->write([&](Transaction& tx) -> Status {
    GT_TRY(tx.exec("CREATE TABLE v(a INTEGER, b REAL, c TEXT, d BLOB, e INTEGER, f TEXT) STRICT"));
    return tx.exec("INSERT INTO v VALUES (?, ?, ?, ?, ?, ?)",
                   {UINT64_MAX, 1.5, "", Blob(bytes), true, std::optional<std::string>()});
  }));
  const auto checked = database->read([&](Transaction& tx) -> Status {
    return tx.each("SELECT a, b, c, d, e, f FROM v", {}, [&](const Row& row) {
      EXPECT_EQ(row.u64(0), UINT64_MAX);
      EXPECT_EQ(row.real(1), 1.5);
      EXPECT_EQ(row.text_or_null(2), std::optional<std::string>(""));
      EXPECT_EQ(row.text(3), bytes);
      EXPECT_TRUE(row.boolean(4));
      EXPECT_TRUE(row.is_null(5));
      EXPECT_EQ(row.text_or_null(5), std::nullopt);
      EXPECT_EQ(row.i64_or_null(4), std::optional<std::int64_t>(1));
      EXPECT_EQ(row.i64_or_null(5), std::nullopt);
    });
  });
  EXPECT_TRUE(checked.ok());
}

TEST(Sql, AFailedWriteLeavesNothingBehind) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const Status failed = database->write([](Transaction& tx) -> Status {
    GT_TRY(tx.exec("INSERT INTO item(name) VALUES ('a')"));
    return Error{Code::kDenied, "no"};
  });
  EXPECT_EQ(failed.error(), (Error{Code::kDenied, "no"}));
  EXPECT_EQ(count(*database), 0);
}

TEST(Sql, AnExceptionInsideOfAWriteIsAnErrorAndRollsBack) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const Status failed = database->write([](Transaction& tx) -> Status {
    GT_TRY(tx.exec("INSERT INTO item(name) VALUES ('a')"));
    throw std::runtime_error("boom");
  });
  EXPECT_EQ(failed.error().code, Code::kInternal);
  EXPECT_THAT(failed.error().message, HasSubstr("boom"));
  EXPECT_EQ(count(*database), 0);
}

TEST(Sql, WritesOfManyThreadsShareCommitsAndFailAlone) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  constexpr int kThreads = 8;
  constexpr int kEach = 40;
  std::atomic<int> conflicts = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          EXPECT_TRUE(add(*database, std::to_string(t) + "-" + std::to_string(i)).ok());
          const Status again = add(*database, "same");
          if (!again && again.error().code == Code::kConflict) ++conflicts;
        }
      });
    }
  }
  EXPECT_EQ(count(*database), kThreads * kEach + 1);
  EXPECT_EQ(conflicts.load(), kThreads * kEach - 1);
}

TEST(Sql, ReadsSeeEveryWriteThatReturned) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(add(*database, std::to_string(i)).ok());
    EXPECT_EQ(count(*database), i + 1);
  }
}

TEST(Sql, ReadersCannotWrite) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const Status failed =
      database->read([](Transaction& tx) -> Status { return tx.exec("INSERT INTO item(name) VALUES ('x')"); });
  EXPECT_EQ(failed.error().code, Code::kDisk);
  EXPECT_EQ(count(*database), 0);
}

TEST(Sql, ConstraintsAreConflicts) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  ASSERT_TRUE(add(*database, "a").ok());
  EXPECT_EQ(add(*database, "a").error().code, Code::kConflict);
  const Status orphan = database->write([](Transaction& tx) { return tx.exec("INSERT INTO part(item) VALUES (77)"); });
  EXPECT_EQ(orphan.error().code, Code::kConflict);
}

TEST(Sql, WrongSqlIsABugOfOurs) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const auto run = [&](std::string_view sql) {
    return database->read([&](Transaction& tx) -> Status { return tx.exec(sql); }).error().code;
  };
  EXPECT_EQ(run("SELEKT"), Code::kInternal);
  EXPECT_EQ(run("SELECT ?"), Code::kInternal);
  EXPECT_EQ(run(""), Code::kInternal);
  EXPECT_EQ(run("SELECT 1; SELECT 2"), Code::kInternal);
}

TEST(Sql, AFullDiskFailsTheWriteAndNotTheOnesAfter) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  ASSERT_TRUE(add(*database, "before").ok());
  ASSERT_TRUE(database->write([](Transaction& tx) -> Status {
    GT_ASSIGN(const auto pages, tx.one("PRAGMA page_count", {}, [](const Row& row) { return row.i64(0); }));
    return tx.exec("PRAGMA max_page_count=" + std::to_string(pages.value_or(0) + 4));
  }));
  const std::string large(1 << 20, 'x');
  const Status full = database->write(
      [&](Transaction& tx) { return tx.exec("INSERT INTO item(name, data) VALUES ('large', ?)", {Blob(large)}); });
  EXPECT_EQ(full.error().code, Code::kDisk);
  EXPECT_THAT(full.error().message, HasSubstr("full"));
  EXPECT_TRUE(add(*database, "after").ok());
  EXPECT_EQ(count(*database), 2);
}

TEST(Sql, ASecondProgramIsRefusedByName) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const auto second = Database::open(options_for(folder));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(::getpid())));
}

TEST(Sql, AnotherApplicationsFileIsRefusedUntouched) {
  const TempFolder folder;
  Options options = options_for(folder);
  open_ok(options).reset();
  options.application_id = 1;
  EXPECT_EQ(Database::open(options).error().code, Code::kConflict);
}

TEST(Sql, ANewerSchemaIsRefused) {
  const TempFolder folder;
  open_ok(options_for(folder, 2)).reset();
  const auto older = Database::open(options_for(folder, 1));
  ASSERT_FALSE(older.ok());
  EXPECT_EQ(older.error().code, Code::kUnsupported);
  EXPECT_THAT(older.error().message, HasSubstr("newer"));
}

TEST(Sql, AChangedMigrationIsRefused) {
  const TempFolder folder;
  open_ok(options_for(folder, 1)).reset();
  static constexpr std::array<Migration, 1> kOther = {{{1, "items", "CREATE TABLE item(id INTEGER) STRICT;"}}};
  Options options = options_for(folder);
  options.migrations = kOther;
  EXPECT_EQ(Database::open(options).error().code, Code::kUnsupported);
}

TEST(Sql, AnUpgradeKeepsTheDataAndABackupOfBefore) {
  const TempFolder folder;
  {
    const auto old = open_ok(options_for(folder, 1));
    ASSERT_TRUE(add(*old, "kept").ok());
    EXPECT_EQ(old->schema_version(), 1);
  }
  {
    const auto upgraded = open_ok(options_for(folder, 2));
    EXPECT_EQ(upgraded->schema_version(), 2);
    EXPECT_EQ(count(*upgraded), 1);
  }
  Options before = options_for(folder, 1);
  before.path += ".before-v2";
  const auto copy = open_ok(before);
  EXPECT_EQ(copy->schema_version(), 1);
  EXPECT_EQ(count(*copy), 1);
}

TEST(Sql, AFailedMigrationChangesNothing) {
  const TempFolder folder;
  {
    ASSERT_TRUE(add(*open_ok(options_for(folder, 1)), "kept").ok());
  }
  static constexpr std::array<Migration, 2> kBroken = {
      {kSteps[0], {2, "broken", "CREATE TABLE extra(a INTEGER) STRICT; INSERT INTO nowhere VALUES (1);"}}};
  Options options = options_for(folder);
  options.migrations = kBroken;
  const auto failed = Database::open(options);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("schema step 2 (broken)"));
  const auto database = open_ok(options_for(folder, 2));
  EXPECT_EQ(count(*database), 1);
  const auto extra = database->read([](Transaction& tx) {
    return tx.one("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'", {}, [](const Row& r) { return r.i64(0); });
  });
  EXPECT_EQ(extra->value_or(-1), 0);
}

TEST(Sql, ADamagedFileIsRefusedAndTheWayOutNamed) {
  const TempFolder folder;
  const Options options = options_for(folder);
  {
    const auto database = open_ok(options);
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(add(*database, "some longer name " + std::to_string(i)).ok());
  }
  {
    std::fstream file(options.path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(8 * 4096);
    const std::string noise(4096, '\x5a');
    file.write(noise.data(), static_cast<std::streamsize>(noise.size()));
  }
  const auto damaged = Database::open(options);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, Code::kCorrupt);
  EXPECT_THAT(damaged.error().message, HasSubstr("tool restore FILE"));
}

TEST(Sql, AFileThatIsNoDatabaseIsRefused) {
  const TempFolder folder;
  const Options options = options_for(folder);
  std::ofstream(options.path) << std::string(8192, 'x');
  EXPECT_EQ(Database::open(options).error().code, Code::kCorrupt);
}

TEST(Sql, AMissingFolderIsADiskError) {
  const TempFolder folder;
  Options options = options_for(folder);
  options.path = folder.file("no/such/t.db");
  EXPECT_EQ(Database::open(options).error().code, Code::kDisk);
}

TEST(Sql, TheFilesAreTheOwnersAlone) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  ASSERT_TRUE(add(*database, "a").ok());
  for (const char* suffix : {"", "-wal"}) {
    struct stat info = {};
    ASSERT_EQ(::stat((database->path() + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0077, 0u) << suffix;
  }
}

TEST(Sql, ABackupOfALiveDatabaseIsWholeAndRestores) {
  const TempFolder folder;
  const Options options = options_for(folder);
  const std::string backup = folder.file("b.db");
  {
    const auto database = open_ok(options);
    ASSERT_TRUE(add(*database, "a").ok());
    ASSERT_TRUE(database->backup(backup).ok());
    EXPECT_EQ(database->backup(backup).error().code, Code::kConflict);
    EXPECT_TRUE(check_file(options).ok());  // beside the one that has it open
    EXPECT_TRUE(backup_file(options, folder.file("b2.db")).ok());
    ASSERT_TRUE(add(*database, "b").ok());
    EXPECT_EQ(restore(options, backup).error().code, Code::kConflict) << "while it is open";
    EXPECT_TRUE(database->check().ok());
  }
  EXPECT_FALSE(std::filesystem::exists(backup + "-wal"));
  ASSERT_TRUE(restore(options, backup).ok());
  EXPECT_EQ(count(*open_ok(options)), 1);
  EXPECT_TRUE(std::filesystem::exists(options.path + ".replaced-1"));
  Options replaced = options;
  replaced.path += ".replaced-1";
  EXPECT_EQ(count(*open_ok(replaced)), 2) << "what was there before is kept whole";
}

TEST(Sql, OnlyAWholeBackupOfOursIsRestored) {
  const TempFolder folder;
  const Options options = options_for(folder);
  {
    ASSERT_TRUE(add(*open_ok(options), "a").ok());
  }
  EXPECT_EQ(restore(options, folder.file("none")).error().code, Code::kNotFound);
  std::ofstream(folder.file("noise")) << std::string(10000, 'n');
  EXPECT_EQ(restore(options, folder.file("noise")).error().code, Code::kCorrupt);
  std::ofstream(folder.file("empty")) << "";
  EXPECT_EQ(restore(options, folder.file("empty")).error().code, Code::kInvalid);
  EXPECT_EQ(count(*open_ok(options)), 1) << "nothing was touched";
}

TEST(Sql, AMissingOrEmptyDatabaseIsNeitherSoundNorBackedUp) {
  const TempFolder folder;
  const Options options = options_for(folder);
  const auto refuses = [&] {
    EXPECT_FALSE(*holds_schema(options));
    const Status checked = check_file(options);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, Code::kCorrupt);
    EXPECT_THAT(checked.error().message, AllOf(HasSubstr("missing or empty"), HasSubstr(options.restore_hint)));
    EXPECT_EQ(backup_file(options, folder.file("b.db")).error().code, Code::kCorrupt);
    EXPECT_FALSE(std::filesystem::exists(folder.file("b.db")));
  };
  refuses();
  std::ofstream(options.path) << "";
  refuses();
  (void)open_ok(options_for(folder, 0));  // ours by its mark, before the first step
  refuses();
  (void)open_ok(options);
  EXPECT_TRUE(*holds_schema(options));
  EXPECT_TRUE(check_file(options).ok());
}

TEST(Sql, ADatabaseThatIsNotOursIsNotTakenForAnEmptyOne) {
  const TempFolder folder;
  const Options options = options_for(folder);
  std::ofstream(options.path) << std::string(10000, 'n');
  EXPECT_EQ(holds_schema(options).error().code, Code::kCorrupt);
}

TEST(Sql, ALongWalIsWrittenBackWhileWorking) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  const std::string data(100'000, 'd');
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(database
                    ->write([&](Transaction& tx) {
                      return tx.exec("INSERT INTO item(name, data) VALUES (?, ?)", {std::to_string(i), Blob(data)});
                    })
                    .ok());
  }
  // 20 MB were written: without checkpoints the WAL would hold all of it.
  EXPECT_LT(std::filesystem::file_size(database->path() + "-wal"), 8u << 20);
}

TEST(Sql, EveryResultCodeHasItsMeaning) {
  EXPECT_EQ(code_of(13), Code::kDisk);             // SQLITE_FULL
  EXPECT_EQ(code_of(8), Code::kDisk);              // SQLITE_READONLY
  EXPECT_EQ(code_of(10 | (4 << 8)), Code::kDisk);  // SQLITE_IOERR_FSYNC
  EXPECT_EQ(code_of(5), Code::kUnreachable);       // SQLITE_BUSY
  EXPECT_EQ(code_of(11), Code::kCorrupt);          // SQLITE_CORRUPT
  EXPECT_EQ(code_of(26), Code::kCorrupt);          // SQLITE_NOTADB
  EXPECT_EQ(code_of(19), Code::kConflict);         // SQLITE_CONSTRAINT
  EXPECT_EQ(code_of(7), Code::kExhausted);         // SQLITE_NOMEM
  EXPECT_EQ(code_of(9), Code::kCancelled);         // SQLITE_INTERRUPT
  EXPECT_EQ(code_of(1), Code::kInternal);          // SQLITE_ERROR
  EXPECT_TRUE(is_fatal(10 | (4 << 8)));
  EXPECT_FALSE(is_fatal(13));
}

TEST(Sql, WhatWasAnsweredSurvivesKillNine) {
  const TempFolder folder;
  const Options options = options_for(folder);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::close(pipe_ends[0]);
    auto database = Database::open(options);
    if (!database.ok()) ::_exit(1);
    for (int i = 0;; ++i) {
      if (!add(**database, std::to_string(i))) ::_exit(1);
      if (::write(pipe_ends[1], &i, sizeof i) != sizeof i) ::_exit(1);
    }
  }
  ::close(pipe_ends[1]);
  int last = -1;
  for (int seen = -1; seen < 300 && ::read(pipe_ends[0], &seen, sizeof seen) == sizeof seen;) last = seen;
  ::kill(child, SIGKILL);
  for (int seen = 0; ::read(pipe_ends[0], &seen, sizeof seen) == sizeof seen;) last = seen;
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(pipe_ends[0]);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto database = open_ok(options);
  EXPECT_GE(count(*database), last + 1);
  EXPECT_LE(count(*database), last + 2) << "one may have been written and not yet answered";
  EXPECT_TRUE(database->check().ok());
}

TEST(Sql, AProgramBesideThatHoldsALockIsWaitedForThenNamed) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  auto other = Connection::open({database->path(), Connection::Mode::kPlain, true, ""});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->script("BEGIN IMMEDIATE").ok());
  const Status locked = add(*database, "a");
  ASSERT_FALSE(locked.ok());
  EXPECT_EQ(locked.error().code, Code::kUnreachable);
  EXPECT_THAT(locked.error().message, HasSubstr("try again"));
  ASSERT_TRUE((*other)->script("ROLLBACK").ok());
  EXPECT_TRUE(add(*database, "a").ok());
}

TEST(Sql, RowsCanBeReadInsideOfARowsVisit) {
  const TempFolder folder;
  const auto database = open_ok(options_for(folder));
  for (const char* name : {"a", "b"}) ASSERT_TRUE(add(*database, name).ok());
  std::vector<std::string> pairs;
  const Status done = database->read([&](Transaction& tx) -> Status {
    constexpr std::string_view kNames = "SELECT name FROM item ORDER BY name";
    return tx.each(kNames, {}, [&](const Row& outer) -> Status {
      const std::string first = outer.text(0);
      return tx.each(kNames, {}, [&](const Row& inner) { pairs.push_back(first + inner.text(0)); });
    });
  });
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(pairs, ElementsAre("aa", "ab", "ba", "bb"));
}

TEST(Sql, LocalFoldersAreAccepted) {
  const TempFolder folder;
  EXPECT_TRUE(require_local_file_system(folder.path()).ok());
  EXPECT_EQ(require_local_file_system(folder.file("none")).error().code, Code::kDisk);
}

}  // namespace
}  // namespace gridtorrent::sql
