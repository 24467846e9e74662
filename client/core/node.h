#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/core/file_work.h"
#include "client/core/node_limits.h"
#include "client/core/plan.h"
#include "client/core/rate_history.h"
#include "client/core/server_link.h"
#include "client/core/transfer_journal.h"
#include "client/core/tuning_log.h"
#include "client/plan/findings.h"
#include "client/plan/memory.h"
#include "client/plan/tuners.h"
#include "client/plan/wish.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::client {

enum class TransferState : std::uint8_t {
  kQueued,
  kHashing,
  kFetching,
  kVerifying,
  kPaused,
  kSeeding,
  kComplete,
  kFailed,
  kCancelled
};

/// The name of a state as it stands in JSON and in the node's database.
std::string_view transfer_state_name(TransferState state);

/// How far a publish is that goes on by itself.
enum class PublishPhase : std::uint8_t {
  kWait,  ///< for its turn, or for the server
  kScan,  ///< files are listed
  kHash,
  kUpload  ///< the server gets the metadata
};
/// Its name as it stands in JSON.
std::string_view publish_phase_name(PublishPhase phase);
struct PublishState {
  std::string request_id;  ///< of the request that began it
  PublishPhase phase = PublishPhase::kWait;
  std::uint64_t files = 0;       ///< 0: not counted yet
  std::uint64_t bits_per_s = 0;  ///< of hashing
};

/// A transfer as people, scripts and metrics see it: the one progress model of CLI, GUI and JSON.
struct TransferView {
  TransferId id;
  ContentId content;
  std::uint32_t version = 1;
  std::string name, owner;
  TransferState state = TransferState::kQueued;
  std::uint64_t verified_bytes = 0, total_bytes = 0;  ///< of the wanted files
  std::uint64_t receive_bits_per_s = 0, send_bits_per_s = 0;
  int lanes = 0, lanes_peak = 0;
  int seeders = 0;  ///< peers that sent us payload in the last seconds
  std::optional<std::chrono::seconds> eta;
  std::string path;                 ///< bytes: where BASE is or will be
  std::vector<PeerSnapshot> peers;  ///< those that are gone but gave or took payload included
  std::optional<Error> error;       ///< of kFailed, or why it is paused
  std::string waiting_for;          ///< one line for people: "server down, retrying", "no seeders online"
  std::uint64_t received_bytes = 0, sent_bytes = 0, redundant_bytes = 0;
  std::chrono::milliseconds fetch_time{0};
  std::string source;  ///< "swarm", "local", "published", "attached"
  int priority = 0;
  std::uint64_t limit_bits_per_s = 0;
  int lanes_wish = 0, seeders_wish = 0;  ///< 0: auto
  TuningWish wish;
  WallTime fetched;          ///< when all was at its place; {}: not yet, or unknown
  bool seeds_later = false;  ///< of kComplete: it seeds again by itself, once what `waiting_for` says is over
  std::string plan_reason;
  std::optional<Findings> findings;        ///< what limits it, while it fetches
  std::optional<PublishState> publishing;  ///< of a publish that is not done and goes on by itself
  WallTime created;
  std::vector<std::string> unmatched;  ///< in the answer to `get`: globs that mean no file, beside others that do
  std::uint64_t revision = 0;          ///< grows with every change; for wait_for_change
};

struct PublishJob {
  PublishRequest request;
  std::string path;       ///< absolute, bytes
  std::string root = {};  ///< of a task: Place::root of the path
  bool strict = false;
  WalkRules rules = {};
  /// Of a new version: the rules by which this node published the content before come first, where it did by any.
  bool as_before = false;
};

struct ScanJob {
  std::string path;  ///< absolute, bytes
  WalkRules rules = {};
  std::string as_before = {};  ///< a content (id, name or owner/name): as PublishJob::as_before; empty: none
};

struct PublishOutcome {
  ContentInfo content;
  TransferId transfer;  ///< that seeds it
  std::chrono::milliseconds elapsed{0};
  std::uint64_t skipped = 0;
  std::vector<std::string> warnings;
  /// Of a new version: files that are as they were when this node published the one before, and what was read.
  std::uint64_t unchanged_files = 0, unchanged_bytes = 0, read_bytes = 0;
  bool unchanged = false;            ///< nothing differed from the newest version, which `content` is: none was made
  std::string rules_as_before = {};  ///< rules_text of those that came from the version before; empty: none did
};

