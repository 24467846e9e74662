#include <gtest/gtest.h>

#include <array>

#include "base/sql/database.h"
#include "common/interruptible.h"
#include "tests/unit/sql_fixture.h"

namespace gridtorrent::sql {
namespace {

constexpr std::array<Migration, 1> kSteps = {
    {{1, "items", "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"}}};

// Does not end by itself.
constexpr std::string_view kForEver =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
constexpr std::string_view kQuick = "SELECT count(*) FROM item";

class SqlInterrupt : public ::testing::Test {
 protected:
  SqlInterrupt() {
    Options options;
    options.path = folder_.file("t.db");
    options.application_id = 0xF1234567;
    options.migrations = kSteps;
    options.readers = 1;
    auto opened = Database::open(options);
    EXPECT_TRUE(opened.ok());
    database_ = std::move(*opened);
  }
  Status read(std::string_view sql) {
    return database_->read([&](Transaction& tx) { return tx.exec(sql); });
  }

  TempFolder folder_;
  std::unique_ptr<Database> database_;
};

TEST_F(SqlInterrupt, AReadEndsWithTheReasonThatItsCallerGives) {
  int asked = 0;
  const Interruptible scope([&]() -> std::optional<Error> {
    if (++asked < 3) return std::nullopt;
    return Error{Code::kTimeout, "this took too long"};
  });
  const Status ended = read(kForEver);
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error(), (Error{Code::kTimeout, "this took too long"}));
  EXPECT_EQ(asked, 3);
}

TEST_F(SqlInterrupt, TheConnectionServesTheNextReaderAsBefore) {
  {
    const Interruptible scope([] { return std::optional(Error{Code::kCancelled, "the caller is gone"}); });
    EXPECT_FALSE(read(kForEver).ok());
  }
  // The only reader of the pool: it was given back, outside of any transaction, and nobody interrupts it any more.
  EXPECT_TRUE(read(kQuick).ok());
  ASSERT_TRUE(database_->write([](Transaction& tx) { return tx.exec("INSERT INTO item(name) VALUES ('new')"); }).ok());
  const auto seen =
      database_->read([](Transaction& tx) { return tx.one(kQuick, {}, [](const Row& row) { return row.i64(0); }); });
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->value_or(-1), 1);
}

TEST_F(SqlInterrupt, WritesAreNotTouched) {
  const Interruptible scope([] { return std::optional(Error{Code::kCancelled, "the caller is gone"}); });
  const Status written = database_->write([](Transaction& tx) {
    return tx.exec(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
        "INSERT INTO item(name) SELECT 'item ' || i FROM n");
  });
  EXPECT_TRUE(written.ok());
}

TEST_F(SqlInterrupt, TheInnermostScopeCounts) {
  const Interruptible outer([] { return std::optional(Error{Code::kTimeout, "outer"}); });
  {
    const Interruptible inner([] { return std::optional(Error{Code::kTimeout, "inner"}); });
    EXPECT_EQ(read(kForEver).error().message, "inner");
  }
  EXPECT_EQ(read(kForEver).error().message, "outer");
}

}  // namespace
}  // namespace gridtorrent::sql
