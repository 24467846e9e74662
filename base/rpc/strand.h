#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/rpc/executor.h"

namespace gridtorrent::rpc {

/// Runs one function on the executor, never twice at once, and once more if it was asked for while running. Thread-safe
/// (private mutex).
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  explicit Strand(Executor& executor) : executor_(executor) {}
  virtual ~Strand() = default;

  /// Does not block. False: the executor has stopped.
  bool schedule() {
    {
      const std::lock_guard lock(mutex_);
      again_ = true;
      if (running_) return true;
      running_ = true;
    }
    return executor_.post_always([self = shared_from_this()] { self->loop(); });
  }

 protected:
  virtual void run() = 0;

 private:
  void loop() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!again_) {
          running_ = false;
          return;
        }
        again_ = false;
      }
      run();
    }
  }

  Executor& executor_;
  std::mutex mutex_;
  bool running_ = false, again_ = false;
};

}  // namespace gridtorrent::rpc