struct GetJob {
  std::string content;    ///< id, name or owner/name
  std::string target;     ///< absolute folder, bytes; the result is target/BASE
  std::string root = {};  ///< of a task: Place::root of the target
  std::vector<std::string> globs;
  std::uint32_t version = 0;  ///< 0: the newest, or what `content` names with "@2"
  /// It takes the place of an earlier version that this node holds in that folder, or, where that is empty, anywhere.
  bool update = false;
  int lanes = 0, seeders = 0;  ///< 0: auto
  std::uint64_t limit_bits_per_s = 0;
  WishChange wish = {};  ///< of no wish, or of that of the transfer that it joins
  int priority = 0;
  bool allow_hidden = false;  ///< BASE may be what programs use unasked (.profile, bin), also where the target is there
  bool refetch = false;
  std::string base_name = {};  ///< what BASE is to be called there; empty: as it was published
  bool may_widen = true;       ///< its files may be added to a get that is under way there
  bool if_seeded = false;      ///< refuse where it has to be fetched and nobody serves it now
  /// What the umask of who asks leaves of a folder: of those that are made for the target, and by that umask of all
  /// that is put there. Nothing: the node's umask counts.
  std::optional<std::uint32_t> folder_mode = {};
};

struct EstimateJob {
  std::string content;  ///< id, name or owner/name
  std::string target;   ///< absolute folder, bytes, as of the get to come
  std::vector<std::string> globs;
  bool may_probe = true;  ///< where nothing is remembered: fetch for some seconds, and keep what came
};

/// What an estimate rests on.
enum class EstimateBasis : std::uint8_t {
  kHistory,   ///< what the paths have carried before
  kProbe,     ///< some seconds of fetching; the transfer is paused now
  kTransfer,  ///< it is being fetched already
  kFetched    ///< all of it came within the probe
};
/// The word as it stands in JSON.
std::string_view basis_name(EstimateBasis basis);

/// How long a get will take.
struct EstimateOutcome {
  EstimateBasis basis = EstimateBasis::kHistory;
  ContentInfo content;
  std::uint64_t bytes = 0;                     ///< to come
  std::size_t seeders = 0, known_seeders = 0;  ///< that are online; of which something is known
  std::chrono::milliseconds likely{0}, least{0}, most{0};
  std::uint64_t bits_per_s = 0;  ///< payload, in the long run
  Limit limit = Limit::kUnknown;
  int transfers = 0;                 ///< of kHistory: that it was made from; 0: one that fetches at the moment
  std::chrono::milliseconds age{0};  ///< of kHistory: since the last of them
  TransferId transfer;               ///< of all others; nil: none
  std::chrono::milliseconds probed{0};
  std::uint64_t kept_bytes = 0;          ///< that the probe brought
  std::string path;                      ///< of kFetched: where BASE is
  std::vector<std::string> unmatched{};  ///< globs that mean no file, beside others that do
};

/// A sentence or two for people: "1.2 GB from 3 seeders: about 52 s (45 to 70 s), 187 Mbit/s. From 4 transfers over
/// these paths, the last 2 days ago. Limited by loss."
std::string estimate_text(const EstimateOutcome& outcome);

struct TransferSettings {
  std::optional<int> lanes, seeders, priority;
  std::optional<std::uint64_t> limit_bits_per_s;
  WishChange wish = {};
};

/// Which files of a content: by patterns as of `get`, or by places in its manifest (a folder: all below it); neither:
/// all.
struct FileChoice {
  std::vector<std::string> globs = {};
  std::vector<std::uint32_t> entries = {};
};

enum class ChangeKind : std::uint8_t {
  kPause,
  kResume,
  kCancel,
  kSet,
  kStopSeeding,  ///< of what is done: it ends and is forgotten, its files stay
  kForget,       ///< the same of what is done or has failed; what a failed get had staged goes
  kRemove,       ///< of a finished get: its files go with it
  kVerify        ///< of what is done: its files are read again; what differs makes it fail
};

