#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "client/tuning/path_meter.h"
#include "common/clock.h"

/// Whether to ask a source for BBR. Congestion control acts where the data is sent, so the sender has to grant it.
namespace gridtorrent::client::tuning {

/// BBR paces at the rate that it measured and does not answer a random loss with a smaller window (Cardwell and others,
/// CACM 60(2), 2017). So it brings something where such losses hold CUBIC or Reno up, and there alone: on a full queue
/// it takes more than its part from others (Ware and others, IMC 2019).
///
/// It is asked for on so many lanes, the oldest ones. Several flows of BBR keep more on the way than a queue of one
/// bandwidth-delay product holds (Hock and others, ICNP 2017). Measured, 100 Mbit/s, 50 ms, 0.1 % of loss, queue 1 BDP:
/// one, two and four such lanes sent 0.10, 4.8 and 7.5 % of their bytes again, and each number filled the link.
inline constexpr int kBbrLanes = 1;
/// The sender has so long to change: what it is asked travels with the engine's next round of a second, and so does its
/// answer.
inline constexpr std::chrono::seconds kAnswer{5};
/// BBR's first seconds say nothing of what it will carry: its start fills the queue, and drains it within some tens of
/// round trips, in which it also learns the path's delay.
inline constexpr std::chrono::seconds kBbrSettles{2};
inline constexpr int kBbrSettlesRoundTrips = 32;
/// The rate before and the one with BBR are means over so long. BBR's gains go round in eight round trips.
inline constexpr std::chrono::seconds kTrial{3};
/// It has to bring this part of the rate before: as much, but for what two means of three seconds differ by.
inline constexpr double kAsMuch = 0.95;
/// So much more of what it sends may be sent again, as a part of all bytes. Beyond it fills a queue that is too short.
inline constexpr double kResentMore = 0.02;
/// A trial that brings this many times the rate before may send more again, for the moment: the other lanes fill the
/// queue beside the one with BBR, and are given up once it is kept. kResentMore is asked for after that.
/// Measured, 100 Mbit/s, 50 ms, 0.5 % of loss, queue 1 BDP: beside eight CUBIC lanes a trial brought 96 instead of 45
/// Mbit/s, and 3.5 % were sent again.
inline constexpr double kMuchMore = 1.25;
/// As kResentMore, in such a trial. A queue that is much too short, or a policer, makes BBR send 15 % again and more.
inline constexpr double kResentInTrial = 0.1;
/// A transfer that ends sooner does not ask: a trial takes half of that, and the rest has to make up for its cost.
inline constexpr std::chrono::seconds kBbrPays{15};
/// After a trial that failed, none for so long, doubled each time, to kLongestRuledOut.
inline constexpr std::chrono::seconds kTryBbrAgain{60};

/// What is known of one source.
struct CongestionFacts {
  PathFigures path;                    ///< over kLossSpan
  PathFigures recent;                  ///< over kTrial
  bool granted = false;                ///< it sends with BBR where it is asked to
  std::optional<double> remembered{};  ///< so it did when the path was last used; loss events a segment then
  bool polite = false;                 ///< others on the path go first
  bool others_try = false;             ///< another transfer over this path tries something
  double limit_bits_per_s = 0;         ///< that it need not exceed; 0: none
  double seconds_left = 0;             ///< of the transfer at this rate; 0: not known
};

/// Asks for BBR, and goes back where it brought less or made the sender send much again. A value: no thread, no clock.
class CongestionChoice {
 public:
  /// About once a second. What to ask the source for: BBR, or empty: its kernel's default.
  std::string step(MonoTime now, const CongestionFacts& facts);
  /// Nothing came for a time: a trial begins anew.
  void interrupted(MonoTime now) {
    if (changes()) since_ = now;
  }
  /// BBR, as `step` said last.
  bool asks() const { return state_ == State::kAsked || state_ == State::kTried || state_ == State::kKept; }
  /// BBR is being tried or left: the number of lanes stays as it is, so that one thing changes at a time.
  bool changes() const { return state_ != State::kOwn && state_ != State::kKept; }
  /// "BBR brought 95 instead of 71 Mbit/s"; empty: it was never asked for.
  const std::string& why() const { return why_; }

 private:
  enum class State : std::uint8_t { kOwn, kAsked, kTried, kKept, kLeft };
  void enter(State state, MonoTime now);
  void ask(MonoTime now, const CongestionFacts& facts);
  /// At once, as it is remembered. Mostly there is no rate before to compare with: what is sent again may end it.
  void ask_again(MonoTime now, const CongestionFacts& facts);
  void judge(MonoTime now, const CongestionFacts& facts);
  void give_up(MonoTime now, std::string why);

  State state_ = State::kOwn;
  bool recalled_ = false;   ///< what is remembered was asked for once
  bool by_memory_ = false;  ///< what is asked for now is what is remembered
  MonoTime since_{};        ///< of the state
  double rate_before_ = 0, resent_before_ = 0;
  MonoTime not_before_{};
  std::chrono::seconds wait_ = kTryBbrAgain;
  std::string why_;
};

/// Random losses make three lanes or more necessary, and are not those of a full queue.
bool losses_call_for_bbr(const PathFigures& path, double limit_bits_per_s);

}  // namespace gridtorrent::client::tuning
