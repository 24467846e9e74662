#include "base/http2/frame.h"

#include <algorithm>

namespace gridtorrent::http2 {

FrameHeader parse_frame_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes) {
  FrameHeader header;
  header.length = (std::uint32_t{bytes[0]} << 16) | (std::uint32_t{bytes[1]} << 8) | bytes[2];
  header.type = static_cast<FrameType>(bytes[3]);
  header.flags = bytes[4];
  header.stream =
      (std::uint32_t{bytes[5]} << 24) | (std::uint32_t{bytes[6]} << 16) | (std::uint32_t{bytes[7]} << 8) | bytes[8];
  header.stream &= 0x7fffffff;  // the highest bit is reserved, and ignored (RFC 9113, 4.1)
  return header;
}

std::array<std::uint8_t, kFrameHeaderBytes> write_frame_header(const FrameHeader& header) {
  const auto byte = [](std::uint32_t value, unsigned shift) { return static_cast<std::uint8_t>(value >> shift); };
  return {byte(header.length, 16),
          byte(header.length, 8),
          byte(header.length, 0),
          static_cast<std::uint8_t>(header.type),
          header.flags,
          byte(header.stream, 24),
          byte(header.stream, 16),
          byte(header.stream, 8),
          byte(header.stream, 0)};
}

std::optional<FramePiece> FrameReader::next(std::span<const std::uint8_t>& bytes) {
  FramePiece piece;
  if (!in_frame_) {
    const std::size_t take = std::min(bytes.size(), kFrameHeaderBytes - header_have_);
    std::copy_n(bytes.begin(), take, header_.begin() + static_cast<std::ptrdiff_t>(header_have_));
    bytes = bytes.subspan(take);
    header_have_ += take;
    if (header_have_ < kFrameHeaderBytes) return std::nullopt;
    header_have_ = 0;
    frame_ = parse_frame_header(header_);
    payload_left_ = frame_.length;
    in_frame_ = true;
    piece.begins = true;
  } else if (bytes.empty()) {
    return std::nullopt;
  }
  const std::size_t take = std::min<std::size_t>(bytes.size(), payload_left_);
  piece.frame = frame_;
  piece.payload = bytes.first(take);
  bytes = bytes.subspan(take);
  payload_left_ -= static_cast<std::uint32_t>(take);
  piece.ends = payload_left_ == 0;
  in_frame_ = !piece.ends;
  return piece;
}

}  // namespace gridtorrent::http2
