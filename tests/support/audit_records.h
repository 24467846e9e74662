#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "ccm/domain/ports.h"

namespace gridtorrent::testing_support {

/// The newest records without their numbers, newest first.
inline Result<std::vector<ccm::AuditRecord>> newest_audit(ccm::AuditLog& audit, std::size_t limit) {
  ccm::AuditFilter filter;
  filter.limit = limit;
  GT_ASSIGN(auto found, audit.select(filter));
  std::vector<ccm::AuditRecord> records;
  for (auto& one : found) records.push_back(std::move(one.record));
  return records;
}

}  // namespace gridtorrent::testing_support
