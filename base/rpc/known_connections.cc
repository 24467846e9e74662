#include "base/rpc/known_connections.h"

#include <utility>

namespace gridtorrent::rpc {

std::shared_ptr<void> KnownConnections::add(std::uint64_t connection, std::function<void()> known) {
  const std::lock_guard lock(mutex_);
  strangers_[connection] = std::move(known);
  return {this, [this, connection](void*) {
            const std::lock_guard last(mutex_);
            strangers_.erase(connection);
          }};
}

void KnownConnections::tell(std::uint64_t connection) {
  std::function<void()> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = strangers_.find(connection);
    if (found == strangers_.end()) return;
    known = std::move(found->second);
    strangers_.erase(found);
  }
  known();
}

}  // namespace gridtorrent::rpc
