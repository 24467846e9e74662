#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/sql/transaction.h"
#include "ccm/domain/ports.h"
#include "common/result.h"

namespace gridtorrent::tracker::store {

/// The hash that a record is kept with: SHA-256(prev ‖ row), where row is seq, at_ms, actor_id ("" for nobody),
/// actor_name, token_id, address, action, object, outcome, request_id, each as "<bytes in decimal>:<bytes>".
std::string audit_hash(std::string_view prev, std::uint64_t seq, const ccm::AuditRecord& record);

/// The end of a chain of records, as it is built or followed.
class AuditChain {
 public:
  AuditChain() : AuditChain({0, std::string(32, '\0')}) {}
  explicit AuditChain(ccm::AuditHead head) : head_(std::move(head)) {}
  const ccm::AuditHead& head() const { return head_; }
  void extend(const ccm::AuditRecord& record);

 private:
  ccm::AuditHead head_;
};

Error broken_audit_record(std::uint64_t seq);

/// The step of the schema that chains what was recorded before there was a chain: table audit_unchained goes.
Status chain_unchained_records(sql::Transaction& tx);

}  // namespace gridtorrent::tracker::store
