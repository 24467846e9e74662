#include "client/engine/unread_acks.h"

#include <algorithm>
#include <chrono>

#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// Blocks of a lane that gains by it follow each other so closely (13 Mbit/s); others are spared the work.
constexpr auto kFast = std::chrono::milliseconds(10);
/// A lane's window may come in one burst each round trip.
constexpr auto kSlow = std::chrono::milliseconds(100);
/// 5 ms at 1.6 Gbit/s: a lane may get its whole window in one burst.
constexpr int kUnreadBytes = 1024 * 1024;

}  // namespace

void UnreadAcks::received(int fd, MonoTime now) {
  if (fd < 0) return;
  Socket* known = find(fd);
  if (known == nullptr) {
    sockets_.push_back({fd, now});
    return;
  }
  if (!known->raised && now - known->received <= kFast) {
    known->raised = true;
    set_low_water_mark(fd, kUnreadBytes);
  }
  known->received = now;
}

void UnreadAcks::closes(int fd) {
  std::erase_if(sockets_, [fd](const Socket& socket) { return socket.fd == fd; });
}

void UnreadAcks::look(MonoTime now, const std::function<void()>& handle) {
  const std::vector<Socket> before = sockets_;
  for (const Socket& socket : before) {
    if (!socket.raised || find(socket.fd) == nullptr) continue;
    set_low_water_mark(socket.fd, 1);
    handle();
    if (Socket* still = find(socket.fd)) {
      still->raised = now - still->received <= kSlow;
      if (still->raised) set_low_water_mark(socket.fd, kUnreadBytes);
    }
  }
  std::erase_if(sockets_, [now](const Socket& socket) { return !socket.raised && now - socket.received > kSlow; });
}

void UnreadAcks::end() {
  for (const Socket& socket : sockets_) {
    if (socket.raised) set_low_water_mark(socket.fd, 1);
  }
  sockets_.clear();
}

UnreadAcks::Socket* UnreadAcks::find(int fd) {
  const auto found = std::ranges::find(sockets_, fd, &Socket::fd);
  return found == sockets_.end() ? nullptr : &*found;
}

}  // namespace gridtorrent::client::engine