/// What a person tells transfers to do.
struct TransferChange {
  ChangeKind kind = ChangeKind::kPause;
  TransferSettings settings = {};  ///< of kSet
};
/// So many transfers at most are changed in one call.
inline constexpr std::size_t kMostChanges = 50'000;
/// Of one change to many transfers.
struct ChangeOutcome {
  std::uint64_t changed = 0;
  std::vector<std::pair<TransferId, Error>> failures;  ///< in the order in which they were named
};

/// So many transfers at most are told at once: what a watcher of all of them gets as one event.
inline constexpr std::size_t kTransfersPage = 500;
/// What a watcher of all transfers is told next.
struct TransfersUpdate {
  JournalPage page;
  std::string epoch;
  std::size_t total = 0;  ///< transfers in all
  NodeLimits limits;
  LimitsWhy limits_why;
  std::vector<TransferView> changed;  ///< of page.changed, in its order; without peers
};

/// What tunes a transfer of which nobody asked anything.
struct TuningDefaults {
  std::string tuner{kTuners.front().name};
  TuningMode mode = TuningMode::kBalanced;
};

struct VerifyOutcome {
  ContentId content;
  std::string name;
  VerifyReport report;
  std::vector<std::pair<std::string, crypto::Sha256Digest>> digests;  ///< full path → flat SHA-256, if asked for
};

struct NamedRoot {
  std::string name, path;
  friend bool operator==(const NamedRoot&, const NamedRoot&) = default;
};

struct NodeStatus {
  NodeId node;
  UserId owner_id;
  std::string node_name, owner, server;
  bool server_connected = false;
  std::string server_error;
  std::chrono::milliseconds clock_offset{0};
  std::vector<std::pair<LaneEndpoint, Reachability>> listeners;
  std::string data_dir;
  DiskSpace data_dir_space;
  std::vector<NamedRoot> share_roots, download_roots;
  WallTime credential_expires;
  NodeLimits limits;
  LimitsWhy limits_why;
  TuningDefaults tuning;
};

/// All that a node does for its owner; what the control API and the task manager call. Thread-safe; methods that hash
/// or talk to the server block. Implemented by client/core/node_core.h.
class Node {
 public:
  virtual ~Node() = default;

  virtual NodeStatus status() = 0;

  /// Until they are set again, the hours of the configuration change them, or its limits become others. kInvalid for
  /// what `check_limits` refuses.
  virtual Status set_limits(const NodeLimits& limits) = 0;

  /// What publishing an absolute path takes, and what would be skipped; nothing is read or kept. Errors as of
  /// `publish`.
  virtual Result<ScannedTree> scan_publish(const ScanJob& job, const ScanFn& counting, std::stop_token stop) = 0;

