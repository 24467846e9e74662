#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "client/engine/request_pacer.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// One rate for several flows. RequestPacer says when the next block may pass, start-time fair queueing (Goyal, Vin,
/// Cheng, SIGCOMM 1996) whose block it is: flows that want more than an even part get even parts, in bytes, and what
/// one does not take is the others' at once. A flow that waited for nothing saves up nothing. Not thread-safe.
template <class Flow>
class SharedRate {
 public:
  /// Bytes a second, of all flows together; 0: no limit.
  void set_rate(std::uint64_t bytes_per_s) { pacer_.set_rate(bytes_per_s); }
  bool limits() const { return pacer_.limits(); }

  /// The index of the flow, of those that wait, whose block may pass now; nothing where none may yet.
  std::optional<std::size_t> next(MonoTime now, std::span<const Flow> waiting) const {
    if (waiting.empty() || !pacer_.ready(now)) return std::nullopt;
    const auto first = std::ranges::min_element(waiting, {}, [this](const Flow& flow) { return end_of(flow); });
    return static_cast<std::size_t>(first - waiting.begin());
  }

  /// So many bytes of the flow pass, whether it was its turn or not.
  void pass(MonoTime now, const Flow& flow, std::uint64_t bytes) {
    pacer_.take(now, bytes);
    if (!limits()) return ends_.clear();
    served_ = std::max(served_, end_of(flow));
    ends_[flow] = served_ + static_cast<double>(bytes);
    std::erase_if(ends_, [this](const auto& entry) { return entry.second < served_; });
  }

 private:
  double end_of(const Flow& flow) const {
    const auto found = ends_.find(flow);
    return found == ends_.end() ? 0 : found->second;
  }

  RequestPacer pacer_;
  double served_ = 0;            ///< virtual time: where the block that passed last begins, bytes
  std::map<Flow, double> ends_;  ///< where each flow's last block ends; older ones count as none
};

}  // namespace gridtorrent::client::engine
