#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gridtorrent::tracker {

/// A numeric IP address; an IPv4-mapped IPv6 one is taken as IPv4.
class Address {
 public:
  /// Nothing for names, zones and anything else that is no plain numeric address.
  static std::optional<Address> parse(std::string_view text);
  std::string str() const;

  bool is_v4() const { return v4_; }
  bool is_unspecified() const;
  bool is_loopback() const;
  bool is_link_local() const;
  bool is_multicast() const;
  bool is_broadcast() const;
  friend bool operator==(const Address&, const Address&) = default;

 private:
  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};  ///< the first four for IPv4
};

}  // namespace gridtorrent::tracker
