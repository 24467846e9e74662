#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/clock.h"

/// Which lane may act for the node whose id it carries, which lane ends for another, and when a lane counts as silent.
/// Pure functions of values.
namespace gridtorrent::client::engine {

/// What a lane has shown so far.
struct LaneStanding {
  bool outgoing = false;         ///< we dialled it, where the server says that the node listens
  bool proven = false;           ///< its other end has proved the node's key
  bool open = false;             ///< greeted
  bool silent = false;           ///< see `is_silent`
  std::uint64_t bits_per_s = 0;  ///< payload of late, both ways; 0: it carries nothing
  MonoTime since{};              ///< when it was opened
};

/// Whether a lane acts for the node that it names: takes a place of its lanes, says what the node wants and grants, and
/// shows what it has. Anybody can greet with any node id, so that an id alone is worth nothing on lanes that others
/// dialled.
bool acts_for_node(const LaneStanding& lane);

/// How many of the lanes that a node dialled may take the place of ours: proven ones that answer and carry at least a
/// quarter of what one of ours carries on average. Whoever sits between two nodes can relay a proof, so that a proof
/// alone displaces nothing that delivers. `we_dial_by_rule`: the dialling rule names us; then idle lanes of the other
/// side keep us from nothing.
int lanes_in_place_of_ours(std::span<const LaneStanding> lanes, bool we_dial_by_rule);

/// Indexes of the lanes to end so that at most `places` stay: those first that carry nothing, of these silent before
/// answering, unproven before proven, old before young (who connects in good faith is proven and carries within a few
/// round trips); then unproven before proven, young before old.
std::vector<std::size_t> lanes_beyond(std::span<const LaneStanding> lanes, std::size_t places);

/// What TCP knows of the other end.
struct TcpLiveness {
  bool unacknowledged = false;         ///< something was sent and is not acknowledged
  std::chrono::milliseconds quiet{0};  ///< nothing was received for so long, not even an acknowledgement
  std::chrono::milliseconds round_trip{0};
};

/// After this long without an acknowledgement a lane is silent. TCP repeats what is lost after 0.2 to 0.4 s and once
/// more after each doubling, so that by then four tries were lost.
inline constexpr std::chrono::milliseconds kSilentAfter{2500};
/// Who waits for data for this long sends a keep-alive (BEP 3), so that TCP has something that wants an
/// acknowledgement: without it a cut path looks like a node that is slow.
inline constexpr std::chrono::milliseconds kAskAfter{1000};
/// A lane that waits for nothing sends one after this long: there are NATs that forget a connection which carries
/// nothing for 30 s, and the next piece's HAVE would be lost on it.
inline constexpr std::chrono::milliseconds kIdleFor{25'000};
/// A TCP connection that does not stand by then is given up, and another is tried. SYN is repeated after 1 s.
inline constexpr std::chrono::milliseconds kConnectTimeout{2000};
/// One dial in so many to an address from which no lane stands may take so long: a satellite's round trip behind a full
/// uplink is longer than kConnectTimeout, and each dial would be given up just before its answer.
inline constexpr int kPatientEach = 4;
inline constexpr std::chrono::milliseconds kPatientConnect{10'000};
/// A connection whose TCP stands and whose TLS does not is given up then.
inline constexpr std::chrono::milliseconds kTlsTimeout{6000};
/// Between two tries to reach a node of which no lane answers.
inline constexpr std::chrono::milliseconds kTryAgain{1000};

bool is_silent(const TcpLiveness& tcp);
/// `waits`: blocks were asked for over the lane.
bool wants_keep_alive(const TcpLiveness& tcp, bool waits);

/// Indexes of the silent lanes that end, since a younger one that acts for the node answers. TCP tries again ever more
/// rarely: after 40 s without a path it waits for up to 26 s more, while a fresh connection carries at once.
std::vector<std::size_t> silent_lanes_to_end(std::span<const LaneStanding> lanes);

/// What stands to a node: a lane that answers, silent ones alone, or none.
enum class Contact : std::uint8_t { kAnswers, kSilent, kNone };

/// How many lanes to dial now of those that are `lacking`. All where a lane answers, or none stands and nothing was
/// tried of late; else one a second, beside the silent lanes.
int dials_due(int lacking, Contact contact, std::optional<MonoTime> last_dial, MonoTime now);

}  // namespace gridtorrent::client::engine
