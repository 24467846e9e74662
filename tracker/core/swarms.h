#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "ccm/domain/ports.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/rng.h"
#include "tracker/core/node.h"
#include "tracker/core/selection.h"

namespace gridtorrent::tracker {

enum class SwarmRole : std::uint8_t { kFetching, kSeeding, kPaused, kGone };

struct PeerTraffic {
  NodeId node;
  std::uint64_t received_bytes = 0, sent_bytes = 0;  ///< payload since the reporter's last announce
};

struct Announce {
  NodeId node;
  ContentId content;
  std::uint32_t version = 1;
  SwarmRole role = SwarmRole::kFetching;
  std::uint64_t verified_bytes = 0, total_bytes = 0;
  std::vector<PeerTraffic> traffic;
  bool tls = false;                      ///< of the content's edition: which endpoints count
  std::uint64_t refused_lanes = 0;       ///< connections of those who may not have it, since the last announce
  std::uint64_t refused_handshakes = 0;  ///< connections to the node that TLS itself refused, since then
  KeyPrint key{};                        ///< of the node, as it is enrolled
  std::optional<std::chrono::milliseconds> verified_age = {};  ///< since the node last hashed what it holds
  UserId owner;                                                ///< of the node
};

/// Payload of a node in both directions, as it said itself (`received`, `sent`) and as its partners said
/// (`received_by_partners` from it, `sent_by_partners` to it). They differ where someone lies or died.
struct TrafficTotals {
  std::uint64_t received_bytes = 0, sent_bytes = 0;
  std::uint64_t received_by_partners_bytes = 0, sent_by_partners_bytes = 0;
  friend bool operator==(const TrafficTotals&, const TrafficTotals&) = default;
};

struct SwarmLimits {
  std::chrono::milliseconds interval = std::chrono::seconds(30);  ///< asked of nodes
  std::chrono::milliseconds expiry = std::chrono::seconds(75);    ///< a member that stays silent is gone
  /// A node with many contents is asked to come less often, and stays a member for as much longer while its stream is
  /// open: it must not be forgotten, since it is told of changes as a member.
  std::uint32_t announces_per_s = 25;
  std::size_t max_traffic_entries = 256;  ///< an announce; the rest is dropped
  /// How many others a node may have told at once of its changes, on average and after a pause; who is not told hears
  /// with the node's next announce, or its own. A node that starts has tens of thousands of contents, each with a few
  /// others.
  double tells_per_s = 500, tells_at_once = 50'000;
  SelectionLimits selection;
};

struct AnnounceResult {
  std::vector<Peer> peers;
  std::chrono::milliseconds next{0};
  /// Whom to tell at once of `changed`, the announcing node as a peer now; who paused or left has and wants nothing.
  /// Nobody where the node has had too many told lately.
  std::vector<NodeId> tell;
  Peer changed;
  bool complete = false;  ///< it holds all of it, paused or not
  /// The durable replica should be written: first sight, complete now or no longer, verified anew, 5 % or a minute of
  /// progress, ten minutes without any. (Where the role is kGone it should be removed.)
  bool write_replica = false;
  // Filled in by NodeService:
  std::uint32_t generation = 0;  ///< of the content's edition
  std::string audience;          ///< id of its audience; plain: empty
  std::string owner, name;       ///< of the content now
};

/// Who is in which swarm right now; soft state that expires, and where each node listens. Thread-safe (one private
/// mutex; no call blocks or does I/O). Keyed by content and version.
class Swarms final : public ccm::LiveView {
 public:
  Swarms(const Clock& clock, Rng& rng, SwarmLimits limits = {}) : clock_(clock), rng_(rng), limits_(limits) {}

  AnnounceResult announce(const Announce& announce);
  /// Where a node listens, from its own update (or from the store after a restart). Returns the swarms' members to
  /// tell.
  struct Tell {
    ContentId content;
    std::uint32_t version = 1;
    Peer changed;
    std::vector<NodeId> tell;
  };
  std::vector<Tell> set_endpoints(const NodeId& node, const std::vector<NodeEndpoint>& endpoints);
  bool knows_endpoints(const NodeId& node) const;

