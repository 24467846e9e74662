#pragma once

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/node_ports.h"
#include "client/core/target_told.h"
#include "client/core/transfer.h"
#include "client/core/transfer_journal.h"

namespace gridtorrent::client {

using MetadataPtr = std::shared_ptr<const metainfo::VersionMetadata>;

/// A peer of a transfer's swarm, with what the dialling rule needs to remember.
struct SwarmPeer {
  PeerInfo info;
  MonoTime nothing_since, no_outgoing_since;
  int in_vain = 0;  ///< how often it was planned while nothing came to the transfer
};

/// When a transfer's next announce is due, and what the server knows.
struct AnnounceState {
  MonoTime due{};
  bool in_flight = false, again = false;
  bool heard = false;  ///< the server has answered at least once
  /// The server may believe that this node has some of it: it was told so, or an earlier process may have told it.
  bool claimed = false;
  int failures = 0;
  std::string trouble;                        ///< for people, while it fails
  std::map<NodeId, PeerTotals> acknowledged;  ///< traffic the server has counted
  std::uint64_t acknowledged_refused = 0;     ///< refused lanes, likewise
  /// Nodes that the server told of while one was under way: its answer may be older than that.
  std::set<NodeId> told_meanwhile;

  /// Something changed: the next one is due, also where one is under way that does not say so.
  void soon(MonoTime now) {
    due = now;
    again = in_flight;
  }
};

/// One transfer: the durable row and what lives with the process. Guarded by the book's mutex.
struct Transfer {
  TransferRow row;
  MetadataPtr metadata;      ///< while it is needed; a seeding transfer reads it again from the store
  std::vector<bool> wanted;  ///< per manifest entry; empty: all
  FileSizes file_sizes;      ///< of these; once the engine fetches it

  bool job_running = false;  ///< a pool thread works on it; the step does not move meanwhile
  std::stop_source stop;
  bool look_due = false;  ///< the next round looks at it, also where it rests
  bool quick = false;     ///< each round asks whether it is due, of the loop
  std::uint64_t job_done = 0, job_total = 0;

  bool in_engine = false, engine_paused = false;
  bool entering = false;     ///< the engine is taking it, unlocked
  bool fresh = false;        ///< staging was made by this process: nothing is there yet
  bool recheck = false;      ///< hash what is there before believing anything
  bool asked = false;        ///< kCheckLocal: somebody asked for it since the node started
  bool copied = false;       ///< an update copied it just now, so that memory may be hashed as well
  bool lost_writes = false;  ///< a sync failed: what was read back from memory may not be on the disk
  bool active = false, stalled = false;
  std::uint64_t came = 0;  ///< bytes received, at the last plan
  MonoTime came_at{};      ///< when there were more, or it got its slot
  MonoTime turned_at{};    ///< when other nodes had their turn, since nothing came
  bool held_back = false;  ///< waits for its disk; row.error says for what
  bool away = false;       ///< likewise: what it needs is not there, since its disk is not mounted or it was removed
  bool anew = false;       ///< away, and a person says that it is gone: looked for once more, then begun anew
  std::optional<MonoTime> look_again;  ///< kHold: BASE is not there, likewise; when it is looked for again
  bool asleep = false;                 ///< held and announced, but not in the engine until somebody wants it
  MonoTime wanted_at{};                ///< when somebody last wanted data of what is held here, or had a lane
  bool barred = false;                 ///< held, but not seeded: private, withdrawn, another transfer seeds it
  std::string barred_reason;
  bool exchanges = false;  ///< an update whose files take their place now, or the transfer whose files give way to them
  std::uint32_t engine_generation = 0;  ///< the edition that the engine holds
  std::optional<ContentInfo> moving;    ///< another edition to go on in, once what is here is written down
  AudiencePtr audience_shown;           ///< what the engine lets in
  int disk_errors = 0, verify_rounds = 0;
  MonoTime disk_retry{};
  std::optional<TorrentSnapshot> snapshot;
  MonoTime snapshot_at{};
  bool snapshot_due = true;
  std::map<NodeId, PeerTotals> earlier;  ///< payload before the engine's present count
  std::uint64_t earlier_received = 0, earlier_sent = 0, earlier_redundant = 0, earlier_refused = 0;

  std::map<NodeId, SwarmPeer> swarm;
  LanePlan plan;
  std::optional<Findings> findings;    ///< while it fetches
  Limit limit_told = Limit::kUnknown;  ///< the last word in the log
  TargetTold target_told;
  std::uint64_t tuner_limit = 0;  ///< Plan::limit_bits_per_s, as the engine has it
  bool plan_due = true;
  MonoTime plan_at{};
  std::vector<PathProblem> problems;  ///< as the engine reports them
  std::vector<PathProblem> no_paths;  ///< pairs of which neither end can be reached
  AnnounceState announce;

  std::shared_ptr<RootVerifier> verifier;
  std::uint64_t saved_verified = 0;
  MonoTime saved_at{};
  bool saving = false;
  MonoTime touch_due{};  ///< kFetch: of the mark of its staging folder
  MonoTime fetching_since{};
  bool clock_runs = false;  ///< fetch_time is being counted from fetching_since

