#pragma once

#include <cstdint>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/socket.hpp>
#include <libtorrent/torrent_handle.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/core/engine.h"
#include "client/engine/fair_shares.h"
#include "client/engine/lane.h"
#include "client/engine/node_link.h"
#include "client/engine/node_parts.h"
#include "client/engine/requests.h"
#include "client/engine/turns.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {

/// Peers and rates of a torrent, as last published.
struct SwarmReport {
  std::uint64_t plan_revision = 0;
  std::vector<PeerSnapshot> peers;
  std::vector<PathProblem> problems;
  std::uint64_t received_bytes = 0, sent_bytes = 0, receive_bits_per_s = 0, send_bits_per_s = 0;
  std::uint64_t refused_lanes = 0;
};

/// The lanes of one torrent: moves them towards the plan and measures them, once a second. All dialling is decided
/// here; libtorrent is kept from dialling by itself. Thread-safe by one private mutex. `tick` and the lane_* methods
/// are called in libtorrent's network thread, the others anywhere. libtorrent is never called with the mutex held if
/// that could call back.
class Swarm : public std::enable_shared_from_this<Swarm> {
 public:
  /// `tls`: of a TLS edition, whose lanes only the audience may have.
  Swarm(const TransferId& id, const NodeId& self, const lt::sha1_hash& info_hash, bool tls, EngineListener& listener,
        const NodeParts& parts);

  /// The torrent to dial for; a new one after it was added again.
  void attach(const lt::torrent_handle& torrent);
  /// Where inactive (paused, in error, not checked yet), nothing is dialled.
  void set_active(bool active);
  void set_complete(bool complete);
  /// All pieces are here: says so to the nodes that were not told of each. Network thread.
  void tell_of_completion();
  /// Which pieces are to be fetched at all; once, before anything else.
  void set_wanted(std::vector<bool> pieces) { wanted_ = std::move(pieces); }
  /// Starts to dial at once.
  void set_plan(const LanePlan& plan);
  void set_audience(std::shared_ptr<const Audience> audience);
  SwarmReport report() const;

  void tick();
  /// Every 250 ms while lanes carry something: takes their figures. False where none carries anything. Network thread.
  bool sample();
  /// Of its lanes, those to come included. Network thread.
  void add_sockets(std::set<int>& sockets) const;
  /// Its open lanes, by who is at their other end. Network thread, after `tick`.
  void add_lanes(std::map<PeerKey, std::vector<std::shared_ptr<Lane>>>& lanes) const;
  /// Counts anew between two ticks: the torrent changed its state, and a finished one must name all it got from whom.
  void refresh();
  std::shared_ptr<Lane> lane_opened(const lt::peer_connection_handle& peer);
  void lane_connected(Lane& lane);
  /// Before anything of ours goes out on it. False: end the connection, its other end may not have this content.
  bool lane_admitted(Lane& lane);
  void lane_established(Lane& lane);
  /// False: end the connection. A nil greeting is that of a client without our extension.
  bool lane_greeted(Lane& lane, const std::optional<Hello>& hello);
  /// Tells the other end, once it has greeted, of TCP on ours: the congestion control that our data will have, before
  /// the first of it. Later figures go with the rounds.
  void tell_tcp(const std::shared_ptr<Lane>& lane);
  /// Proves to the other end who we are, if it asks for that and nothing but strangers' haste is against it.
  void prove(const std::shared_ptr<Lane>& lane);
  /// False: end the connection, its other end is not whom it named.
  bool lane_proof(Lane& lane, LaneProof proof);
  void lane_closed(Lane& lane, const lt::error_code& reason);
  void lane_sent_bad_data(Lane& lane, std::uint32_t piece);
  void lane_wants(Lane& lane, int want);
  void lane_grants(Lane& lane, int lanes);
  void lane_stats(Lane& lane, const TcpFigures& figures);
  void lane_wants_congestion(Lane& lane, std::string name);
  Hello hello_for(const Lane& lane) const;

