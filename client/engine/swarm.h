#pragma once

#include <cstdint>
#include <libtorrent/peer_connection_handle.hpp>
#include <libtorrent/torrent_handle.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/core/engine.h"
#include "client/engine/bad_pieces.h"
#include "client/engine/lane_admission.h"
#include "client/engine/lane_mover.h"
#include "client/engine/lane_orders.h"
#include "client/engine/lane_table.h"
#include "client/engine/node_parts.h"
#include "client/engine/requests.h"
#include "client/engine/swarm_meter.h"
#include "client/engine/turns.h"
#include "client/engine/wire.h"

namespace gridtorrent::client::engine {

/// What to do where the other end of a lane has sent an extended handshake.
enum class Greeting : std::uint8_t {
  kFirst,     ///< it may have an answer
  kRepeated,  ///< no answer: who greets again and again and reads nothing would have answers fill the memory
  kRefused,   ///< end the connection
};

/// The lanes of one torrent: holds them in a table, has its parts decide about them once a second and as they come and
/// go, and carries out what these order. All dialling is decided here; libtorrent is kept from dialling by itself.
/// Thread-safe by one private mutex, which guards all parts. `tick` and the lane_* methods are called in libtorrent's
/// network thread, the others anywhere. libtorrent is never called with the mutex held if that could call back.
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
  void add_lanes(LaneTable::ByPeer& lanes) const;
  /// Counts anew between two ticks: the torrent changed its state, and a finished one must name all it got from whom.
  void refresh();
  std::shared_ptr<Lane> lane_opened(const lt::peer_connection_handle& peer);
  void lane_connected(Lane& lane);
  /// Before anything of ours goes out on it. False: end the connection, its other end may not have this content.
  bool lane_admitted(Lane& lane);
  void lane_established(Lane& lane);
  /// An extended handshake came. A nil greeting is that of a client without our extension.
  Greeting lane_greeted(Lane& lane, const std::optional<Hello>& hello);
  /// Tells the other end, once it has greeted, of TCP on ours: the congestion control that our data will have, before
  /// the first of it. Later figures go with the rounds.
  void tell_tcp(const std::shared_ptr<Lane>& lane);
  /// It may be asked for blocks from now on, as far as its other end is concerned.
  void lane_unchoked(const std::shared_ptr<Lane>& lane);
  /// Proves to the other end who we are, if it asks for that and the budget for strangers (ProofBudget) allows it.
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

  /// A block was asked of us over the lane. Network thread.
  void data_goes(const Lane& lane) { loop_->data_goes(lane.least_round_trip_us); }
  /// Which block was asked of us, and that it will not be sent. `torrent`: libtorrent's object. Network thread.
  void asked_of_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block);
  void refused_by_us(const Lane& lane, HeldReads::TorrentKey torrent, const Block& block);
  /// A block came over the lane. Network thread.
  void data_comes(const Lane& lane);
  /// What is asked of the lanes; network thread only.
  Requests& requests() { return requests_; }

 private:
  /// Congestion controls that others may ask for now.
  std::vector<std::string> grants() const;
  /// Sends with what the other ends ask for, where it is granted, and tells them so. Network thread.
  void grant_congestion_controls(Orders& orders);
  void grow_receive_buffers();
  void divide_among_fetching(Orders& orders);
  /// The other end of a connection may say a port (BEP 10, `p`), under which libtorrent then lists it: also one that we
  /// dial, or one of ours.
  void keep_listed_apart();
  void publish(MonoTime now);
  /// Without the mutex; in the network thread, where lanes are among the orders.
  void carry_out(Orders& orders);
  /// In any thread: lanes are closed by the next tick.
  void carry_out_dials(Orders& orders);
  void prioritize(const Turns& before, const Turns& now, const lt::torrent_handle& torrent) const;

  const TransferId id_;
  const bool tls_;
  EngineListener& listener_;

  const std::shared_ptr<NetworkLoop> loop_;
  const std::shared_ptr<NodeRates> rates_;
  const std::vector<std::string> congestion_controls_;  ///< that the owner lets others ask for
  Requests requests_;
  std::vector<bool> wanted_;

  mutable std::mutex mutex_;
  lt::torrent_handle torrent_;
  SwarmFacts facts_;
  LaneTable table_;
  LaneAdmission admission_;
  BadPieces bad_pieces_;
  SwarmMeter meter_;
  std::vector<NodeId> fetching_;  ///< by the plan
  TurnsInForce turns_;
  std::uint64_t revision_ = 0;
  SwarmReport report_;
};

}  // namespace gridtorrent::client::engine
