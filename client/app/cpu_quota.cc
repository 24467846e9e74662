#include "client/app/cpu_quota.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ranges>

namespace gridtorrent::client::app {
namespace {

constexpr std::chrono::seconds kOver{5};          // as long as the load of threads (thread_load.cc)
constexpr std::chrono::milliseconds kEvery{900};  // the transfers' thread asks about once a second

std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

bool lists_cpu(std::string_view controllers) {
  return std::ranges::any_of(std::views::split(controllers, ','),
                             [](auto name) { return std::string_view(name.begin(), name.end()) == "cpu"; });
}

QuotaPeriods periods_in(const std::string& folder) {
  QuotaPeriods found;
  std::ifstream file(folder + "/cpu.stat");
  std::string key;
  std::uint64_t value = 0;
  while (file >> key >> value) {
    if (key == "nr_periods") found.periods = value;
    if (key == "nr_throttled") found.stopped = value;
  }
  return found;
}

}  // namespace

std::vector<std::string> quota_folders(std::string_view groups, const std::string& root) {
  std::vector<std::string> folders;
  for (const auto part : std::views::split(groups, '\n')) {
    // "0::/user.slice/x" of version 2; "4:cpu,cpuacct:/x" of version 1.
    const std::string_view line(part.begin(), part.end());
    const std::size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !lists_cpu(controllers)) continue;
    const std::string mount = controllers.empty() ? root : root + "/" + std::string(controllers);
    for (std::string_view group = line.substr(second + 1); group.size() > 1;
         group = group.substr(0, group.find_last_of('/'))) {
      folders.push_back(mount + std::string(group));
    }
  }
  return folders;
}

Quotas quotas_of_this_process() {
  std::ifstream file("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(file), {}};
  Quotas quotas;
  for (const std::string& folder : quota_folders(groups)) {
    const QuotaPeriods periods = periods_in(folder);
    if (periods.periods > 0) quotas[folder] = periods;
  }
  return quotas;
}

double stopped_share(const Quotas& before, const Quotas& after) {
  double most = 0;
  for (const auto& [folder, now] : after) {
    const auto then = before.find(folder);
    if (then == before.end()) continue;
    const auto periods = static_cast<double>(grown(then->second.periods, now.periods));
    if (periods <= 0) continue;
    most = std::max(most, std::min(static_cast<double>(grown(then->second.stopped, now.stopped)) / periods, 1.0));
  }
  return most;
}

double CpuQuota::stopped(MonoTime now) {
  if (!looks_.empty() && now - looks_.back().at < kEvery) return stopped_;
  looks_.push_back({now, quotas_of_this_process()});
  while (looks_.size() > 2 && now - looks_.front().at > kOver) looks_.pop_front();
  stopped_ = stopped_share(looks_.front().quotas, looks_.back().quotas);
  return stopped_;
}

}  // namespace gridtorrent::client::app
