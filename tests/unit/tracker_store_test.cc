#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/audit_records.h"
#include "tests/support/server_world.h"
#include "tracker/store/schema.h"
#include "tracker/store/task_json.h"

namespace gridtorrent::tracker::store {
namespace {

using testing::HasSubstr;
using testing_support::code_of;
using testing_support::message_of;

/// Of "0123456789".
const std::string kHash = "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882";
const std::string kOther(64, 'b');
constexpr WallTime kNow{1'800'000'000'000};

class ServerData : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open({folder_.path(), {}});
    EXPECT_TRUE(store.ok()) << message_of(store);
    return store.ok() ? std::move(*store) : nullptr;
  }
  void fill(ccm::Store& store, const std::string& name, const std::string& hash, std::uint64_t bytes) {
    EXPECT_TRUE(store
                    .write([&](ccm::Tx& tx) -> Status {
                      GT_ASSIGN(auto user, tx.users.by_name("alice"));
                      if (!user) {
                        user = ccm::User{UserId::make({1}, rng_), "alice", false, false, {1}, ""};
                        GT_TRY(tx.users.insert(*user));
                      }
                      ccm::Content content;
                      content.id = ContentId::make({1}, rng_);
                      content.owner = user->id;
                      content.name = name;
                      content.state = ccm::ContentState::kPublished;
                      content.metadata_sha256 = hash;
                      content.metadata_bytes = bytes;
                      return tx.contents.insert(content);
                    })
                    .ok());
  }
  std::size_t contents(ccm::Store& store) {
    std::size_t count = 0;
    EXPECT_TRUE(store
                    .read([&](ccm::Tx& tx) -> Status {
                      GT_ASSIGN(const auto user, tx.users.by_name("alice"));
                      if (!user) return {};
                      GT_ASSIGN(const auto usage, tx.contents.usage(user->id));
                      count = usage.contents;
                      return {};
                    })
                    .ok());
    return count;
  }
  sql::TempFolder folder_;
  SeededRng rng_{21};
};

