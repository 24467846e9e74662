#pragma once

// The streaming halves of door.h; include that one.

#include <deque>
#include <mutex>

#include "base/rpc/door.h"
#include "base/rpc/upload_pace.h"

namespace gridtorrent::rpc {

/// Told about an EventStream by gRPC's and the ticker's threads, maybe at the same time: must not block.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  /// The queue ran empty: more can be offered.
  virtual void room() {}
  virtual void ticked(MonoTime) {}
  /// Nothing goes out any more; the last call.
  virtual void ended() {}
};

/// The server's side of an open stream of messages: a bounded queue with one write under way. Cuts off who does not
/// read (kMaxWriteTime), and whose token is no longer good (kTokenRecheck, kMessageRecheck). Thread-safe (private
/// mutex, never held while gRPC is called). Lives by shared_ptr: gRPC's own share ends with the call.
template <class Message>
class EventStream final : public grpc::ServerWriteReactor<Message>,
                          public Ticked,
                          public std::enable_shared_from_this<EventStream<Message>> {
 public:
  static constexpr std::size_t kMaxQueue = 256;
  /// Bytes of messages that wait, as they go out; what is offered beyond them has to wait at its source. Who does not
  /// read holds one more message than this at the most, for kMaxWriteTime.
  static constexpr std::size_t kMaxQueueBytes = std::size_t{1} << 20;
  using Opened = std::function<Status(const Call&, const std::shared_ptr<EventStream>&)>;

  static EventStream* make(Door& door, grpc::CallbackServerContext* context, const Method& method, Opened opened) {
    std::shared_ptr<EventStream> stream(new EventStream(door, context, method));
    stream->self_ = stream;
    if (stream->arrival_.trouble) {
      stream->close(*stream->arrival_.trouble);
      return stream.get();
    }
    const bool taken = door.executor().post([stream, opened = std::move(opened)] { stream->open(opened); });
    if (!taken) stream->close(Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
    return stream.get();
  }

  /// Who is told; at once `ended()` if it is over already. Call once, from `opened`.
  void attach(std::shared_ptr<StreamListener> listener) {
    bool over = false;
    {
      const std::lock_guard lock(mutex_);
      over = done_;
      if (!over) listener_ = listener;
    }
    if (over) listener->ended();
  }

  /// False where the queue is full or the stream ends: the message was not taken.
  bool offer(Message message) {
    const std::size_t bytes = message.ByteSizeLong();
    {
      const std::lock_guard lock(mutex_);
      if (places() == 0) return false;
      queue_.push_back({std::move(message), bytes});
      queued_bytes_ += bytes;
    }
    pump();
    return true;
  }

  std::size_t free_places() const {
    const std::lock_guard lock(mutex_);
    return places();
  }

  /// Ends the stream once what is queued is out (without an error), or at once (with one). The first call counts.
  void close(const Status& status) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      closing_ = true;
      final_ = status;
      if (!status.ok()) forget_queue();
    }
    pump();
  }

  void OnWriteDone(bool ok) override {
    const auto keep = this->shared_from_this();
    std::shared_ptr<StreamListener> listener;
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      current_ = Message();  // gRPC has its own copy of the bytes; a large message would stay until the next
      if (!ok) {
        if (!closing_) final_ = Error{Code::kCancelled, "the caller is gone, or does not read"};
        closing_ = true;
        forget_queue();
      }
      if (queue_.empty() && !closing_) listener = listener_;
    }
    pump();
    if (listener) listener->room();
  }

  void OnCancel() override {
    const auto keep = this->shared_from_this();
    close(Error{Code::kCancelled, "the caller is gone"});
  }

  void OnDone() override {
    std::shared_ptr<StreamListener> listener;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
      listener.swap(listener_);
    }
    if (listener) listener->ended();
    if (!stream_key_.empty()) door_.give_back_stream(stream_key_);
    const auto last = std::move(self_);
  }

  void tick(MonoTime now) override {
    std::shared_ptr<StreamListener> listener;
    bool stuck = false;
    bool recheck = false;
    {
      const std::lock_guard lock(mutex_);
      if (done_ || finished_) return;
      listener = listener_;
      stuck = writing_ && now - write_began_ > Door::kMaxWriteTime;
      recheck = begins_check(now, Door::kTokenRecheck);
      // Not beyond OnDone: that needs Finish, which nobody has called yet.
      if (stuck) context_->TryCancel();
    }
    if (recheck) post_check();
    if (listener && !stuck) listener->ticked(now);
  }

 private:
  EventStream(Door& door, grpc::CallbackServerContext* context, const Method& method)
      : door_(door), context_(context), arrival_(door.arrive(context, method)) {}

  void open(const Opened& opened) {
    Status status = door_.admit(arrival_);
    if (status.ok()) status = door_.charge(arrival_);
    if (status.ok()) {
      const std::string key = stream_key(arrival_.call.principal);
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      if (!door_.take_stream(key)) {
        status = Error{Code::kBusy, "too many open streams: close some"};
      } else {
        stream_key_ = key;
        admitted_ = true;
        last_check_ = door_.clock().mono();
      }
    }
    const auto self = this->shared_from_this();
    if (status.ok()) {
      door_.ticker().add(self);
      status = door_.guard(arrival_.call, [&] { return opened(arrival_.call, self); });
    }
    if (!status.ok()) close(status);
  }

  struct Queued {
    Message message;
    std::size_t bytes = 0;
  };

  /// Under the mutex.
  std::size_t places() const { return closing_ || queued_bytes_ >= kMaxQueueBytes ? 0 : kMaxQueue - queue_.size(); }

  /// Under the mutex.
  void forget_queue() {
    queue_.clear();
    queued_bytes_ = 0;
  }

  /// Under the mutex: whether the token has not been looked at for so long; a check is under way then.
  bool begins_check(MonoTime now, std::chrono::seconds after) {
    if (!admitted_ || closing_ || checking_ || now - last_check_ < after) return false;
    last_check_ = now;
    return checking_ = true;
  }

  /// Beyond the queue's limit if need be: overload must not keep a revoked token alive. One job a stream and second.
  void post_check() {
    const auto check = [stream = this->shared_from_this()] { stream->check_token(); };
    if (!door_.executor().post_always(check)) close(Error{Code::kUnreachable, "the server stops"});
  }

  void check_token() {
    Door::Arrival again = arrival_;
    if (const Status status = door_.admit(again); !status.ok() && status.error().code != Code::kUnreachable)
      close(status);
    {
      const std::lock_guard lock(mutex_);
      checking_ = false;
    }
    pump();
  }

  /// Does the next thing that gRPC is owed: one write at a time, Finish when all is out.
  void pump() {
    bool check = false;
    bool write = false;
    bool finish = false;
    Status status;
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || finished_) return;
      check = !queue_.empty() && begins_check(door_.clock().mono(), Door::kMessageRecheck);
      // While a check is under way the queue waits: the check pumps when it is done.
      if (!queue_.empty() && !checking_) {
        current_ = std::move(queue_.front().message);
        queued_bytes_ -= queue_.front().bytes;
        queue_.pop_front();
        writing_ = write = true;
        write_began_ = door_.clock().mono();
      } else if (queue_.empty() && closing_) {
        finished_ = finish = true;
        status = final_;
      }
    }
    if (check) post_check();
    if (write) this->StartWrite(&current_);
    if (finish) this->Finish(door_.conclude(arrival_, status));
  }

  Door& door_;
  grpc::CallbackServerContext* const context_;
  Door::Arrival arrival_;
  Message current_;  ///< being written
  std::shared_ptr<EventStream> self_;

  mutable std::mutex mutex_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  std::shared_ptr<StreamListener> listener_;
  std::string stream_key_;
  Status final_;
  MonoTime write_began_{}, last_check_{};
  bool admitted_ = false, checking_ = false, writing_ = false, closing_ = false, finished_ = false, done_ = false;
};

