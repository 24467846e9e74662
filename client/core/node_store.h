#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/core/rate_history.h"
#include "client/core/server_link.h"
#include "client/core/tuning_record.h"
#include "client/plan/memory.h"
#include "client/plan/wish.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/place.h"
#include "common/result.h"
#include "metainfo/metadata.h"

namespace gridtorrent::client {

enum class TransferKind : std::uint8_t { kGet, kPublish, kAttach };

/// How far a transfer has come. Written to disk before the step begins, so that a killed node knows where to go on;
/// each step can be done twice.
enum class TransferStep : std::uint8_t {
  kHash,        ///< of a publish, until the server has it; stored where it goes on by itself
  kCheckLocal,  ///< does what this node already has still match? then copy it
  kPrepare,     ///< make the staging folder
  kFetch,
  kVerify,  ///< compare the files with their roots
  kCommit,  ///< move from staging to the target
  kAttach,  ///< verify files that were here already
  kHold,    ///< done; seeds where that is possible
  kCancel,  ///< remove staging, then forget
  kFailed,
  kForgotten  ///< never stored: cancelled, kept in memory for those who watch
};

/// Payload exchanged with one node over a transfer's life.
struct PeerTotals {
  NodeId node;
  std::uint64_t received_bytes = 0, sent_bytes = 0;
  int lanes_peak = 0;
  friend bool operator==(const PeerTotals&, const PeerTotals&) = default;
};

/// All of a transfer that survives the process.
struct TransferRow {
  TransferId id;
  TransferKind kind = TransferKind::kGet;
  TransferStep step = TransferStep::kPrepare;
  bool paused = false;  ///< by a person
  ContentInfo content;  ///< as the server described it when the transfer began
  std::string base_name;
  std::string target;         ///< folder that holds BASE, or will; absolute, bytes
  std::string root;           ///< of a task's target: Place::root
  bool follow_links = false;  ///< Place::follow_links
  Place place() const { return {target, root, follow_links}; }
  std::vector<std::string> globs;
  /// Per manifest entry: what the globs mean and is no longer there. Empty: nothing was lost.
  std::vector<bool> lost;
  /// What an earlier transfer brought to the same place, to which this one adds: its globs and what it had lost. Both
  /// empty: nothing, as of one that is done.
  std::vector<std::string> kept_globs;
  std::vector<bool> kept_lost;
  bool adds() const { return !kept_globs.empty() || !kept_lost.empty(); }
  /// Per manifest entry: files that lay at the place before, and so are not this node's to remove. Empty: none.
  std::vector<bool> adopted;
  bool remove_files = false;  ///< of kCancel: what was put at the place goes, too
  /// An earlier version of the content, whose files at the same target give way to this one's; nil: none, as of one
  /// that is done.
  TransferId replaces;
  std::uint32_t umask = 0;  ///< what is taken from the modes of what it brings: of who asked for it, else the node's
  bool unmarked = false;    ///< StagingPlan::unmarked
  TransferId old_place;     ///< kCheckLocal: the transfer whose files are looked at (itself: the same place)
  int lanes_wish = 0, seeders_wish = 0, priority = 0;
  std::uint64_t limit_bits_per_s = 0;
  TuningWish wish;   ///< target and floor end with the fetch, as the limit does
  WallTime fetched;  ///< when all that was fetched was at its place; {}: not yet, or unknown
  std::string source;
  std::uint64_t wanted_bytes = 0, verified_bytes = 0;  ///< of the wanted files
  std::uint64_t received_bytes = 0, sent_bytes = 0, redundant_bytes = 0;
  std::chrono::milliseconds fetch_time{0};
  int lanes_peak = 0;
  std::vector<PeerTotals> peers;
  std::optional<Error> error;
  WallTime verified;           ///< when all that is held was last hashed; {}: unknown
  std::string stamp;           ///< DiskGuard::stamp of the files when they were last known to be whole
  bool checksums_due = false;  ///< a publish whose flat SHA-256 sums the server has not got yet
  bool unpublished = false;    ///< of a publish that goes on by itself: the server has not got it yet
  bool refused = false;        ///< the server said that it is not (or no longer) this node's to have
  bool clean = false;          ///< fetching: the node was shut down in order, so the resume data says all
  WallTime created;
};

/// As KnownTree has them.
struct KnownFiles {
  std::vector<std::uint64_t> inodes;
  std::string sums;
  friend bool operator==(const KnownFiles&, const KnownFiles&) = default;
};

/// A publish that was begun: written before the server hears of it.
struct PublishRow {
  std::string request_id;          ///< used towards the server, now and when repeated
  std::string path, name, access;  ///< `access` empty: a new version of the content that `name` names
  TransferId transfer;
  WallTime created;
  bool done = false;
  ContentInfo published;  ///< where done
  std::uint64_t skipped = 0;
  WalkRules rules = {};  ///< by which it is published: what was asked for, or what the version before was published by
  /// Of one that goes on without its caller: the rest of the request, and what was found. Nothing: a Publish call works
  /// on it, and ends it.
  struct Lasting {
    std::string description, license;
    std::vector<std::string> tags;
    bool strict = false;
    std::vector<std::string> warnings;
    WalkRules rules = {};  ///< that were asked for
    /// Of HashedTree.
    std::uint64_t unchanged_files = 0, unchanged_bytes = 0, read_bytes = 0;
    bool unchanged = false;              ///< nothing differed from the version before: none was made
    std::optional<bool> as_before = {};  ///< PublishJob::as_before; nothing: begun by a version that did not know it
    friend bool operator==(const Lasting&, const Lasting&) = default;
  };
  std::optional<Lasting> lasting;
  bool is_update() const { return access.empty(); }
  /// By the rules of the version before. A version that did not know of that was asked without rules where none were
  /// given: that is what asks for those of the version before now.
  bool is_as_before() const {
    return lasting && lasting->as_before.value_or(is_update() && lasting->rules == WalkRules());
  }
};

/// A task of the server's stream. Its state decides what is done after a restart: one that is not ended is begun again.
struct TaskRow {
  Task task;
  TaskReport report;            ///< last known
  bool report_pending = false;  ///< the server has not confirmed `report`
  TransferId transfer;          ///< that does the work, once there is one
};

/// The node's durable memory; implemented in client/store over SQLite. Thread-safe. Every method that changes something
/// returns after it is on disk. Errors are kDisk; a node that cannot remember must not acknowledge.
class NodeStore {
 public:
  virtual ~NodeStore() = default;

