#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "base/sql/database.h"
#include "tests/unit/sql_fixture.h"

// Disks that fail: SQLite's file layer is wrapped, so that a sync or a write fails when the test says so.

namespace gridtorrent::sql {
namespace {

using testing::HasSubstr;

std::atomic<bool> fail_sync = false;
std::atomic<bool> fail_write = false;
std::atomic<const sqlite3_io_methods*> real_methods =
    nullptr;  // of any file: sync and write are the same for all kinds
std::map<const sqlite3_io_methods*, sqlite3_io_methods> faulty_methods;
std::mutex methods_mutex;
sqlite3_vfs faulty_vfs;
sqlite3_vfs* real_vfs = nullptr;

int sync_or_fail(sqlite3_file* file, int flags) {
  return fail_sync ? SQLITE_IOERR_FSYNC : real_methods.load()->xSync(file, flags);
}
int write_or_fail(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
  return fail_write ? SQLITE_FULL : real_methods.load()->xWrite(file, data, bytes, offset);
}
int open_faulty(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int opened = real_vfs->xOpen(real_vfs, name, file, flags, out_flags);
  if (opened != SQLITE_OK || file->pMethods == nullptr) return opened;
  const std::lock_guard lock(methods_mutex);
  real_methods = file->pMethods;
  auto [place, is_new] = faulty_methods.try_emplace(file->pMethods, *file->pMethods);
  if (is_new) {
    place->second.xSync = sync_or_fail;
    place->second.xWrite = write_or_fail;
  }
  file->pMethods = &place->second;
  return SQLITE_OK;
}

constexpr std::array<Migration, 1> kSteps = {{{1, "items", "CREATE TABLE item(name TEXT NOT NULL) STRICT;"}}};

class SqlFaults : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    sqlite3_initialize();
    real_vfs = sqlite3_vfs_find(nullptr);
    faulty_vfs = *real_vfs;
    faulty_vfs.zName = "faulty";
    faulty_vfs.xOpen = open_faulty;
    sqlite3_vfs_register(&faulty_vfs, 1);
  }
  static void TearDownTestSuite() { sqlite3_vfs_unregister(&faulty_vfs); }
  void TearDown() override {
    fail_sync = false;
    fail_write = false;
  }

  std::unique_ptr<Database> open() {
    Options options;
    options.path = folder_.file("t.db");
    options.application_id = 1;
    options.migrations = kSteps;
    options.on_fatal = [this](const Error& error) {
      ++fatal_;
      reason_ = error.message;
    };
    auto opened = Database::open(options);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    return opened.ok() ? std::move(*opened) : nullptr;
  }
  static Status add(Database& database, const std::string& name) {
    return database.write([&](Transaction& tx) { return tx.exec("INSERT INTO item(name) VALUES (?)", {name}); });
  }
  static std::int64_t count(Database& database) {
    const auto rows = database.read([](Transaction& tx) {
      return tx.one("SELECT count(*) FROM item", {}, [](const Row& row) { return row.i64(0); });
    });
    return rows.ok() ? rows->value_or(-1) : -1;
  }

  TempFolder folder_;
  std::atomic<int> fatal_ = 0;
  std::string reason_;
};

TEST_F(SqlFaults, AFailedSyncIsNeverAcknowledgedAndEndsWriting) {
  {
    const auto database = open();
    ASSERT_TRUE(add(*database, "before").ok());
    fail_sync = true;
    const Status failed = add(*database, "lost");
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, Code::kDisk);
    EXPECT_EQ(fatal_, 1);
    EXPECT_THAT(reason_, HasSubstr("t.db"));
    fail_sync = false;
    const Status refused = add(*database, "after");
    ASSERT_FALSE(refused.ok()) << "a sync that failed once may have lost data that a second one would not report";
    EXPECT_THAT(refused.error().message, HasSubstr("restart"));
    EXPECT_EQ(count(*database), 1) << "reading goes on";
    EXPECT_EQ(fatal_, 1);
  }
  const auto database = open();
  EXPECT_TRUE(database->check().ok());
  EXPECT_GE(count(*database), 1);
  EXPECT_TRUE(add(*database, "again").ok());
}

TEST_F(SqlFaults, ADiskThatIsFullAtTheCommitFailsThatWriteAlone) {
  const auto database = open();
  ASSERT_TRUE(add(*database, "before").ok());
  fail_write = true;
  for (int i = 0; i < 3; ++i) {
    const Status full = add(*database, "lost");
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code, Code::kDisk);
    EXPECT_THAT(full.error().message, HasSubstr("full"));
  }
  fail_write = false;
  EXPECT_EQ(count(*database), 1);
  EXPECT_TRUE(add(*database, "after").ok()) << "without a restart";
  EXPECT_EQ(count(*database), 2);
  EXPECT_EQ(fatal_, 0);
}

}  // namespace
}  // namespace gridtorrent::sql
