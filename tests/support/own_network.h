#pragma once

#include <arpa/inet.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
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
  /// A further address of the loopback interface; it, and "::1", can be used afterwards.
  void add(const char* ipv6) {
    in6_ifreq wanted{};
    ::inet_pton(AF_INET6, ipv6, &wanted.ifr6_addr);
    wanted.ifr6_prefixlen = 128;
    wanted.ifr6_ifindex = static_cast<int>(::if_nametoindex("lo"));
    const UniqueFd control(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::ioctl(control.get(), SIOCSIFADDR, &wanted) != 0) return fail("this host has no IPv6");
    for (const char* address : {"::1", ipv6}) {
      if (!is_usable_soon(address)) fail(std::string("nothing can be bound to ") + address);
    }
  }
  /// Empty: all went well.
  const std::string& trouble() const { return trouble_; }

 private:
  /// The kernel takes an IPv6 address into use a moment after it was added, also on loopback.
  static bool is_usable_soon(const char* ipv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    ::inet_pton(AF_INET6, ipv6, &address.sin6_addr);
    for (int tries = 0; tries < 2000; ++tries) {
      const UniqueFd probe(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      if (::bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
      if (errno != EADDRNOTAVAIL) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  void fail(const std::string& what) {
    if (trouble_.empty()) trouble_ = what + ": " + errno_text(errno);
  }
  std::string trouble_;
};

}  // namespace gridtorrent::test
