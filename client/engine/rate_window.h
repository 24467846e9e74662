#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/clock.h"

namespace gridtorrent::client::engine {

/// A rate over the last second or so, which a pause of a tenth of a second does not throw off. Not thread-safe.
class RateWindow {
 public:
  void add(MonoTime now, std::uint64_t bytes);
  /// 0 until the first eighth of a second is over.
  double bytes_per_s() const { return bytes_per_s_; }

 private:
  std::array<double, 8> spans_{};  ///< bytes, in the order in which they are used again
  std::size_t next_ = 0, used_ = 0;
  std::uint64_t bytes_ = 0;  ///< of the span that is not over
  MonoTime end_{};
  double bytes_per_s_ = 0;
};

}  // namespace gridtorrent::client::engine
