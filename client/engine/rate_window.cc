#include "client/engine/rate_window.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace gridtorrent::client::engine {
namespace {

constexpr auto kSpan = std::chrono::milliseconds(125);

}  // namespace

void RateWindow::add(MonoTime now, std::uint64_t bytes) {
  if (end_ == MonoTime{} || now > end_ + kSpan * spans_.size()) {
    *this = {};
    end_ = now + kSpan;
  }
  for (; now >= end_; end_ += kSpan) {
    spans_[next_] = static_cast<double>(bytes_);
    next_ = (next_ + 1) % spans_.size();
    used_ = std::min(used_ + 1, spans_.size());
    bytes_ = 0;
    const double seconds = std::chrono::duration<double>(kSpan).count() * static_cast<double>(used_);
    bytes_per_s_ = std::accumulate(spans_.begin(), spans_.end(), 0.0) / seconds;
  }
  bytes_ += bytes;
}

}  // namespace gridtorrent::client::engine
