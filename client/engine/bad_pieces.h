#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "client/engine/lane_orders.h"
#include "client/engine/lane_table.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Pieces that failed their hash, and whom that is blamed on. Who spoilt one alone is left alone for a while, longer
/// each time. Guarded by its Swarm's mutex; the table, which outlives it, is Swarm's.
class BadPieces {
 public:
  /// `tls`: of a TLS edition, where nobody can relay another's lane.
  BadPieces(LaneTable& table, bool tls) : table_(table), tls_(tls) {}

  /// Blocks of the piece came over the lane.
  void note(const Lane& lane, std::uint32_t piece);
  /// Blames for what was noted since the last call.
  void judge(MonoTime now, Orders& orders);

 private:
  /// Who may have spoilt a piece: a node, or whoever sends in its name from an address.
  struct Suspect {
    PeerKey key;
    bool dialled = false;  ///< unproven, over a lane that we dialled
    bool proven = false;   ///< over a lane that somebody dialled and proved: a proof can be relayed
    friend auto operator<=>(const Suspect&, const Suspect&) = default;
  };
  bool another_is_known(const PeerKey& key, MonoTime now) const;
  void blame(const Suspect& suspect, std::uint32_t piece, MonoTime now, Orders& orders);
  void end_proven_from(const PeerKey& key);

  LaneTable& table_;
  const bool tls_;
  std::map<std::uint32_t, std::set<Suspect>> suspects_;  ///< by piece
};

}  // namespace gridtorrent::client::engine
