#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::rpc {

/// Something that wants to look at the clock now and then: open streams, for heartbeats and deadlines.
class Ticked {
 public:
  virtual ~Ticked() = default;
  /// On the ticker's thread; must not block.
  virtual void tick(MonoTime now) = 0;
};

/// One thread ("rpc-ticker") that calls everybody each `period`. Holds nobody alive. Thread-safe.
class Ticker {
 public:
  Ticker(const Clock& clock, std::chrono::milliseconds period);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void add(std::weak_ptr<Ticked> ticked);
  /// One round now, on the caller's thread; for tests with a manual clock.
  void tick_now();
  /// Joins; no tick runs afterwards but those of tick_now().
  void stop();

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<std::weak_ptr<Ticked>> all_;
  std::jthread thread_;
};

}  // namespace gridtorrent::rpc
