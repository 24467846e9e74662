#include "tracker/store/audit_chain.h"

#include "base/crypto/digest.h"
#include "common/hex.h"
#include "tracker/store/columns.h"
#include "tracker/store/tables.h"

namespace gridtorrent::tracker::store {

std::string audit_hash(std::string_view prev, std::uint64_t seq, const ccm::AuditRecord& r) {
  std::string bytes(prev);
  const std::string number = std::to_string(seq), at = std::to_string(r.at.ms);
  const std::string actor = id_or_null(r.actor).value_or("");
  for (const std::string_view field : std::initializer_list<std::string_view>{
           number, at, actor, r.actor_name, r.token_id, r.address, r.action, r.object, r.outcome, r.request_id}) {
    bytes += std::to_string(field.size());
    bytes += ':';
    bytes += field;
  }
  const crypto::Sha256Digest digest = crypto::sha256(as_bytes(bytes));
  return {digest.begin(), digest.end()};
}

void AuditChain::extend(const ccm::AuditRecord& record) {
  ++head_.records;
  head_.hash = audit_hash(head_.hash, head_.records, record);
}

Error broken_audit_record(std::uint64_t seq) {
  return {Code::kCorrupt,
          "audit record " + std::to_string(seq) +
              " does not follow from the one before it: it was changed, or one was put in or taken out"};
}

Status chain_unchained_records(sql::Transaction& tx) {
  SqlAudit audit(tx);
  GT_TRY(tx.each(
      "SELECT at_ms, actor_id, actor_name, token_id, address, action, object, outcome, request_id FROM audit_unchained "
      "ORDER BY seq",
      {}, [&](const sql::Row& row) -> Status {
        GT_ASSIGN(const ccm::AuditRecord record, audit_from(row));
        return audit.append(record);
      }));
  return tx.exec("DROP TABLE audit_unchained");
}

}  // namespace gridtorrent::tracker::store
