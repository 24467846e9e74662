#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace gridtorrent::wan {

/// The header before every packet of a TUN device with IFF_VNET_HDR (VIRTIO 1.2, section 5.1.6; little endian hosts).
struct VirtioHeader {
  std::uint8_t flags = 0, gso_type = 0;
  std::uint16_t header_bytes = 0, gso_size = 0, checksum_start = 0, checksum_offset = 0;
};
static_assert(sizeof(VirtioHeader) == 10);

/// A packet as the kernel hands it over: up to 64 KiB of one TCP flow, not yet cut into what goes over the wire (TSO).
/// Shared by its segments, which the emulator treats one by one, as a network would.
class SuperPacket {
 public:
  /// Nothing if it is no whole IPv4 packet.
  static std::shared_ptr<const SuperPacket> read(std::span<const std::uint8_t> with_header);

  std::uint32_t source() const { return source_; }
  std::uint32_t destination() const { return destination_; }
  /// Equal for packets of one flow: addresses, protocol, ports.
  std::uint64_t flow() const { return flow_; }
  std::uint32_t segments() const { return segments_; }
  /// Bytes of a segment on the wire, IP header included.
  std::uint32_t wire_bytes(std::uint32_t segment) const;

  /// Segments first to last as one packet for a TUN device, merged as a receiving network card would (GRO): the header
  /// into `head`, and the payload, which points into this packet.
  struct Merged {
    std::array<std::uint8_t, sizeof(VirtioHeader) + 120> head;  ///< an IP and a TCP header have at most 60 bytes
    std::size_t head_bytes = 0;
    std::span<const std::uint8_t> payload;
  };
  Merged merge(std::uint32_t first, std::uint32_t last) const;

 private:
  std::vector<std::uint8_t> bytes_;  ///< the IP packet
  VirtioHeader virtio_;
  std::uint32_t source_ = 0, destination_ = 0, segments_ = 1;
  std::uint64_t flow_ = 0;
  std::size_t header_bytes_ = 0;  ///< IP and TCP; only of packets with more than one segment
};

}  // namespace gridtorrent::wan
