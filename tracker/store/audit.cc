#include "tracker/store/audit_chain.h"
#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

// Audit records, chained.

namespace gridtorrent::tracker::store {

Result<ccm::AuditRecord> audit_from(const sql::Row& row) {
  GT_ASSIGN(const UserId actor, id_at<UserId>(row, 1));
  return ccm::AuditRecord{time_at(row, 0), actor,       row.text(2), row.text(3), row.text(4),
                          row.text(5),     row.text(6), row.text(7), row.text(8)};
}

Status SqlAudit::append(const ccm::AuditRecord& r) {
  GT_ASSIGN(const ccm::AuditHead before, head());
  AuditChain chain(before);
  chain.extend(r);
  return tx_.exec(
      "INSERT INTO audit(seq, at_ms, actor_id, actor_name, token_id, address, action, object, outcome, request_id, "
      "prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {chain.head().records, r.at.ms, id_or_null(r.actor), r.actor_name, r.token_id, r.address, r.action, r.object,
       r.outcome, r.request_id, sql::Blob(before.hash), sql::Blob(chain.head().hash)});
}

Result<std::vector<ccm::NumberedAuditRecord>> SqlAudit::select(const ccm::AuditFilter& filter) {
  return tx_.all(
      "SELECT at_ms, actor_id, actor_name, token_id, address, action, object, outcome, request_id, seq FROM audit "
      "WHERE (?1 = 0 OR seq < ?1) AND at_ms >= ?2 AND (?3 = '' OR actor_name = ?3) "
      "AND (?4 = '' OR action = ?4 OR substr(action, 1, length(?4) + 1) = ?4 || '.') ORDER BY seq DESC LIMIT ?5",
      {filter.below, filter.since.ms, filter.actor, filter.action, filter.limit},
      [](const sql::Row& row) -> Result<ccm::NumberedAuditRecord> {
        GT_ASSIGN(ccm::AuditRecord record, audit_from(row));
        return ccm::NumberedAuditRecord{row.u64(9), ccm::as_listed(std::move(record))};
      });
}

Result<ccm::AuditHead> SqlAudit::head() {
  GT_ASSIGN(auto newest, tx_.one("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", {},
                                 [](const sql::Row& row) { return ccm::AuditHead{row.u64(0), row.text(1)}; }));
  return newest ? std::move(*newest) : AuditChain().head();
}

Result<ccm::AuditHead> SqlAudit::verify() {
  AuditChain chain;
  GT_TRY(
      tx_.each("SELECT at_ms, actor_id, actor_name, token_id, address, action, object, outcome, request_id, seq, "
               "prev_hash, hash "
               "FROM audit ORDER BY seq",
               {}, [&](const sql::Row& row) -> Status {
                 const std::string prev = chain.head().hash;
                 const auto record = audit_from(row);
                 if (record) chain.extend(*record);
                 if (record && row.text(10) == prev && ccm::AuditHead{row.u64(9), row.text(11)} == chain.head())
                   return {};
                 return broken_audit_record(row.u64(9));
               }));
  // SQLite remembers the highest number it gave: records cut off at the end are missed too.
  GT_ASSIGN(const auto given, tx_.one("SELECT seq FROM sqlite_sequence WHERE name = 'audit'", {},
                                      [](const sql::Row& row) { return row.u64(0); }));
  if (given.value_or(0) > chain.head().records) return broken_audit_record(chain.head().records + 1);
  return chain.head();
}

}  // namespace gridtorrent::tracker::store
