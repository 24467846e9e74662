#pragma once

#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "client/core/engine.h"
#include "client/core/plan.h"
#include "client/engine/wire.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// What is known about one node when deciding how many lanes we dial to it.
struct DialState {
  bool planned = false;     ///< the plan names the node
  bool plan_dials = false;  ///< ... and says that we dial
  int plan_lanes = 0;
  bool we_are_complete = false, peer_is_complete = false;
  bool held_back = false;         ///< it sent bad data a moment ago: what stands may stay, nothing is dialled
  bool gives_way = false;         ///< both sides' lanes have stood for our `give_way_after`
  std::optional<int> peer_wants;  ///< its last gt_lanes; nothing: never sent
  int own_grant = kMaxLanes, peer_grant = kUsualLanes;
  bool has_endpoint = false;  ///< that we may dial
  int outgoing = 0;           ///< lanes we dialled: open or on the way, and not silent
  int inbound_open = 0;       ///< lanes it dialled that may take the place of ours (`lanes_in_place_of_ours`)
};

/// How many outgoing lanes there should be: more than `outgoing` means dial, fewer means drop.
/// A node that only serves obeys the peer's gt_lanes, within its grant. Lanes that the peer dialled count towards the
/// wish; where both sides have dialled, ours stay until it is ours to give way.
int outgoing_target(const DialState& state);

/// How long lanes of both sides stand before we take ours back, since the peer's are enough. No two sides of a pair
/// have the same pause, whatever each believes of the other: were both to give way at once, no lane would be left and
/// all that was asked for on them were lost. The one that the dialling rule names waits longest, so its lanes stay.
std::chrono::seconds give_way_after(bool rule_names_us, bool we_have_lower_id);

/// What the other end of a TLS connection proved.
struct TlsProof {
  KeyPrint key{};
  WallTime not_before, not_after;  ///< of its certificate
  bool is_1_3 = false;
};

/// Whether a connection of a TLS edition may go on, and as whose.
struct Admission {
  NodeId node;         ///< nil: it may not
  std::string reason;  ///< why not, for people and the log
};

/// The right to a content, decided on every connection before a byte of it goes out (docs/security.md, "How
/// restricted content is guarded"). libtorrent has checked only that some certificate of the data CA was shown; dates
/// are looked at again, since libtorrent does not check them for a resumed TLS session. `proof`: nothing where the
/// connection is plain or showed no certificate. `audience`: null where nobody may.
Admission admit(const std::optional<TlsProof>& proof, const Audience* audience, WallTime now);

/// What we ask of a node by gt_lanes: as many lanes as planned where the plan says to ask, else none.
int lanes_to_ask(bool planned, bool plan_asks, int plan_lanes, bool we_are_complete);

/// One endpoint of a planned node, as far as dialling goes.
struct DialCandidate {
  bool is_dialled = false;   ///< a lane to it is on the way
  int lanes = 0;             ///< that stand to it and answer
  int failures = 0;          ///< in a row
  int address_failures = 0;  ///< in a row, of any port of this address
  bool waiting = false;      ///< its pause after a failure is not over
  std::size_t address = 0;   ///< its place among the addresses of the plan
};
/// Indexes of the endpoints to dial next, at most `count`, each once: of addresses from which lanes answer, where there
/// are some and no more were refused, the ports with the fewest lanes; else untroubled addresses first. A port that
/// failed is left out while another one of its address answers or is on the way: a firewall may let through few of
/// them.
std::vector<std::size_t> choose_endpoints(std::span<const DialCandidate> candidates, int count);

/// Ports below this one are for entries of lanes in libtorrent's peer list (`list_apart`).
inline constexpr std::size_t kListingPorts = 1024;
/// The first free one from `from` on, around; 0, which is none: all are taken.
std::uint16_t free_listing(const std::bitset<kListingPorts>& taken, std::uint16_t from);

/// One remembered peer, as far as forgetting goes.
struct RememberedPeer {
  bool needed = false;      ///< the plan names it, or a lane to it stands
  std::uint64_t bytes = 0;  ///< exchanged so far
};
/// Indexes of the peers to forget so that at most `limit` stay: those with the fewest bytes first, needed ones never.
/// Plain lanes carry no proof of identity, so anybody can greet under ever new node ids.
std::vector<std::size_t> peers_to_forget(std::span<const RememberedPeer> peers, std::size_t limit);

/// The pause after `failures` failed dials in a row: 0.9 s at first, doubling to 4 s, so that with libtorrent's
/// one-second round a pair that can reach each other again has a lane within 5 s.
std::chrono::milliseconds redial_pause(int failures);
/// The pause after the `count`-th bad piece in a row from a node: 2 s, doubling to 60 s, so that an altered seeder is
/// used for its good pieces and never loops hot.
std::chrono::milliseconds bad_data_pause(int count);

}  // namespace gridtorrent::client::engine
