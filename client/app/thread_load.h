#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "common/clock.h"

namespace gridtorrent::client::app {

/// Of one thread over its life, as Linux counts it (/proc/PID/task/TID/schedstat); nanoseconds.
struct ThreadTimes {
  std::uint64_t ran = 0, waited = 0;  ///< on a core; for one, although it could have run
  friend bool operator==(const ThreadTimes&, const ThreadTimes&) = default;
};
using Threads = std::map<int, ThreadTimes>;  ///< by thread id

struct Busiest {
  int thread = 0;    ///< its id; 0: none
  double share = 0;  ///< of the time in which it ran or waited for a core, 0 to 1
  friend bool operator==(const Busiest&, const Busiest&) = default;
};

/// Of the threads that are in both. A thread near 1 never rests: it is what limits, whether the machine is slow, busy,
/// or the node held to a part of a core.
Busiest busiest_thread(const Threads& before, const Threads& after, std::chrono::nanoseconds between);

/// Of this process now, but for threads of low priority: these wait while others use the cores, and no data waits for
/// them. Empty where the kernel does not tell.
Threads threads_of_this_process();
/// As `top -H` shows it; empty where there is no such thread in this process.
std::string thread_name(int thread);

/// How busy this process was over the last five seconds, measured once a second at most. Not thread-safe.
class ThreadLoad {
 public:
  Busiest busiest(MonoTime now);

 private:
  struct Look {
    MonoTime at{};
    Threads threads;
  };
  std::deque<Look> looks_;
  Busiest busiest_;
};

}  // namespace gridtorrent::client::app
