#include "tracker/store/documents.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "base/crypto/digest.h"
#include "ccm/domain/consents.h"
#include "common/hex.h"
#include "common/text.h"
#include "tracker/store/metadata_folder.h"
#include "tracker/store/sqlite_store.h"
#include "tracker/store/tables.h"

// check, backup, restore: the database, its chain of audit records, and the documents that lie beside it.

namespace gridtorrent::tracker::store {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWholeDocument = std::numeric_limits<std::size_t>::max();

struct Document {
  std::string sha256;
  std::uint64_t bytes = 0;
};

Result<std::vector<Document>> documents_in_use(sql::Transaction& tx) {
  std::string sql =
      "SELECT metadata_sha256, metadata_bytes FROM content WHERE metadata_sha256 <> '' AND state <> 'purged' UNION "
      "SELECT checksums_sha256, checksums_bytes FROM content WHERE checksums_sha256 <> '' AND state <> 'purged'";
  // A database from before there were versions gets them when its server next starts.
  GT_ASSIGN(const auto versions, tx.one("SELECT count(*) FROM sqlite_master WHERE name = 'content_version'", {},
                                        [](const sql::Row& row) { return row.boolean(0); }));
  if (versions.value_or(false)) {
    sql +=
        " UNION SELECT v.metadata_sha256, v.metadata_bytes FROM content_version v JOIN content c USING (content_id) "
        "WHERE v.sealed = 1 AND c.state <> 'purged' UNION "
        "SELECT v.checksums_sha256, v.checksums_bytes FROM content_version v JOIN content c USING (content_id) "
        "WHERE v.checksums_sha256 <> '' AND c.state <> 'purged'";
  }
  return tx.all(sql, {}, [](const sql::Row& row) { return Document{row.text(0), row.u64(1)}; });
}

/// A database from before there was a chain gets one when its server next starts.
Result<ccm::AuditHead> verify_audit(sql::Transaction& tx) {
  GT_ASSIGN(const auto chained, tx.one("SELECT count(*) FROM pragma_table_info('audit') WHERE name = 'hash'", {},
                                       [](const sql::Row& row) { return row.boolean(0); }));
  if (!chained.value_or(false)) return ccm::AuditHead{};
  return SqlAudit(tx).verify();
}

/// Each member of a group has consented, and so has the group: the audit records tell of both.
Status verify_consents(sql::Transaction& tx) {
  GT_ASSIGN(const auto groups, tx.one("SELECT count(*) FROM sqlite_master WHERE name = 'membership'", {},
                                      [](const sql::Row& row) { return row.boolean(0); }));
  if (!groups.value_or(false)) return {};
  ccm::Consents consents;
  GT_TRY(
      tx.each("SELECT at_ms, actor_id, actor_name, token_id, address, action, object, outcome, request_id FROM audit "
              "WHERE action GLOB 'group.*' ORDER BY seq",
              {}, [&](const sql::Row& row) -> Status {
                GT_ASSIGN(const ccm::AuditRecord record, audit_from(row));
                consents.follow(record);
                return {};
              }));
  return tx.each(
      "SELECT g.name, u.name FROM membership m JOIN user_group g USING (group_id) JOIN user u USING (user_id) "
      "WHERE m.standing IN ('member', 'manager')",
      {}, [&](const sql::Row& row) -> Status {
        if (consents.member(row.text(0), row.text(1))) return {};
        return Error{Code::kCorrupt, "user " + row.text(1) + " is a member of group " + row.text(0) +
                                         ", but the audit records do not tell of both sides' consent"};
      });
}

/// Nodes go on from the last task they took, which the backup may not know of. So every list goes on at the time of
/// the restore in microseconds, above any number that it can have reached, and what has not ended moves there: it
/// comes again under its id.
Status continue_task_lists(sql::Transaction& tx, WallTime now) {
  const std::int64_t from = now.ms * 1000, at_least = 1'000'000;  // where the clock was set back
  GT_TRY(
      tx.exec("UPDATE task SET sequence = sequence + (SELECT max(?1 - n.last_sequence, ?2) FROM node n "
              "WHERE n.node_id = task.node_id) WHERE ended = 0",
              {from, at_least}));
  return tx.exec(
      "UPDATE node SET acked_sequence = acked_sequence + max(?1 - last_sequence, ?2), "
      "last_sequence = last_sequence + max(?1 - last_sequence, ?2)",
      {from, at_least});
}

/// Copies each document into the backup's own table, one at a time: they may be large.
Status pack_documents(sql::Database& copy, MetadataFolder& folder) {
  GT_ASSIGN(const auto documents, copy.read([](sql::Transaction& tx) { return documents_in_use(tx); }));
  for (const Document& document : documents) {
    GT_ASSIGN(const std::string bytes, folder.read(document.sha256, 0, kWholeDocument));
    if (bytes.size() != document.bytes) {
      return Error{Code::kCorrupt, "document " + document.sha256 + " has " + std::to_string(bytes.size()) +
                                       " bytes instead of " + std::to_string(document.bytes)};
    }
    GT_TRY(copy.write([&](sql::Transaction& tx) {
      return tx.exec("INSERT INTO backup_document(sha256, bytes) VALUES (?, ?)", {document.sha256, sql::Blob(bytes)});
    }));
  }
  return {};
}

}  // namespace

