#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "client/core/audience.h"
#include "client/core/plan.h"
#include "client/core/walk_rules.h"
#include "client/plan/wish.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"
#include "metainfo/metadata.h"

namespace gridtorrent::client {

/// A content as the server describes it to this node's owner.
struct ContentInfo {
  ContentId id;
  std::string name, owner;  ///< "name" and the owner's user name
  std::uint32_t version = 1;
  std::string access_level;  ///< "public", "private", "shared"
  std::uint64_t bytes = 0, files = 0;
  std::string metadata_sha256;   ///< hex; names the metadata document
  std::uint32_t generation = 0;  ///< edition: 0 plain
  std::string ca_pem;            ///< data CA of that generation
  bool withdrawn = false;
  std::uint32_t seeders = 0;  ///< complete nodes that offered it when the server was asked; not kept with a transfer
  std::string audience;       ///< id of the list of who may have it, as announces name it; plain: empty
  std::string access;         ///< as the command line writes it ("user:bob"); not kept with a transfer, empty there
};

struct PublishRequest {
  std::string request_id;  ///< repeated after a crash, so that publishing twice is publishing once
  std::string name;
  std::string access;  ///< "public", "private", or targets as the CLI writes them
  std::string description, license;
  std::vector<std::string> tags;
  /// `name` is that of a content that is there (id, name or owner/name), which gets a new version; all else stays.
  bool update = false;
};

/// Names of the folders that tasks may touch; the server is not told where they are.
struct RootNames {
  std::vector<std::string> shares, downloads;
};

/// What BeginPublish answers: everything needed to derive the info dictionaries.
struct PublishTicket {
  ContentId content;
  std::uint32_t version = 1;
  std::uint32_t generation = 0;
  std::string ca_pem;
};

enum class Reachability : std::uint8_t { kUnknown, kReachable, kUnreachable };

/// A peer of a swarm as the tracker hands it out.
struct PeerInfo {
  NodeId node;
  std::vector<LaneEndpoint> endpoints;
  Reachability reachability = Reachability::kUnknown;  ///< by the server's dial-back
  bool wants_data = false;                             ///< still fetching
  bool complete = false;
  std::uint64_t verified_bytes = 0;
  std::optional<KeyPrint> key;  ///< what it proves on plain lanes; nothing: an older server does not say
};

/// Payload exchanged with one node since the last announce that the server acknowledged.
struct PeerTraffic {
  NodeId node;
  std::uint64_t received_bytes = 0, sent_bytes = 0;
};

enum class SwarmRole : std::uint8_t { kFetching, kSeeding, kPaused, kGone };

struct AnnounceRequest {
  ContentId content;
  std::uint32_t version = 1;
  SwarmRole role = SwarmRole::kFetching;
  std::uint64_t verified_bytes = 0, total_bytes = 0;
  std::vector<PeerTraffic> traffic;
  std::uint64_t refused_lanes = 0;                             ///< since the last announce that the server acknowledged
  std::uint64_t refused_handshakes = 0;                        ///< of the whole node, since then
  std::optional<std::chrono::milliseconds> verified_age = {};  ///< since all of it was hashed; nothing: unknown
};

struct AnnounceReply {
  std::vector<PeerInfo> peers;
  std::chrono::milliseconds next{30'000};  ///< announce again after this
  std::uint32_t generation = 0;            ///< the content's edition now
  std::string audience;                    ///< who may have it; plain: empty
  std::string owner, name;                 ///< the content's now; empty: an older server does not say
};

/// A certificate for this node's key, and the generation of the data CA that signed it.
struct IssuedCertificate {
  std::uint32_t generation = 0;
  std::string ca_pem, certificate_pem;
  WallTime expires;
};

/// The kinds of work a server may ask of a node. Unknown kinds are acknowledged as unsupported.
struct PublishTask {
  std::string root_path;  ///< "ROOT:relative/path" below a share root
  PublishRequest publish;
  bool strict = false;
  WalkRules rules = {};
  bool as_before = false;  ///< PublishJob::as_before
};
struct GetTask {
  std::string content;    ///< id
  std::string root_path;  ///< "ROOT:relative/path" below a download root; empty: the first download root
  std::vector<std::string> globs;
  int lanes = 0;
  std::uint64_t rate_limit_bits_per_s = 0;
  int priority = 0;
  bool refetch = false;
  int seeders = 0;  ///< 0: auto
  WishChange wish = {};
  std::string base_name = {};  ///< what BASE is called there; empty: as it was published
  bool if_seeded = false;      ///< refuse where it has to be fetched and nobody serves it
  std::uint32_t version = 0;   ///< 0: the newest
  bool update = false;         ///< in the place of an earlier version that this node holds in that folder
};
struct SeedTask {
  std::string content;
  std::string root_path;
};
struct StopSeedingTask {
  ContentId content;  ///< withdrawn: stop seeding, keep the files
};
struct ListFolderTask {
  std::string root_path;  ///< "ROOT" or "ROOT:relative/path"
};
struct TransferCommandTask {
  std::string transfer_id;
  std::string command;  ///< pause, resume, cancel
};
struct UnknownTask {
  std::string kind;
};
struct Task {
  TaskId id;
  std::uint64_t sequence = 0;  ///< per node, gapless; the resume cursor
  std::variant<PublishTask, GetTask, SeedTask, StopSeedingTask, ListFolderTask, TransferCommandTask, UnknownTask> work;
};

enum class TaskState : std::uint8_t { kQueued, kDelivered, kRunning, kDone, kFailed, kCancelled, kUnsupported };

struct TaskReport {
  TaskId id;
  TaskState state = TaskState::kRunning;
  std::uint64_t done = 0, total = 0;  ///< bytes, where the work has them
  std::string result_json;            ///< for kDone: what the CLI would print with --json
  Error error;                        ///< for kFailed
};

/// What the server's stream brings; called on the link's own thread, one call at a time.
class ServerListener {
 public:
  virtual ~ServerListener() = default;
  virtual void connected() = 0;
  /// Once for each loss, with the reason, and again where that changes; the link goes on trying with growing, jittered
  /// pauses.
  virtual void disconnected(const Error& reason) = 0;
  /// At least once, in order of `sequence`. Durable effects (or the note to have them) come before ack_task.
  /// An error: it was not taken, so it has to come again, and nothing after it may be acknowledged. The stream ends.
  virtual Status task(const Task& task) = 0;
  virtual void task_cancelled(const TaskId& id) = 0;
  /// A peer appeared in a swarm of ours or changed: no need to wait for the next announce.
  virtual void peer_changed(const ContentId& content, std::uint32_t version, const PeerInfo& peer) = 0;
  /// Who may have the contents whose announces name this list: in place of what was before.
  virtual void audience(const AudienceList& list) = 0;
  /// These are right as of now.
  virtual void audiences_confirmed(const std::vector<AudienceRef>& refs) = 0;
  /// Who may have it, its edition or its state changed: look at it again. Nothing: at all of them.
  virtual void content_changed(const std::optional<ContentId>& content) = 0;
};

/// Whether the same call can succeed later: the server does not answer, or has too much to do.
inline bool may_pass(const Error& error) {
  return error.code == Code::kUnreachable || error.code == Code::kTimeout || error.code == Code::kBusy;
}

/// The server as the node sees it: the tracker client of the GridTorrent paper. Implemented in client/remote over gRPC.
/// Calls block up to their deadline and are thread-safe. What is worth trying again says `may_pass`.
class ServerLink {
 public:
  virtual ~ServerLink() = default;

