#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/path_meter.h"

namespace gridtorrent::client::tuning {

/// From one change to the next: a lane is dialled within a second, and one that is not wanted gives up what it was
/// asked for within a round trip or two. Shorter than this, the figures would be those of the lanes before.
inline constexpr std::chrono::seconds kSettle{2};
/// No lanes are given up before a transfer's path was watched for so long: slow start has ended by then.
inline constexpr std::chrono::seconds kWatched{4};
/// Where packets wait, slow start has filled the path, and its last round trips are what is left of it: so many of them
/// are enough, and no less than a look of gt_stats or two. What 16 lanes take from another flow in these seconds it
/// regains in tens of seconds.
inline constexpr int kSlowStart = 40;
inline constexpr std::chrono::seconds kLeastWatched{2};
/// Between two steps for fewer lanes, where packets still wait after the first: the path is full, so it had no need of
/// the lanes that ended. So many round trips, and no less than the figures of a second. Measured on 100 Mbit/s, 40 ms:
/// a flow of another keeps 34.4 instead of 30.9 Mbit/s (means of four runs).
inline constexpr int kSettleFull = 20;
inline constexpr std::chrono::seconds kLeastSettle{1};
/// Over so long losses are counted. 10,000 packets a second and 0.02 % are 40 events; CUBIC's windows are as old.
inline constexpr std::chrono::seconds kLossSpan{20};
/// More lanes for the sake of losses need no longer: their least number is one that the few losses seen prove.
inline constexpr std::chrono::seconds kFirstLook{1};
/// At most so many times the lanes in one step: where losses prove that it takes them, and where windows hold lanes up,
/// which more lanes have to prove.
inline constexpr int kGrowByLosses = 4, kGrowByWindows = 2;
/// Windows show at once that they hold lanes up. Over a longer time lanes that have ended would count as well.
inline constexpr std::chrono::seconds kWindowSpan{3};
/// In one step at most a third of the lanes end where no queue has to bridge it (BBR, a reader that limits, a seeder
/// that paces). Elsewhere fewer: lanes take their windows along, so only so many that what waits in the queue keeps the
/// path full while the windows of the others grow, and at most half of them; one at a time where nothing waits.
/// Simulated on 650 Mbit/s, 58 ms and a queue of half a bandwidth-delay product: 16 to 6 lanes in 4 s halved the rate.
/// Measured on 100 Mbit/s, 40 ms and a queue of one: where a third was the most and began after 4 s, one flow of
/// another had 0.35 of what it has beside one like it; with this and kSlowStart, 0.48 to 1.05 in six rounds.
inline constexpr double kShrink = 2.0 / 3;
/// Fewer lanes that bring less than this part of the rate before are taken back; looked at for kWatch after the step.
/// BBR empties the queue for 200 ms each ten seconds, which takes a seventh of two seconds' mean: there it has to last
/// for kSettle.
inline constexpr double kWorse = 0.85;
inline constexpr std::chrono::seconds kWatch{10};
/// Where packets still wait with fewer lanes, others have what was lost, unless each lane has a rate of its own (a
/// shaper by connection). So they are taken back there where the rate fell by more than the lanes to this power: 1 is
/// in proportion, as behind such a shaper; from 4 to 2 lanes beside one flow of another it is 0.26, and from 5 to 3
/// while that flow still regains what slow start took from it, 0.66.
inline constexpr double kSharedByFewer = 0.75;
/// And more lanes that were tried since packets get lost have to bring more than that to this power, which a greater
/// part of a full path is. Where nothing tells that more would help, it is kSharedByFewer: as many lanes again that had
/// been 2 beside one flow of another come to 1.2 of the rate, beside three to 1.4, and behind a shaper to 2.
inline constexpr double kShared = 0.5;
/// After lanes were taken back, so many lanes are the least for so long, doubled each time, to kLongestRuledOut; and so
/// where more brought nothing. A path that has changed is tried anew after a minute; one that stays is disturbed once
/// in eight.
inline constexpr std::chrono::seconds kRuledOut{60}, kLongestRuledOut{480};
/// The same for lanes that broke something: until then no more than the mean of those and of the ones that held.
inline constexpr std::chrono::seconds kBrokeRuledOut{300}, kLongestBrokeRuledOut{2400};
/// Windows hold lanes up at once, not in the long run: more lanes that bring less than this part of what they would if
/// each carried as much as before are taken back. Their reader is what limits, not their windows.
inline constexpr double kNoGain = 0.3;
/// Where they bring this much more, so many are kept as that takes: what the seeder has is all in use, not the reader's
/// time. Less may be what rates vary by.
inline constexpr double kSomeGain = 1.1;
/// Where the path has become full meanwhile, so much more is enough: it had no more to bring.
inline constexpr double kGainOfFull = 0.05;
/// So long they have to show it, and so many round trips, the waits on the path included: lanes that are dialled, shake
/// hands, ask, and leave slow start take some fifteen. No more are added before, but where they bring this part of it
/// already.
inline constexpr std::chrono::seconds kProof{4};
inline constexpr int kProofRoundTrips = 20;
inline constexpr std::chrono::seconds kLongestProof{20};
inline constexpr double kProved = 0.8;
/// Then fewer are tried, for each lane costs the reader something. The same as kWorse for these.
inline constexpr double kWorseForReader = 0.95;
/// After more lanes the rate may fall for their sake within so long: a middlebox, a disk or a server that more lanes
/// break does not break at once. Below this part of the rate before, the transfer goes back to the lanes before.
inline constexpr std::chrono::seconds kMayBreak{30};
inline constexpr double kCollapse = 0.5;
/// In the mode "greedy", where the path is full: so many times the lanes are tried, and kept where they bring this part
/// more, which is what others lose.
inline constexpr double kGreedyStep = 1.5, kGreedyGain = 1.05;
/// Where the longest queue is shorter, it cannot be told from what machines add to a round trip, and so neither whether
/// the path is full nor which losses are random. There as many lanes again are tried while packets get lost. Measured
/// on 376 Mbit/s, 2.6 ms and 0.3 % of loss: 3 lanes come to 222 Mbit/s, 8 to 346, and less than half of the losses
/// seemed to be random.
inline constexpr std::chrono::microseconds kTellingQueue{3000};
inline constexpr int kTryTimes = 2;
/// Where the lanes of a try brought kProved of what as many before did, each has a rate of its own, and so many times
/// the lanes are tried next. They prove themselves within kSettleFull round trips and the figures of a second.
inline constexpr int kTryTimesProved = 4;
/// The figures of a second: looks are a second apart, and what the last one saw is that of one second alone.
inline constexpr std::chrono::milliseconds kLastLook{750};
/// With fewer lanes than a start on a long path has (kFarLanes), a try is worth while in a transfer that would last so
/// long without it. With more, lanes that are taken back again take their windows along (simulated on 47 Mbit/s, 164 ms
/// and 13 s: 16 lanes that became 8 again cost a third of the rate for the rest), so there it is kEndsSoon.
inline constexpr std::chrono::seconds kTryEndsSoon{2};
/// Of its rate each lane with BBR has so many segments on the way without a queue, or more lanes only lengthen queues:
/// it sends no fewer than four. Simulated on 5 Mbit/s and 0.5 ms (0.03 segments): 16 lanes bring 0.7 of what eight do.
inline constexpr double kLeastInFlight = 0.25;
/// Where the last second brought so many times the mean of two, a sender is still in its start-up, which would prove
/// any number of lanes. On a path of 500 ms that lasts for seconds.
inline constexpr double kStillGrows = 1.1;
/// A transfer that ends sooner gives no lanes up: nobody would gain by it.
inline constexpr std::chrono::seconds kEndsSoon{10};

/// One source as the refinement sees it.
struct RefinedSource {
  NodeId node;
  int start = 1;  ///< lanes, as long as nothing is known of it
  PathFigures path;
  bool stays = false;  ///< its lanes are left alone, since something else is being tried on it
};

/// The transfer as a whole.
struct RefinementFacts {
  double bits_per_s = 0;            ///< payload of all sources over the last seconds
  double last_second = 0;           ///< the same of the last second alone (kLastLook); 0: not known
  double limit = 0;                 ///< a rate that it need not exceed, bits a second; 0: none
  double pace = 0;                  ///< what it limits itself to for now, for others' sake; 0: nothing
  double seconds_left = 0;          ///< at this rate; 0: not known
  Limit reader = Limit::kUnknown;   ///< reader_limit
  bool greedy = false;              ///< TuningMode::kGreedy
  bool polite = false;              ///< others on the path go first
  bool others_try = false;          ///< another transfer over one of its paths tries something: one at a time
  bool no_fewer = false;            ///< a rate is to be held: what lanes that takes is decided elsewhere (demand.h)
  int most_lanes = kMaxLanesInAll;  ///< to all sources; more are not opened, so they could prove nothing
};

struct Refined {
  std::vector<int> lanes;  ///< in the sources' order
  std::string why;         ///< of the last change: "0.021 % lost: 15.0 Mbit/s a lane, of 193"; empty: there was none
  Limit held_by = Limit::kUnknown;
};

/// Moves the lanes of one transfer from its start towards what each path has use for (lane_need.h), step by step, and
/// goes back where fewer lanes brought less, and where more brought nothing. A value: no thread, no clock.
class Refinement {
 public:
  Refined step(MonoTime now, const std::vector<RefinedSource>& sources, const RefinementFacts& facts);
  /// Nothing came for a time, since it was paused: the rate of before tells nothing of what lanes bring.
  void interrupted();
  /// More lanes have still to prove that they take a greater part of the path, or find more there, as of the last step:
  /// whoever else changes lanes on it would be taken for what they bring.
  bool tries() const { return before_ && before_->tries(); }

