#pragma once

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <vector>

#include "common/unique_fd.h"

namespace gridtorrent::client::engine {

inline constexpr int kSegment = 1448;

inline void set_option(int fd, int level, int name, int value) {
  ASSERT_EQ(::setsockopt(fd, level, name, &value, sizeof value), 0);
}

/// A connection over loopback with segments as on a wide area, used for a while, so that its first segments, which are
/// acknowledged one by one, are behind it.
class LoopbackConnection {
 public:
  LoopbackConnection() : sender_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    for (const int fd : {listener.get(), sender_.get()}) set_option(fd, IPPROTO_TCP, TCP_MAXSEG, kSegment);
    // The kernel's own sizing would open the window on and on.
    set_option(listener.get(), SOL_SOCKET, SO_RCVBUF, 64 * 1024);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    EXPECT_EQ(::connect(sender_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    receiver_.reset(::accept(listener.get(), nullptr, nullptr));
    for (const int fd : {receiver(), sender_.get()}) set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    for (int i = 0; i < 100; ++i) {
      send(14);
      read(14 * kSegment);
      EXPECT_EQ(::send(receiver(), "x", 1, 0), 1);
      char byte = 0;
      EXPECT_EQ(::recv(sender_.get(), &byte, 1, MSG_WAITALL), 1);
    }
  }
  int receiver() const { return receiver_.get(); }
  void send(int segments) const {
    const std::vector<char> data(static_cast<std::size_t>(segments * kSegment));
    EXPECT_EQ(::send(sender_.get(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
  }
  void read(int bytes) const {
    std::vector<char> data(static_cast<std::size_t>(bytes));
    EXPECT_EQ(::recv(receiver(), data.data(), data.size(), MSG_WAITALL), bytes);
  }
  int unacknowledged() const {
    int bytes = 0;
    EXPECT_EQ(::ioctl(sender_.get(), SIOCOUTQ, &bytes), 0);
    return bytes;
  }
  bool heard() const {
    pollfd entry{receiver(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  /// So many segments wait to be read. The kernel's work on loopback may have to wait for its turn.
  bool arrived(int segments) const {
    int bytes = 0;
    for (int i = 0; i < 1000 && bytes < segments * kSegment; ++i) {
      if (i > 0) ::poll(nullptr, 0, 10);
      if (::ioctl(receiver(), FIONREAD, &bytes) != 0) return false;
    }
    return bytes >= segments * kSegment;
  }
  int low_water_mark() const {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    EXPECT_EQ(::getsockopt(receiver(), SOL_SOCKET, SO_RCVLOWAT, &bytes, &size), 0);
    return bytes;
  }

 private:
  UniqueFd sender_, receiver_;
};

}  // namespace gridtorrent::client::engine