/// Sends what a DownloadSource gives, one chunk ahead of the client.
template <class Chunk>
class DownloadPump final : public StreamListener, public std::enable_shared_from_this<DownloadPump<Chunk>> {
 public:
  DownloadPump(Executor& executor, std::shared_ptr<EventStream<Chunk>> stream,
               std::unique_ptr<DownloadSource<Chunk>> source)
      : executor_(executor), stream_(std::move(stream)), source_(std::move(source)) {}

  void room() override {
    if (!executor_.post_always([self = this->shared_from_this()] { self->send_next(); })) {
      stream_->close(Error{Code::kUnreachable, "the server stops"});
    }
  }

  /// On an executor thread. Never twice at once: the stream has room only after the chunk before is out.
  void send_next() {
    Chunk chunk;
    const Result<bool> more = source_->next(chunk);
    if (!more) return stream_->close(more.error());
    if (!*more) return stream_->close({});
    stream_->offer(std::move(chunk));
  }

 private:
  Executor& executor_;
  const std::shared_ptr<EventStream<Chunk>> stream_;
  const std::unique_ptr<DownloadSource<Chunk>> source_;
};

template <class Chunk, class Open>
grpc::ServerWriteReactor<Chunk>* Door::download(grpc::CallbackServerContext* context, const Method& method, Open open) {
  return events<Chunk>(
      context, method,
      [this, open = std::move(open)](const Call& call, const std::shared_ptr<EventStream<Chunk>>& stream) -> Status {
        GT_ASSIGN(std::unique_ptr<DownloadSource<Chunk>> source, open(call));
        auto pump = std::make_shared<DownloadPump<Chunk>>(executor(), stream, std::move(source));
        stream->attach(pump);
        pump->send_next();
        return {};
      });
}

