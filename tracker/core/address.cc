#include "tracker/core/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "common/text.h"

namespace gridtorrent::tracker {

std::optional<Address> Address::parse(std::string_view text) {
  const std::string copy(text);  // inet_pton wants a terminator
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  Address address;
  if (::inet_pton(AF_INET, copy.c_str(), address.bytes_.data()) == 1) return address;
  address.v4_ = false;
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes_.data()) != 1) return std::nullopt;
  static constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(kMapped.begin(), kMapped.end(), address.bytes_.begin())) {
    Address v4;
    std::copy(address.bytes_.begin() + 12, address.bytes_.end(), v4.bytes_.begin());
    return v4;
  }
  return address;
}

std::string Address::str() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), static_cast<socklen_t>(text.size()));
  return text.data();
}

bool Address::is_unspecified() const {
  return std::all_of(bytes_.begin(), bytes_.end(), [](std::uint8_t b) { return b == 0; }) || (v4_ && bytes_[0] == 0);
}

bool Address::is_loopback() const {
  if (v4_) return bytes_[0] == 127;
  return bytes_[15] == 1 && std::all_of(bytes_.begin(), bytes_.end() - 1, [](std::uint8_t b) { return b == 0; });
}

bool Address::is_link_local() const {
  if (v4_) return bytes_[0] == 169 && bytes_[1] == 254;
  return bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

bool Address::is_multicast() const {
  return v4_ ? (bytes_[0] & 0xf0) == 0xe0 : bytes_[0] == 0xff;
}

bool Address::is_broadcast() const {
  return v4_ && std::all_of(bytes_.begin(), bytes_.begin() + 4, [](std::uint8_t b) { return b == 0xff; });
}

bool Address::shares_prefix(const Address& other, unsigned bits) const {
  if (v4_ != other.v4_) return false;
  const unsigned whole = bits / 8, rest = bits % 8;
  if (!std::equal(bytes_.begin(), bytes_.begin() + whole, other.bytes_.begin())) return false;
  return rest == 0 || ((bytes_[whole] ^ other.bytes_[whole]) >> (8 - rest)) == 0;
}

namespace {

constexpr unsigned kV4Bits = 32, kV6Bits = 128, kMappedBits = 96;
constexpr unsigned kV4HostNetwork = 24, kV6HostNetwork = 56;
constexpr std::size_t kMaxNetworkText = INET6_ADDRSTRLEN + 4;

Error no_network(std::string_view text) {
  return {Code::kInvalid, "'" + escape_for_display(text.substr(0, kMaxNetworkText)) +
                              "' is no network; write it like 192.0.2.0/24 or 2001:db8::/32"};
}

/// One to three digits, no more than `most`.
std::optional<unsigned> read_bits(std::string_view digits, unsigned most) {
  unsigned bits = 0;
  const char* end = digits.data() + digits.size();
  if (digits.empty() || digits.size() > 3) return std::nullopt;
  const auto [stopped, failed] = std::from_chars(digits.data(), end, bits);
  if (failed != std::errc() || stopped != end || bits > most) return std::nullopt;
  return bits;
}

}  // namespace

bool Address::is_zero_beyond(unsigned bits) const {
  Address zero;
  zero.v4_ = v4_;
  std::copy_n(bytes_.begin(), bits / 8, zero.bytes_.begin());
  if (bits % 8 != 0) zero.bytes_[bits / 8] = static_cast<std::uint8_t>(bytes_[bits / 8] & (0xff << (8 - bits % 8)));
  return zero == *this;
}

Result<Network> Network::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (text.size() > kMaxNetworkText || slash == std::string_view::npos) return no_network(text);
  const auto base = Address::parse(text.substr(0, slash));
  if (!base) return no_network(text);
  const bool written_as_v6 = text.substr(0, slash).find(':') != std::string_view::npos;
  auto bits = read_bits(text.substr(slash + 1), written_as_v6 ? kV6Bits : kV4Bits);
  if (bits && written_as_v6 && base->is_v4())
    bits = *bits < kMappedBits ? std::nullopt : std::optional(*bits - kMappedBits);
  if (!bits) return no_network(text);
  if (!base->is_zero_beyond(*bits)) {
    return Error{Code::kInvalid,
                 "'" + std::string(text) + "' names a host, not a network: bits beyond the prefix are set"};
  }
  return Network(*base, *bits);
}

Network Network::around(const Address& host) {
  return {host, host.is_v4() ? kV4HostNetwork : kV6HostNetwork};
}

}  // namespace gridtorrent::tracker