TEST_F(ServerData, DocumentsComeBackInParts) {
  const auto files = MetadataFolder::open(folder_.path());
  ASSERT_TRUE(files.ok()) << message_of(files);
  ASSERT_TRUE((*files)->put(kHash, "0123456789").ok());
  ASSERT_TRUE((*files)->put(kHash, "0123456789").ok()) << "again";
  EXPECT_EQ(*(*files)->size(kHash), 10u);
  EXPECT_EQ(*(*files)->read(kHash, 0, 4), "0123");
  EXPECT_EQ(*(*files)->read(kHash, 8, 100), "89");
  EXPECT_EQ(*(*files)->read(kHash, 10, 1), "");
  EXPECT_EQ(*(*files)->read(kHash, 1000, 1), "");
  struct stat info = {};
  ASSERT_EQ(::stat((folder_.path() + "/metadata/" + kHash).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0077, 0u);
}

TEST_F(ServerData, DocumentsAreNamedByHashesAlone) {
  const auto files = MetadataFolder::open(folder_.path());
  for (const std::string& bad :
       {std::string("../x"), std::string(63, 'a'), std::string(64, 'A'), std::string(64, '/')}) {
    EXPECT_EQ(code_of((*files)->put(bad, "x")), Code::kInvalid);
    EXPECT_EQ(code_of((*files)->size(bad)), Code::kInvalid);
    EXPECT_EQ(code_of((*files)->read(bad, 0, 1)), Code::kInvalid);
  }
  EXPECT_EQ(code_of((*files)->size(kHash)), Code::kCorrupt);
  EXPECT_EQ(code_of((*files)->read(kHash, 0, 1)), Code::kCorrupt);
}

TEST_F(ServerData, WhatAnInterruptedPutLeftIsRemovedByTheServerAlone) {
  ASSERT_TRUE(MetadataFolder::open(folder_.path()).ok());
  const std::string left = folder_.path() + "/metadata/.partial-1-1";
  std::ofstream(left) << "half";
  ASSERT_TRUE(MetadataFolder::attach(folder_.path()).ok());
  EXPECT_TRUE(std::filesystem::exists(left)) << "it may be a running server's";
  ASSERT_TRUE(MetadataFolder::open(folder_.path()).ok());
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ServerData, ADocumentThatWasCutIsWrittenAnew) {
  const auto files = MetadataFolder::open(folder_.path());
  std::ofstream(folder_.path() + "/metadata/" + kHash) << "0123";
  ASSERT_TRUE((*files)->put(kHash, "0123456789").ok());
  EXPECT_EQ(*(*files)->size(kHash), 10u);
}

TEST_F(ServerData, ADocumentThatWasAlteredIsWrittenAnew) {
  const auto files = MetadataFolder::open(folder_.path());
  std::ofstream(folder_.path() + "/metadata/" + kHash) << "0123456798";
  ASSERT_TRUE((*files)->put(kHash, "0123456789").ok());
  EXPECT_EQ(*(*files)->read(kHash, 0, 100), "0123456789");
}

TEST_F(ServerData, AFolderThatCannotBeMadeIsADiskError) {
  std::ofstream(folder_.path() + "/metadata") << "a file";
  EXPECT_EQ(code_of(MetadataFolder::open(folder_.path())), Code::kDisk);
  EXPECT_EQ(code_of(MetadataFolder::open(folder_.path() + "/none")), Code::kDisk);
}

TEST_F(ServerData, CheckFindsMissingCutAndAlteredDocuments) {
  {
    const auto store = open();
    fill(*store, "data", kHash, 10);
  }
  EXPECT_EQ(code_of(check(folder_.path())), Code::kCorrupt);
  const auto files = MetadataFolder::open(folder_.path());
  ASSERT_TRUE((*files)->put(kHash, "short").ok());
  const auto cut = check(folder_.path());
  EXPECT_EQ(code_of(cut), Code::kCorrupt);
  EXPECT_THAT(message_of(cut), HasSubstr("restore FILE"));
  std::ofstream(folder_.path() + "/metadata/" + kHash) << "0123456798";
  EXPECT_THAT(message_of(check(folder_.path())), HasSubstr("was altered; "));
  ASSERT_TRUE((*files)->put(kHash, "short").ok());
  ASSERT_TRUE((*files)->put(kHash, "0123456789").ok());
  const auto good = check(folder_.path());
  EXPECT_TRUE(good.ok()) << message_of(good);
}

TEST_F(ServerData, ABackupIsOneFileThatBringsEverythingBack) {
  const std::string file = folder_.path() + "/backup.gt";
  {
    const auto store = open();
    const auto files = MetadataFolder::open(folder_.path());
    ASSERT_TRUE((*files)->put(kHash, "0123456789").ok());
    ASSERT_TRUE((*files)->put(kOther, "later").ok());
    fill(*store, "data", kHash, 10);
    const auto done = backup(folder_.path(), file);  // beside the store that is open
    ASSERT_TRUE(done.ok()) << message_of(done);
    EXPECT_EQ(code_of(backup(folder_.path(), file)), Code::kConflict);
    fill(*store, "more", kOther, 5);
    EXPECT_EQ(code_of(restore(folder_.path(), file, kNow)), Code::kConflict) << "a server is running";
  }
  for (const char* suffix : {".packing", ".packing-wal", ".packing.lock", "-wal", ".partial"}) {
    EXPECT_FALSE(std::filesystem::exists(file + suffix)) << suffix;
  }
  std::filesystem::remove_all(folder_.path() + "/metadata");
  const auto restored = restore(folder_.path(), file, kNow);
  ASSERT_TRUE(restored.ok()) << message_of(restored);
  EXPECT_TRUE(check(folder_.path()).ok());
  EXPECT_EQ(contents(*open()), 1u);
  const std::unique_ptr<ccm::Store> accounts = open();
  ASSERT_TRUE(accounts
                  ->read([](ccm::Tx& tx) -> Status {
                    GT_ASSIGN(const auto newest, testing_support::newest_audit(tx.audit, 1));
                    EXPECT_EQ(newest.front().action, "restore");
                    EXPECT_EQ(newest.front().object, "backup.gt");
                    return {};
                  })
                  .ok());
  EXPECT_EQ(*(*MetadataFolder::open(folder_.path()))->read(kHash, 0, 100), "0123456789");
}

TEST_F(ServerData, ABackupWithoutItsDocumentsIsRefused) {
  const auto store = open();
  fill(*store, "data", kHash, 10);
  const std::string file = folder_.path() + "/backup.gt";
  EXPECT_EQ(code_of(backup(folder_.path(), file)), Code::kCorrupt);
  EXPECT_FALSE(std::filesystem::exists(file));
  ASSERT_TRUE((*MetadataFolder::open(folder_.path()))->put(kHash, "short").ok());
  EXPECT_EQ(code_of(backup(folder_.path(), file)), Code::kCorrupt);
}

TEST_F(ServerData, AuditRecordsNeitherChangeNorGo) {
  const auto store = open();
  ASSERT_TRUE(static_cast<ccm::Store&>(*store)
                  .write([](ccm::Tx& tx) { return tx.audit.append({{1}, UserId(), "a", "", "", "x", "", "ok", ""}); })
                  .ok());
  for (const char* sql : {"UPDATE audit SET outcome = 'no'", "DELETE FROM audit"}) {
    EXPECT_FALSE(store->database().write([&](sql::Transaction& tx) { return tx.exec(sql); }).ok()) << sql;
  }
}

TEST_F(ServerData, CheckNamesTheFirstAuditRecordThatWasTamperedWith) {
  const ccm::AuditRecord record{{1}, UserId(), "a", "", "", "x", "", "ok", ""};
  const std::vector<std::pair<std::string, std::string>> tampering = {
      {"UPDATE audit SET outcome = 'no' WHERE seq = 2", "audit record 2 "},
      {"UPDATE audit SET actor_id = 'nobody' WHERE seq = 2", "audit record 2 "},
      {"UPDATE audit SET hash = prev_hash WHERE seq = 3", "audit record 3 "},
      {"UPDATE audit SET prev_hash = hash WHERE seq = 3", "audit record 3 "},
      {"DELETE FROM audit WHERE seq = 1", "audit record 2 "},
      {"DELETE FROM audit WHERE seq = 2", "audit record 3 "},
      {"DELETE FROM audit WHERE seq = 4", "audit record 4 "},
      {"INSERT INTO audit SELECT 9, at_ms, actor_id, actor_name, token_id, address, action, object, outcome, "
       "request_id, prev_hash, hash FROM audit WHERE seq = 4",
       "audit record 9 "}};
  for (const auto& [sql, named] : tampering) {
    const sql::TempFolder folder;
    ASSERT_TRUE(MetadataFolder::open(folder.path()).ok());
    {
      const auto store = SqliteStore::open({folder.path(), {}});
      ASSERT_TRUE(store.ok()) << message_of(store);
      for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(static_cast<ccm::Store&>(**store).write([&](ccm::Tx& tx) { return tx.audit.append(record); }));
      }
      const auto sound = check(folder.path());
      ASSERT_TRUE(sound.ok()) << message_of(sound);
      EXPECT_EQ(sound->records, 4u);
      ASSERT_TRUE((*store)->database().write([&, change = sql](sql::Transaction& tx) -> Status {
        GT_TRY(tx.exec("DROP TRIGGER audit_keeps"));
        GT_TRY(tx.exec("DROP TRIGGER audit_stays"));
        return tx.exec(change);
      }));
    }
    const auto found = check(folder.path());
    EXPECT_EQ(code_of(found), Code::kCorrupt) << sql;
    EXPECT_THAT(message_of(found), HasSubstr(named)) << sql;
    EXPECT_THAT(message_of(found), HasSubstr("restore FILE")) << sql;
  }
}

