#pragma once

#include <atomic>
#include <chrono>
#include <mutex>

#include "client/core/file_work.h"

namespace gridtorrent::client::files {

/// Adds up what worker threads have done and tells the caller some ten times a second. Thread-safe; the caller's
/// function is never entered twice at once.
class ProgressMeter {
 public:
  /// `progress` may be empty and must outlive the meter.
  ProgressMeter(const ProgressFn& progress, std::uint64_t total_bytes) : progress_(progress), total_(total_bytes) {}

  void add(std::uint64_t bytes) {
    done_ += bytes;
    if (!progress_) return;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    const auto now = std::chrono::steady_clock::now();
    if (told_ && now - last_ < std::chrono::milliseconds(100)) return;
    told_ = true;
    last_ = now;
    progress_(done_, total_);
  }
  /// The last word, whatever the time.
  void finish() {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    progress_(done_, total_);
  }

 private:
  const ProgressFn& progress_;
  const std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;
  std::chrono::steady_clock::time_point last_;
  bool told_ = false;
};

}  // namespace gridtorrent::client::files
