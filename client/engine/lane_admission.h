#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core/audience.h"
#include "client/engine/lane_orders.h"
#include "client/engine/lane_proof.h"
#include "client/engine/lane_table.h"
#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::client::engine {

/// Who is at the other end of a lane, and whether it may stand: rights on TLS lanes, proofs on plain ones
/// (docs/protocol.md, "Whose lane it is"), greetings, and how many of whom. Guarded by its Swarm's mutex; network
/// thread, but for `set_*`. The table, which outlives it, is Swarm's.
class LaneAdmission {
 public:
  struct Torrent {
    NodeId self;
    std::array<std::uint8_t, 20> info_hash{};
    bool tls = false;  ///< of a TLS edition, whose lanes only the audience may have
  };
  LaneAdmission(LaneTable& table, const Torrent& torrent, std::shared_ptr<LaneProver> prover)
      : table_(table), torrent_(torrent), prover_(std::move(prover)) {}

  /// Who may have a TLS edition; null: nobody.
  void set_audience(std::shared_ptr<const Audience> audience) { audience_ = std::move(audience); }
  /// The keys of the swarm's nodes, as the server names them.
  void set_keys(std::map<NodeId, KeyPrint> keys) { keys_ = std::move(keys); }
  /// For rights, since the start.
  std::uint64_t refused_lanes() const { return refused_lanes_; }

  /// Of a TLS lane, before anything of ours goes out on it. False: it must end.
  bool admit(Lane& lane, const std::optional<TlsProof>& proof, MonoTime now, WallTime wall);
  /// The other end's first greeting, nothing if it is that of a client without our extension. False: it must end.
  bool greet(Lane& lane, const std::optional<Hello>& hello, MonoTime now);
  /// Proves to the other end who we are, if it asks for that and the budget for strangers (ProofBudget) allows it.
  void prove_if_due(const std::shared_ptr<Lane>& lane, MonoTime now, Orders& orders);
  /// The other end's proof. False: the lane must end.
  bool take_proof(Lane& lane, LaneProof proof, MonoTime now);

  /// Once a second: rights may have ended, keys may be known, strangers may be too many.
  void check(MonoTime now, Orders& orders);

 private:
  void refuse(Lane& lane, const std::string& reason, MonoTime now);
  void dial_failed(const Lane& lane, const std::string& reason, MonoTime now);
  bool welcome_stranger(Lane& lane);
  bool welcome_node(Lane& lane, const Hello& hello, MonoTime now);
  bool check_proof(Lane& lane, MonoTime now);
  /// False: the lane must end, for what its node or address did before.
  bool take_as_proven(Lane& lane, MonoTime now);
  void check_rights(MonoTime now, Orders& orders);
  void exchange_proofs(MonoTime now, Orders& orders);
  void check_strangers(MonoTime now, Orders& orders);
  void look_at_stranger(Lane& lane, MonoTime now);
  /// Of the lanes that a proven node dialled, at most 32 stay.
  void share_places(const NodeId& node, MonoTime now);
  void end_beyond(const std::vector<std::shared_ptr<Lane>>& lanes, std::size_t places, MonoTime now);

  LaneTable& table_;
  const Torrent torrent_;
  const std::shared_ptr<LaneProver> prover_;
  std::shared_ptr<const Audience> audience_;
  std::map<NodeId, KeyPrint> keys_;
  std::uint64_t refused_lanes_ = 0;
};

}  // namespace gridtorrent::client::engine
