#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gridtorrent::rpc {

/// Whether an upload comes fast enough to go on. It has patience for a while, which waiting uses up and bytes bring
/// back, never beyond the first: whoever sends at the least rate goes on, and one who sent much at once may not rest on
/// it. A value; time is what the server waited for the client, not what it worked itself.
class UploadPace {
 public:
  /// A break of the client's path of that length ends nothing.
  static constexpr std::chrono::milliseconds kPatience{60'000};
  /// 512 kbit/s, an eighth of a poor uplink's 4 Mbit/s. The largest document (128 MiB) then holds its place for 35 min.
  static constexpr std::uint64_t kLeastBytesPerS = 64 << 10;

  void received(std::size_t bytes) {
    const auto earned = std::chrono::milliseconds(static_cast<std::uint64_t>(bytes) * 1000 / kLeastBytesPerS);
    left_ = std::min(kPatience, left_ + earned);
  }
  void waited(std::chrono::milliseconds time) { left_ -= time; }
  /// After waiting for `more`, on top of what waited() was told.
  bool is_too_slow(std::chrono::milliseconds more) const { return more > left_; }

 private:
  std::chrono::milliseconds left_ = kPatience;
};

}  // namespace gridtorrent::rpc
