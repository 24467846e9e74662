#include "client/api/call/call_loop.h"

#include <pthread.h>

#include <vector>

namespace gridtorrent::client::api {

CallLoop::~CallLoop() {
  if (!closing_) queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  GT_CHECK(!queue_.Next(&tag, &ok));
}

void CallLoop::add(std::unique_ptr<Operation> operation) {
  const std::lock_guard lock(mutex_);
  if (closing_) return;
  running_.emplace(operation.get(), operation->state());
  ++left_;
  operation.release()->start();
}

bool CallLoop::step() {
  void* tag = nullptr;
  bool ok = false;
  if (!queue_.Next(&tag, &ok)) return false;
  auto* const operation = static_cast<Operation*>(tag);
  {
    // What was asked for can be there before start() has returned on the thread that began the call.
    const std::lock_guard lock(mutex_);
  }
  if (operation->proceed(ok)) return true;
  {
    const std::lock_guard lock(mutex_);
    running_.erase(operation);
  }
  // What the callbacks have captured goes before close() may return.
  delete operation;
  const std::lock_guard lock(mutex_);
  --left_;
  empty_.notify_all();
  return true;
}

void CallLoop::run() {
  const auto is_empty = [&] {
    const std::lock_guard lock(mutex_);
    return left_ == 0;
  };
  while (!is_empty()) step();
}

void CallLoop::serve() {
  while (step()) {
  }
}

void CallLoop::close() {
  std::vector<std::shared_ptr<CallState>> states;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const auto& [operation, state] : running_) states.push_back(state);
  }
  for (const auto& state : states) state->silence();
  std::unique_lock lock(mutex_);
  // Nothing may be asked of a queue that is shut down, and an RPC under way asks for its end.
  empty_.wait(lock, [&] { return left_ == 0; });
  queue_.Shutdown();
}

CallThread::CallThread() : thread_([this] { loop_.serve(); }) {
  pthread_setname_np(thread_.native_handle(), "api-calls");
}

CallThread::~CallThread() {
  GT_CHECK(std::this_thread::get_id() != thread_.get_id());
  loop_.close();
  thread_.join();
}

}  // namespace gridtorrent::client::api
