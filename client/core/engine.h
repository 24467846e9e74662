#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core/audience.h"
#include "client/core/plan.h"
#include "common/ids.h"
#include "common/place.h"
#include "common/result.h"

namespace gridtorrent::client {

/// How the engine should regard the bytes on disk when a torrent is added.
enum class DiskTrust : std::uint8_t {
  kNothingThere,  ///< a fresh transfer
  kResumeData,    ///< believe the resume data's have-bitmap
  kComplete,      ///< all wanted files are whole (just hashed, or verified): seed without checking
  kRecheck,       ///< hash what is there before believing anything
};

/// What this node shows on TLS lanes, PEM: a certificate of the data CA and the key that it is for.
struct LaneIdentity {
  std::string certificate_pem, key_pem;
};

/// One torrent to hold. Files are the manifest's files with size > 0, in order.
struct TorrentSpec {
  TransferId id;
  std::string info_dict;                ///< metainfo::build_info_dict; the engine computes the info-hash from it
  Place save_path;                      ///< absolute folder; file_paths lie below it
  std::vector<std::string> file_paths;  ///< real names, bytes, relative to save_path
  std::vector<bool> wanted;             ///< per file; empty: all
  DiskTrust trust = DiskTrust::kNothingThere;
  std::string resume_data;       ///< from Engine::resume_data, of any edition, for kResumeData
  std::uint32_t generation = 0;  ///< of a TLS edition: whose certificate it shows
  /// Of a TLS edition (its info dictionary holds a CA). Null: nobody may have it, so no lane stands.
  AudiencePtr audience;
  bool paused = false;
};

enum class TorrentState : std::uint8_t { kChecking, kFetching, kComplete, kSeeding, kPaused, kError };

/// A torrent as the engine sees it; values only, taken without waiting for the network thread.
struct TorrentSnapshot {
  TorrentState state = TorrentState::kChecking;
  Error error;  ///< meaningful in kError: disk full, read-only …; its torrent is paused until `resume`
  std::uint64_t wanted_bytes = 0;                                    ///< of the wanted files' pieces
  std::uint64_t verified_bytes = 0;                                  ///< of these, pieces that passed their SHA-1
  std::uint64_t checked_bytes = 0;                                   ///< progress of kChecking
  std::uint64_t received_payload_bytes = 0, sent_payload_bytes = 0;  ///< since added
  std::uint64_t redundant_bytes = 0, failed_bytes = 0;               ///< received twice; received and refused by a hash
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  std::uint64_t refused_lanes = 0;  ///< of TLS editions: connections of those who may not have it, since added
  std::uint64_t plan_revision = 0;  ///< the plan the lanes are being moved to
  std::vector<PeerSnapshot> peers;
  std::vector<PathProblem> problems;
};

/// How busy the engine was over the last five seconds: shares of that time, 0 to 1.
struct EngineLoad {
  double network_thread = 0;  ///< in which its one network thread ran or waited for a core
  double held_by_disk = 0;    ///< in which connections that bring data were not read from: too much waits to be written
  double reads_disk = 0;      ///< in which blocks that others asked for were being read
  friend bool operator==(const EngineLoad&, const EngineLoad&) = default;
};

/// What the engine tells unasked. Called on an engine thread: do little, never call back into the engine.
class EngineListener {
 public:
  virtual ~EngineListener() = default;
  /// The torrent's state changed, it completed, or the first lane to a node told of its path.
  virtual void torrent_changed(const TransferId& id) = 0;
  /// A piece passed its SHA-1 and is readable through the page cache (used to verify roots while fetching).
  virtual void piece_verified(const TransferId& id, std::uint32_t piece) = 0;
  /// Something a person should read: a foreign client that cheats, a listening socket that died.
  virtual void warning(const TransferId& id, const std::string& message) = 0;
};

struct EngineOptions {
  NodeId node;          ///< goes into the gt extension handshake
  std::string key_pem;  ///< the node's key (PKCS#8), which it proves on plain lanes; empty: it proves nothing
  std::vector<std::string> listen_addresses{"0.0.0.0", "::"};
  std::uint16_t first_lane_port = 50000, last_lane_port = 50015;  ///< both 0: free ports, 16 of them
  bool tls_lanes = false;                                         ///< open TLS lane ports, too
  std::uint16_t first_tls_port = 50016, last_tls_port = 50031;    ///< both 0: free ports, 16 of them
  std::vector<std::string> congestion_controls{};  ///< that fetching nodes may ask for, where the kernel allows them
  std::string advertised_path;                     ///< label for LaneEndpoint::path
};

/// The swarm engine: libtorrent behind one door (client/engine). All methods are thread-safe; none waits for the
/// network thread longer than a queue takes, but for `stop` and `resume_data`.
class Engine {
 public:
  virtual ~Engine() = default;

