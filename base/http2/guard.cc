#include "base/http2/guard.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gridtorrent::http2 {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";  // RFC 9113, 3.4
constexpr std::uint32_t kInitialMaxFrameBytes = 16'384;                    // RFC 9113, 6.5.2
constexpr std::uint16_t kSettingMaxFrameSize = 5;
constexpr std::size_t kSettingBytes = 6;
constexpr std::uint32_t kNoError = 0x0, kErrorProtocol = 0x1, kErrorEnhanceYourCalm = 0xb;  // RFC 9113, 7

bool is_protocol_error(Offence offence) {
  return offence == Offence::kNoPreface || offence == Offence::kProtocol || offence == Offence::kFrameSize;
}

void append_u32(std::string& out, std::uint32_t value) {
  for (const unsigned shift : {24u, 16u, 8u, 0u}) out.push_back(static_cast<char>(value >> shift));
}

}  // namespace

bool Bucket::take(MonoTime now) {
  const double passed_s = std::chrono::duration<double>(now - at_).count();
  filled_ = std::min(rate_.burst, filled_ + std::max(0.0, passed_s) * rate_.per_s);
  at_ = now;
  if (filled_ < 1) return false;
  filled_ -= 1;
  return true;
}

Guard::Guard(const GuardLimits& limits, MessageBudget& budget, std::string address, MessageBudget::Evict evict,
             MonoTime now)
    : limits_(limits),
      began_(now),
      max_frame_bytes_(kInitialMaxFrameBytes),
      resets_(limits.resets, now),
      control_frames_(limits.control_frames, now),
      idle_frames_(limits.idle_frames, now),
      share_(budget, std::move(address), std::move(evict)) {}

std::optional<Offence> Guard::from_caller(std::span<const std::uint8_t> bytes, MonoTime now) {
  if (!take_preface(bytes)) return Offence::kNoPreface;
  while (const auto piece = caller_.next(bytes)) {
    if (piece->begins) {
      passed_ += kFrameHeaderBytes;
      if (const auto offence = begin_from_caller(piece->frame, now)) return offence;
    }
    if (piece->frame.type == FrameType::kData) {
      if (const auto offence = data_piece(*piece, now)) return offence;
      if (piece->ends && piece->frame.has(kFlagEndStream)) messages_.close(piece->frame.stream);
    } else {
      passed_ += piece->payload.size();
    }
    if (piece->ends && block_ && block_->last_frame) block_.reset();
  }
  const std::size_t held = messages_.held_bytes();
  return share_.update(held, held > 0 ? messages_.held_since() : now, now);
}

std::optional<Offence> Guard::from_server(std::span<const std::uint8_t> bytes, MonoTime now) {
  while (const auto piece = server_.next(bytes)) {
    const FrameHeader& frame = piece->frame;
    if (frame.type == FrameType::kSettings && !frame.has(kFlagAck)) settings_of_server(piece->payload, piece->begins);
    if (!piece->begins) continue;
    if (frame.type == FrameType::kResetStream) {
      const auto offence = reset(frame.stream, now);
      server_cut_ = offence.has_value();
      if (offence) return offence;
    } else if ((frame.type == FrameType::kData || frame.type == FrameType::kHeaders) && frame.has(kFlagEndStream)) {
      messages_.close(frame.stream);
    }
  }
  const std::size_t held = messages_.held_bytes();
  return share_.update(held, held > 0 ? messages_.held_since() : now, now);
}

std::optional<Offence> Guard::check_time(MonoTime now) const {
  if (preface_have_ < kPreface.size()) {
    if (now - began_ > limits_.preface_time) return Offence::kNoPreface;
    return std::nullopt;
  }
  if (block_ && now - block_->since > limits_.header_block_time) return Offence::kSlowHeaderBlock;
  const auto oldest = messages_.oldest();
  if (!oldest) return std::nullopt;
  const auto age = now - oldest->since;
  if (age > limits_.message_time) return Offence::kSlowMessage;
  const double wanted = static_cast<double>(limits_.least_bytes_per_s) * std::chrono::duration<double>(age).count();
  if (age > limits_.rate_grace && static_cast<double>(oldest->data_bytes) < wanted) return Offence::kSlowMessage;
  return std::nullopt;
}

std::string Guard::farewell(Offence offence) const {
  return go_away(is_protocol_error(offence) ? kErrorProtocol : kErrorEnhanceYourCalm, offence_text(offence));
}

std::string Guard::graceful_end() const {
  return go_away(kNoError, "others wait for this place");
}

std::string Guard::go_away(std::uint32_t error, std::string_view text) const {
  if (server_cut_ || !server_.at_boundary()) return {};
  const auto length = static_cast<std::uint32_t>(8 + text.size());
  const auto header = write_frame_header({length, FrameType::kGoAway, 0, 0});
  std::string frame(header.begin(), header.end());
  append_u32(frame, highest_stream_);
  append_u32(frame, error);
  return frame.append(text);
}

