#include "base/rpc/refusals.h"

#include <utility>

namespace gridtorrent::rpc {

std::optional<std::uint64_t> RefusalLog::add(std::string_view reason, MonoTime now) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[std::string(reason)];
  ++entry.unlogged;
  if (entry.logged && now - *entry.logged < std::chrono::minutes(1)) return std::nullopt;
  entry.logged = now;
  return std::exchange(entry.unlogged, 0);
}

}  // namespace gridtorrent::rpc
