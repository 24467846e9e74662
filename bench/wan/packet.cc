#include "bench/wan/packet.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace gridtorrent::wan {
namespace {

constexpr std::uint8_t kNeedsChecksum = 1, kGsoNone = 0, kGsoTcp4 = 1, kGsoTypeMask = 0x7F;  // 0x80: ECN
constexpr std::uint8_t kFin = 0x01, kPush = 0x08, kCongestionReduced = 0x80;

std::uint32_t get16(std::span<const std::uint8_t> b, std::size_t at) {
  return static_cast<std::uint32_t>(b[at] << 8 | b[at + 1]);
}
std::uint32_t get32(std::span<const std::uint8_t> b, std::size_t at) {
  return get16(b, at) << 16 | get16(b, at + 2);
}
void put16(std::uint8_t* at, std::uint32_t value) {
  at[0] = static_cast<std::uint8_t>(value >> 8);
  at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
  put16(at, value >> 16);
  put16(at + 2, value & 0xFFFF);
}

std::uint32_t fold(std::uint32_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return sum;
}

std::uint32_t sum16(std::span<const std::uint8_t> bytes) {  // of an even number
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += get16(bytes, i);
  return sum;
}

}  // namespace

std::shared_ptr<const SuperPacket> SuperPacket::read(std::span<const std::uint8_t> with_header) {
  if (with_header.size() < sizeof(VirtioHeader) + 20) return nullptr;
  auto packet = std::make_shared<SuperPacket>();
  std::memcpy(&packet->virtio_, with_header.data(), sizeof(VirtioHeader));
  const auto ip = with_header.subspan(sizeof(VirtioHeader));
  const std::size_t ip_header = static_cast<std::size_t>(ip[0] & 0x0F) * 4;
  if (ip[0] >> 4 != 4 || ip_header < 20 || ip.size() < ip_header) return nullptr;
  packet->bytes_.assign(ip.begin(), ip.end());
  packet->source_ = get32(ip, 12);
  packet->destination_ = get32(ip, 16);
  const bool fragment = (get16(ip, 6) & 0x3FFF) != 0;
  const bool has_ports = (ip[9] == IPPROTO_TCP || ip[9] == IPPROTO_UDP) && !fragment && ip.size() >= ip_header + 4;
  // Addresses are of 198.18.0.0/15: 17 bits each, beside 32 of ports leave none to the protocol but by mixing.
  std::uint64_t flow = std::uint64_t{packet->source_} << 32 | packet->destination_;
  flow = (flow ^ ip[9]) * 0x9E3779B97F4A7C15U;
  packet->flow_ = (flow ^ (flow >> 29) ^ (has_ports ? get32(ip, ip_header) : 0)) * 0xBF58476D1CE4E5B9U;
  const bool tso = (packet->virtio_.gso_type & kGsoTypeMask) == kGsoTcp4 && packet->virtio_.gso_size > 0;
  if (tso) {
    if (ip[9] != IPPROTO_TCP || ip.size() < ip_header + 20) return nullptr;
    packet->header_bytes_ = ip_header + static_cast<std::size_t>(ip[ip_header + 12] >> 4) * 4;
    if (packet->header_bytes_ < ip_header + 20 || ip.size() <= packet->header_bytes_) return nullptr;
    const std::size_t payload = ip.size() - packet->header_bytes_;
    packet->segments_ = static_cast<std::uint32_t>((payload + packet->virtio_.gso_size - 1) / packet->virtio_.gso_size);
  }
  return packet;
}

std::uint32_t SuperPacket::wire_bytes(std::uint32_t segment) const {
  if (segments_ == 1) return static_cast<std::uint32_t>(bytes_.size());
  const std::size_t payload = bytes_.size() - header_bytes_, start = std::size_t{segment} * virtio_.gso_size;
  return static_cast<std::uint32_t>(header_bytes_ + std::min<std::size_t>(virtio_.gso_size, payload - start));
}

SuperPacket::Merged SuperPacket::merge(std::uint32_t first, std::uint32_t last) const {
  Merged out;
  if (segments_ == 1) {
    std::memcpy(out.head.data(), &virtio_, sizeof(virtio_));
    out.head_bytes = sizeof(virtio_);
    out.payload = bytes_;
    return out;
  }
  const std::size_t start = std::size_t{first} * virtio_.gso_size;
  const std::size_t end = std::min(bytes_.size() - header_bytes_, (std::size_t{last} + 1) * virtio_.gso_size);
  out.payload = std::span(bytes_).subspan(header_bytes_ + start, end - start);
  out.head_bytes = sizeof(virtio_) + header_bytes_;

  VirtioHeader virtio = virtio_;
  if (first == last) virtio.gso_type = kGsoNone, virtio.gso_size = 0;
  const std::size_t ip_header = static_cast<std::size_t>(bytes_[0] & 0x0F) * 4,
                    tcp_bytes = header_bytes_ - ip_header + end - start;
  virtio.flags = kNeedsChecksum;
  virtio.header_bytes = static_cast<std::uint16_t>(header_bytes_);
  virtio.checksum_start = static_cast<std::uint16_t>(ip_header);
  virtio.checksum_offset = 16;
  std::memcpy(out.head.data(), &virtio, sizeof(virtio));

  std::uint8_t* const ip = out.head.data() + sizeof(virtio);
  std::memcpy(ip, bytes_.data(), header_bytes_);
  put16(ip + 2, static_cast<std::uint32_t>(ip_header + tcp_bytes));
  put16(ip + 4, get16(bytes_, 4) + first);
  put16(ip + 10, 0);
  put16(ip + 10, ~fold(sum16({ip, ip_header})) & 0xFFFF);

  std::uint8_t* const tcp = ip + ip_header;
  put32(tcp + 4, get32(bytes_, ip_header + 4) + static_cast<std::uint32_t>(start));
  if (last + 1 < segments_) tcp[13] &= static_cast<std::uint8_t>(~(kFin | kPush));
  if (first > 0) tcp[13] &= static_cast<std::uint8_t>(~kCongestionReduced);
  // What the receiving kernel completes: the pseudo header's sum, not inverted (CHECKSUM_PARTIAL).
  put16(tcp + 16, fold(sum16({ip + 12, 8}) + IPPROTO_TCP + static_cast<std::uint32_t>(tcp_bytes)));
  return out;
}

}  // namespace gridtorrent::wan
