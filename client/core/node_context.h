#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "client/core/engine_events.h"
#include "client/core/node_ports.h"
#include "client/core/path_history.h"
#include "client/core/rate_log.h"
#include "client/core/rights.h"
#include "client/core/transfer_book.h"
#include "client/core/tuning_log.h"
#include "client/core/worker_pool.h"

namespace gridtorrent::client {

/// What the parts of a NodeCore share: ports, the book of transfers, the bell of the transfers' thread, and the pools
/// that do what blocks: `quick` (adding torrents, resume data), `heavy` (hashing, copying, committing), `calls` (the
/// server), `background` (flat sums), `publishing` (publishes that go on by themselves). Jobs never run with the book's
/// lock held; engine and store calls may be made under it.
class NodeContext {
 public:
  NodeContext(const NodePorts& node_ports, NodeOptions node_options, EngineEvents& engine_events);

  NodePorts ports;
  const NodeOptions options;
  EngineEvents& events;
  TransferBook book;
  WorkerPool quick{"gt-quick", 3}, heavy{"gt-heavy", 4}, calls{"gt-calls", 4}, background{"gt-sums", 1},
      publishing{"gt-publish", 2};

  /// Who may have what, as far as the server told.
  Rights rights;

  /// The stream to the server is down, for people's eyes.
  std::atomic<bool> server_lost{false};
  TuningLog tuning;                   ///< book locked
  RateLog rates;                      ///< book locked
  PathHistory history;                ///< book locked
  std::size_t held_in_engine = 0;     ///< book locked: what is held, not fetched, and in the engine
  std::vector<TransferId> concerned;  ///< book locked: by wake_for, since the last round
  /// Book locked: whose row names another list of who may have it than the one that was saved.
  std::set<TransferId> audiences_unsaved;

  /// Rings the transfers' thread, which looks at all transfers. Cheap, from any thread, under any lock.
  void wake();
  /// The same where nothing concerns any other transfer. Book locked.
  void wake_for(Transfer& transfer);
  /// The same where the engine's events name what is concerned.
  void wake_for_events() { ring(/*concerns_all=*/false); }
  /// Sleeps until the bell or the timeout; whether all transfers are to be looked at.
  bool wait(std::chrono::milliseconds timeout);

  NodeSettings settings() const;
  /// Its limits, as they are at this hour, take hold in the engine. `settings().limits` are those in force.
  void set_settings(NodeSettings settings);
  void set_limits(const NodeLimits& limits);
  LimitsWhy limits_why() const;
  /// Looks at the clock for limits of some hours: when to look again at the latest, and whether others hold now.
  std::pair<std::chrono::milliseconds, bool> follow_hours();

  /// Before the next attempt after `failures` failures: growing, jittered, and no less than the server asks for.
  std::chrono::milliseconds retry_pause(int failures);
  /// Sleeps by the node's clock, but not past a stop request.
  void pause_for(std::chrono::milliseconds time, const std::stop_token& stop);

  void log(NodeLogLevel level, const std::string& line) const { ports.log(level, line); }

  /// From the disk cache, else from the server (and then cached). The document is the one that `content` names.
  Result<MetadataPtr> metadata(const ContentInfo& content);
  /// The same with the name that BASE has where the transfer puts it.
  Result<MetadataPtr> metadata(const TransferRow& row);

  /// Under the book's lock: marks the transfer busy and runs `job` on `pool`; afterwards the transfer is free again and
  /// the bell rings. Does nothing where the pool is full: the next round tries again.
  using Job = std::function<void(const TransferId&, std::stop_token)>;
  void start_job(Transfer& transfer, WorkerPool& pool, Job job);
  /// The same for a job whose conclusion is written under the lock that frees the transfer: whoever sees a transfer
  /// that this job has failed finds it free.
  using Conclusion = std::function<void(Transfer&)>;
  using ConcludedJob = std::function<Conclusion(const TransferId&, std::stop_token)>;
  void start_concluded_job(Transfer& transfer, WorkerPool& pool, ConcludedJob job);

  /// Under the lock: the engine forgets the torrent; its counts are kept.
  void take_out_of_engine(Transfer& transfer);
  /// Under the lock: kFailed, out of the engine, and what this node claimed to have is withdrawn at once. The caller
  /// saves the row.
  void fail(Transfer& transfer, const Error& error);
  /// Under the lock: forgets the transfer and its row; files stay. A sibling that holds the same content may seed now.
  void forget(const TransferId& id);
  /// Under the lock: ends it. What this node claimed to have of it is withdrawn from the server, then it is forgotten;
  /// files stay, but for a staging folder.
  Status give_up(Transfer& transfer, bool may_have_staging);
  /// Under the lock: gives up what is held of earlier versions of a content at places where another one stands now.
  /// What was published once more at the same place, unchanged, gives way to what was published last; `newest` is that.
  void forget_given_way(const TransferId& newest = {});
  /// Under the lock: somebody else may have to seed this content now.
  void settle_siblings(const ContentId& content) { settle_siblings(std::set{content}); }
  void settle_siblings(const std::set<ContentId>& contents);
  /// Under the lock: what the server says of a content now. Another edition: the transfer goes on in it, without
  /// hashing; one that fetches writes down first what it has (`moving`).
  void take_over(Transfer& transfer, const ContentInfo& info);
  /// Under the lock: all that is held, as after a change that concerns everything.
  void settle_all();
  /// Under the lock: is this what seeds the content, or does another do it, or may nobody?
  void settle_hold(Transfer& transfer);
  /// The same for one whose content no other transfer has.
  void settle_only(Transfer& transfer);

  /// Unlocked: it is not there. A link in the way, or what the node may not look at, is another matter.
  bool is_missing(const Place& place) const;
  /// Unlocked: nothing of what is held is there. Its disk may not be mounted (BASE may be the mount point itself, or a
  /// link to what lies below one).
  bool are_away(const TransferRow& row, const metainfo::Manifest& manifest, const std::vector<bool>& wanted) const;

  /// What the engine holds for it. `metadata` names the files.
  TorrentSpec torrent_spec(const TransferRow& row, const metainfo::VersionMetadata& metadata,
                           const std::vector<bool>& wanted) const;

 private:
  std::mutex bell_mutex_;
  std::condition_variable bell_;
  bool rung_ = false;
  bool concerns_all_ = false;
  mutable std::mutex settings_mutex_;
  NodeSettings settings_;
  HeldLimits limits_;
  WallTime looked_at_hours_;

  void ring(bool concerns_all);
  /// settings_mutex_ locked.
  void apply_limits();
};

/// 1 s, doubled with each failure up to 60 s, of which a random part between half and all is waited.
std::chrono::milliseconds retry_pause(int failures, Rng& rng);

inline constexpr char kNotYours[] =
    "not yours to have any more: its owner may have changed who may, or it is gone; asking again";
inline constexpr char kServerNotHeard[] =
    "the server has not been heard for longer than --list-lifetime: nothing is served until it is";

/// The document with another name for BASE, which no piece and no root depends on; itself where that is its name.
MetadataPtr with_base_name(MetadataPtr metadata, const std::string& base_name);

/// A wrapper that keeps the metadata alive as long as its verifier.
std::shared_ptr<RootVerifier> make_owned_verifier(FileWork& files, const Place& folder, MetadataPtr metadata,
                                                  const std::vector<bool>& wanted);

}  // namespace gridtorrent::client