  Status put_transfer(const TransferRow& row) { return put_transfers({&row, 1}); }
  /// All of them or none.
  virtual Status put_transfers(std::span<const TransferRow> rows) = 0;
  /// Its resume data and rates go with it.
  virtual Status erase_transfer(const TransferId& id) = 0;
  virtual Result<std::vector<TransferRow>> transfers() = 0;

  virtual Status save_resume(const TransferId& id, const std::string& data) = 0;
  virtual Result<std::optional<std::string>> load_resume(const TransferId& id) = 0;

  /// What is known of the files that a transfer published; it goes with it. Unknown transfers are passed over.
  virtual Status save_known_files(const TransferId& id, const KnownFiles& files) = 0;
  /// Empty: nothing is known.
  virtual Result<KnownFiles> load_known_files(const TransferId& id) = 0;

  virtual Status put_publish(const PublishRow& row) = 0;
  virtual Status erase_publish(const std::string& request_id) = 0;
  /// Those that are not done, and the last thousand that are.
  virtual Result<std::vector<PublishRow>> publishes() = 0;

  /// Lists of who may have restricted content, by id.
  virtual Status put_audience(const SavedAudience& audience) = 0;
  virtual Status erase_audience(const std::string& id) = 0;
  virtual Result<std::vector<SavedAudience>> audiences() = 0;
  /// When the server was last heard, and when it last confirmed lists that are there (in these versions).
  virtual Status note_confirmed(WallTime heard, const std::vector<SavedAudience>& confirmed) = 0;
  /// Nothing: never.
  virtual Result<std::optional<WallTime>> heard() = 0;
  /// Which list says who may have these transfers' content; unknown transfers are passed over. All at once: after a
  /// restart of the server it is another one for each.
  virtual Status set_audiences(const std::vector<std::pair<TransferId, std::string>>& audiences) = 0;

  /// In place of what was there of this transfer. Kept are those that run, and the last `kEndedTunings` that ended.
  virtual Status put_tuning(const TuningRecord& record) = 0;
  /// In order of sequence.
  virtual Result<std::vector<TuningRecord>> tunings() = 0;

  /// What transfers received and sent, in place of blocks of the same name (RateBlock); all of them or none, but for
  /// those of transfers that are not there. What is too old at `now`, and the oldest beyond kRateBlocks of a kind,
  /// goes.
  virtual Status put_rates(std::span<const RateBlock> blocks, WallTime now) = 0;
  /// Of one transfer: blocks with something that ended after `from`, those of 15 s first, in the order of time. They go
  /// with the transfer.
  virtual Result<std::vector<RateBlock>> rates(const TransferId& id, WallTime from) = 0;

  /// Metadata documents, by the hex SHA-256 that names them. One that no transfer names any more may go an hour after
  /// it was saved.
  virtual Status save_metadata(const std::string& sha256, const std::string& document) = 0;
  virtual Result<std::optional<std::string>> load_metadata(const std::string& sha256) = 0;

  /// What paths have carried, by key.
  virtual Status put_path(const PathRecord& record) = 0;
  /// All at once; unknown ones are passed over.
  virtual Status erase_paths(const std::vector<PathKey>& keys) = 0;
  virtual Result<std::vector<PathRecord>> paths() = 0;

  virtual Status put_task(const TaskRow& row) = 0;
  virtual Result<std::optional<TaskRow>> find_task(const TaskId& id) = 0;
  /// Tasks that are not ended, or whose end the server has not confirmed; in order of sequence.
  virtual Result<std::vector<TaskRow>> open_tasks() = 0;
  /// The highest sequence ever stored; 0 at first.
  virtual Result<std::uint64_t> task_cursor() = 0;
};

}  // namespace gridtorrent::client
