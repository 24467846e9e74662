#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "common/hex.h"

struct sqlite3_stmt;

namespace gridtorrent::sql {

/// Bytes to be bound as a BLOB; a view, which must live until the statement has run.
struct Blob {
  std::string_view bytes;
  explicit Blob(std::string_view b) : bytes(b) {}
  explicit Blob(std::span<const std::uint8_t> b) : bytes(as_chars(b)) {}
};

/// A parameter of a statement, made implicitly from what C++ code has at hand. Text and blobs are views. Unsigned
/// 64-bit values keep their bits (2^63 and more come back right, but sort as negative numbers); bool is 0 or 1; an
/// empty optional is NULL.
class Value {
 public:
  Value(std::nullptr_t) : held_(std::monostate{}) {}
  Value(std::nullopt_t) : held_(std::monostate{}) {}
  template <std::integral T>
  Value(T value) : held_(static_cast<std::int64_t>(value)) {}
  Value(double value) : held_(value) {}
  Value(std::string_view text) : held_(text) {}
  Value(const std::string& text) : held_(std::string_view(text)) {}
  Value(const char* text) : held_(std::string_view(text)) {}
  Value(Blob blob) : held_(blob) {}
  template <class T>
    requires std::constructible_from<Value, const T&>
  Value(const std::optional<T>& value) : held_(std::monostate{}) {
    if (value) held_ = Value(*value).held_;
  }

  using Held = std::variant<std::monostate, std::int64_t, double, std::string_view, Blob>;
  const Held& held() const { return held_; }

 private:
  Held held_;
};

/// The current row of a running statement; valid only inside the callback that got it. Columns count from 0. The tables
/// are STRICT, so a column has the type that the schema says; NULL reads as 0 or "".
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const;
  std::int64_t i64(int column) const;
  std::uint64_t u64(int column) const { return static_cast<std::uint64_t>(i64(column)); }
  std::uint32_t u32(int column) const { return static_cast<std::uint32_t>(i64(column)); }
  int i32(int column) const { return static_cast<int>(i64(column)); }
  bool boolean(int column) const { return i64(column) != 0; }
  double real(int column) const;
  /// Text or blob, as bytes.
  std::string text(int column) const;
  std::optional<std::string> text_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional<std::string>(text(column));
  }
  std::optional<std::int64_t> i64_or_null(int column) const {
    return is_null(column) ? std::nullopt : std::optional<std::int64_t>(i64(column));
  }

 private:
  sqlite3_stmt* statement_;
};

}  // namespace gridtorrent::sql
