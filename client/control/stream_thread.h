#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/clock.h"

namespace gridtorrent::client::control {

/// The one thread that makes the messages of a StreamSet. It begins with the first ring and sleeps while there is
/// nothing to do. Thread-safe.
class StreamThread {
 public:
  /// Called on the thread after each ring, and at the time that it returned; nullopt: not without a ring.
  using Serve = std::function<std::optional<MonoTime>()>;

  /// `name` of the thread, at most 15 bytes.
  StreamThread(std::string name, Serve serve) : name_(std::move(name)), serve_(std::move(serve)) {}
  ~StreamThread() { stop(); }

  /// From any thread; takes no lock but its own.
  void ring();
  /// Waits for the end of a call of `serve`; it is called no more.
  void stop();

 private:
  void run();

  const std::string name_;
  const Serve serve_;
  std::mutex mutex_;  ///< guards the rest; never held during `serve`
  std::condition_variable changed_;
  bool rung_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace gridtorrent::client::control
