#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "common/hex.h"
#include "tests/support/http2_bytes.h"
#include "tests/support/tls_client.h"

namespace gridtorrent::test {

/// A caller that opens many gRPC calls on one connection and sends each one's message but for its last byte, as far as
/// the server's flow-control windows allow: so nothing but a guard against unfinished messages can mind.
class UnfinishedSender {
 public:
  UnfinishedSender(std::uint16_t port, const char* from, std::uint32_t streams, std::uint32_t message_bytes,
                   int patience_s)
      : client_(port, "\x02h2", from, patience_s), message_bytes_(message_bytes) {
    std::string opening = kHttp2Preface + frame(http2::FrameType::kSettings, 0, 0);
    for (std::uint32_t i = 0; i < streams; ++i) {
      opening += frame(http2::FrameType::kHeaders, http2::kFlagEndHeaders, 2 * i + 1,
                       call_headers("/gridtorrent.v1.Accounts/WhoAmI"));
      streams_[2 * i + 1] = {};
    }
    alive_ = client_.send(opening);
  }

  bool connected() const { return client_.connected(); }
  std::size_t sent() const { return sent_; }
  /// Sends and listens until the server ends the connection, or says nothing for the client's patience. Whether it
  /// ended it. `go_on` is asked between two frames.
  template <class GoOn>
  bool run(GoOn go_on) {
    while (alive_ && go_on()) {
      if (send_one()) continue;
      const std::string bytes = client_.receive();
      if (bytes.empty()) return !timed_out();
      listen(bytes);
    }
    return !alive_;
  }

 private:
  struct Stream {
    std::int64_t window = 65'535;
    std::uint32_t done = 0;
  };
  static bool timed_out() { return errno == EAGAIN || errno == EWOULDBLOCK; }

  /// False: no window is open, or all is sent.
  bool send_one() {
    for (auto& [id, stream] : streams_) {
      const std::string prefix = stream.done == 0 ? message_prefix(message_bytes_) : "";
      const std::int64_t left = std::int64_t{message_bytes_} + 4 - stream.done;  // the prefix of five, less one byte
      const std::int64_t size = std::min({left, stream.window, window_, std::int64_t{16'000}});
      if (size < 5) continue;
      const std::string payload = prefix + std::string(static_cast<std::size_t>(size) - prefix.size(), 'x');
      stream.window -= size;
      window_ -= size;
      stream.done += static_cast<std::uint32_t>(size);
      sent_ += payload.size();
      alive_ = client_.send(frame(http2::FrameType::kData, 0, id, payload));
      return true;
    }
    return false;
  }
  void listen(const std::string& bytes) {
    std::span<const std::uint8_t> rest = as_bytes(bytes);
    while (const auto piece = reader_.next(rest)) {
      if (piece->begins) payload_.clear();
      payload_ += as_chars(piece->payload);
      if (piece->ends) take(piece->frame);
    }
  }
  std::uint32_t u32(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = (value << 8) | static_cast<std::uint8_t>(payload_[i]);
    return value;
  }
  void take(const http2::FrameHeader& header) {
    if (header.type == http2::FrameType::kWindowUpdate && payload_.size() == 4) {
      if (header.stream == 0) window_ += u32(0);
      if (const auto found = streams_.find(header.stream); found != streams_.end()) found->second.window += u32(0);
    } else if (header.type == http2::FrameType::kSettings && !header.has(http2::kFlagAck)) {
      for (std::size_t at = 0; at + 6 <= payload_.size(); at += 6) {
        if (payload_[at] != 0 || payload_[at + 1] != 4) continue;  // INITIAL_WINDOW_SIZE
        for (auto& [id, stream] : streams_) stream.window += std::int64_t{u32(at + 2)} - initial_window_;
        initial_window_ = u32(at + 2);
      }
      alive_ = client_.send(frame(http2::FrameType::kSettings, http2::kFlagAck, 0));
    } else if (header.type == http2::FrameType::kPing && !header.has(http2::kFlagAck)) {
      alive_ = client_.send(frame(http2::FrameType::kPing, http2::kFlagAck, 0, payload_));
    } else if (header.type == http2::FrameType::kResetStream) {
      streams_.erase(header.stream);
    } else if (header.type == http2::FrameType::kGoAway) {
      alive_ = false;
    }
  }

  TlsClient client_;
  const std::uint32_t message_bytes_;
  std::map<std::uint32_t, Stream> streams_;
  std::int64_t window_ = 65'535, initial_window_ = 65'535;
  http2::FrameReader reader_;
  std::string payload_;
  std::size_t sent_ = 0;
  bool alive_ = false;
};

}  // namespace gridtorrent::test
