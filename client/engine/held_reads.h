#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "client/engine/asked_blocks.h"
#include "client/engine/fair_shares.h"
#include "client/engine/network_loop.h"
#include "client/engine/shared_rate.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// The upload limit of the whole node: blocks that others asked for are read, and so sent, no sooner than the limit
/// allows, in even parts for the nodes that want more. Between libtorrent and its disk (flushed_disk.h): what waits
/// there fills no send buffer, so a lane's own requests, and all else that it carries, go out at once. libtorrent has a
/// lane read no more than its send buffer's watermark ahead, which bounds what waits.
/// Network thread only, but for `set_rate`.
class HeldReads {
 public:
  using LaneKey = const void*;
  using TorrentKey = const void*;  ///< libtorrent's torrent object

  explicit HeldReads(std::shared_ptr<NetworkLoop> loop) : loop_(std::move(loop)) {}

  /// To be called after reads were let through: a disk may wait for it. Empty: nothing.
  void set_submit(std::function<void()> submit) { submit_ = std::move(submit); }

  /// Bytes of payload a second; 0: no limit. Any thread.
  void set_rate(std::uint64_t bytes_per_s) { rate_ = bytes_per_s; }
  bool limits() const { return rate_ > 0; }
  /// Whether `read` has to be asked: there is a limit, or something still waits for one.
  bool concerns() const { return limits() || !held_.empty(); }

  /// Who asked for a block; libtorrent does not say so when it reads. Until it is read, refused, or the lane closes.
  void asked(LaneKey lane, const PeerKey& node, TorrentKey torrent, const Block& block);
  void refused(LaneKey lane, TorrentKey torrent, const Block& block);
  void lane_closed(LaneKey lane);
  /// How many questions it keeps.
  std::size_t remembered() const;

  /// libtorrent wants a block to send it: `read` is called now or later.
  void read(TorrentKey torrent, const Block& block, std::function<void()> read, MonoTime now);
  /// Reads all that waits for the torrent, whose storage is about to go.
  void let_go(TorrentKey torrent);
  void let_go_all();
  /// Reads what is due. A few milliseconds after anything was held back (`NetworkLoop`).
  void go_on(MonoTime now);

 private:
  using Wanted = std::pair<TorrentKey, Block>;
  struct Whose {
    LaneKey lane = nullptr;
    PeerKey node;
  };
  struct Held {
    LaneKey lane;
    TorrentKey torrent;
    std::uint64_t bytes;
    std::function<void()> read;
  };
  Whose take_asked(const Wanted& wanted);
  std::optional<Held> next(std::vector<PeerKey>& nodes, MonoTime now);
  void run(const std::function<void()>& read);
  void submit() const;
  void let_go_if(const std::function<bool(const Held&)>& condition);

  const std::shared_ptr<NetworkLoop> loop_;
  std::function<void()> submit_;
  std::atomic<std::uint64_t> rate_ = 0;
  SharedRate<PeerKey> shared_;
  std::map<Wanted, std::deque<Whose>> asked_;
  std::map<LaneKey, std::size_t> asked_of_lane_;  ///< how many of them
  std::map<PeerKey, std::deque<Held>> held_;      ///< none of them empty
  bool reading_ = false;                          ///< a read may call back, and have more read
};

}  // namespace gridtorrent::client::engine
