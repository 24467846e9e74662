#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/http2/frame.h"
#include "common/clock.h"

namespace gridtorrent::http2 {

/// What one message costs the server while it is unfinished. gRPC keeps slices of what it read: a small piece of a
/// message holds all that was read with it, up to its read size, and an entry in a list.
inline constexpr std::size_t kReadSliceBytes = 32 * 1024;  ///< the largest read of gRPC; the server sets it so
inline constexpr std::size_t kPieceBytes = 32;             ///< sizeof(grpc_slice)
/// A call whose first message is not whole: 3,200 of them took 30 MiB (bench/hold.py).
inline constexpr std::size_t kOpenCallBytes = 8 * 1024;

/// The gRPC messages that streams of one connection have begun and not finished. gRPC over HTTP/2: a message is a byte
/// of flags, four of length (big endian), and so many bytes, over any number of DATA frames. Not thread-safe.
class Messages {
 public:
  void open(std::uint32_t stream, MonoTime now);
  /// Whatever the stream held is given up. Unknown ones are ignored.
  void close(std::uint32_t stream);
  /// A piece of a DATA frame of the stream, without padding; `passed` bytes of all kinds came on the connection since
  /// the piece before. Unknown streams are ignored.
  void data(std::uint32_t stream, std::span<const std::uint8_t> bytes, std::size_t passed, MonoTime now);

  std::size_t open_streams() const { return streams_.size(); }
  std::size_t held_bytes() const { return held_; }
  /// Since when anything is held; only where held_bytes() > 0.
  MonoTime held_since() const;

  /// The message that began first; nothing: none is unfinished.
  struct Oldest {
    MonoTime since;
    std::uint64_t data_bytes = 0;  ///< DATA bytes that came on the connection since then
  };
  std::optional<Oldest> oldest() const;

 private:
  struct Stream {
    std::uint32_t id = 0;
    std::uint32_t length = 0;      ///< from the prefix, as far as it is known
    std::uint32_t left = 0;        ///< of the message, once the prefix is whole
    std::uint8_t prefix_have = 0;  ///< 0 to 5; 0: between two messages
    bool waits_for_first = true;   ///< no message has been whole yet
    std::size_t held = 0;          ///< by the unfinished message
    MonoTime opened{}, since{};
    std::uint64_t data_before = 0;
  };
  Stream* find(std::uint32_t id);
  static std::size_t held_by(const Stream& stream);
  static void take(Stream& stream, std::span<const std::uint8_t>& bytes);

  std::vector<Stream> streams_;  ///< few: the server allows 32 at once
  std::size_t held_ = 0;
  std::uint64_t data_total_ = 0;
};

}  // namespace gridtorrent::http2
