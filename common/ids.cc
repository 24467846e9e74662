#include "common/ids.h"

#include "common/base32.h"
#include "common/text.h"

namespace gridtorrent {

namespace {

std::array<std::uint8_t, 16> make_uuid_v7(WallTime now, Rng& rng) {
  std::array<std::uint8_t, 16> bytes{};
  rng.fill(bytes);
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(now.ms >> (8 * (5 - i)));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x70);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  return bytes;
}

}  // namespace

template <char Prefix>
Id<Prefix> Id<Prefix>::make(WallTime now, Rng& rng) {
  return Id(make_uuid_v7(now, rng));
}

template <char Prefix>
Result<Id<Prefix>> Id<Prefix>::parse(std::string_view text) {
  if (text.size() == 28 && text[0] == Prefix && text[1] == '_') {
    if (const auto bytes = base32_decode_16(text.substr(2))) return Id(*bytes);
  }
  return Error{Code::kInvalid, "'" + escape_for_display(text.substr(0, 64)) + "' is no id of the form " +
                                   std::string(1, Prefix) + "_ and 26 characters"};
}

template <char Prefix>
std::string Id<Prefix>::str() const {
  return std::string(1, Prefix) + "_" + base32_encode(bytes_);
}

template class Id<'u'>;
template class Id<'g'>;
template class Id<'n'>;
template class Id<'c'>;
template class Id<'t'>;
template class Id<'x'>;

bool looks_like_id(std::string_view text) {
  return text.size() == 28 && std::string_view("ugnctx").find(text[0]) != std::string_view::npos && text[1] == '_' &&
         base32_decode_16(text.substr(2)).has_value();
}

std::string make_request_id(WallTime now, Rng& rng) {
  return base32_encode(make_uuid_v7(now, rng));
}

}  // namespace gridtorrent
