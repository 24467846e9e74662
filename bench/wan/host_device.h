#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "bench/wan/packet.h"
#include "bench/wan/scenario.h"
#include "common/result.h"

namespace gridtorrent::wan {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd();
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

/// A host of the wide area: a network namespace without a name, which therefore goes when this process and those in it
/// have ended, however they end; and in it a TUN device "wan0" with the host's addresses, which leads to 198.18.0.0/15.
class HostDevice {
 public:
  /// Makes it and comes back to the namespace of before. Single-threaded programs only. Needs CAP_NET_ADMIN and
  /// CAP_SYS_ADMIN.
  static Result<HostDevice> make(const HostSpec& spec, std::uint32_t mtu);

  int fd() const { return tun_.get(); }
  /// For `nsenter --net=`.
  std::string path() const;
  /// The next packet that the host sent; empty: none waits.
  std::span<const std::uint8_t> read();
  /// False if the kernel refused it.
  bool write(const SuperPacket::Merged& packet);
  /// Packets that the host's kernel dropped since nobody read them in time: then a measurement says nothing.
  std::uint64_t unread_drops() const;

 private:
  Fd tun_, namespace_, statistics_;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace gridtorrent::wan
