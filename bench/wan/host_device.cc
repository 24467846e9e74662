#include "bench/wan/host_device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "common/text.h"

namespace gridtorrent::wan {
namespace {

constexpr char kDevice[] = "wan0";
/// What may wait for us in the kernel. Never the bottleneck: the queue that counts is the emulator's.
constexpr int kUnreadPackets = 20'000;
constexpr std::size_t kLargestPacket = 65'536 + 256;

Error failed(const std::string& what) {
  const std::string why = errno_text(errno);
  return {errno == EPERM || errno == EACCES ? Code::kDenied : Code::kInternal, what + ": " + why};
}

ifreq request(const std::string& name) {
  ifreq r{};
  std::snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name.c_str());
  return r;
}

Status bring_up(int socket, const std::string& device) {
  ifreq r = request(device);
  if (::ioctl(socket, SIOCGIFFLAGS, &r) != 0) return failed(device);
  r.ifr_flags = static_cast<short>(r.ifr_flags | IFF_UP | IFF_RUNNING);
  return ::ioctl(socket, SIOCSIFFLAGS, &r) == 0 ? Status() : failed("cannot bring up " + device);
}

Status set_address(int socket, const std::string& label, unsigned long what, std::uint32_t ip) {
  ifreq r = request(label);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ip);
  std::memcpy(&r.ifr_addr, &address, sizeof(address));
  return ::ioctl(socket, what, &r) == 0 ? Status() : failed("cannot give " + label + " its address");
}

Status configure(const HostSpec& spec, std::uint32_t mtu) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed("socket");
  ifreq r = request(kDevice);
  r.ifr_qlen = kUnreadPackets;
  if (::ioctl(socket.get(), SIOCSIFTXQLEN, &r) != 0) return failed("cannot set the length of wan0's queue");
  r = request(kDevice);
  r.ifr_mtu = static_cast<int>(mtu);
  if (::ioctl(socket.get(), SIOCSIFMTU, &r) != 0) return failed("cannot set wan0's MTU");
  GT_TRY(bring_up(socket.get(), "lo"));
  for (std::size_t i = 0; i < spec.addresses.size(); ++i) {
    const std::string label = i == 0 ? kDevice : std::string(kDevice) + ":" + std::to_string(i);
    GT_TRY(set_address(socket.get(), label, SIOCSIFADDR, spec.addresses[i].ip));
    GT_TRY(set_address(socket.get(), label, SIOCSIFNETMASK, 0xFFFE0000U));
  }
  return bring_up(socket.get(), kDevice);
}

Result<Fd> open_tun() {
  Fd tun(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tun.get() < 0) return failed("cannot open /dev/net/tun");
  ifreq r = request(kDevice);
  r.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tun.get(), TUNSETIFF, &r) != 0) return failed("cannot make the TUN device");
  // The kernel leaves cutting and checksums to us: one read moves up to 64 KiB.
  if (::ioctl(tun.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    return failed("the TUN device takes no offloads");
  return tun;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

Result<HostDevice> HostDevice::make(const HostSpec& spec, std::uint32_t mtu) {
  const Fd outside(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (outside.get() < 0) return failed("/proc/self/ns/net");
  if (::unshare(CLONE_NEWNET) != 0) return failed("cannot make a network namespace (this needs root)");
  HostDevice host;
  const auto inside = [&]() -> Status {
    host.namespace_ = Fd(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    GT_ASSIGN(host.tun_, open_tun());
    GT_TRY(configure(spec, mtu));
    host.statistics_ = Fd(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC));
    return {};
  }();
  if (::setns(outside.get(), CLONE_NEWNET) != 0) return failed("cannot leave the namespace of " + spec.name);
  if (!inside) return inside.error().with_context("host " + spec.name);
  host.buffer_.resize(kLargestPacket);
  return host;
}

std::string HostDevice::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(namespace_.get());
}

std::span<const std::uint8_t> HostDevice::read() {
  const ssize_t got = ::read(tun_.get(), buffer_.data(), buffer_.size());
  return got <= 0 ? std::span<const std::uint8_t>() : std::span(buffer_).first(static_cast<std::size_t>(got));
}

bool HostDevice::write(const SuperPacket::Merged& packet) {
  const iovec parts[2] = {{const_cast<std::uint8_t*>(packet.head.data()), packet.head_bytes},
                          {const_cast<std::uint8_t*>(packet.payload.data()), packet.payload.size()}};
  return ::writev(tun_.get(), parts, 2) == static_cast<ssize_t>(packet.head_bytes + packet.payload.size());
}

std::uint64_t HostDevice::unread_drops() const {
  char text[4096];
  const ssize_t got = ::pread(statistics_.get(), text, sizeof(text) - 1, 0);
  text[got < 0 ? 0 : got] = '\0';
  const char* line = std::strstr(text, "wan0:");
  // bytes packets errs drop fifo frame compressed multicast, received; then the same of what was sent.
  unsigned long long v[12] = {};
  if (line == nullptr ||
      std::sscanf(line + 5, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
                  &v[4], &v[5], &v[6], &v[7], &v[8], &v[9], &v[10], &v[11]) != 12) {
    return 0;
  }
  return v[11];
}

}  // namespace gridtorrent::wan
