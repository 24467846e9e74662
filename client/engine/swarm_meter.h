#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/core/engine.h"
#include "client/engine/lane_orders.h"
#include "client/engine/lane_table.h"
#include "client/engine/node_rates.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// Peers and rates of a torrent, as last published.
struct SwarmReport {
  std::uint64_t plan_revision = 0;
  std::vector<PeerSnapshot> peers;
  std::vector<PathProblem> problems;
  std::uint64_t received_bytes = 0, sent_bytes = 0, receive_bits_per_s = 0, send_bits_per_s = 0;
  std::uint64_t refused_lanes = 0;
};

/// Takes the figures of a torrent's lanes from libtorrent and the kernel, tells other ends of them, and makes the
/// report. It decides nothing. Guarded by its Swarm's mutex; network thread, but for `report` and `refresh`. The table,
/// which outlives it, is Swarm's.
class SwarmMeter {
 public:
  SwarmMeter(const LaneTable& table, std::shared_ptr<const NodeRates> rates)
      : table_(table), rates_(std::move(rates)) {}

  /// Once a second: all figures, and rates since the last round.
  void round(MonoTime now);
  /// Between two rounds: bytes of all lanes, and what they have.
  void refresh(MonoTime now);
  /// Between two rounds: of one lane.
  void refresh(Lane& lane, MonoTime now);
  /// TCP of one lane.
  void read_tcp(Lane& lane, MonoTime now) { lane.read_tcp(rates_->load.load(), now); }
  /// Every 250 ms while lanes carry something: looks at those that do. False where none does.
  bool sample(MonoTime now, Orders& orders);
  /// Tells those whom something was sent to of TCP on our end.
  void tell(Orders& orders) const;
  /// The same for one lane, whatever was sent.
  static void tell(const std::shared_ptr<Lane>& lane, Orders& orders);

  /// `active`: something is dialled, so that where no lane stands it is a problem.
  SwarmReport report(bool active, MonoTime now) const;

 private:
  void count(Lane& lane, double seconds, MonoTime now);

  const LaneTable& table_;
  const std::shared_ptr<const NodeRates> rates_;
  MonoTime last_round_{};
};

}  // namespace gridtorrent::client::engine