  /// Walks, hashes, publishes and seeds. Repeated with the same request_id (after a crash of either side) it goes on
  /// where it was and publishes once.
  virtual Result<PublishOutcome> publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) = 0;

  /// As publish, but it returns once the request is kept, and the work goes on without the caller, also after an end of
  /// the process: as a transfer that is paused, resumed and cancelled like others. A name that the server refuses is
  /// the answer, where there is a connection. Repeated with the same request_id, or for the same path, name and access,
  /// it answers with the transfer that does it, and lets that go on.
  virtual Result<TransferView> start_publish(const PublishJob& job) = 0;

  /// Starts a get, or joins one of the same content to the same place (`joined`); kConflict where it is being fetched
  /// to another place, or something that differs is in the way; kInvalid for wishes that `check_wish` or `check_tuner`
  /// refuse; kUnreachable with `if_seeded`. What is refused leaves no transfer. A deadline may be past. What this node
  /// already has is not fetched again, and files that lie at the place and are right are adopted: verified, not
  /// fetched.
  virtual Result<TransferView> get(const GetJob& job, bool& joined) = 0;
  /// Attaches files that are here already: verified against the manifest, then seeded. The transfer starts in
  /// kVerifying.
  virtual Result<TransferView> seed(const std::string& content, const Place& from) = 0;

  /// How long a get would take. Where nothing is remembered of the paths it probes, for 5 s at most: a get that is
  /// paused at the end, so that the next one to the same folder goes on with what came. kUnreachable: no seeder is
  /// online, or no data came; kConflict: it is here already; kNotFound: nothing is remembered and it may not probe.
  virtual Result<EstimateOutcome> estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token stop) = 0;

  virtual std::vector<TransferView> transfers() = 0;
  /// What a watcher of all transfers has to see next, as TransferJournal::next. Holds up nobody for longer than a page
  /// takes.
  virtual std::optional<TransfersUpdate> next_transfers(JournalPlace& place, std::uint64_t until) = 0;
  /// Grows with each change that next_transfers tells of.
  virtual std::uint64_t transfers_revision() = 0;
  /// Calls `bell` once, as soon as transfers_revision() is over `seen`; on any thread, with locks held: it must not
  /// call the node. A later call takes the place of an earlier one; with {} nothing is called any more.
  virtual void ring_after(std::uint64_t seen, std::function<void()> bell) = 0;
  /// Calls `bell` once, as soon as the transfer's revision is not `seen` or it is gone; as above. Each call counts, and
  /// none can be taken back: the bell may be called after its maker has ended.
  virtual void ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell) = 0;
  virtual Result<TransferView> transfer(const TransferId& id) = 0;
  /// Returns as soon as the transfer's revision differs from `seen`, or after `timeout`, or when it is forgotten.
  virtual Result<TransferView> wait_for_change(const TransferId& id, std::uint64_t seen,
                                               std::chrono::milliseconds timeout) = 0;
  virtual Result<TransferView> pause(const TransferId& id) = 0;
  virtual Result<TransferView> resume(const TransferId& id) = 0;
  /// Stops fetching or seeding and forgets it. Files of a finished transfer stay; a staging folder goes.
  virtual Result<TransferView> cancel(const TransferId& id) = 0;
  /// kInvalid as for `get`; kConflict for a wish where nothing is to be fetched any more.
  virtual Result<TransferView> set(const TransferId& id, const TransferSettings& settings) = 0;
  /// Other files from now on, of a get that is under way. What came of those that stay chosen is kept; what came of the
  /// others goes. On disk before it answers. kNotFound for a pattern that means no file, kInvalid for a place that is
  /// not there or patterns and places at once, kConflict for a transfer that fetches nothing, or nothing any more, and
  /// for an update; kDisk where they can never fit. Blocks for the disk.
  virtual Result<TransferView> choose_files(const TransferId& id, const FileChoice& choice) = 0;
  /// The places in the manifest, rising, of the files and links that a transfer fetches, holds or publishes.
  virtual Result<std::vector<std::uint32_t>> chosen_files(const TransferId& id) = 0;
  /// The same for many, of which each succeeds or fails by itself, with the errors of the calls above. A crash may
  /// leave a part of them changed, each of these wholly.
  virtual ChangeOutcome change_all(const std::vector<TransferId>& ids, const TransferChange& change) = 0;

  /// Forgets a finished get and removes what it put on the disk: files that are as it left them, and folders that are
  /// empty then. Once begun it goes on after a crash. `look_only`: tells what would be removed. kConflict for what was
  /// published from here, or lay there before.
  virtual Result<RemovedFiles> remove_files(const TransferId& id, bool look_only) = 0;

  /// What its tuner decided and why. kNotFound where it never fetched in this process, or long ago.
  virtual Result<TuningRecord> tuning(const TransferId& id) = 0;
  /// As TuningLog::list.
  virtual std::vector<TuningRecord> tunings() = 0;

  /// What a transfer received and sent, and what its tuner decided, after `from`: each second of the last 15 minutes,
  /// each 15 s of the last 24 hours. Where points do not join, nothing is known of the time between.
  virtual Result<RateHistory> rates(const TransferId& id, WallTime from) = 0;

  /// What paths have carried, the last ones first.
  virtual std::vector<PathRecord> path_history() = 0;
  /// Of one node or of all; returns what was forgotten. kNotFound where nothing is known of that node.
  virtual Result<std::vector<PathRecord>> forget_paths(const std::optional<NodeId>& node) = 0;

  /// Checks what this node holds of a content (id or name), or what lies at `path`, against its manifest.
  virtual Result<VerifyOutcome> verify(const std::string& content, const std::string& path, bool sha256,
                                       const ProgressFn& progress, std::stop_token stop) = 0;
};

}  // namespace gridtorrent::client
