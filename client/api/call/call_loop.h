#pragma once

#include <grpcpp/grpcpp.h>

#include <cassert>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "client/api/call/call.h"
#include "client/api/call/call_state.h"
#include "client/api/call/operation.h"
#include "client/api/call/waiting.h"
#include "common/check.h"

namespace gridtorrent::client::api {

/// A completion queue with the RPCs that wait at it. Each is implemented once, for both forms of a call: the
/// asynchronous form runs on the loop of a CallThread, the blocking form on a loop of its own, which the caller's
/// thread runs until the call has ended. Calls may begin on any thread; callbacks come on the thread that runs the
/// loop.
class CallLoop {
 public:
  CallLoop() = default;
  ~CallLoop();
  CallLoop(const CallLoop&) = delete;
  CallLoop& operator=(const CallLoop&) = delete;

  /// One RPC of a call that can have more; `done` runs also where the handle has been cancelled (as kCancelled).
  template <class Stub, class Request, class Reply>
  void begin(const std::shared_ptr<CallState>& state, CallTerms terms, Stub& stub,
             UnaryMethod<Stub, Request, Reply> method, const Request& request,
             std::type_identity_t<Answer<Reply>> done) {
    add(std::make_unique<UnaryOperation<Reply>>(state, std::move(terms), stub, method, request, queue_,
                                                std::move(done)));
  }
  /// The same for a stream: `on_message` says false to end it, which is success.
  template <class Stub, class Request, class Reply>
  void begin(const std::shared_ptr<CallState>& state, CallTerms terms, Stub& stub,
             StreamMethod<Stub, Request, Reply> method, const Request& request,
             std::type_identity_t<std::function<bool(Reply&)>> on_message, Ended done) {
    add(std::make_unique<StreamOperation<Reply>>(state, std::move(terms), stub, method, request, queue_,
                                                 std::move(on_message), std::move(done)));
  }

  /// A call of one RPC. `convert` makes the answer of the reply, or a Result of it.
  template <class T, class Stub, class Request, class Reply, class Convert>
  Call call(CallTerms terms, Stub& stub, UnaryMethod<Stub, Request, Reply> method, const Request& request,
            const Answer<T>& done, Convert convert) {
    auto state = std::make_shared<CallState>();
    begin(state, std::move(terms), stub, method, request,
          [done = delivered(state, done), convert = std::move(convert)](Result<Reply> reply) {
            if (!reply) return done(reply.error());
            done(convert(std::move(*reply)));
          });
    return Call(std::move(state));
  }
  template <class Stub, class Request, class Reply>
  Call call(CallTerms terms, Stub& stub, UnaryMethod<Stub, Request, Reply> method, const Request& request,
            const std::type_identity_t<Answer<Reply>>& done) {
    return call(std::move(terms), stub, method, request, done, [](Reply&& reply) { return std::move(reply); });
  }
  /// A call that is one stream. `on_event` says false to end it, which is success; `on_end` comes then too.
  template <class Stub, class Request, class Reply>
  Call watch(CallTerms terms, Stub& stub, StreamMethod<Stub, Request, Reply> method, const Request& request,
             std::type_identity_t<std::function<bool(const Reply&)>> on_event, const Ended& on_end) {
    auto state = std::make_shared<CallState>();
    const auto on_message = [state, on_event = std::move(on_event)](Reply& reply) {
      bool wanted = true;
      state->deliver([&] { wanted = on_event(reply); });
      return wanted;
    };
    begin(state, std::move(terms), stub, method, request, on_message, delivered(state, on_end));
    return Call(std::move(state));
  }

  /// A call that is `work`, which may block: it holds up the callbacks behind it.
  template <class T>
  Call run_here(std::type_identity_t<std::function<Result<T>()>> work, const Answer<T>& done) {
    auto state = std::make_shared<CallState>();
    add(std::make_unique<WorkOperation<T>>(state, queue_, std::move(work), delivered(state, done)));
    return Call(std::move(state));
  }

  /// `done` as the handle wants it: not called once that is cancelled.
  template <class T>
  static Answer<T> delivered(std::shared_ptr<CallState> state, Answer<T> done) {
    return [state = std::move(state), done = std::move(done)](Result<T> answer) {
      state->deliver([&] { done(std::move(answer)); });
    };
  }

  /// Begins a call and runs this loop, on this thread, until it has ended. A stop request ends it with kCancelled,
  /// unless the answer was there before.
  template <class T, class Begin>
  Result<T> wait(const Begin& begin, std::stop_token stop = {}) {
    assert(may_wait());
    std::optional<Result<T>> answer;
    const Call call = begin([&](Result<T> given) { answer.emplace(std::move(given)); });
    const std::stop_callback on_stop(std::move(stop), [&] { call.state_->abort(); });
    run();
    GT_CHECK(answer.has_value());
    return std::move(*answer);
  }

 private:
  friend class CallThread;
  void add(std::unique_ptr<Operation> operation);
  /// Until no RPC is left.
  void run();
  /// Until close().
  void serve();
  /// False once the queue is shut down and empty.
  bool step();
  /// Cancels everything, waits for callbacks that run, and lets nothing new begin. Another thread serves meanwhile.
  void close();

  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::condition_variable empty_;
  std::map<const Operation*, std::shared_ptr<CallState>> running_;
  std::size_t left_ = 0;  ///< RPCs that are not destroyed yet; each is owned by its tag in the queue
  bool closing_ = false;
};

/// A loop with a thread of its own, `api-calls`. Destroying it cancels every call, without their callbacks, and waits
/// for a callback that runs; so it must not be destroyed in one.
class CallThread {
 public:
  CallThread();
  ~CallThread();
  CallLoop& loop() { return loop_; }

 private:
  CallLoop loop_;
  std::thread thread_;
};

}  // namespace gridtorrent::client::api
