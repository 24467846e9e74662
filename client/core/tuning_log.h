#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "client/plan/findings.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

/// What tuners decided for the transfers of a node, on which figures, and what it brought. For people; it decides
/// nothing and has no clock but the looks that it is given.
namespace gridtorrent::client {

/// One second of a transfer.
struct TuningSample {
  std::chrono::milliseconds at{0};  ///< since the first look at the transfer
  std::uint64_t bits_per_s = 0;     ///< payload
  int lanes = 0, sources = 0;       ///< that are open and answer; nodes that they lead to
  Limit limit = Limit::kUnknown;
  std::uint64_t revision = 0;  ///< of the record, when this was added
  friend bool operator==(const TuningSample&, const TuningSample&) = default;
};

/// A tuner has come to another plan.
struct TuningDecision {
  int number = 0;                                     ///< from 1
  std::chrono::milliseconds at{0};                    ///< since the first look at the transfer
  int lanes_before = 0, lanes = 0;                    ///< in all, as planned
  std::uint64_t bits_per_s = 0;                       ///< payload, over the three seconds before
  std::string reason;                                 ///< Reason::text
  Limit limit = Limit::kUnknown;                      ///< what limited the transfer then
  std::optional<std::uint64_t> brought_bits_per_s{};  ///< over the last three of the five seconds after it
  std::uint64_t revision = 0;                         ///< of the record, when this was last changed
  friend bool operator==(const TuningDecision&, const TuningDecision&) = default;
};

/// All that is kept of one transfer.
struct TuningRecord {
  TransferId transfer;
  std::string name;   ///< owner/name
  std::string tuner;  ///< as its last reason names it
  bool running = true;
  std::chrono::milliseconds elapsed{0};  ///< from the first to the last look
  Findings findings;                     ///< the newest
  std::deque<TuningSample> samples;      ///< the last 600
  std::deque<TuningDecision> decisions;  ///< the last 500
  std::uint64_t revision = 0;            ///< grows with every look
};

/// The rates that samples with one number of lanes had.
struct LanesPoint {
  int lanes = 0, seconds = 0;  ///< how many samples
  std::uint64_t least_bits_per_s = 0, median_bits_per_s = 0, most_bits_per_s = 0;
  friend bool operator==(const LanesPoint&, const LanesPoint&) = default;
};
/// Rate by lanes, fewest first; samples without lanes say nothing.
std::vector<LanesPoint> rate_by_lanes(const std::deque<TuningSample>& samples);

/// One decision in a line, as log and command line show it: "lanes 4 → 8 at 93.0 Mbit/s: auto: 8 lanes to 1 seeder".
std::string decision_text(const TuningDecision& decision);

/// What is kept of a node's transfers: of those that run, and of the last hundred that ended. Guarded by the book's
/// mutex, as the transfers are.
class TuningLog {
 public:
  static constexpr std::size_t kSamples = 600, kDecisions = 500, kEnded = 100;

  /// A look at a transfer: what its tuner was told, what it answered, and what limits. The decision, where the plan or
  /// its reason is another than at the look before; it stays valid until the next call.
  const TuningDecision* look(const std::string& name, const ControllerInput& input, const Plan& plan,
                             const Findings& findings);
  /// It no longer fetches. Nothing happens where it was never looked at.
  void ended(const TransferId& transfer);

  /// kNotFound names the command that lists what is known.
  Result<TuningRecord> find(const TransferId& transfer) const;
  /// Those that run, then those that ended, last ones first; without samples and decisions but the last of each.
  std::vector<TuningRecord> list() const;

 private:
  struct Kept {
    TuningRecord record;
    MonoTime begun{};
    Reason reason;
    int decided = 0;          ///< decisions ever made
    std::uint64_t order = 0;  ///< of beginning or end
  };
  static void add_sample(Kept& kept, const ControllerInput& input, Limit limit);
  static void note_what_decisions_brought(TuningRecord& record);

  std::map<TransferId, Kept> transfers_;
  std::uint64_t order_ = 0;
};

}  // namespace gridtorrent::client
