#pragma once

#include <map>

#include "client/plan/controller.h"
#include "client/plan/findings.h"
#include "client/plan/watcher.h"
#include "client/tuning/path_meter.h"

/// What limits a transfer, whichever tuner it has.
namespace gridtorrent::client::tuning {

/// One source as the diagnosis sees it.
struct DiagnosedSource {
  NodeId node;
  PathFigures path;
  int outstanding_blocks = 0;  ///< asked of it and not yet here
};

struct DiagnosedTransfer {
  double bits_per_s = 0, best_bits_per_s = 0;
  double limit_bits_per_s = 0;  ///< a person's; 0: none
  int lanes_wish = 0;           ///< a person's; 0: none
  double busiest_thread = 0;    ///< of this node, as HostLoad has it
  std::vector<DiagnosedSource> sources;
};

/// The word, the figures behind it, and what a person can do. Pure. In this order: the rate that a person asked for is
/// reached; a thread of this node never rests; else what holds the sources that bring most:
///
/// - seeder: its owner's shares pace it, or it has too little to send although blocks are asked of it, or packets wait
///   longer on its way than on those of the others;
/// - loss: so much gets lost at random that it takes three lanes or more to make up for it (lane_need.h);
/// - path: packets wait on it, or it loses some when its queue is full;
/// - window: its lanes wait for receive windows more than half of the time.
///
/// `cap` instead of loss and window where a person's number of lanes is what is missing.
Findings diagnose(MonoTime now, const DiagnosedTransfer& transfer);

/// Watches the transfers of a node. A word has to hold for three looks, which are a second apart, before it takes the
/// place of another one.
class Diagnosis final : public TransferWatcher {
 public:
  Findings look(const ControllerInput& input) override;
  void removed(const TransferId& transfer) override { transfers_.erase(transfer); }

 private:
  static constexpr int kLooks = 3;
  struct Known {
    double best_bits_per_s = 0;
    Findings told;  ///< whose word is told
    Limit last_word = Limit::kUnknown;
    int held = 0;  ///< looks on end that had it
    std::map<NodeId, PathMeter> meters;
  };
  static Findings steady(Known& known, Findings found);
  std::map<TransferId, Known> transfers_;
};

}  // namespace gridtorrent::client::tuning
