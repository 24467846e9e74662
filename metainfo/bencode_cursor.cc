#include "metainfo/bencode_cursor.h"

#include <charconv>

namespace gridtorrent::metainfo {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

Error BencodeCursor::fail(std::string_view reason) const {
  return {Code::kInvalid, "malformed bencode at byte " + std::to_string(at_) + ": " + std::string(reason)};
}

Status BencodeCursor::expect(char c) {
  if (at_end()) return fail("the input ends too early");
  if (input_[at_] != c) return fail(std::string("expected '") + c + "'");
  ++at_;
  return {};
}

Result<std::int64_t> BencodeCursor::integer() {
  GT_TRY(expect('i'));
  const std::size_t end = input_.find('e', at_);
  // 20 characters hold every 64-bit integer; the bound keeps hostile input from making each lookup a long one.
  if (end == std::string_view::npos || end - at_ > 20) return fail("an integer without end");
  const std::string_view digits = input_.substr(at_, end - at_);
  const std::string_view magnitude = digits.starts_with('-') ? digits.substr(1) : digits;
  if (magnitude.empty() || !is_digit(magnitude[0])) return fail("an integer without digits");
  if (magnitude[0] == '0' && digits.size() > 1) return fail("an integer with a leading zero, or minus zero");
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || stop != digits.data() + digits.size()) return fail("no 64-bit integer");
  at_ = end + 1;
  return value;
}

Result<std::string_view> BencodeCursor::string() {
  std::uint64_t length = 0;
  const std::size_t start = at_;
  while (at_ < input_.size() && is_digit(input_[at_])) {
    length = length * 10 + static_cast<std::uint64_t>(input_[at_] - '0');
    if (length > input_.size()) return fail("a string longer than the input");
    ++at_;
  }
  if (at_ == start) return fail(at_end() ? "the input ends too early" : "expected a string");
  if (input_[start] == '0' && at_ - start > 1) return fail("a string length with a leading zero");
  GT_TRY(expect(':'));
  if (length > input_.size() - at_) return fail("a string longer than the input");
  const std::string_view value = input_.substr(at_, length);
  at_ += length;
  return value;
}

Status BencodeCursor::key(std::string_view name) {
  GT_ASSIGN(const std::string_view found, string());
  if (found != name) return fail("expected the key '" + std::string(name) + "'");
  return {};
}

}  // namespace gridtorrent::metainfo