bool Guard::take_preface(std::span<const std::uint8_t>& bytes) {
  const std::size_t take = std::min(bytes.size(), kPreface.size() - preface_have_);
  for (const std::uint8_t byte : bytes.first(take)) {
    if (byte != static_cast<std::uint8_t>(kPreface[preface_have_])) return false;
    ++preface_have_;
  }
  bytes = bytes.subspan(take);
  return true;
}

std::optional<Offence> Guard::begin_from_caller(const FrameHeader& frame, MonoTime now) {
  if (frame.length > max_frame_bytes_) return Offence::kFrameSize;
  // RFC 9113, 6.10: nothing but its own CONTINUATION may come within a header block.
  const bool continues = frame.type == FrameType::kContinuation;
  if (continues != block_.has_value() || (continues && frame.stream != block_->stream)) return Offence::kProtocol;
  switch (frame.type) {
    case FrameType::kHeaders:
      return begin_headers(frame, now);
    case FrameType::kContinuation:
      return add_to_header_block(frame);
    case FrameType::kData:
      if (frame.stream == 0 || (frame.has(kFlagPadded) && frame.length == 0)) return Offence::kProtocol;
      padding_ = {frame.has(kFlagPadded), frame.length};
      if (frame.length > 0 || frame.has(kFlagEndStream)) return std::nullopt;
      break;
    case FrameType::kResetStream:
      return reset(frame.stream, now);
    case FrameType::kSettings:
    case FrameType::kPing:
      if (!control_frames_.take(now)) return Offence::kControlFrames;
      return std::nullopt;
    default:
      break;
  }
  if (!idle_frames_.take(now)) return Offence::kIdleFrames;
  return std::nullopt;
}

std::optional<Offence> Guard::begin_headers(const FrameHeader& frame, MonoTime now) {
  if (frame.stream % 2 == 0) return Offence::kProtocol;  // zero, or one of the server's
  if (frame.has(kFlagEndStream)) {
    messages_.close(frame.stream);
  } else if (frame.stream > highest_stream_) {
    if (messages_.open_streams() >= limits_.open_streams) return Offence::kStreams;
    messages_.open(frame.stream, now);
  }
  highest_stream_ = std::max(highest_stream_, frame.stream);
  block_ = HeaderBlock{.stream = frame.stream, .since = now};
  return add_to_header_block(frame);
}

std::optional<Offence> Guard::add_to_header_block(const FrameHeader& frame) {
  block_->bytes += frame.length;
  block_->frames += 1;
  block_->last_frame = frame.has(kFlagEndHeaders);
  if (block_->bytes > limits_.header_block_bytes) return Offence::kHeaderBlock;
  if (block_->frames > limits_.header_block_frames) return Offence::kHeaderBlock;
  return std::nullopt;
}

std::optional<Offence> Guard::data_piece(const FramePiece& piece, MonoTime now) {
  std::span<const std::uint8_t> bytes = piece.payload;
  if (padding_.length_due && !bytes.empty()) {
    const std::uint32_t padding = bytes.front();
    if (padding + 1 > padding_.content_left) return Offence::kProtocol;  // RFC 9113, 6.1
    padding_.content_left -= padding + 1;
    padding_.length_due = false;
    bytes = bytes.subspan(1);
    ++passed_;
  }
  if (padding_.length_due) return std::nullopt;
  const std::size_t content = std::min<std::size_t>(bytes.size(), padding_.content_left);
  padding_.content_left -= static_cast<std::uint32_t>(content);
  const std::size_t held_before = messages_.held_bytes();
  messages_.data(piece.frame.stream, bytes.first(content), passed_, now);
  passed_ = messages_.held_bytes() > held_before ? 0 : passed_ + content;
  passed_ += bytes.size() - content;
  return std::nullopt;
}

std::optional<Offence> Guard::reset(std::uint32_t stream, MonoTime now) {
  messages_.close(stream);
  if (!resets_.take(now)) return Offence::kResets;
  return std::nullopt;
}

/// Six bytes each: two for which, four for its value.
void Guard::settings_of_server(std::span<const std::uint8_t> payload, bool begins) {
  if (begins) setting_have_ = 0;
  for (const std::uint8_t byte : payload) {
    setting_ = ((setting_ << 8) | byte) & 0xffff'ffff'ffff;
    if (++setting_have_ < kSettingBytes) continue;
    setting_have_ = 0;
    // The caller may not know a lower one yet: the largest that the server ever allowed counts.
    if (setting_ >> 32 == kSettingMaxFrameSize) {
      max_frame_bytes_ = std::max(max_frame_bytes_, static_cast<std::uint32_t>(setting_));
    }
  }
}

}  // namespace gridtorrent::http2