  /// The sockets really bound. Addresses are as configured ("0.0.0.0"); the caller turns wildcards into real ones.
  virtual std::vector<LaneEndpoint> listening() const = 0;
  /// On the same ports of other addresses from now on. What cannot be listened on is a warning. Lanes stand.
  virtual void listen_on(const std::vector<std::string>& addresses) = 0;

  /// Refuses a malformed info dictionary and an id or info-hash that is already there. Nothing is dialled before a
  /// plan.
  virtual Status add(const TorrentSpec& spec) = 0;
  /// Ends its connections and forgets it; files stay.
  virtual void remove(const TransferId& id) = 0;
  /// The files were moved (same content): go on from there without hashing. The torrent keeps its peers.
  virtual Status set_save_path(const TransferId& id, const Place& save_path) = 0;

  virtual void set_plan(const TransferId& id, const LanePlan& plan) = 0;
  /// Of all TLS editions of that generation, those that are added later, too. Lanes that stand go on under what they
  /// were opened with. Torrents take it up little by little, those with lanes first: it costs a millisecond each.
  virtual void set_identity(std::uint32_t generation, const LaneIdentity& identity) = 0;
  /// Lanes of those who are not in it any more end within a second or two, on this side; null: all lanes. Nothing where
  /// the torrent is plain or not there.
  virtual void set_audience(const TransferId& id, AudiencePtr audience) = 0;
  /// Bits per second of payload received and sent by this torrent; 0: unlimited.
  virtual void set_rate_limit(const TransferId& id, std::uint64_t receive_bits_per_s,
                              std::uint64_t send_bits_per_s) = 0;
  /// The same for all torrents together, in even parts: of what is received for the torrents that want more, of what is
  /// sent for the nodes that do. Takes hold at once.
  virtual void set_node_limit(std::uint64_t receive_bits_per_s, std::uint64_t send_bits_per_s) = 0;
  virtual void pause(const TransferId& id) = 0;
  /// Also clears kError.
  virtual void resume(const TransferId& id) = 0;

  /// Nothing where the id is unknown.
  virtual std::optional<TorrentSnapshot> snapshot(const TransferId& id) const = 0;

  virtual EngineLoad load() const = 0;

  /// Connections to TLS lane ports that TLS itself refused since the start: no certificate, one of another authority or
  /// past its time, no such content. Whose they were and what they wanted is not known.
  virtual std::uint64_t refused_handshakes() const = 0;

  /// What `kResumeData` needs later. The verified pieces it names are synced to disk first (libtorrent never syncs),
  /// so a power loss cannot make it lie. Blocks up to some seconds; call from a worker thread.
  virtual Result<std::string> resume_data(const TransferId& id) = 0;

  /// The same for when other files are wanted from then on: pieces that hold bytes of a file which is wanted in only
  /// one of both cases are left out, since some of these bytes are not where they would be looked for. `wanted` as in
  /// TorrentSpec.
  virtual Result<std::string> resume_data_for(const TransferId& id, const std::vector<bool>& wanted) = 0;

  /// Ends all connections and joins all threads; no call but destruction may follow.
  virtual void stop() = 0;
};

}  // namespace gridtorrent::client
