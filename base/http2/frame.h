#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// HTTP/2 as far as a guard has to understand it (RFC 9113): frame headers, never HPACK. Pure: bytes and times in,
/// decisions out; no sockets, no clock, no third-party library.
namespace gridtorrent::http2 {

inline constexpr std::size_t kFrameHeaderBytes = 9;

/// RFC 9113, 6. Other values are possible and mean an extension.
enum class FrameType : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kResetStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};

inline constexpr std::uint8_t kFlagEndStream = 0x1;
inline constexpr std::uint8_t kFlagAck = 0x1;  ///< of SETTINGS and PING
inline constexpr std::uint8_t kFlagEndHeaders = 0x4;
inline constexpr std::uint8_t kFlagPadded = 0x8;

struct FrameHeader {
  std::uint32_t length = 0;  ///< of the payload, 24 bits
  FrameType type = FrameType::kData;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;  ///< 31 bits

  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

/// `bytes` has nine.
FrameHeader parse_frame_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes);
std::array<std::uint8_t, kFrameHeaderBytes> write_frame_header(const FrameHeader& header);

/// A part of one frame, as it lies in the bytes that were given to FrameReader.
struct FramePiece {
  FrameHeader frame;
  std::span<const std::uint8_t> payload;
  bool begins = false;  ///< the first piece of its frame
  bool ends = false;    ///< the last one; a frame without payload begins and ends in one piece
};

/// Cuts a byte stream into pieces of frames. Keeps at most an unfinished frame header.
class FrameReader {
 public:
  /// Takes the next piece off the front of `bytes`; nothing when they are used up.
  std::optional<FramePiece> next(std::span<const std::uint8_t>& bytes);
  /// Between two frames: nothing of a next one has come.
  bool at_boundary() const { return header_have_ == 0 && !in_frame_; }

 private:
  std::array<std::uint8_t, kFrameHeaderBytes> header_{};
  std::size_t header_have_ = 0;
  FrameHeader frame_;
  std::uint32_t payload_left_ = 0;
  bool in_frame_ = false;
};

}  // namespace gridtorrent::http2
