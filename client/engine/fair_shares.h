#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// A node, or a foreign client by its address.
using PeerKey = std::pair<NodeId, std::string>;

/// What went to one node in the last second, over all its lanes in all swarms.
struct Sending {
  double bytes_per_s = 0;
  bool wants_more = false;  ///< something was asked for, or written, and has not gone out
};

/// What a node may be sent in the next second.
struct Allowance {
  double share = 0;   ///< bytes
  double credit = 0;  ///< beside that: what it left of its shares of late
};

/// How a node's uplink is shared out while several nodes want more than it has: by node, not by lane (docs/decisions,
/// 2026-11-22), so that one with 16 lanes and one with a single lane get like shares. As long as nobody stays at a
/// disadvantage, or the uplink is not what limits them, nothing is limited: the demand of nodes in a swarm varies,
/// and what one leaves is the others' as long as none is held back.
///
/// The uplink's rate is not known: it is what went out at most of late, and now and then a little more is tried. Shares
/// are max-min fair (Bertsekas and Gallager, Data Networks, 6.5.2). A single lane's window takes long to grow, and does
/// not grow at all in a full queue: who does not come up to its share is given time, then left what it takes and room
/// to grow into; the rest is the others'. What one does not take of its share, it may take in the next seconds. Decided
/// once a second; not thread-safe.
class FairShares {
 public:
  /// Those that are not named may be sent as much as they take.
  std::map<PeerKey, Allowance> decide(MonoTime now, const std::map<PeerKey, Sending>& nodes);

 private:
  struct Node {
    double rate = 0;   ///< in the last round
    double usual = 0;  ///< smoothed over some rounds
    MonoTime last_wanted{};
    double low = 0;                 ///< of `usual`, since it last grew
    MonoTime patient_from{};        ///< when it last grew, or took up its part, or this sharing began
    std::chrono::seconds pause{0};  ///< until patience begins anew, doubled each time
    double share = 0;               ///< as last decided
    bool wants_more = false;        ///< than that
    double missed = 0;              ///< seconds of an even share, since it fell behind
    double credit = 0;              ///< see Allowance
  };
  void note(MonoTime now, const std::map<PeerKey, Sending>& nodes);
  void estimate_capacity(double total);
  void keep_credits(double total, bool capacity_is_right);
  bool somebody_is_at_a_disadvantage(const std::vector<Node*>& wanting, double even);
  void share_out(const std::vector<Node*>& wanting, double to_share, bool begins, MonoTime now);
  void be_patient(Node& node, bool lags, MonoTime now) const;
  double demand_of(const Node& node, MonoTime now) const;

  std::map<PeerKey, Node> nodes_;
  std::deque<double> totals_;  ///< of the last rounds, the last one first
  double usual_total_ = 0, capacity_ = 0;
  bool sharing_ = false;
  int rounds_ = 0;
  bool tried_ = false;    ///< to send more than the uplink was known to carry
  bool drained_ = false;  ///< sent less, for somebody to catch up
  int short_ = 0;         ///< rounds since somebody came up to its share
};

/// Max-min fair shares of `capacity` for those demands, in their order.
std::vector<double> max_min_shares(double capacity, const std::vector<double>& demands);

/// How a node's share becomes a rate for each of its lanes: some carry less than an even part, so the others are given
/// more, until together they come to the share. One per node; once a second.
class LanePace {
 public:
  /// What went out over the lanes together in the last second, bytes; the rate of each, bytes/s.
  double next(const Allowance& allowed, double sent, std::size_t lanes);

 private:
  double factor_ = 1;
  Allowance previous_;
  int rounds_ = 0;
};

}  // namespace gridtorrent::client::engine
