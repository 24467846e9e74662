#include "ccm/rpc/inbox_watch.h"

#include <functional>
#include <string>
#include <utility>

#include "ccm/rpc/convert.h"

namespace gridtorrent::ccm::rpc {

Status InboxWatch::open(const Deps& deps, const Actor& actor, const std::shared_ptr<Stream>& stream) {
  auto watch = std::make_shared<InboxWatch>(deps, actor, stream);
  GT_ASSIGN(watch->ticket_, deps.hub.watch(actor.user, [weak = std::weak_ptr<InboxWatch>(watch)] {
    if (const auto alive = weak.lock()) alive->rung();
  }));
  stream->attach(watch);
  watch->schedule();
  return {};
}

void InboxWatch::rung() {
  {
    const std::lock_guard lock(mutex_);
    pending_ = true;
    if (read_ && d_.clock.mono() - *read_ < kPause) return;  // ticked comes back to it
  }
  schedule();
}

void InboxWatch::ticked(MonoTime now) {
  {
    const std::lock_guard lock(mutex_);
    if (!pending_ || (read_ && now - *read_ < kPause)) return;
  }
  schedule();
}

void InboxWatch::run() {
  // One state in the queue at a time; what comes meanwhile is read when it is out.
  if (stream_->free_places() < Stream::kMaxQueue) return;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(pending_, false)) return;
    read_ = d_.clock.mono();
  }
  const Result<Inbox> inbox = d_.inbox.read(actor_);
  if (!inbox) return stream_->close(inbox.error());
  v1::Inbox message = to_wire(*inbox, {});
  const std::size_t hash = std::hash<std::string>()(message.SerializeAsString());
  if (sent_ == hash) return;
  message.set_now_ms(d_.clock.wall().ms);
  if (stream_->offer(std::move(message))) sent_ = hash;
}

}  // namespace gridtorrent::ccm::rpc
