#include "client/engine/tcp_info.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace gridtorrent::client::engine {

namespace {

std::optional<tcp_info> read_tcp_info(int fd) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (fd < 0 || ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return info;
}

}  // namespace

std::optional<TcpLiveness> read_tcp_liveness(int fd) {
  const auto info = read_tcp_info(fd);
  if (!info) return std::nullopt;
  const std::chrono::milliseconds acknowledged(info->tcpi_last_ack_recv), received(info->tcpi_last_data_recv);
  return TcpLiveness{info->tcpi_unacked > 0, std::min(acknowledged, received),
                     std::chrono::milliseconds(info->tcpi_rtt / 1000)};
}

bool is_connecting(int fd) {
  constexpr int kSynSent = 2;  // TCP_SYN_SENT of netinet/tcp.h, which cannot be included beside linux/tcp.h
  const auto info = read_tcp_info(fd);
  return info && info->tcpi_state == kSynSent;
}

std::optional<TcpFigures> read_tcp_figures(int fd) {
  const auto read = read_tcp_info(fd);
  if (!read) return std::nullopt;
  const tcp_info& info = *read;
  std::array<char, 16> algorithm{};
  socklen_t length = algorithm.size() - 1;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm.data(), &length) != 0) return std::nullopt;
  // Until the first sample the kernel reports the largest number as the smallest round trip.
  const std::uint32_t min_rtt = info.tcpi_min_rtt == ~0U ? 0 : info.tcpi_min_rtt;
  TcpFigures figures{info.tcpi_rtt, min_rtt, info.tcpi_total_retrans, info.tcpi_snd_cwnd, algorithm.data()};
  figures.sent_segments = info.tcpi_data_segs_out;
  figures.sent_bytes = info.tcpi_bytes_sent;
  figures.resent_bytes = info.tcpi_bytes_retrans;
  figures.delivery_bytes_per_s = info.tcpi_delivery_rate;
  figures.busy_us = info.tcpi_busy_time;
  figures.window_limited_us = info.tcpi_rwnd_limited;
  figures.buffer_limited_us = info.tcpi_sndbuf_limited;
  return figures;
}

std::optional<LossFacts> read_loss_facts(int fd) {
  const auto info = read_tcp_info(fd);
  if (!info) return std::nullopt;
  constexpr int kRecovery = 3;  // TCP_CA_Recovery of the kernel's tcp_ca_state; TCP_CA_Loss comes after it
  return LossFacts{info->tcpi_snd_ssthresh, info->tcpi_total_retrans, info->tcpi_rtt, info->tcpi_ca_state >= kRecovery};
}

void set_no_delay(int fd, bool on) {
  const int value = on ? 1 : 0;
  if (fd >= 0) ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, sizeof(value));
}

std::size_t unsent_bytes(int fd) {
  int bytes = 0;
  return fd >= 0 && ::ioctl(fd, SIOCOUTQNSD, &bytes) == 0 ? static_cast<std::size_t>(std::max(bytes, 0)) : 0;
}

void set_pacing(int fd, std::uint64_t bytes_per_s) {
  // The highest value would switch the kernel's pacing off: the one below it is no limit either, and switches it on.
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0} - 1;
  const std::uint64_t rate = bytes_per_s == 0 ? kNoLimit : bytes_per_s;
  if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate));
}

void set_low_water_mark(int fd, int bytes) {
  if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

void end_connection(int fd) {
  if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
}

std::string allowed_congestion_controls() {
  std::ifstream file("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  std::string names;
  std::getline(file, names);
  return names;
}

bool set_congestion_control(int fd, const std::string& algorithm) {
  return fd >= 0 &&
         ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, algorithm.data(), static_cast<socklen_t>(algorithm.size())) == 0;
}

constexpr std::uint64_t kMiB = 1024 * 1024;
/// Of up to 16 lanes of a torrent, and what one lane is told at least: the kernel doubles it, and 4 MiB a round trip
/// are 559 Mbit/s on a path of 60 ms.
constexpr std::uint64_t kInAll = 64 * kMiB, kTooSmall = 2 * kMiB;

ReceiveLimits receive_limits() {
  static const ReceiveLimits limits = [] {
    ReceiveLimits read;
    std::uint64_t low = 0, middle = 0;
    std::ifstream("/proc/sys/net/ipv4/tcp_rmem") >> low >> middle >> read.autotuned_max;
    std::ifstream("/proc/sys/net/core/rmem_max") >> read.settable_max;
    return read;
  }();
  return limits;
}

std::optional<int> receive_buffer_for(int lanes, const ReceiveLimits& limits) {
  const std::uint64_t share = kInAll / static_cast<std::uint64_t>(std::max(lanes, 1));
  if (limits.autotuned_max <= share) return std::nullopt;
  // The kernel doubles what it is told, to allow for its own overhead.
  const std::uint64_t told = std::min(std::max(share / 2, kTooSmall), limits.settable_max);
  return told < kTooSmall ? std::nullopt : std::optional(static_cast<int>(told));
}

int largest_receive_buffer_for(int lanes, const ReceiveLimits& limits) {
  const std::uint64_t share = kInAll / static_cast<std::uint64_t>(std::max(lanes, 1));
  // The kernel doubles what it is told.
  return static_cast<int>(std::min({share / 2, limits.autotuned_max / 2, limits.settable_max}));
}

std::uint64_t receive_bytes_of_lane(int lanes, const ReceiveLimits& limits) {
  const auto told = receive_buffer_for(lanes, limits);
  return told ? 2 * static_cast<std::uint64_t>(*told) : limits.autotuned_max;
}

std::uint64_t tcp_memory_pressure() {
  std::uint64_t low = 0, pressure = 0;
  std::ifstream("/proc/sys/net/ipv4/tcp_mem") >> low >> pressure;
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return page_bytes > 0 ? pressure * static_cast<std::uint64_t>(page_bytes) : 0;
}

void set_receive_buffer(int fd, int bytes) {
  if (fd < 0) return;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  // A connection that stands keeps the window that fitted its first, small buffer: the kernel moves this clamp along
  // with its own sizing, which SO_RCVBUF ends. Without it a TLS lane over 50 ms carried 13 Mbit/s.
  const int clamp = 2 * bytes;
  ::setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
}

}  // namespace gridtorrent::client::engine
