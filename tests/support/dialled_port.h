#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "common/unique_fd.h"

namespace gridtorrent::testing_support {

/// A port of this host that answers, refuses, or keeps silent.
class DialledPort {
 public:
  static DialledPort open() { return DialledPort(16); }
  static DialledPort closed() { return DialledPort(-1); }
  /// Its queue of connections is full, so that the kernel drops what else comes.
  static DialledPort silent() {
    DialledPort port(0);
    for (int i = 0; i < 4; ++i) {
      port.fill_.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      static_cast<void>(
          ::connect(port.fill_.back().get(), reinterpret_cast<const sockaddr*>(&port.address_), sizeof port.address_));
    }
    return port;
  }
  std::uint16_t number() const { return ntohs(address_.sin_port); }

 private:
  explicit DialledPort(int backlog) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address_;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address_), size), 0);
    if (backlog >= 0) {
      EXPECT_EQ(::listen(socket_.get(), backlog), 0);
    }
    EXPECT_EQ(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address_), &size), 0);
  }
  UniqueFd socket_;
  sockaddr_in address_{};
  std::vector<UniqueFd> fill_;
};

}  // namespace gridtorrent::testing_support