 private:
  /// Why lanes change.
  enum class Step : std::uint8_t {
    kNone,
    kDown,     ///< fewer
    kLosses,   ///< more, since losses prove that it takes them; needs no other proof
    kWindows,  ///< more, since windows hold them up
    kDoubted,  ///< more for the sake of losses, on a near path whose queue is too short to tell
    kGreedy,   ///< more, to have a greater part of a full path
    kTried,    ///< more, since it cannot be told whether the path is full
    kShaped,   ///< more, since each connection may have a rate of its own: nothing else would tell
  };
  static bool is_try(Step step) { return step == Step::kGreedy || step == Step::kTried || step == Step::kShaped; }
  /// Each lane is held up by itself, as it seems: part of what lanes should bring is enough, and part of them may stay.
  static bool is_by_itself(Step step) { return step == Step::kWindows || step == Step::kDoubted; }
  /// Of one source.
  struct Change {
    int lanes = 0;
    Step step = Step::kNone;
    std::string why{};
    Limit held_by = Limit::kUnknown;
  };
  /// The transfer before its last change, which has to prove itself.
  struct Before {
    Step step = Step::kDown;
    double rate = 0;
    int lanes_at_rate = 0;  ///< in all; several steps for fewer are compared with the rate before the first one
    std::map<NodeId, int> lanes{}, lanes_of_rate{};  ///< before this step; at `rate`
    std::map<NodeId, double> parts{};  ///< of `rate`, what each source brought; those that are lost have none
    bool more() const { return step != Step::kDown; }
    bool tries() const { return is_try(step); }
  };
  /// The transfer before it got more lanes.
  struct Growth {
    MonoTime at{};
    double rate = 0;
    std::map<NodeId, int> lanes{};
    std::map<NodeId, double> parts{};  ///< of `rate`, what each source brought
  };
  /// Bounds of numbers of lanes, which a proof that failed sets for a time.
  struct RuledOut {
    std::map<NodeId, int> lanes{};
    MonoTime until{};
    std::chrono::seconds next = kRuledOut, longest = kLongestRuledOut;
    void failed(MonoTime now);
    void expire(MonoTime now);
  };
  /// The transfer went back to lanes that had brought more. Where they do not bring it again, it was not lost for the
  /// lanes' sake, and nothing is ruled out.
  struct Undone {
    MonoTime at{};
    double rate = 0;  ///< that they had brought
    RuledOut before{};
  };
  static int in_all(const std::map<NodeId, int>& lanes);
  /// What each source brings of `rate`.
  static std::map<NodeId, double> parts_of(double rate, const std::vector<RefinedSource>& sources);
  /// As many of the lanes as may be left after one step.
  static int shrunk(const PathFigures& path, int lanes, bool reader);
  /// Between the last change and the next.
  std::chrono::duration<double> pause(const std::vector<RefinedSource>& sources) const;
  /// kProof, or kProofRoundTrips where that is longer.
  std::chrono::duration<double> proof() const { return proof_; }
  void set_proof(const std::vector<RefinedSource>& sources);
  bool reader_busy() const { return facts_.reader != Limit::kUnknown; }
  bool worse(const Before& before, double rate, bool full) const;
  /// More than is allowed is not to be brought, by any number of lanes.
  bool is_held_back(double rate) const;
  /// Takes from sources that get more lanes, until all are no more than may be.
  void fit(std::map<NodeId, int>& wanted, const std::map<NodeId, int>& now) const;
  /// The lanes' ratio, now to before, to this power.
  double shared(const Before& before, double power) const;
  /// The rate if each source's lanes more brought `part` of what those before did.
  double with_more(const Before& before, double part) const;
  void expect_no_more_than_is_given(const std::vector<RefinedSource>& sources);
  void expect_nothing_of_lost(const std::vector<RefinedSource>& sources);
  void accept_proof(MonoTime now, double rate);
  /// The last second shows already that each lane more brings what those before do.
  bool shows_own_rates(MonoTime now) const;
  /// Whether this step is over: the lanes before are back, or may be in the next one.
  bool take_back(MonoTime now, const std::vector<RefinedSource>& sources, double rate);
  /// To the lanes before the last change, or to as many of those after it as what they brought takes.
  void go_back(MonoTime now, const std::vector<RefinedSource>& sources, double rate);
  /// Where losses prove that lanes are needed which the last step gave up, no fewer are tried for a minute.
  void keep_needed(MonoTime now, const std::map<NodeId, int>& by_losses);
  std::map<NodeId, int> enough(const Before& before, double rate) const;
  std::map<NodeId, int> missed(const Before& before, const std::vector<RefinedSource>& sources) const;
  /// One source brings far less than its part, which others do not: whether it is lost shows within kWindowSpan.
  bool falls_alone(MonoTime now, const std::map<NodeId, double>& parts, const std::vector<RefinedSource>& sources);
  /// The path is, as far as the last change is concerned.
  bool is_full(const std::vector<RefinedSource>& sources) const;
  bool undo_collapse(MonoTime now, const std::vector<RefinedSource>& sources, double rate);
  /// `part` of the rate has to be back.
  void judge(std::optional<Undone>& undone, RuledOut& ruled_out, double part, MonoTime now) const;
  /// Losses seem to hold its lanes up; but the path is near, and packets have waited on it, if not long enough to tell
  /// whether it was full when they got lost.
  static bool doubts(const RefinedSource& source, const LaneNeed& need);
  /// Windows hold its lanes up, but this node has no time to read, or more lanes brought nothing of late: who reads
  /// from them is what limits.
  bool reader_limits(const RefinedSource& source, const LaneNeed& need) const;
  int next_lanes(const RefinedSource& source, int lanes, const LaneNeed& need) const;
  int greedy_lanes(const RefinedSource& source, int lanes) const;
  int tried_lanes(const RefinedSource& source, int lanes) const;
  int shaped_lanes(const RefinedSource& source, int lanes) const;
  bool short_of_time(const PathFigures& path) const;
  bool ends_within(std::chrono::seconds span) const;
  void note_widest(const std::vector<RefinedSource>& sources);
  int lanes_of(const RefinedSource& source) const;
  Change change_of(const RefinedSource& source) const;
  /// What has to prove itself of these; kNone: nothing.
  static Step to_prove(const std::vector<Change>& changes);
  void change(MonoTime now, const std::vector<RefinedSource>& sources);

