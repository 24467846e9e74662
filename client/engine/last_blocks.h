#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/ids.h"

namespace gridtorrent::client::engine {

/// What one lane of a torrent has to do with the last blocks, when there is nothing more to ask for.
struct LastBlocks {
  NodeId node;                  ///< at its other end
  double bytes_per_s = 0;       ///< as they come now; 0: not known
  double best_bytes_per_s = 0;  ///< that it may be expected to bring; 0: not known
  double round_trip_s = 0;
  int asked = 0;                      ///< blocks that it was asked for and has not brought
  int depth = 0;                      ///< the most that it may be asked for
  bool gives = false, takes = false;  ///< whether blocks may be taken from it, and given to it
  std::vector<std::size_t> not_from;  ///< places of lanes whose blocks its other end has not
};

/// So many of the blocks that one lane was asked for last are asked of another, and no more of the first.
struct Reassignment {
  std::size_t from = 0, to = 0;  ///< places in the list of lanes
  int blocks = 0;
  double takes_s = 0;  ///< until the other should have brought them, counted a quarter longer
};

/// The end of a transfer waits for its slowest lane: a seeder whose path became slow holds what it was asked for when
/// it was fast. A lane that was asked for less than it brings in a round trip takes as much from the lane of another
/// node that would end last as brings both to their end at the same time, its own time counted a quarter longer; all of
/// it, where that comes before the next block would. For less than a tenth of a second nothing moves. The fastest lane
/// takes first. Nothing is returned where all lanes end together, or none may give or take. Pure.
std::optional<Reassignment> next_reassignment(const std::vector<LastBlocks>& lanes);

}  // namespace gridtorrent::client::engine
