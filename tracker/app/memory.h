#pragma once

#include <cstdint>

namespace gridtorrent::tracker::app {

/// Before any thread starts, and gives freed memory at a heap's end back: glibc makes up to eight arenas a core, and
/// what one of them has freed serves no other. Streams begin and end on many threads, so that each arena grows to its
/// own peak.
void limit_arenas();

/// Gives freed memory back to the kernel, of all arenas. Takes each arena's lock for a while: 10 to 50 ms after 10,000
/// streams.
void give_memory_back();

/// Decides when that is worth it: once many streams have ended, and no longer while more are ending. Pure; not
/// thread-safe.
class MemoryKeeper {
 public:
  /// Streams that ended since memory was given back, from which on it is again: some 10 MB.
  static constexpr std::uint64_t kWorthwhile = 128;
  /// Rounds of the caller after which it is done though streams go on ending.
  static constexpr int kMostRounds = 12;

  /// `ended`: how many streams have ended since the start. Call each few seconds. True: give back now.
  bool due(std::uint64_t ended);

 private:
  std::uint64_t given_back_at_ = 0, last_ = 0;
  int rounds_ = 0;
};

}  // namespace gridtorrent::tracker::app
