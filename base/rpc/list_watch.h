#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/rpc/door.h"
#include "base/rpc/streams.h"

namespace gridtorrent::rpc {

/// A stream that shows a list: as it is now, then each time that it has changed. It is read again and again, since part
/// of what a list shows changes by time alone, such as who is online: every `kPause` while it changes, less often, up
/// to every `kLongPause`, while it does not. It has no thread, and takes turns with searches and lists. A slow reader
/// misses states in between, never the last.
template <class Reply>
class ListWatch final : public StreamListener, public std::enable_shared_from_this<ListWatch<Reply>> {
 public:
  using Stream = EventStream<Reply>;
  using Read = std::function<Status(Reply&)>;
  /// Takes out of a copy what changes all the time and is no news.
  using Settle = void (*)(Reply&);
  static constexpr std::chrono::milliseconds kPause{2000}, kLongPause{8000};

  /// `user`: whose turn it takes among searches and lists.
  static Status open(Door& door, std::string user, Read read, Settle settle, const std::shared_ptr<Stream>& stream) {
    auto watch = std::make_shared<ListWatch>(door, std::move(user), std::move(read), settle, stream);
    stream->attach(watch);
    watch->look();
    return {};
  }

  ListWatch(Door& door, std::string user, Read read, Settle settle, std::shared_ptr<Stream> stream)
      : door_(door), user_(std::move(user)), read_(std::move(read)), settle_(settle), stream_(std::move(stream)) {}

  /// On the ticker's thread alone.
  void ticked(MonoTime now) override {
    if (looked_at_ && now - *looked_at_ < pause_.load()) return;
    looked_at_ = now;
    look();
  }

 private:
  /// One at a time; where too many wait, the next tick tries again.
  void look() {
    if (reading_.exchange(true)) return;
    const bool taken = door_.read_later(user_, [self = this->shared_from_this()] {
      self->tell();
      self->reading_.store(false);
    });
    if (!taken) reading_.store(false);
  }

  void tell() {
    // One state in the queue at a time; what comes meanwhile is read when it is out.
    if (stream_->free_places() < Stream::kMaxQueue) return;
    Reply reply;
    if (const Status read = read_(reply); !read) return stream_->close(read.error());
    Reply settled = reply;
    if (settle_ != nullptr) settle_(settled);
    const std::size_t hash = std::hash<std::string>()(settled.SerializeAsString());
    if (sent_ == hash) return pause_.store(std::min(2 * pause_.load(), kLongPause));
    pause_.store(kPause);
    if (stream_->offer(std::move(reply))) sent_ = hash;
  }

  Door& door_;
  const std::string user_;
  const Read read_;
  const Settle settle_;
  const std::shared_ptr<Stream> stream_;
  std::atomic<bool> reading_{false};
  std::optional<std::size_t> sent_;  ///< hash of what was sent last; of the one that reads
  std::atomic<std::chrono::milliseconds> pause_{kPause};
  std::optional<MonoTime> looked_at_;  ///< of the ticker's thread
};

}  // namespace gridtorrent::rpc
