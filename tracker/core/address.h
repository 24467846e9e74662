#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"

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
  /// The same kind, and the same first `bits` bits (0 to 32 or 128).
  bool shares_prefix(const Address& other, unsigned bits) const;
  /// Whether all bits after the first `bits` are 0.
  bool is_zero_beyond(unsigned bits) const;
  friend bool operator==(const Address&, const Address&) = default;

 private:
  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};  ///< the first four for IPv4
};

/// A network in CIDR notation (RFC 4632, RFC 4291); an IPv4-mapped IPv6 one is taken as IPv4.
class Network {
 public:
  /// "192.0.2.0/24", "2001:db8::/32". kInvalid: anything else, also where bits beyond the prefix are set.
  static Result<Network> parse(std::string_view text);
  /// The network of one host: its /24 for IPv4, its /56 (what a site usually gets: RFC 6177) for IPv6.
  static Network around(const Address& host);
  bool contains(const Address& address) const { return address.shares_prefix(base_, bits_); }

 private:
  Network(const Address& base, unsigned bits) : base_(base), bits_(bits) {}
  Address base_;
  unsigned bits_;
};

}  // namespace gridtorrent::tracker
