#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include "common/result.h"

namespace gridtorrent::testing {

/// The answer of an asynchronous call, for a thread that may wait; counts how often it came. Outlives the call.
template <class T>
class AwaitedAnswer {
 public:
  /// The callback to give to the call.
  std::function<void(Result<T>)> taker() {
    return [this](Result<T> answer) {
      if (++count_ == 1) promise_.set_value(std::move(answer));
    };
  }
  /// The first answer, once; kInternal where none comes within 20 s.
  Result<T> wait() {
    if (future_.wait_for(std::chrono::seconds(20)) != std::future_status::ready)
      return Error{Code::kInternal, "no answer came"};
    return future_.get();
  }
  int count() const { return count_; }

 private:
  std::promise<Result<T>> promise_;
  std::future<Result<T>> future_ = promise_.get_future();
  std::atomic<int> count_ = 0;
};

}  // namespace gridtorrent::testing