  std::string waiting_for, notice;
  MonoTime notice_at{};
  std::optional<PublishState> publishing;  ///< kHash: it goes on by itself; nothing: a Publish call works on it
  std::optional<PublishTicket> ticket;     ///< of this process's begin_publish
  MonoTime retry_at{};                     ///< kHash, kCancel: after a call that the server did not answer
  int failures = 0;
  TransferState state_told = TransferState::kQueued;  ///< that the last round saw
  std::uint64_t revision = 1;
  std::shared_ptr<std::condition_variable> watched;  ///< notified with each change; made by who waits for one
  std::vector<std::function<void()>> bells;          ///< rung by the next change, once
  bool discarded = false;                            ///< kCancel: its staging is removed
  std::optional<Result<RemovedFiles>> removed;       ///< kCancel, with its files: what came of that
  MonoTime forget_at{};
  MonoTime sums_not_before{};
  std::stop_source sums_stop;

  /// It holds its content, be it that its files are just being looked at.
  bool holds() const {
    return row.step == TransferStep::kHold ||
           (in_engine && (row.step == TransferStep::kCheckLocal || row.step == TransferStep::kAttach));
  }
  bool serves() const { return in_engine || asleep; }
  bool seeds() const { return row.step == TransferStep::kHold && serves() && !barred; }
  /// It is to be held by the engine, and is not yet.
  bool enters_engine() const {
    const bool may = row.step == TransferStep::kHold && !in_engine && !barred && !row.paused && row.wanted_bytes > 0;
    return may && (!asleep || wanted_by_others());
  }
  bool wanted_by_others() const {
    return std::any_of(swarm.begin(), swarm.end(), [](const auto& peer) { return peer.second.info.wants_data; });
  }
};

/// All transfers of a node. Every access to a Transfer happens under `mutex()`; pool threads find theirs by id again,
/// since it may be gone. `wake` tells the transfers' thread, `touch` tells those who wait for a change of this
/// transfer, and the journal.
class TransferBook {
 public:
  /// `epoch` names the process.
  TransferBook(NodeStore& store, NodeLogFn log, std::string epoch)
      : store_(store), log_(std::move(log)), journal_(std::move(epoch)) {}

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }

  // The rest is called with the lock held.
  /// By id, which rises with the time at which it was made. Insert and erase nothing while going through them.
  using Transfers = std::vector<std::pair<TransferId, std::unique_ptr<Transfer>>>;
  Transfers& all() { return transfers_; }
  Transfer* find(const TransferId& id);
  /// In place of one with this id, if there is one.
  Transfer& insert(TransferRow row);
  void erase(TransferId id);  // often an id within the transfer that goes
  /// Writes the row to disk.
  Status save(Transfer& transfer);
  /// Writes what rows are to become to disk: all of them or none.
  Status save(const std::vector<TransferRow>& rows);
  /// As save, for where nobody waits for the answer: logs.
  void save_or_log(Transfer& transfer);
  void touch(Transfer& transfer);
  /// Something else that is shown with the transfers has changed, such as the node's limits.
  void touch_all();
  /// Calls `bell` once, with the lock held: now, if the transfer is gone or its revision is not `seen`, else with its
  /// next change.
  void ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell);
  /// Waits with `lock` until the transfer is gone, its revision is not `seen`, or the deadline passed.
  void wait_for_change(Lock& lock, const TransferId& id, std::uint64_t seen, std::chrono::milliseconds timeout);

  const TransferJournal& journal() const { return journal_; }
  /// Calls `bell` once, with the lock held: now, if there is something after revision `seen`, else with the next
  /// change. A later call takes the place of an earlier one; {}: nobody waits.
  void ring_after(std::uint64_t seen, std::function<void()> bell);

 private:
  void ring();
  /// Where it is, or belongs.
  Transfers::iterator place_of(const TransferId& id);

  NodeStore& store_;
  NodeLogFn log_;
  std::mutex mutex_;
  Transfers transfers_;
  std::unordered_map<TransferId, Transfer*> by_id_;
  TransferJournal journal_;
  std::function<void()> bell_;  ///< for the next change; once
};

/// What people see of it.
TransferView make_view(const Transfer& transfer);
/// The same without peers.
TransferView make_summary(const Transfer& transfer);
/// It was cancelled or forgotten, and is kept for those who still wait for it: lists leave it out.
bool is_gone(const Transfer& transfer);
/// Payload per node over the whole life: what was before, and the engine's present count.
std::map<NodeId, PeerTotals> traffic_totals(const Transfer& transfer);
/// Puts counters into the row, as they are to be saved.
void note_counters(Transfer& transfer, MonoTime now);
/// The engine is about to forget the torrent: what it counted becomes history.
void fold_counters(Transfer& transfer, MonoTime now);
/// kFailed with a reason; drops what only a living transfer needs. The caller removes it from the engine.
void mark_failed(Transfer& transfer, const Error& error);

}  // namespace gridtorrent::client
