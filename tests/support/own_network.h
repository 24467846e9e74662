#pragma once

#include <arpa/inet.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <thread>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::test {

/// A network namespace of one thread, and of those that it starts, with a loopback interface that gets addresses at
/// will. It needs root.
class OwnNetwork {
 public:
  /// In a thread of its own, since a thread never comes back from there.
  template <class Body>
  static void run(const Body& body) {
    std::thread(body).join();
  }

  OwnNetwork() {
    if (::unshare(CLONE_NEWNET) != 0) {
      fail("a network namespace of its own needs root");
      return;
    }
    ifreq up{};
    std::string("lo").copy(up.ifr_name, sizeof up.ifr_name);
    up.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
    const UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::ioctl(control.get(), SIOCSIFFLAGS, &up) != 0) fail("cannot start the loopback interface");
  }
  /// A further address of the loopback interface.
  void add(const char* ipv6) {
    in6_ifreq wanted{};
    ::inet_pton(AF_INET6, ipv6, &wanted.ifr6_addr);
    wanted.ifr6_prefixlen = 128;
    wanted.ifr6_ifindex = static_cast<int>(::if_nametoindex("lo"));
    const UniqueFd control(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::ioctl(control.get(), SIOCSIFADDR, &wanted) != 0) fail("this host has no IPv6");
  }
  /// Empty: all went well.
  const std::string& trouble() const { return trouble_; }

 private:
  void fail(const std::string& what) {
    if (trouble_.empty()) trouble_ = what + ": " + errno_text(errno);
  }
  std::string trouble_;
};

}  // namespace gridtorrent::test
