#include "ccm/rpc/inbox_watch.h"

#include "ccm/rpc/convert.h"

namespace gridtorrent::ccm::rpc {

Status InboxWatch::open(const Deps& deps, const Actor& actor, const std::shared_ptr<Stream>& stream) {
  auto watch = std::make_shared<InboxWatch>(deps, actor, stream);
  watch->ticket_ = deps.hub.watch(actor.user, [weak = std::weak_ptr<InboxWatch>(watch)] {
    if (const auto alive = weak.lock()) alive->schedule();
  });
  stream->attach(watch);
  watch->schedule();
  return {};
}

void InboxWatch::run() {
  // One state in the queue at a time; what comes meanwhile is read when it is out.
  if (stream_->free_places() < Stream::kMaxQueue) return;
  Result<Inbox> inbox = d_.inbox.read(actor_);
  if (!inbox) return stream_->close(inbox.error());
  if (sent_ && *sent_ == *inbox) return;
  if (!stream_->offer(to_wire(*inbox, d_.clock.wall()))) return;
  sent_ = std::move(*inbox);
}

}  // namespace gridtorrent::ccm::rpc
