#include "base/http2/messages.h"

#include <algorithm>

namespace gridtorrent::http2 {
namespace {
constexpr std::uint8_t kPrefixBytes = 5;
}

void Messages::open(std::uint32_t stream, MonoTime now) {
  if (find(stream) != nullptr) return;
  streams_.push_back({.id = stream, .opened = now});
  held_ += kOpenCallBytes;
}

std::size_t Messages::held_by(const Stream& stream) {
  return stream.held + (stream.waits_for_first ? kOpenCallBytes : 0);
}

void Messages::close(std::uint32_t stream) {
  Stream* found = find(stream);
  if (found == nullptr) return;
  held_ -= held_by(*found);
  *found = streams_.back();
  streams_.pop_back();
}

void Messages::data(std::uint32_t stream, std::span<const std::uint8_t> bytes, std::size_t passed, MonoTime now) {
  data_total_ += bytes.size();
  Stream* found = find(stream);
  if (found == nullptr || bytes.empty()) return;
  held_ -= held_by(*found);
  const bool was_between = found->prefix_have == 0;
  std::size_t rest = bytes.size();
  bool began_here = was_between;
  while (!bytes.empty()) {
    if (found->prefix_have == 0) {
      rest = bytes.size();
      began_here = true;
    }
    take(*found, bytes);
    if (found->prefix_have == 0) found->waits_for_first = false;
  }
  if (found->prefix_have == 0) {
    found->held = 0;
  } else {
    if (began_here) {
      found->held = 0;
      found->since = now;
      found->data_before = data_total_ - rest;
    }
    found->held += rest + kPieceBytes + std::min(passed, kReadSliceBytes);
  }
  held_ += held_by(*found);
}

MonoTime Messages::held_since() const {
  MonoTime first = MonoTime::max();
  for (const Stream& stream : streams_) {
    if (stream.waits_for_first) {
      first = std::min(first, stream.opened);
    } else if (stream.held > 0) {
      first = std::min(first, stream.since);
    }
  }
  return first;
}

std::optional<Messages::Oldest> Messages::oldest() const {
  const Stream* first = nullptr;
  for (const Stream& stream : streams_) {
    if (stream.held > 0 && (first == nullptr || stream.since < first->since)) first = &stream;
  }
  if (first == nullptr) return std::nullopt;
  return Oldest{first->since, data_total_ - first->data_before};
}

Messages::Stream* Messages::find(std::uint32_t id) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [id](const Stream& one) { return one.id == id; });
  return found == streams_.end() ? nullptr : &*found;
}

/// Takes bytes up to the end of the prefix or of the message.
void Messages::take(Stream& stream, std::span<const std::uint8_t>& bytes) {
  if (stream.prefix_have < kPrefixBytes) {
    if (stream.prefix_have > 0) stream.length = (stream.length << 8) | bytes.front();
    bytes = bytes.subspan(1);
    if (++stream.prefix_have < kPrefixBytes) return;
    stream.left = stream.length;
  } else {
    const std::size_t count = std::min<std::size_t>(bytes.size(), stream.left);
    bytes = bytes.subspan(count);
    stream.left -= static_cast<std::uint32_t>(count);
  }
  if (stream.left == 0) {
    stream.prefix_have = 0;
    stream.length = 0;
  }
}

}  // namespace gridtorrent::http2