  RefinementFacts facts_;
  std::map<NodeId, int> lanes_;
  std::map<NodeId, int> widest_;  ///< the most that each source has had: what so many bring is known
  int in_all_ = 0;                ///< to all sources, before this step
  RuledOut floor_;                ///< fewer brought less
  RuledOut ceiling_;              ///< more brought nothing
  RuledOut broke_{.next = kBrokeRuledOut, .longest = kLongestBrokeRuledOut};  ///< at most so many: more broke something
  std::deque<Growth> grown_;                                                  ///< within kMayBreak
  std::optional<Undone> collapse_;                                            ///< more lanes, for which the rate fell
  std::optional<Undone> taken_back_;                                          ///< fewer lanes, which brought less
  std::chrono::duration<double> proof_ = kProof;
  std::chrono::duration<double> least_proof_ = kLeastSettle;  ///< of lanes that have rates of their own
  bool own_rates_ = false;                                    ///< the last try showed that each lane has one
  std::optional<MonoTime> changed_;
  bool by_losses_ = false;  ///< what the last change was for, and nothing else
  std::optional<Before> before_;
  std::optional<MonoTime> worse_since_;  ///< than `before_`
  std::optional<MonoTime> alone_since_;  ///< one source falls
  MonoTime alone_asked_{};
  /// The best rate that fewer lanes did not bring, as long as the path shows it: what is tolerated of each step for
  /// fewer must not add up.
  std::optional<Before> missed_;
  /// Of one source at the last change.
  struct Told {
    NodeId node;
    int before = 0, lanes = 0;
    std::string why;
  };
  std::string told_text(const std::vector<RefinedSource>& sources) const;

  std::string why_;  ///< of all; where `told_` is empty
  std::vector<Told> told_;
  Limit held_by_ = Limit::kUnknown;
};

}  // namespace gridtorrent::client::tuning
