#include "tracker/core/address.h"

#include <arpa/inet.h>

#include <algorithm>

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

}  // namespace gridtorrent::tracker
