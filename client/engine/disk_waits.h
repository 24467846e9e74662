#pragma once

#include <libtorrent/disk_observer.hpp>
#include <memory>
#include <set>

#include "client/engine/busy_time.h"

namespace gridtorrent::client::engine {

/// Notes for how long connections are not read from because the disk has too much to write. libtorrent tells each
/// connection, when it hands over a block, that the queue is full, and calls it back once there is room again: this
/// stands between the two. Network thread only.
class DiskWaits {
 public:
  DiskWaits(std::shared_ptr<DiskTimes> times, const Clock& clock) : times_(std::move(times)), clock_(clock) {}

  /// Whom the disk calls back in place of this connection, if the queue is full. Null for null.
  std::shared_ptr<lt::disk_observer> in_place_of(const std::shared_ptr<lt::disk_observer>& connection);
  /// The queue is full: the connection of the last `in_place_of` is not read from until it is called back. `writes`:
  /// blocks on their way to the disk; where they are few, blocks that were read for sending fill the queue.
  void full(int writes);

 private:
  class Wait;
  void over(const std::shared_ptr<Wait>& wait);

  const std::shared_ptr<DiskTimes> times_;
  const Clock& clock_;
  std::shared_ptr<Wait> next_;
  std::set<std::shared_ptr<Wait>> waiting_;  ///< the disk itself keeps none alive
};

}  // namespace gridtorrent::client::engine
