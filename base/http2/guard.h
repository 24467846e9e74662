#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/http2/frame.h"
#include "base/http2/message_budget.h"
#include "base/http2/messages.h"
#include "base/http2/offence.h"
#include "common/clock.h"

namespace gridtorrent::http2 {

/// So many at once, and so many a second after that. A new connection has fewer at first: otherwise who connects again
/// after each refusal would have the burst each time.
struct Rate {
  double initial = 1;
  double burst = 1;
  double per_s = 1;
};

/// A token bucket. Pure: the time is given.
class Bucket {
 public:
  Bucket(Rate rate, MonoTime now) : rate_(rate), filled_(rate.initial), at_(now) {}
  /// False: none is left.
  bool take(MonoTime now);

 private:
  Rate rate_;
  double filled_;
  MonoTime at_;
};

/// What one connection may do. docs/operating.md names them; docs/verification.md has what honest clients need.
struct GuardLimits {
  std::chrono::milliseconds preface_time{10'000};  ///< as the TLS handshake
  std::size_t header_block_bytes = 16 * 1024;      ///< on the wire; gRPC's own limit is 8 KiB after decoding
  std::size_t header_block_frames = 8;             ///< 16 KiB are one frame of the usual size
  std::chrono::milliseconds header_block_time{10'000};
  std::size_t open_streams = 256;  ///< the server allows 32; before its SETTINGS arrive a client may open more
  Rate resets{20, 200, 50};        ///< RST_STREAM of either end: cancelled calls
  /// SETTINGS and PING with their acknowledgements. Busy gRPC clients in C++ and Python send up to 9 PINGs a second
  /// (they measure the path with them), and two SETTINGS in all.
  Rate control_frames{50, 200, 50};
  /// Everything else that carries nothing. The same clients send two WINDOW_UPDATEs a call, so this is 50,000 calls.
  Rate idle_frames{10'000, 100'000, 100'000};
  std::chrono::milliseconds message_time{60'000};  ///< as the longest time of a call that is answered at once
  std::chrono::milliseconds rate_grace{10'000};    ///< a message is not measured before
  std::uint64_t least_bytes_per_s = 2'000;         ///< of DATA on the connection while a message is unfinished
};

/// Looks at both directions of one HTTP/2 connection with gRPC inside, between a caller and a server, and decides
/// whether it may go on. The owner shows it all bytes before it passes them on; after an offence it passes nothing of
/// them and ends the connection. Keeps no bytes but unfinished frame headers. Not thread-safe.
class Guard {
 public:
  Guard(const GuardLimits& limits, MessageBudget& budget, std::string address, MessageBudget::Evict evict,
        MonoTime now);

  std::optional<Offence> from_caller(std::span<const std::uint8_t> bytes, MonoTime now);
  std::optional<Offence> from_server(std::span<const std::uint8_t> bytes, MonoTime now);
  /// Deadlines; to be asked once a second.
  std::optional<Offence> check_time(MonoTime now) const;

  /// A GOAWAY frame that tells the caller why, to be sent behind all that from_server() let pass; empty where that
  /// ended within a frame.
  std::string farewell(Offence offence) const;
  /// The same without an offence: the caller may repeat over another connection what it sends from now on.
  std::string graceful_end() const;

  std::size_t open_streams() const { return messages_.open_streams(); }
  std::size_t held_bytes() const { return messages_.held_bytes(); }

 private:
  struct HeaderBlock {
    std::uint32_t stream = 0;
    std::size_t bytes = 0, frames = 0;
    bool last_frame = false;  ///< END_HEADERS has come; the frame itself may not be whole
    MonoTime since{};
  };
  struct Padding {
    bool length_due = false;  ///< the next byte of the payload is the length of the padding
    std::uint32_t content_left = 0;
  };

  std::string go_away(std::uint32_t error, std::string_view text) const;
  bool take_preface(std::span<const std::uint8_t>& bytes);
  std::optional<Offence> begin_from_caller(const FrameHeader& frame, MonoTime now);
  std::optional<Offence> begin_headers(const FrameHeader& frame, MonoTime now);
  std::optional<Offence> add_to_header_block(const FrameHeader& frame);
  std::optional<Offence> data_piece(const FramePiece& piece, MonoTime now);
  std::optional<Offence> reset(std::uint32_t stream, MonoTime now);
  void settings_of_server(std::span<const std::uint8_t> payload, bool begins);

  const GuardLimits limits_;
  const MonoTime began_;
  std::size_t preface_have_ = 0;
  FrameReader caller_, server_;
  bool server_cut_ = false;  ///< bytes of the server were not passed on
  Messages messages_;
  std::optional<HeaderBlock> block_;
  Padding padding_;
  std::size_t passed_ = 0;  ///< bytes since the last piece of a message, as Messages::data wants to know
  std::uint32_t highest_stream_ = 0;
  std::uint32_t max_frame_bytes_;
  std::uint64_t setting_ = 0;  ///< the last six bytes of the server's SETTINGS
  std::size_t setting_have_ = 0;
  Bucket resets_, control_frames_, idle_frames_;
  MessageBudget::Share share_;
};

}  // namespace gridtorrent::http2
