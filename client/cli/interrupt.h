#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "common/unique_fd.h"

namespace gridtorrent::client::cli {

/// Makes SIGINT and SIGTERM end the process at once with the exit code for "cancelled". Called once by main; an
/// Interrupt below takes over while it lives.
void install_default_interrupt();

/// While it lives, the first SIGINT or SIGTERM asks what runs to stop, a second one ends the process; a time limit asks
/// likewise. At most one at a time. Owns a thread ("cli-interrupt") that waits for either; thread-safe.
class Interrupt {
 public:
  explicit Interrupt(std::optional<std::chrono::milliseconds> time_limit = std::nullopt);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  bool stopped() const { return stop_.stop_requested(); }
  bool timed_out() const;
  /// Waits, but no longer than until it is stopped; true where it was.
  bool wait_for(std::chrono::milliseconds duration);

 private:
  void watch(std::optional<std::chrono::milliseconds> time_limit);

  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool timed_out_ = false;
  UniqueFd read_end_, write_end_;
  std::jthread thread_;
};

}  // namespace gridtorrent::client::cli