  /// A block was asked of us, or came, over the lane. Network thread.
  void data_goes(const Lane& lane) { loop_->data_goes(lane.least_round_trip_us); }
  /// Which block was asked of us, and that it will not be sent. `torrent`: libtorrent's object. Network thread.
  void asked_of_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block);
  void refused_by_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block);
  void data_comes(const Lane& lane);
  /// What is asked of the lanes; network thread only.
  Requests& requests() { return requests_; }

 private:
  /// What a round of decisions asks of libtorrent, carried out without the mutex.
  struct Orders {
    std::vector<lt::tcp::endpoint> dial;
    std::vector<std::shared_ptr<Lane>> close;
    std::vector<std::pair<std::shared_ptr<Lane>, std::vector<char>>> send;
    std::optional<std::pair<Turns, Turns>> turns;  ///< before and from now on
    std::vector<std::string> warnings;
  };

  /// Who may have spoilt a piece: a node, or whoever sends in its name from an address.
  struct Suspect {
    PeerKey key;
    bool dialled = false;  ///< unproven, over a lane that we dialled
    bool proven = false;   ///< over a lane that somebody dialled and proved: a proof can be relayed
    friend auto operator<=>(const Suspect&, const Suspect&) = default;
  };

  static PeerKey key_of(const Lane& lane);
  static bool acts_for(const Lane& lane, const NodeId& node);
  NodeLink* link_of(const Lane& lane);
  /// Where a lane of ours was dialled to; nothing where the plan no longer names it.
  std::pair<NodeLink*, DialTarget*> target_of(const Lane& lane);
  int open_lanes(const PeerKey& key) const;
  /// That we dialled: open or on the way, and not silent.
  int outgoing_lanes(const NodeId& node) const;
  bool is_first_to_tell(const Lane& lane, std::optional<TcpFigures> Lane::* figures) const;
  bool welcome_stranger(Lane& lane);
  bool welcome_node(Lane& lane, const Hello& hello, MonoTime now);
  void measure(Lane& lane, double seconds);
  void refuse(Lane& lane, const std::string& reason, MonoTime now);
  void check_rights(Orders& orders, MonoTime now);
  void check_strangers(Orders& orders, MonoTime now);
  void prove_if_due(const std::shared_ptr<Lane>& lane, Orders& orders, MonoTime now);
  bool check_proof(Lane& lane, MonoTime now);
  void exchange_proofs(Orders& orders, MonoTime now);
  void forget_if_empty(const PeerKey& key);
  void end_proven_from(const PeerKey& key);
  /// Of the lanes that a proven node dialled, at most 16 stay.
  void share_places(const NodeId& node, MonoTime now);
  void end_beyond(const std::vector<std::shared_ptr<Lane>>& lanes, std::size_t places, MonoTime now);
  void look_for_silence(Orders& orders, MonoTime now);
  void end_unanswered_dial(const std::shared_ptr<Lane>& lane, Orders& orders, MonoTime now);
  void dial_went_wrong(const Lane& lane, NodeLink& link, DialTarget& target, const std::string& error, bool unanswered,
                       MonoTime now);
  Contact contact_with(const NodeId& node) const;
  /// The least that a lane of the node has been quiet for.
  std::chrono::milliseconds lanes_quiet_for(const NodeId& node) const;
  /// Its endpoints are all taken: the lane that was silent for longest makes room for a fresh one.
  void free_an_endpoint(const NodeId& node, Orders& orders);
  void check_bad_pieces(Orders& orders, MonoTime now);
  void blame(const Suspect& suspect, std::uint32_t piece, Orders& orders, MonoTime now);
  void forget_failures(MonoTime now);
  void move_towards_plan(const NodeId& node, NodeLink& link, Orders& orders, MonoTime now);
  /// Congestion controls that others may ask for now.
  std::vector<std::string> grants() const;
  /// Asks the node's ends of lanes for the congestion control that the plan wants.
  void ask_for_congestion_control(const NodeId& node, NodeLink& link, Orders& orders);
  /// Sends with what the other ends ask for, where it is granted, and tells them so. Network thread.
  void grant_congestion_controls(Orders& orders);
  void apply_request_depth(const NodeId& node, const NodeLink& link);
  /// How many of the node's lanes may take the place of ours.
  int in_place_of_ours(const NodeId& node, const NodeLink& link, MonoTime now) const;
  /// How many were dialled.
  int dial(const NodeId& node, NodeLink& link, int count, Orders& orders, MonoTime now);
  /// Ends lanes that we dialled, until so many are left.
  void drop(const NodeId& node, int keep, Orders& orders, MonoTime now);
  int keep_draining(const NodeId& node, int most);
  void drain(Orders& orders, MonoTime now);
  /// As many lanes as there are, or will be by the plan.
  int expected_lanes() const;
  /// A buffer is sized for as many lanes as there were to be when its lane was born; where these are fewer by now, each
  /// may have more. Never less: what the kernel promised stays promised (RFC 9293, 3.8.6).
  void grow_receive_buffers();
  void ask_for_lanes(const PeerKey& key, NodeLink& link, Orders& orders);
  void send_stats(Orders& orders);
  void divide_among_fetching(Orders& orders);
  void ask_by_turns(const Turns& before, const Turns& now, const lt::torrent_handle& torrent) const;
  void forget_departed();
  void publish(MonoTime now);
  void carry_out(Orders& orders);

  const TransferId id_;
  const NodeId self_;
  std::array<std::uint8_t, 20> info_hash_{};
  const bool tls_;
  EngineListener& listener_;

  const std::shared_ptr<NetworkLoop> loop_;
  const std::shared_ptr<NodeRates> rates_;
  const std::shared_ptr<LaneProver> prover_;
  const std::vector<std::string> congestion_controls_;  ///< that the owner lets others ask for
  Requests requests_;

  mutable std::mutex mutex_;
  lt::torrent_handle torrent_;
  std::shared_ptr<const Audience> audience_;
  std::uint64_t refused_lanes_ = 0;
  bool active_ = false, complete_ = false;
  std::vector<bool> wanted_;
  std::vector<NodeId> fetching_;     ///< by the plan
  std::map<NodeId, KeyPrint> keys_;  ///< by the plan
  Turns turns_;                      ///< in force
  int turns_rounds_ = 0;             ///< for which others have been due
  std::uint64_t revision_ = 0;
  int next_number_ = 0;
  MonoTime last_tick_{};
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::map<PeerKey, NodeLink> links_;
  std::uint64_t forgotten_received_bytes_ = 0, forgotten_sent_bytes_ = 0;  ///< of peers no longer in `links_`
  std::map<std::uint32_t, std::set<Suspect>> bad_pieces_;  ///< since the last tick: who had blocks in them
  SwarmReport report_;
};

}  // namespace gridtorrent::client::engine
