#include "client/engine/node_load.h"

#include <algorithm>
#include <fstream>

namespace gridtorrent::client::engine {

double RecentShare::look(MonoTime now, std::chrono::nanoseconds so_far) {
  looks_.emplace_back(now, so_far);
  while (looks_.size() > 2 && now - looks_.front().first > kOver) looks_.pop_front();
  const auto& [since, before] = looks_.front();
  if (now <= since) return 0;
  using Seconds = std::chrono::duration<double>;
  return std::clamp(Seconds(so_far - before) / Seconds(now - since), 0.0, 1.0);
}

std::chrono::nanoseconds wanted_core() {
  std::int64_t ran = 0, waited = 0;
  std::ifstream("/proc/thread-self/schedstat") >> ran >> waited;
  return std::chrono::nanoseconds(ran + waited);
}

void NodeLoad::tick(MonoTime now) {
  const EngineLoad load{thread_.look(now, wanted_core()), held_.look(now, disk_->held.total(now)),
                        reads_.look(now, disk_->reads.total(now))};
  const std::lock_guard lock(mutex_);
  load_ = load;
}

EngineLoad NodeLoad::load() const {
  const std::lock_guard lock(mutex_);
  return load_;
}

}  // namespace gridtorrent::client::engine