/// The server's side of an upload: one chunk in memory at a time, handed to the sink on the executor before the next is
/// read; what ends it waits for its turn (Door::end_upload).
template <class Chunk, class Reply>
class UploadStream final : public grpc::ServerReadReactor<Chunk>,
                           public Ticked,
                           public std::enable_shared_from_this<UploadStream<Chunk, Reply>> {
 public:
  using Sink = UploadSink<Chunk, Reply>;
  using Open = std::function<Result<std::unique_ptr<Sink>>(const Call&)>;

  static UploadStream* make(Door& door, grpc::CallbackServerContext* context, const Method& method, Reply* reply,
                            Open open) {
    std::shared_ptr<UploadStream> stream(new UploadStream(door, context, method, reply));
    stream->self_ = stream;
    const bool taken = door.executor().post([stream, open = std::move(open)] { stream->open(open); });
    if (!taken) stream->finish(Error{Code::kBusy, "the server is overloaded; try again in a few seconds"});
    return stream.get();
  }

  void OnReadDone(bool ok) override {
    note_read(ok ? chunk_.ByteSizeLong() : 0);
    const auto keep = this->shared_from_this();
    const auto job = [keep, ok] { ok ? keep->take_chunk() : keep->end_of_chunks(); };
    if (!door_.executor().post_always(job)) finish(Error{Code::kUnreachable, "the server stops"});
  }

  void OnCancel() override {}  // the read under way fails, and that path finishes the call

  void OnDone() override {
    if (!stream_key_.empty()) door_.give_back_stream(stream_key_);
    const auto last = std::move(self_);
  }

  void tick(MonoTime now) override {
    const std::lock_guard lock(mutex_);
    if (!finished_ && reading_ && pace_.is_too_slow(since_read_began(now))) {
      too_slow_ = true;
      context_->TryCancel();
    }
  }

 private:
  UploadStream(Door& door, grpc::CallbackServerContext* context, const Method& method, Reply* reply)
      : door_(door), context_(context), reply_(reply), arrival_(door.arrive(context, method)) {}

  void open(const Open& open) {
    Status status = door_.admit(arrival_);
    if (status.ok()) status = door_.charge(arrival_);
    if (status.ok()) {
      const std::string key = stream_key(arrival_.call.principal);
      if (door_.take_stream(key)) {
        stream_key_ = key;
      } else {
        status = Error{Code::kBusy, "too many open streams: close some"};
      }
    }
    if (status.ok()) {
      status = door_.guard(arrival_.call, [&]() -> Status {
        GT_ASSIGN(sink_, open(arrival_.call));
        return {};
      });
    }
    if (!status.ok()) return finish(status);
    door_.ticker().add(this->shared_from_this());
    read_next();
  }

  void read_next() {
    const auto keep = this->shared_from_this();
    chunk_.Clear();
    note_reading();
    this->StartRead(&chunk_);
  }

  void take_chunk() {
    const Status status = door_.guard(arrival_.call, [&]() -> Status {
      GT_TRY(check_named(chunk_));
      return sink_->accept(chunk_);
    });
    if (!status.ok()) return finish(status);
    read_next();
  }

  void end_of_chunks() {
    if (was_too_slow()) {
      return finish(Error{Code::kTimeout, "the upload came too slowly: at least " +
                                              std::to_string(UploadPace::kLeastBytesPerS >> 10) + " KiB a second"});
    }
    const auto keep = this->shared_from_this();
    if (!door_.end_upload(arrival_.call.principal.user.str(), [keep] { keep->end_upload(); }))
      finish(Error{Code::kBusy, "too many uploads wait to be looked at; try again in a few seconds"});
  }

  void end_upload() {
    if (context_->IsCancelled()) return finish(Error{Code::kCancelled, "the upload was cut off"});
    finish(door_.guard(arrival_.call, [&] { return sink_->finish(*reply_); }));
  }

  void finish(const Status& status) {
    const auto keep = this->shared_from_this();
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    sink_.reset();
    this->Finish(door_.conclude(arrival_, status));
  }

  void note_reading() {
    const std::lock_guard lock(mutex_);
    reading_ = true;
    read_began_ = door_.clock().mono();
  }

  void note_read(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    reading_ = false;
    pace_.waited(since_read_began(door_.clock().mono()));
    pace_.received(bytes);
  }

  bool was_too_slow() {
    const std::lock_guard lock(mutex_);
    return too_slow_;
  }

  std::chrono::milliseconds since_read_began(MonoTime now) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - read_began_);
  }

  Door& door_;
  grpc::CallbackServerContext* const context_;
  Reply* const reply_;
  Door::Arrival arrival_;
  std::string stream_key_;
  std::unique_ptr<Sink> sink_;  ///< used by one job at a time
  Chunk chunk_;
  std::shared_ptr<UploadStream> self_;

  std::mutex mutex_;
  UploadPace pace_;
  MonoTime read_began_{};
  bool reading_ = false, finished_ = false, too_slow_ = false;
};

}  // namespace gridtorrent::rpc
