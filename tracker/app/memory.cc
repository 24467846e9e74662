#include "tracker/app/memory.h"

#include <malloc.h>

#include <utility>

namespace gridtorrent::tracker::app {

namespace {

// bench/storm, 1,000 streams, one run each: after the third storm of a process its memory was 0.91 of that after the
// first with this limit, 1.15 without. What it does to calls a second on many cores was not measured.
constexpr int kArenas = 2;
// Fixed ones: glibc would raise both with each large block that is freed, up to 64 MiB. A flood of large messages left
// 69 MiB behind with glibc's own settings. With 128 KiB, its first values, a call of 200 kB took 0.35 ms of CPU, most
// of it for pages taken and given back, and 0.26 ms with these; the flood left 45 and 52 MiB (bench/hold.py).
constexpr int kTrimThresholdBytes = 1 << 20;
constexpr int kMapThresholdBytes = 1 << 20;

}  // namespace

void limit_arenas() {
  ::mallopt(M_ARENA_MAX, kArenas);
  ::mallopt(M_TRIM_THRESHOLD, kTrimThresholdBytes);
  ::mallopt(M_MMAP_THRESHOLD, kMapThresholdBytes);
}

void give_memory_back() {
  ::malloc_trim(0);
}

bool MemoryKeeper::due(std::uint64_t ended) {
  const std::uint64_t in_this_round = ended - std::exchange(last_, ended);
  const std::uint64_t in_all = ended - given_back_at_;
  if (in_all < kWorthwhile) return false;
  const bool goes_on = in_this_round * 8 > in_all;
  if (goes_on && ++rounds_ < kMostRounds) return false;
  rounds_ = 0;
  given_back_at_ = ended;
  return true;
}

}  // namespace gridtorrent::tracker::app