Status unpack_documents(sql::Database& database, const std::string& data_dir) {
  while (true) {
    std::string bytes;
    GT_ASSIGN(const auto name, database.read([&](sql::Transaction& tx) {
      return tx.one("SELECT sha256, bytes FROM backup_document LIMIT 1", {}, [&](const sql::Row& row) {
        bytes = row.text(1);
        return row.text(0);
      });
    }));
    if (!name) return {};
    GT_ASSIGN(const auto folder, MetadataFolder::attach(data_dir));
    GT_TRY(folder->put(*name, bytes));
    GT_TRY(database.write(
        [&](sql::Transaction& tx) { return tx.exec("DELETE FROM backup_document WHERE sha256 = ?", {*name}); }));
  }
}

Result<ccm::AuditHead> check(const std::string& data_dir) {
  const sql::Options options = database_options(data_dir);
  GT_TRY(sql::check_file(options));
  const auto audit = sql::read_file(options, verify_audit);
  if (!audit) return Error{audit.error().code, audit.error().message + "; " + options.restore_hint};
  const Status consented = sql::read_file(options, verify_consents);
  if (!consented) return Error{consented.error().code, consented.error().message + "; " + options.restore_hint};
  GT_ASSIGN(const auto folder, MetadataFolder::attach(data_dir));
  GT_ASSIGN(const auto documents, sql::read_file(options, [](sql::Transaction& tx) { return documents_in_use(tx); }));
  for (const Document& document : documents) {
    GT_ASSIGN(const std::string bytes, folder->read(document.sha256, 0, kWholeDocument));
    const std::string place = "document " + document.sha256 + " in " + data_dir + "/metadata ";
    if (bytes.size() != document.bytes) {
      return Error{Code::kCorrupt, place + "has " + std::to_string(bytes.size()) + " bytes instead of " +
                                       std::to_string(document.bytes) + "; " + options.restore_hint};
    }
    if (hex_encode(crypto::sha256(as_bytes(bytes))) != document.sha256)
      return Error{Code::kCorrupt, place + "was altered; " + options.restore_hint};
  }
  return *audit;
}

Status backup(const std::string& data_dir, const std::string& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) return Error{Code::kConflict, file + " exists; name another file"};
  sql::Options options = database_options(data_dir);
  GT_ASSIGN(const auto folder, MetadataFolder::attach(data_dir));
  const std::string packing = file + ".packing";
  const auto remove_packing = [&packing] {
    std::error_code failed;  // what stays behind takes room, no more
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) fs::remove(packing + suffix, failed);
  };
  remove_packing();
  const auto pack = [&]() -> Status {
    GT_TRY(sql::backup_file(options, packing));
    options.path = packing;
    options.readers = 1;
    GT_ASSIGN(const auto copy, sql::Database::open(options));
    GT_TRY(pack_documents(*copy, *folder));
    return copy->backup(file);
  };
  const Status packed = pack();
  remove_packing();
  return packed;
}

Status restore(const std::string& data_dir, const std::string& file, WallTime now) {
  GT_TRY(sql::restore(database_options(data_dir), file,
                      [now](sql::Transaction& tx) { return continue_task_lists(tx, now); }));
  GT_ASSIGN(const auto store, SqliteStore::open({data_dir, {}}));  // takes the documents out
  const std::string name = escape_for_display(fs::path(file).filename().string());
  ccm::Store& accounts = *store;
  return accounts.write(
      [&](ccm::Tx& tx) -> Status { return tx.audit.append({now, UserId(), "", "", "", "restore", name, "ok", ""}); });
}

}  // namespace gridtorrent::tracker::store