  /// A node's stream opened or closed; it is online while one is open or its last call is younger than the expiry.
  void set_connected(const NodeId& node, bool connected);
  void note_seen(const NodeId& node);
  /// When the node last gave a sign of life, of what this process has seen; {}: nothing.
  WallTime last_sign(const NodeId& node) const;
  /// Signs of life that are to be written down: of nodes that are gone since, and of those online whose last one was
  /// taken longer ago than `age`. What was taken counts as written.
  std::vector<std::pair<NodeId, WallTime>> take_signs(std::chrono::milliseconds age);
  /// The node is no longer enrolled.
  void forget(const NodeId& node);

  /// Drops members that stayed silent, swarms that are empty, and nodes that are long away, of which the store knows
  /// the rest. Call every few seconds; announces and counts do not show expired members in between either.
  /// Returns the members dropped.
  std::vector<std::pair<ContentId, NodeId>> expire();

  Counts counts(const ContentId& content, std::uint32_t version) const override;
  std::vector<NodeId> seeders(const ContentId& content, std::uint32_t version) const override;
  bool online(const NodeId& node) const override;
  /// Of the swarms of all its versions; some more than once.
  std::vector<NodeId> members(const ContentId& content) const;
  /// Whether the node is in the swarm of any version of it.
  bool takes_part(const NodeId& node, const ContentId& content) const;
  TrafficTotals traffic(const NodeId& node) const;
  std::size_t swarm_count() const;
  std::size_t member_count() const;

 private:
  using Key = std::pair<ContentId, std::uint32_t>;
  struct Member {
    SwarmRole role = SwarmRole::kFetching;
    bool tls = false;
    std::uint64_t verified_bytes = 0, total_bytes = 0;
    std::optional<MonoTime> verified_at;  ///< when it was hashed as a whole
    MonoTime last_announce;
    std::chrono::milliseconds expiry{0};
    bool untold = false;  ///< others were not told of its last change: the node had too many told
    // As last written to the replica store.
    bool was_written = false;
    std::uint64_t written_bytes = 0;
    bool written_complete = false;
    std::optional<MonoTime> written_verified_at;
    MonoTime written_at;
  };
  using Swarm = std::map<NodeId, Member>;
  struct LiveNode {
    KeyPrint key{};
    UserId owner;
    std::vector<NodeEndpoint> endpoints;
    bool knows_endpoints = false;
    int connected = 0;
    std::optional<MonoTime> last_seen;
    WallTime sign, taken_sign;  ///< last sign of life, and the one that `take_signs` gave out last
    std::set<Key> swarms;
    double told = 0;  ///< others who were told of changes lately
    MonoTime told_at;
  };

  static bool is_complete(const Member& member);
  static bool due_for_write(const Member& member, MonoTime now);
  bool expired(const NodeId& node, const Member& member, MonoTime now) const;
  bool is_online(const NodeId& node, MonoTime now) const;
  bool is_online(const LiveNode& node, MonoTime now) const;
  /// A call that was under way when a node was forgotten has put it back; that goes here as well.
  void drop_long_away(MonoTime now);
  /// It holds everything and offers it at this moment.
  bool seeds(const NodeId& node, const Member& member, MonoTime now) const;
  std::chrono::milliseconds interval_of(const LiveNode& node) const;
  Peer peer_of(const NodeId& id, const Member& member) const;
  /// The same without key and endpoints, which are copied for those alone that are chosen: a swarm may have thousands.
  Peer brief(const NodeId& id, const Member& member) const;
  /// The others that take part right now, in brief.
  std::vector<Peer> others(const Swarm& swarm, const NodeId& but, MonoTime now) const;
  /// `wanted`: so far it wanted data. Seeders dial whom they believe to, so they hear of the end of that.
  std::vector<NodeId> whom_to_tell(const std::vector<Peer>& others, const Peer& changed, bool wanted) const;
  /// `tell`, or nobody where the node's changes have been told too often.
  std::vector<NodeId> within_rate(LiveNode& node, std::vector<NodeId> tell, MonoTime now) const;
  void leave(const Key& key, const NodeId& node);
  void count_traffic(const Announce& announce);

  const Clock& clock_;
  Rng& rng_;
  const SwarmLimits limits_;
  mutable std::mutex mutex_;
  std::map<Key, Swarm> swarms_;
  std::unordered_map<NodeId, LiveNode> nodes_;
  std::unordered_map<NodeId, TrafficTotals> traffic_;
};

}  // namespace gridtorrent::tracker