  /// By id, name or owner/name; of that version, 0: the newest. kUnsupported: an older server, which knows one version.
  virtual Result<ContentInfo> content(const std::string& reference, std::uint32_t version) = 0;
  Result<ContentInfo> content(const std::string& reference) { return content(reference, 0); }
  virtual Result<metainfo::VersionMetadata> metadata(const ContentId& content, std::uint32_t version) = 0;

  /// kUnsupported: an update, at an older server.
  virtual Result<PublishTicket> begin_publish(const PublishRequest& request) = 0;
  /// Sends the metadata; durable at the server once this returns. Returns the content as published.
  virtual Result<ContentInfo> finish_publish(const std::string& request_id, const PublishTicket& ticket,
                                             const metainfo::VersionMetadata& metadata) = 0;
  /// Ends what begin_publish began under this request id, or withdraws it where it was finished meanwhile. Repeated, it
  /// changes nothing. kUnsupported: an older server, which frees the name by itself after two days.
  virtual Status give_up_publish(const std::string& request_id) = 0;
  /// One SHA-256 per manifest entry (32 bytes; folders: zeros), added to the version later.
  virtual Status add_checksums(const ContentId& content, std::uint32_t version, const std::string& digests) = 0;

  /// Certificates for TLS lanes, one of each living generation of the data CA. `request`: PKCS#10 in DER form.
  virtual Result<std::vector<IssuedCertificate>> certify(const std::string& request) = 0;

  virtual Result<AnnounceReply> announce(const AnnounceRequest& request) = 0;
  /// Tells the server where this node can be dialled, and its roots; it dials back and answers per endpoint.
  virtual Result<std::vector<Reachability>> update_endpoints(const std::vector<LaneEndpoint>& endpoints,
                                                             const RootNames& roots) = 0;

  virtual Status ack_task(std::uint64_t sequence) = 0;
  virtual Status report_task(const TaskReport& report) = 0;

  /// Opens the stream and keeps it open, from after `cursor` on, until stop().
  virtual void start(ServerListener& listener, std::uint64_t cursor) = 0;
  virtual void stop() = 0;
  virtual bool is_connected() const = 0;
  /// How long the server still wishes not to be asked again what it refused as too much; mostly zero.
  virtual std::chrono::milliseconds asked_pause() const = 0;
  /// Server's clock minus ours, as of the last answer.
  virtual std::chrono::milliseconds clock_offset() const = 0;
};

}  // namespace gridtorrent::client
