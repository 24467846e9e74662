#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::client::app {

/// Of one cgroup over its life, as cpu.stat counts it: periods in which its processes wanted to run, and those in which
/// they were stopped, since the group's quota was used up.
struct QuotaPeriods {
  std::uint64_t periods = 0, stopped = 0;
  friend bool operator==(const QuotaPeriods&, const QuotaPeriods&) = default;
};
using Quotas = std::map<std::string, QuotaPeriods>;  ///< by the folder of the group

/// The folders that have the cpu.stat of a process's group and of those above it. `groups`: its /proc/PID/cgroup;
/// `root`: where cgroups are mounted. Version 2 and the controller `cpu` of version 1 (cgroups(7)).
std::vector<std::string> quota_folders(std::string_view groups, const std::string& root = "/sys/fs/cgroup");
/// Of this process now; empty where the kernel does not tell, and without groups that have a quota.
Quotas quotas_of_this_process();
/// The share of periods in which the group that was stopped most often was stopped, 0 to 1. Groups that are in both.
double stopped_share(const Quotas& before, const Quotas& after);

/// How often this process was stopped for its quota over the last five seconds, looked at once a second at most: a
/// container, a systemd unit or a batch job holds it to a part of the cores. Not thread-safe.
class CpuQuota {
 public:
  double stopped(MonoTime now);

 private:
  struct Look {
    MonoTime at{};
    Quotas quotas;
  };
  std::deque<Look> looks_;
  double stopped_ = 0;
};

}  // namespace gridtorrent::client::app
