#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "client/plan/controller.h"
#include "client/plan/findings.h"
#include "client/plan/watcher.h"
#include "client/tuning/path_meter.h"

/// What limits a transfer, whichever tuner it has.
namespace gridtorrent::client::tuning {

/// One source as the diagnosis sees it.
struct DiagnosedSource {
  NodeId node;
  PathFigures path;           ///< its round trip is the median of the last seconds
  bool has_requests = false;  ///< blocks are asked of it that are not here yet
  /// Shares of the time in which the source's network thread wanted a core, and in which it read from its disk, 0 to 1.
  double network_thread = 0, reads_disk = 0;
  bool grants_bbr = false;  ///< its owner lets it send with BBR where it is asked to
};

struct DiagnosedTransfer {
  TransferId transfer;
  double bits_per_s = 0, best_bits_per_s = 0;
  double target_bits_per_s = 0;       ///< to be held; 0: none
  double limit_bits_per_s = 0;        ///< a person's; 0: none
  double part_bits_per_s = 0;         ///< what the node's other transfers leave of its limit; 0: no such limit
  double tuner_limit_bits_per_s = 0;  ///< the tuner's own, as it is polite; 0: none
  bool has_deadline = false;
  int lanes_wish = 0, seeders_wish = 0;    ///< a person's; 0: none
  int nodes_with_data = 0;                 ///< those that are no sources of it included
  HostLoad load;                           ///< of this node
  HostFacts host{};                        ///< of its machine
  std::vector<DiagnosedSource> sources{};  ///< those that lanes stand to
};

/// The word, the figures behind it, and what a person can do. Pure. In this order: `target`, the rate that a person
/// asked for, or that a deadline takes, is reached; `receiver-cpu`, a thread of this node never rests; `disk`, this
/// node mostly does not read from the network since too much waits to be written; else what holds the sources that
/// bring most:
///
/// - seeder: its owner's shares pace it; it has too little to send although blocks are asked of it; its network thread
///   never rests; or packets wait longer on its way than on those of the others;
/// - path: packets wait on it. Whatever else there is, the link carries no more;
/// - window: its lanes wait for a receive window, or for room in the send buffer, more than half of the time;
/// - loss: so much gets lost at random that it takes more lanes than there are, or three and more, to make up for it
///   (lane_need.h);
/// - path again, where nothing else is left: a full queue dropped something, the path is near, or the sender uses BBR.
///
/// `cap` in place of loss or window where more lanes would bring more and a person asked for fewer; in place of seeder
/// where a person asked for fewer seeders than there are. A source of an older version tells no more than round trips:
/// it is held by its path or by what is not known.
Findings diagnose(MonoTime now, const DiagnosedTransfer& transfer);

/// Watches the transfers of a node. A word has to hold for three looks, which are a second apart, before it takes the
/// place of another one. In the last two seconds of a transfer, when lanes run dry, the word stays.
class Diagnosis final : public TransferWatcher {
 public:
  Findings look(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override { transfers_.erase(transfer); }

 private:
  static constexpr int kLooks = 3;
  struct Source {
    PathMeter meter;
    std::deque<std::pair<MonoTime, std::chrono::microseconds>> round_trips;  ///< of the last seconds
  };
  struct Known {
    double best_bits_per_s = 0;
    MonoTime looked{};
    std::optional<MonoTime> nothing_stands;  ///< since then there is no lane
    Findings told;                           ///< whose word is told
    Limit last_word = Limit::kUnknown;
    int held = 0;  ///< looks on end that had it
    std::map<NodeId, Source> sources;
  };
  static DiagnosedSource watch(Source& source, MonoTime now, const PeerSample& peer);
  static bool nothing_comes(Known& known, MonoTime now, bool nothing_stands);
  static Findings steady(Known& known, Findings found, bool ends);
  std::map<TransferId, Known> transfers_;
};

}  // namespace gridtorrent::client::tuning
