#pragma once

#include <map>
#include <utility>
#include <vector>

#include "client/plan/sample.h"

namespace gridtorrent::client::tuning {

/// Adds up the payload of a transfer's lanes, over lanes that come and go. A value: no thread, no clock.
class ByteMeter {
 public:
  /// At least once a second: what a lane carried between the last look and its end is not seen. The first look is where
  /// it begins to count.
  void look(const std::vector<PeerSample>& peers);
  double bytes() const { return bytes_; }  ///< since the first look; never falls

 private:
  std::map<std::pair<NodeId, int>, std::uint64_t> lanes_;
  double bytes_ = 0;
  bool looked_ = false;
};

}  // namespace gridtorrent::client::tuning
