#pragma once

#include <functional>
#include <memory>

#include "common/result.h"

namespace gridtorrent::client::api {

class CallState;

/// Takes the answer of a call: called once, unless the call is cancelled or the API object destroyed first.
template <class T>
using Answer = std::function<void(Result<T>)>;
/// Takes the end of a stream, after its last event; or of a call that answers nothing.
using Ended = Answer<void>;

/// A call under way, held by who made it. Movable. Destroying it, assigning to it and cancel() end the call, on the
/// server's side too, and then its callbacks are not called any more: there is no answer with kCancelled. cancel()
/// waits for a callback of this call that runs on another thread, so the caller must hold no lock that the callback
/// takes; in the callback itself it waits for nothing. After the answer, or after the API object has gone, it does
/// nothing.
///
/// Callbacks, and what they have captured, are destroyed on the thread that calls them, soon after the call has ended.
/// Used by one thread at a time; this can be another than that of the callbacks.
class [[nodiscard]] Call {
 public:
  Call() = default;  ///< no call
  explicit Call(std::shared_ptr<CallState> state) : state_(std::move(state)) {}
  Call(Call&& other) noexcept = default;
  Call& operator=(Call&& other) noexcept;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { cancel(); }

  void cancel();

 private:
  friend class CallLoop;
  std::shared_ptr<CallState> state_;
};

}  // namespace gridtorrent::client::api
