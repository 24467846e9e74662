#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::metainfo {

/// Reads canonical bencode (BEP 3) piece by piece without building a tree, for documents with millions of values. Views
/// point into the input. After an error the position is meaningless. Not thread-safe.
class BencodeCursor {
 public:
  explicit BencodeCursor(std::string_view input) : input_(input) {}

  Result<std::int64_t> integer();
  Result<std::string_view> string();
  /// Consumes one expected character: 'd', 'l' or 'e'.
  Status expect(char c);
  /// A dictionary key that must be exactly this one.
  Status key(std::string_view name);
  /// The next character, or NUL at the end of the input.
  char peek() const { return at_ < input_.size() ? input_[at_] : '\0'; }
  bool at_end() const { return at_ == input_.size(); }
  Error fail(std::string_view reason) const;

 private:
  std::string_view input_;
  std::size_t at_ = 0;
};

}  // namespace gridtorrent::metainfo
