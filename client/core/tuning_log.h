#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/core/tuning_record.h"
#include "client/plan/controller.h"
#include "common/clock.h"
#include "common/result.h"

/// What tuners decided for the transfers of a node, on which figures, and what it brought. For people; it decides
/// nothing and has no clock but the looks that it is given.
namespace gridtorrent::client {

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
/// mutex, as the transfers are. What it keeps outlives the process by TuningKeeper.
class TuningLog {
 public:
  /// What an earlier process kept. Once, before the first look. Those that no longer fetch have ended.
  void restore(std::vector<TuningRecord> records, const std::function<bool(const TransferId&)>& fetches);

  /// A look at a transfer: what its tuner was told, what it answered, and what limits. The decision, where the plan or
  /// its reason is another than at the look before; it stays valid until the next call. What is decided within a
  /// second, as when the first handshakes tell of the path one after the other, is kept as one decision with the last
  /// one's reason.
  const TuningDecision* look(const std::string& name, const ControllerInput& input, const Plan& plan,
                             const Findings& findings, WallTime now);
  /// It no longer fetches. Nothing happens where it was never looked at.
  void ended(const TransferId& transfer);

  /// kNotFound names the command that lists what is known.
  Result<TuningRecord> find(const TransferId& transfer) const;
  /// Those that run, then those that ended, last ones first; without samples and decisions but the last of each.
  std::vector<TuningRecord> list() const;

  /// Copies of what is to be written down: what ended and is not written yet, and what runs, some seconds after the
  /// last time; `all`: what runs, at once.
  std::vector<TuningRecord> unsaved(MonoTime now, bool all = false) const;
  /// This record, as `unsaved` gave it, is written down; `at`: when it was asked for.
  void saved(const TuningRecord& record, MonoTime at);

 private:
  struct Kept {
    TuningRecord record;
    std::optional<MonoTime> begun;  ///< nothing: not looked at by this process
    std::optional<Reason> reason;   ///< of the plan before; nothing: none came in this process
    MonoTime saved_at{};
    std::uint64_t saved_revision = 0;
  };
  static void add_sample(TuningRecord& record, const ControllerInput& input, const Plan& plan, Limit limit);
  static const TuningDecision* add_decision(Kept& kept, const Plan& plan, Limit limit, WallTime now);
  static void note_what_decisions_brought(TuningRecord& record);
  void end(Kept& kept);
  void drop_oldest();

  std::map<TransferId, Kept> transfers_;
  std::uint64_t sequence_ = 0;
};

}  // namespace gridtorrent::client
