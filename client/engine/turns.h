#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/ids.h"

namespace gridtorrent::client::engine {

/// In which order the nodes that fetch a content ask a seeder for each of its pieces. Each takes other pieces from it
/// and gives them to the rest; were each to choose at random, as rarest-first does among what nobody has yet, the
/// seeder's uplink would carry a good part of the data several times. All know each other from the tracker, so this
/// needs no word between them: a piece's nodes are ordered by a hash of both (rendezvous hashing: Thaler and
/// Ravishankar 1998), so that those who are done with their own help each slow node with other pieces, and whoever
/// comes or goes changes the order of nobody else.
class Turns {
 public:
  /// The turn at which any piece that is left may be asked for.
  static constexpr int kAnybodys = 3;
  /// Alone: every piece is anybody's.
  Turns() = default;
  /// `fetching`: who fetches, in any order, named once or more, this node or not.
  Turns(const NodeId& self, std::span<const NodeId> fetching);
  /// 0: this node asks first for the piece, and so on up to kAnybodys.
  int of(std::uint32_t piece) const;
  friend bool operator==(const Turns&, const Turns&) = default;

 private:
  std::uint64_t self_ = 0;
  std::vector<std::uint64_t> others_;
};

/// The turns in force of one torrent. Giving a million pieces other priorities takes a tenth of a second, so they
/// change only once others have been due for some rounds. Not thread-safe.
class TurnsInForce {
 public:
  /// Once a round. The turns in force until now and from now on; nothing: they stay. `at_once`: no lane stands yet, so
  /// there is nothing to wait for.
  std::optional<std::pair<Turns, Turns>> change(const Turns& due, std::size_t pieces, bool at_once);

 private:
  Turns turns_;
  int rounds_ = 0;  ///< for which others have been due
};

}  // namespace gridtorrent::client::engine
