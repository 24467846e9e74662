#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/sql/value.h"
#include "common/result.h"

namespace gridtorrent::sql {

class Connection;

namespace detail {
template <class T>
struct UnwrapResult {
  using type = T;
  static constexpr bool is_result = false;
};
template <class T>
struct UnwrapResult<Result<T>> {
  using type = T;
  static constexpr bool is_result = true;
};
}  // namespace detail

using Values = std::initializer_list<Value>;

/// What runs inside Database::write or Database::read: statements with bound parameters, prepared once a connection.
/// All of it commits or none. Used by the thread that got it and only until the callback returns.
///
///     GT_TRY(tx.exec("INSERT INTO node(node_id, name) VALUES (?, ?)", {id.str(), name}));
///     GT_ASSIGN(auto name, tx.one("SELECT name FROM node WHERE node_id = ?", {id.str()},
///                                 [](const Row& row) { return row.text(0); }));   // std::optional<std::string>
///
/// Errors: kConflict a constraint; kDisk full, read-only or failing disk; kUnreachable locked by someone else;
/// kCorrupt; kInternal wrong SQL.
class Transaction {
 public:
  explicit Transaction(Connection& connection) : connection_(connection) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Runs one statement; rows it may return are passed over.
  Status exec(std::string_view sql, Values values = {});
  /// The same, and says how many rows were inserted, changed or deleted.
  Result<std::int64_t> change(std::string_view sql, Values values = {});
  std::int64_t last_insert_rowid() const;

  /// Calls `visit` for each row: returns void, or a Status whose error ends it.
  template <class F>
  Status each(std::string_view sql, Values values, F&& visit) {
    return each_span(sql, {values.begin(), values.size()}, std::forward<F>(visit));
  }
  /// For statements put together at run time, whose number of parameters varies.
  template <class F>
  Status each_span(std::string_view sql, std::span<const Value> values, F&& visit) {
    return run(sql, values, [&visit](const Row& row) -> Status {
      if constexpr (std::is_void_v<std::invoke_result_t<F&, const Row&>>) {
        visit(row);
        return {};
      } else {
        return visit(row);
      }
    });
  }

  /// The first row, put through `map` (which returns T or Result<T>); nothing if there is none.
  template <class F>
  auto one(std::string_view sql, Values values, F&& map)
      -> Result<std::optional<typename detail::UnwrapResult<std::invoke_result_t<F&, const Row&>>::type>> {
    auto rows = all(sql, values, std::forward<F>(map));
    if (!rows) return rows.error();
    using T = typename detail::UnwrapResult<std::invoke_result_t<F&, const Row&>>::type;
    if (rows->empty()) return std::optional<T>();
    return std::optional<T>(std::move(rows->front()));
  }

  /// Every row, put through `map`.
  template <class F>
  auto all(std::string_view sql, Values values, F&& map)
      -> Result<std::vector<typename detail::UnwrapResult<std::invoke_result_t<F&, const Row&>>::type>> {
    return all_span(sql, {values.begin(), values.size()}, std::forward<F>(map));
  }
  template <class F>
  auto all_span(std::string_view sql, std::span<const Value> values, F&& map)
      -> Result<std::vector<typename detail::UnwrapResult<std::invoke_result_t<F&, const Row&>>::type>> {
    using Mapped = std::invoke_result_t<F&, const Row&>;
    std::vector<typename detail::UnwrapResult<Mapped>::type> rows;
    auto status = run(sql, values, [&](const Row& row) -> Status {
      if constexpr (detail::UnwrapResult<Mapped>::is_result) {
        GT_ASSIGN(auto value, map(row));
        rows.push_back(std::move(value));
      } else {
        rows.push_back(map(row));
      }
      return {};
    });
    if (!status) return status.error();
    return rows;
  }

 private:
  Status run(std::string_view sql, std::span<const Value> values, const std::function<Status(const Row&)>& visit);

  Connection& connection_;
};

}  // namespace gridtorrent::sql
