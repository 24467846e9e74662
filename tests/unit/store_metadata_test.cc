// Where a node keeps the metadata of contents, and for how long.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>

#include "client/store/sqlite_store.h"
#include "common/rng.h"
#include "tests/support/temp_folder.h"

namespace gridtorrent::testing {
namespace {

using namespace client;

TEST(SqliteStore, WritesMetadataNowhereElse) {
  TempFolder folder;
  const auto opened = store::SqliteStore::open({folder.path(), {}});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  for (const char* name : {"", "..", "../credential.json", "ab/cd", "AB", "/tmp/x"}) {
    EXPECT_EQ((*opened)->save_metadata(name, "hostile").error().code, Code::kCorrupt) << name;
    EXPECT_EQ((*opened)->load_metadata(name).error().code, Code::kCorrupt) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "credential.json"));
}

TEST(SqliteStore, KeepsMetadataFromOthersEyes) {
  TempFolder folder;
  auto opened = store::SqliteStore::open({folder.path(), {}});
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE((*opened)->save_metadata("ab", "x").ok());
  struct stat status{};
  ASSERT_EQ(::stat((folder / "metadata/ab").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

/// A node's data folder with documents that were saved some time ago.
class OldMetadata : public ::testing::Test {
 protected:
  OldMetadata() { open(); }
  void open() {
    store_.reset();
    auto opened = store::SqliteStore::open({folder_.path(), {}});
    if (!opened) ADD_FAILURE() << opened.error().message;
    store_ = std::move(*opened);
  }
  void saved(const std::string& name, std::chrono::minutes ago) {
    ASSERT_TRUE(store_->save_metadata(name, "document"));
    std::filesystem::last_write_time(file(name), std::filesystem::file_time_type::clock::now() - ago);
  }
  TransferRow named(const std::string& metadata) {
    TransferRow row;
    row.id = TransferId::make(WallTime{++rows_}, rng_);
    row.content.metadata_sha256 = metadata;
    EXPECT_TRUE(store_->put_transfers(std::span(&row, 1)));
    return row;
  }
  std::string file(const std::string& name) const { return folder_ / ("metadata/" + name); }
  bool is_there(const std::string& name) const { return std::filesystem::exists(file(name)); }

  TempFolder folder_;
  SeededRng rng_{1};
  std::int64_t rows_ = 0;
  std::unique_ptr<store::SqliteStore> store_;
};

TEST_F(OldMetadata, GoesWithTheLastTransferThatNamesIt) {
  saved("aa", std::chrono::minutes(61));
  const auto one = named("aa"), other = named("aa");
  ASSERT_TRUE(store_->erase_transfer(one.id));
  EXPECT_TRUE(is_there("aa"));
  ASSERT_TRUE(store_->erase_transfer(other.id));
  EXPECT_FALSE(is_there("aa"));
}
TEST_F(OldMetadata, ThatNoTransferNamesGoesAtTheNextStart) {
  saved("aa", std::chrono::minutes(61));
  saved("bb", std::chrono::minutes(61));
  named("bb");
  std::ofstream(file("cc.new-77")) << "of a crash";
  std::filesystem::last_write_time(file("cc.new-77"),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  open();
  EXPECT_FALSE(is_there("aa"));
  EXPECT_FALSE(is_there("cc.new-77"));
  EXPECT_EQ(*store_->load_metadata("bb"), "document");
}
TEST_F(OldMetadata, IsLeftAloneBesideADatabaseWithoutTransfers) {
  saved("aa", std::chrono::minutes(61));
  open();
  EXPECT_TRUE(is_there("aa"));
}
TEST_F(OldMetadata, ThatIsYoungMayStillBeNamed) {
  saved("aa", std::chrono::minutes(59));
  const auto row = named("aa");
  ASSERT_TRUE(store_->erase_transfer(row.id));
  open();
  EXPECT_TRUE(is_there("aa"));
}

}  // namespace
}  // namespace gridtorrent::testing
