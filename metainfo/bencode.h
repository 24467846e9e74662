#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.h"

namespace gridtorrent::metainfo {

/// A bencoded value (BEP 3), canonical only: integers without leading zeros or "-0", keys sorted and unique.
/// Strings are views where the value was decoded: the input must outlive it.
struct BencodeValue;
struct BencodeItem;
using BencodeList = std::vector<BencodeValue>;
using BencodeDict = std::vector<BencodeItem>;
struct BencodeValue {
  std::variant<std::int64_t, std::string_view, BencodeList, BencodeDict> value;

  // Out of line, since the members' elements are complete only below.
  template <class T>
  explicit BencodeValue(T v);
  BencodeValue(const BencodeValue&);
  BencodeValue(BencodeValue&&) noexcept;
  BencodeValue& operator=(const BencodeValue&);
  BencodeValue& operator=(BencodeValue&&) noexcept;
  ~BencodeValue();

  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&value); }
  const std::string_view* as_string() const { return std::get_if<std::string_view>(&value); }
  const BencodeList* as_list() const { return std::get_if<BencodeList>(&value); }
  const BencodeDict* as_dict() const { return std::get_if<BencodeDict>(&value); }
  /// The value of a key, or null if this is no dictionary or has no such key.
  const BencodeValue* find(std::string_view key) const;
};

struct BencodeItem {
  std::string_view key;
  BencodeValue value;
};

template <class T>
BencodeValue::BencodeValue(T v) : value(std::move(v)) {}
inline BencodeValue::BencodeValue(const BencodeValue&) = default;
inline BencodeValue::BencodeValue(BencodeValue&&) noexcept = default;
inline BencodeValue& BencodeValue::operator=(const BencodeValue&) = default;
inline BencodeValue& BencodeValue::operator=(BencodeValue&&) noexcept = default;
inline BencodeValue::~BencodeValue() = default;

struct BencodeLimits {
  std::size_t max_depth = 16;
  std::size_t max_values = 16'000'000;
};

/// The whole input must be one canonical value.
Result<BencodeValue> bencode_decode(std::string_view input, const BencodeLimits& limits = {});

/// Appends bencode to a string. The caller writes dictionary keys in sorted order.
class BencodeWriter {
 public:
  void integer(std::int64_t value);
  void string(std::string_view value);
  void begin_list() { out_ += 'l'; }
  void begin_dict() { out_ += 'd'; }
  void end() { out_ += 'e'; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace gridtorrent::metainfo
