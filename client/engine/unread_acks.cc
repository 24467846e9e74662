#include "client/engine/unread_acks.h"

#include <algorithm>
#include <chrono>

#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// A lane without a block for so long (under 4 Mbit/s) gains nothing by it.
constexpr auto kSlow = std::chrono::milliseconds(30);
/// 5 ms at 1.6 Gbit/s: a lane may get its whole window in one burst.
constexpr int kUnreadBytes = 1024 * 1024;

}  // namespace

void UnreadAcks::received(int fd, MonoTime now) {
  if (fd < 0) return;
  if (Socket* known = find(fd)) {
    known->received = now;
  } else {
    sockets_.push_back({fd, now});
    set_low_water_mark(fd, kUnreadBytes);
  }
}

void UnreadAcks::closes(int fd) {
  std::erase_if(sockets_, [fd](const Socket& socket) { return socket.fd == fd; });
}

void UnreadAcks::look(MonoTime now, const std::function<void()>& handle) {
  const std::vector<Socket> before = sockets_;
  for (const Socket& socket : before) {
    if (find(socket.fd) == nullptr) continue;
    set_low_water_mark(socket.fd, 1);
    handle();
    const Socket* still = find(socket.fd);
    if (still == nullptr) continue;
    if (now - still->received <= kSlow) {
      set_low_water_mark(socket.fd, kUnreadBytes);
    } else {
      closes(socket.fd);
    }
  }
}

void UnreadAcks::end() {
  for (const Socket& socket : sockets_) set_low_water_mark(socket.fd, 1);
  sockets_.clear();
}

UnreadAcks::Socket* UnreadAcks::find(int fd) {
  const auto found = std::ranges::find(sockets_, fd, &Socket::fd);
  return found == sockets_.end() ? nullptr : &*found;
}

}  // namespace gridtorrent::client::engine
