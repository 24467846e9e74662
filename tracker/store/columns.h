#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sql/transaction.h"
#include "common/clock.h"
#include "common/result.h"

namespace gridtorrent::tracker::store {

// What the tables' mappings share. A row that cannot be read back is damage (kCorrupt), not bad input.

inline Error damaged(std::string_view what) {
  return {Code::kCorrupt, "the server's database holds " + std::string(what) +
                              " that cannot be read; look with: gridtorrent-server check"};
}

template <class IdType>
Result<IdType> id_at(const sql::Row& row, int column) {
  if (row.is_null(column)) return IdType();
  auto id = IdType::parse(row.text(column));
  if (!id) return damaged("an id");
  return *id;
}

template <class IdType>
std::optional<std::string> id_or_null(const IdType& id) {
  return id.is_nil() ? std::nullopt : std::optional<std::string>(id.str());
}

inline WallTime time_at(const sql::Row& row, int column) {
  return {row.i64(column)};
}

/// A constraint's violation in our words; any other error as it is.
inline Error conflict_or(const Error& error, const std::string& conflict) {
  return error.code == Code::kConflict ? Error{Code::kConflict, conflict} : error;
}

/// Lists of text in one column, as JSON.
std::string list_to_text(const std::vector<std::string>& list);
Result<std::vector<std::string>> list_from_text(const std::string& text);

}  // namespace gridtorrent::tracker::store