TEST_F(ServerData, RecordsFromBeforeTheChainAreChainedOnUpgrade) {
  sql::Options before = database_options(folder_.path());
  before.migrations = migrations().first(3);
  {
    const auto old = sql::Database::open(before);
    ASSERT_TRUE(old.ok()) << message_of(old);
    ASSERT_TRUE((*old)->write([](sql::Transaction& tx) -> Status {
      for (const char* action : {"first", "second", "third"}) {
        GT_TRY(
            tx.exec("INSERT INTO audit(at_ms, actor_name, token_id, address, action, object, outcome, request_id) "
                    "VALUES (1, 'a', '', '', ?, '', 'ok', '')",
                    {action}));
      }
      return {};
    }));
  }
  ASSERT_TRUE(MetadataFolder::open(folder_.path()).ok());
  EXPECT_TRUE(check(folder_.path()).ok()) << "not upgraded yet";
  const auto store = open();
  std::vector<ccm::AuditRecord> records;
  ASSERT_TRUE(static_cast<ccm::Store&>(*store).write([&](ccm::Tx& tx) -> Status {
    GT_TRY(tx.audit.append({{2}, UserId(), "a", "", "", "fourth", "", "ok", ""}));
    GT_ASSIGN(records, testing_support::newest_audit(tx.audit, 10));
    return {};
  }));
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[3].action, "first");
  EXPECT_EQ(records[0].action, "fourth");
  const auto sound = check(folder_.path());
  ASSERT_TRUE(sound.ok()) << message_of(sound);
  EXPECT_EQ(sound->records, 4u);
}

