#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "client/engine/asked_blocks.h"
#include "client/engine/lane.h"
#include "client/engine/last_blocks.h"
#include "client/engine/network_loop.h"
#include "client/engine/node_rates.h"
#include "client/engine/rate_window.h"
#include "client/engine/request_depth.h"
#include "client/engine/request_pacer.h"

namespace gridtorrent::client::engine {

/// What one torrent asks of its lanes, and when: libtorrent chooses the blocks, this holds requests back and sends them
/// in its stead. How much a lane has outstanding is RequestDepth's, at what rate all ask together RequestPacer's,
/// whether two are asked for the same block AskedBlocks', and which lane brings the last ones `next_reassignment`'s.
/// Network thread only, but for `set_limit`.
class Requests final : private Asker {
 public:
  Requests(std::shared_ptr<NetworkLoop> loop, std::shared_ptr<NodeRates> rates)
      : loop_(std::move(loop)), rates_(std::move(rates)) {}

  /// Bytes a second that all lanes together ask for; 0: no limit. Any thread.
  void set_limit(std::uint64_t bytes_per_s) { limit_ = bytes_per_s; }

  /// It may be asked from now on.
  void lane_ready(Lane& lane) { depths_.try_emplace(&lane); }
  /// How many blocks the lane is to have outstanding: one on a stranger's until it delivers, since what is asked of who
  /// sends nothing is missing elsewhere.
  int depth(const Lane& lane) const;
  /// libtorrent has chosen a block for a lane. False: it is asked for later, unless it arrives before.
  bool may_ask(Lane& lane, const Block& block);
  void arrived(Lane& lane, const Block& block);
  void cancelled(Lane& lane, const Block& block);
  void rejected(Lane& lane, const Block& block);
  void lane_closed(Lane& lane);
  /// Asks for what is due by now, and at the end lanes that have room for what others were to bring. A few milliseconds
  /// after anything was held back, or came near the end (`NetworkLoop`), and once a second.
  void go_on();

 private:
  struct Waiting {
    Lane* lane;
    Block block;
  };
  bool may_ask_next(MonoTime now) override;
  std::uint64_t ask_next(MonoTime now) override;
  std::uint64_t limit() const;
  int within_limit(int blocks) const;
  void note_waiting();
  /// So many bytes against the limits.
  void count(MonoTime now, std::uint64_t bytes);
  bool take_out(Lane& lane, const Block& block);
  void foresee_the_end();
  void ask_due(MonoTime now);
  bool all_is_asked() const;
  LastBlocks last_blocks(Lane& lane, const RequestDepth& depth, MonoTime now) const;
  void reassign_last(MonoTime now);
  int reassign(Lane& from, Lane& to, int blocks, MonoTime now);

  struct Reassigned {
    MonoTime until{};        ///< when what it took should have come
    double bytes_per_s = 0;  ///< that it brought when something was taken from it; 0: nothing was
  };
  const std::shared_ptr<NetworkLoop> loop_;
  const std::shared_ptr<NodeRates> rates_;
  std::atomic<std::uint64_t> limit_ = 0;
  RequestPacer pacer_;
  AskedBlocks asked_;
  std::deque<Waiting> waiting_;  ///< for the pacer, or for the node's
  std::set<Lane*> confused_;     ///< to be closed
  std::map<Lane*, RequestDepth, std::less<>> depths_;
  std::map<const Lane*, Reassigned> reassigned_;
  MonoTime reassign_at_{};        ///< not before
  RateWindow rate_;               ///< of all lanes
  std::optional<double> left_s_;  ///< until nothing is left to ask for; nothing: not soon
  int arrivals_ = 0;
};

}  // namespace gridtorrent::client::engine
