#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"
#include "common/rng.h"

namespace gridtorrent {

/// An identifier: UUIDv7 (RFC 9562), written as a type prefix and 26 characters of lower-case base32, as in
/// "c_aguox6ktnj2w3jvyvdh2ehzvmi". `Prefix` makes ids of different things different types. A default-constructed id is
/// nil and stands for "none".
template <char Prefix>
class Id {
 public:
  using Bytes = std::array<std::uint8_t, 16>;
  static constexpr char kPrefix = Prefix;

  Id() = default;
  explicit Id(const Bytes& bytes) : bytes_(bytes) {}

  /// A fresh one: 48 bits of milliseconds, then randomness.
  static Id make(WallTime now, Rng& rng);
  /// Refuses another prefix, another length and non-canonical text.
  static Result<Id> parse(std::string_view text);

  std::string str() const;
  const Bytes& bytes() const { return bytes_; }
  bool is_nil() const { return bytes_ == Bytes{}; }
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  Bytes bytes_{};
};

using UserId = Id<'u'>;
using GroupId = Id<'g'>;
using NodeId = Id<'n'>;
using ContentId = Id<'c'>;
using TaskId = Id<'t'>;
using TransferId = Id<'x'>;

extern template class Id<'u'>;
extern template class Id<'g'>;
extern template class Id<'n'>;
extern template class Id<'c'>;
extern template class Id<'t'>;
extern template class Id<'x'>;

/// True for text in the form of any id (a letter of the six, "_", 26 base32 characters); such a name is refused
/// for content, so that ids and names never mix.
bool looks_like_id(std::string_view text);

/// A request id for a mutation, made by the caller: 26 base32 characters of a UUIDv7.
std::string make_request_id(WallTime now, Rng& rng);

}  // namespace gridtorrent

template <char Prefix>
struct std::hash<gridtorrent::Id<Prefix>> {
  std::size_t operator()(const gridtorrent::Id<Prefix>& id) const noexcept {
    return std::hash<std::string_view>{}(
        std::string_view(reinterpret_cast<const char*>(id.bytes().data()), id.bytes().size()));
  }
};
