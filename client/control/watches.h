#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "client/control/stream_set.h"
#include "client/control/stream_thread.h"
#include "client/core/node.h"
#include "common/clock.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::control {

/// The streams of WatchTransfer: each tells of one transfer until it ends, as a command does that waits. One thread,
/// "gt-watches", serves them all; a stream has no thread. It looks at a transfer only after that has changed.
/// Thread-safe; outlives the gRPC server.
class TransferWatches {
 public:
  struct Limits {
    std::chrono::milliseconds pause{100};  ///< between two changes that a stream is told of; the end is told at once
    std::size_t most = 1000;               ///< streams at once
  };
  struct Watch {
    TransferId id;
    bool while_seeding = false;  ///< it ends where the transfer is cancelled or forgotten
    bool look = true;            ///< it has changed since it was looked at
    bool late = false;           ///< it was looked at, and is told at `next`
    bool told = false;
    std::uint64_t told_revision = 0;
    MonoTime next{};
  };
  using Streams = StreamSet<v1::TransferReply, Watch>;
  using Reactor = Streams::Reactor;

  TransferWatches(Node& node, Limits limits);
  ~TransferWatches();

  /// gRPC's handler: a stream, or one that ends at once with kExhausted.
  Reactor* open(const TransferId& id, bool while_seeding);
  /// Ends all streams with kCancelled and the thread; what opens later ends at once.
  void stop();

 private:
  /// What a transfer has of us: it may change after the end of this object.
  struct Bell {
    std::mutex mutex;
    std::vector<TransferId> rung;
    StreamThread* thread = nullptr;  ///< null: nobody is to know
  };

  /// What one round has seen of a transfer, for all its streams.
  struct Seen {
    Result<TransferView> view;
    std::shared_ptr<const v1::TransferReply> message;  ///< null: none was needed
  };
  using Round = std::map<TransferId, Seen>;

  std::optional<MonoTime> serve();
  void note_changes();
  Seen& see(const TransferId& id, Round& round);
  void tell(Streams::Stream& stream, Seen& seen, MonoTime now);

  Node& node_;
  const Limits limits_;
  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  std::set<TransferId> awaited_;  ///< of the thread, as the next: whose next change rings
  MonoTime rests_until_{};
  Streams streams_;
  StreamThread thread_;
};

/// The streams of WatchTuning. One thread, "gt-tunings", looks at each tuning that is watched four times a second, and
/// at once for a stream that is new. Thread-safe; outlives the gRPC server.
class TuningWatches {
 public:
  struct Watch {
    TransferId id;
    bool looked = false;
    std::uint64_t told_revision = 0;
  };
  using Streams = StreamSet<v1::Tuning, Watch>;
  using Reactor = Streams::Reactor;

  TuningWatches(Node& node, std::size_t most);
  ~TuningWatches();

  Reactor* open(const TransferId& id);
  void stop();

 private:
  std::optional<MonoTime> serve();
  void tell(Streams::Stream& stream, const Result<TuningRecord>& record);

  Node& node_;
  MonoTime next_{};  ///< of the thread: when to look at all
  Streams streams_;
  StreamThread thread_;
};

}  // namespace gridtorrent::client::control
