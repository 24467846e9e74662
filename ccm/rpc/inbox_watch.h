#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/rpc/door.h"
#include "base/rpc/strand.h"
#include "base/rpc/streams.h"
#include "ccm/domain/inbox_service.h"
#include "ccm/domain/user.h"
#include "ccm/rpc/inbox_hub.h"
#include "common/clock.h"
#include "gridtorrent/v1/ccm.pb.h"

namespace gridtorrent::ccm::rpc {

/// One WatchInbox stream: the inbox now, then each time that it changed. A slow reader misses states in between, never
/// the last.
class InboxWatch final : public gridtorrent::rpc::StreamListener, public gridtorrent::rpc::Strand {
 public:
  using Stream = gridtorrent::rpc::EventStream<v1::Inbox>;
  struct Deps {
    InboxHub& hub;
    InboxService& inbox;
    const Clock& clock;
    gridtorrent::rpc::Executor& executor;
  };
  static Status open(const Deps& deps, const Actor& actor, const std::shared_ptr<Stream>& stream);

  InboxWatch(const Deps& deps, Actor actor, std::shared_ptr<Stream> stream)
      : Strand(deps.executor), d_(deps), actor_(std::move(actor)), stream_(std::move(stream)) {}

  /// The one before is out: there may be news.
  void room() override { rung(); }
  void ticked(MonoTime now) override;
  void ended() override { d_.hub.unwatch(actor_.user, ticket_); }

 private:
  /// At most one reading in kPause, however often it rings: a bell rung by others must not cost the server more.
  static constexpr std::chrono::milliseconds kPause{2000};
  void rung();
  void run() override;

  const Deps d_;
  const Actor actor_;
  const std::shared_ptr<Stream> stream_;
  InboxHub::Ticket ticket_ = 0;      ///< set before anyone else sees this object
  std::optional<std::size_t> sent_;  ///< hash of what was sent last; of the strand
  std::mutex mutex_;
  bool pending_ = true;
  std::optional<MonoTime> read_;
};

}  // namespace gridtorrent::ccm::rpc