TEST_F(ServerData, TasksAndNodesFromBeforeThePagesAreListedAndCounted) {
  sql::Options before = database_options(folder_.path());
  before.migrations = migrations().first(9);
  const UserId alice = UserId::make({1}, rng_);
  const NodeId node = NodeId::make({1}, rng_);
  const TaskId small = TaskId::make({1}, rng_), large = TaskId::make({2}, rng_);
  const std::string result = '"' + std::string(5000, 'x') + '"';
  {
    const auto old = sql::Database::open(before);
    ASSERT_TRUE(old.ok()) << message_of(old);
    ASSERT_TRUE((*old)->write([&](sql::Transaction& tx) -> Status {
      GT_TRY(
          tx.exec("INSERT INTO user(user_id, name, admin, disabled, created_ms, password_hash) VALUES (?, 'alice', "
                  "0, 0, 1, '')",
                  {alice.str()}));
      GT_TRY(tx.exec("INSERT INTO node VALUES (?, ?, 'lab', x'00', 0, 1, 1, '', 2, 0)", {node.str(), alice.str()}));
      for (const auto& [id, sequence, text] : {std::tuple(small, 1, std::string("1")), std::tuple(large, 2, result)}) {
        GT_TRY(tx.exec("INSERT INTO task VALUES (?1, ?2, ?3, ?6, 'done', 1, 0, ?4, ?3, 1, 0, 0, ?5, '', '')",
                       {id.str(), node.str(), sequence, alice.str(), text, work_to_json(ListFolderTask{""})}));
      }
      return {};
    }));
  }
  const auto store = open();
  ASSERT_TRUE(store);
  const Status read = static_cast<tracker::Store&>(*store).read([&](tracker::Tx& tx) -> Status {
    GT_ASSIGN(const auto nodes, tx.node_effects.count_nodes(alice));
    EXPECT_EQ(nodes, 1u);
    GT_ASSIGN(const auto listed, tx.tasks.of_owner(alice, true, std::nullopt, 10));
    EXPECT_EQ(listed.size(), 2u);
    EXPECT_EQ(listed.at(0).result_bytes, result.size());
    EXPECT_EQ(listed.at(0).result_json, "");
    EXPECT_EQ(listed.at(1).result_json, "1");
    GT_ASSIGN(const auto whole, tx.tasks.by_id(large));
    EXPECT_EQ(whole->result_json, result);
    return {};
  });
  EXPECT_TRUE(read.ok()) << message_of(read);
}

TEST_F(ServerData, RowsThatCannotBeReadAreDamageNotACrash) {
  const auto store = open();
  fill(*store, "data", kHash, 10);
  ContentId id;
  ASSERT_TRUE(static_cast<ccm::Store&>(*store)
                  .read([&](ccm::Tx& tx) -> Status {
                    GT_ASSIGN(const auto user, tx.users.by_name("alice"));
                    GT_ASSIGN(const auto content, tx.contents.by_owner_and_name(user->id, "data"));
                    id = content->id;
                    return {};
                  })
                  .ok());
  const auto with = [&](const char* sql) {
    EXPECT_TRUE(store->database().write([&](sql::Transaction& tx) { return tx.exec(sql); }).ok()) << sql;
    return static_cast<ccm::Store&>(*store).read([&](ccm::Tx& tx) -> Status {
      GT_TRY(tx.contents.by_id(id));
      return {};
    });
  };
  EXPECT_EQ(code_of(with("UPDATE content SET tags = '{'")), Code::kCorrupt);
  EXPECT_EQ(code_of(with("UPDATE content SET tags = '[]', state = 'odd'")), Code::kCorrupt);
  EXPECT_EQ(code_of(with("UPDATE content SET state = 'draft', publisher_node = 'odd'")), Code::kCorrupt);
  EXPECT_EQ(code_of(work_from_json("{")), Code::kCorrupt);
  EXPECT_EQ(code_of(work_from_json(R"({"kind":"dance"})")), Code::kCorrupt);
  EXPECT_EQ(code_of(work_from_json(R"({"kind":"get","lanes":"four"})")), Code::kCorrupt);
  EXPECT_EQ(*work_from_json(R"({"kind":"get","new_field":1})"), TaskWork(GetTask{}));
}

TEST_F(ServerData, TwoServersOnOneFolderAreRefused) {
  const auto store = open();
  EXPECT_EQ(code_of(SqliteStore::open({folder_.path(), {}})), Code::kConflict);
}

}  // namespace
}  // namespace gridtorrent::tracker::store
