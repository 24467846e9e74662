#include "client/api/call/call_state.h"

namespace gridtorrent::client::api {

void CallState::attach(grpc::ClientContext& context) {
  const std::lock_guard lock(mutex_);
  context_ = &context;
  // gRPC keeps this in mind for a call that does not exist yet.
  if (aborted_) context.TryCancel();
}

void CallState::detach(const grpc::ClientContext& context) {
  const std::lock_guard lock(mutex_);
  if (context_ == &context) context_ = nullptr;
}

void CallState::abort_locked() {
  aborted_ = true;
  if (context_ != nullptr) context_->TryCancel();
}

void CallState::abort() {
  const std::lock_guard lock(mutex_);
  abort_locked();
}

bool CallState::aborted() const {
  const std::lock_guard lock(mutex_);
  return aborted_;
}

void CallState::silence() {
  std::unique_lock lock(mutex_);
  silent_ = true;
  abort_locked();
  returned_.wait(lock, [&] { return runs_on_ == std::thread::id() || runs_on_ == std::this_thread::get_id(); });
}

void CallState::deliver(const std::function<void()>& callback) {
  {
    const std::lock_guard lock(mutex_);
    if (silent_) return;
    runs_on_ = std::this_thread::get_id();
  }
  callback();
  const std::lock_guard lock(mutex_);
  runs_on_ = {};
  returned_.notify_all();
}

}  // namespace gridtorrent::client::api
