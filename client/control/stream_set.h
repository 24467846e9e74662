#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/rpc/status.h"
#include "common/result.h"

namespace gridtorrent::client::control {

/// The open streams of one RPC whose messages one thread makes. A stream has no thread, and keeps what `State` says of
/// it and the one message that is being written, so a caller that does not read costs no memory. Thread-safe; outlives
/// the gRPC server.
template <class Message, class State>
class StreamSet {
 public:
  using Reactor = grpc::ServerWriteReactor<Message>;

  /// gRPC calls the On… methods on its own threads, one at a time but for OnCancel.
  class Stream final : public Reactor {
   public:
    Stream(StreamSet& set, State start) : state(std::move(start)), set_(set) {}

    void OnWriteDone(bool ok) override { set_.written(*this, ok); }
    void OnCancel() override { set_.cancelled(*this); }
    void OnDone() override { set_.done(*this); }

    State state;  ///< of the thread that makes messages

   private:
    friend class StreamSet;
    StreamSet& set_;
    // Guarded by the set's mutex.
    bool writing_ = false, finished_ = false;
    bool ends_ = false;  ///< it finishes once nothing is being written
    std::shared_ptr<const Message> message_;
  };

  /// At most `most` at once; `what` is watched by them, as "transfers are". `ring` tells, from any thread and without a
  /// lock of this object, that a stream can take a message.
  StreamSet(std::size_t most, std::string what, std::function<void()> ring)
      : most_(most), what_(std::move(what)), ring_(std::move(ring)) {}

  /// A stream that ends at once with `error`.
  static Reactor* refuse(const Error& error) {
    class Refusal final : public Reactor {
     public:
      explicit Refusal(const Error& error) { this->Finish(rpc::to_grpc(error)); }
      void OnDone() override { delete this; }
    };
    return new Refusal(error);  // deletes itself in OnDone
  }

  /// gRPC's handler: a stream, or one that ends at once with kUnreachable or kExhausted.
  Reactor* open(State start) {
    const auto stream = std::make_shared<Stream>(*this, std::move(start));
    if (const Status added = add(stream); !added) return refuse(added.error());
    ring_();
    return stream.get();
  }

  bool empty() const {
    const std::lock_guard lock(mutex_);
    return streams_.empty();
  }

  /// All that are open, those that are being written to included.
  std::vector<std::shared_ptr<Stream>> all() const {
    const std::lock_guard lock(mutex_);
    return {streams_.begin(), streams_.end()};
  }

  /// Those that can take a message.
  std::vector<std::shared_ptr<Stream>> waiting() const {
    std::vector<std::shared_ptr<Stream>> waiting;
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(streams_, std::back_inserter(waiting),
                         [](const auto& one) { return !one->writing_ && !one->ends_ && !one->finished_; });
    return waiting;
  }

  /// To a stream of `waiting`, on the thread that makes messages; nothing where it has ended meanwhile.
  void write(Stream& stream, const std::shared_ptr<const Message>& message) {
    {
      const std::lock_guard lock(mutex_);
      if (stream.ends_ || stream.finished_) return;
      stream.writing_ = true;
      stream.message_ = message;
    }
    // Finish waits for the end of this write, so the stream is not done before.
    stream.StartWrite(message.get());
  }

  /// As write, and the stream ends with OK.
  void write_last(Stream& stream, const std::shared_ptr<const Message>& message) {
    {
      const std::lock_guard lock(mutex_);
      if (stream.ends_ || std::exchange(stream.finished_, true)) return;
      stream.message_ = message;  // until it is done
    }
    stream.StartWriteAndFinish(message.get(), {}, grpc::Status::OK);
  }

  /// Ends a stream of `waiting`, on the thread that makes messages; nothing where it has ended meanwhile.
  void finish(Stream& stream, const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (stream.ends_ || std::exchange(stream.finished_, true)) return;
    }
    stream.Finish(status ? grpc::Status::OK : rpc::to_grpc(status.error()));
  }

  /// All streams end with kCancelled; what opens later ends at once.
  void end() {
    std::vector<std::shared_ptr<Stream>> idle;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      for (const auto& stream : streams_) {
        stream->ends_ = true;
        if (!stream->writing_ && !std::exchange(stream->finished_, true)) idle.push_back(stream);
      }
    }
    for (const auto& stream : idle) stream->Finish(rpc::to_grpc(Error{Code::kCancelled, "the node is shutting down"}));
  }

 private:
  Status add(const std::shared_ptr<Stream>& stream) {
    const std::lock_guard lock(mutex_);
    if (ended_) return Error{Code::kUnreachable, "the node is shutting down: try again once it runs"};
    if (streams_.size() >= most_) {
      return Error{Code::kExhausted, what_ + " watched by " + std::to_string(most_) +
                                         (most_ == 1 ? " program" : " programs") +
                                         " already: close one of them, then try again"};
    }
    streams_.push_back(stream);
    return {};
  }

  void written(Stream& stream, bool ok) {
    std::shared_ptr<const Message> gone;  // freed without the lock
    bool finish = false;
    {
      const std::lock_guard lock(mutex_);
      gone = std::move(stream.message_);
      stream.writing_ = false;
      if (!ok || stream.ends_) finish = !std::exchange(stream.finished_, true);
    }
    // The stream may be gone once it has finished.
    if (finish) return stream.Finish(rpc::to_grpc(Error{Code::kCancelled, "the call has ended"}));
    ring_();
  }

  void cancelled(Stream& stream) {
    bool finish = false;
    {
      const std::lock_guard lock(mutex_);
      stream.ends_ = true;
      if (!stream.writing_) finish = !std::exchange(stream.finished_, true);
    }
    if (finish) stream.Finish(rpc::to_grpc(Error{Code::kCancelled, "the caller ended the call"}));
  }

  void done(Stream& stream) {
    std::shared_ptr<Stream> last;  // its destructor runs without the lock
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(streams_, &stream, [](const auto& one) { return one.get(); });
    last = std::move(*found);
    streams_.erase(found);
  }

  const std::size_t most_;
  const std::string what_;
  const std::function<void()> ring_;
  mutable std::mutex mutex_;  ///< never held while gRPC is called
  bool ended_ = false;
  std::list<std::shared_ptr<Stream>> streams_;
};

}  // namespace gridtorrent::client::control
