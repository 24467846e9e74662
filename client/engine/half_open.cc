#include "client/engine/half_open.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace gridtorrent::client::engine {

namespace {

struct Endpoint {
  std::string address;
  std::uint16_t port = 0;
};

std::optional<Endpoint> endpoint_of(const sockaddr_storage& name) {
  Endpoint endpoint;
  char text[INET6_ADDRSTRLEN] = {};
  if (name.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(name);
    endpoint.port = ntohs(v4.sin_port);
    if (::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) == nullptr) return std::nullopt;
  } else if (name.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(name);
    endpoint.port = ntohs(v6.sin6_port);
    if (::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) == nullptr) return std::nullopt;
  } else {
    return std::nullopt;
  }
  endpoint.address = text;
  return endpoint;
}

bool has_option(int fd, int option, int value) {
  int is = 0;
  socklen_t size = sizeof is;
  return ::getsockopt(fd, SOL_SOCKET, option, &is, &size) == 0 && is == value;
}

/// A TCP connection to one of our ports, also one that the other end has ended.
bool accepted_at(int fd, const std::set<std::uint16_t>& ports) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return false;
  const auto local = endpoint_of(name);
  return local && ports.contains(local->port) && has_option(fd, SO_TYPE, SOCK_STREAM) &&
         has_option(fd, SO_ACCEPTCONN, 0);
}

/// The other end of such a connection; nothing once it is reset.
std::optional<Endpoint> accepted_from(int fd, const std::set<std::uint16_t>& ports) {
  if (!accepted_at(fd, ports)) return std::nullopt;
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return std::nullopt;
  return endpoint_of(name);
}

std::vector<int> descriptors() {
  std::vector<int> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder) return all;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec == std::errc() && fd >= 0) all.push_back(fd);
  }
  return all;
}

}  // namespace

std::vector<std::size_t> handshakes_to_end(std::span<const HalfOpen> open, MonoTime now, const HalfOpenLimits& limits) {
  std::vector<std::size_t> youngest_first(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) youngest_first[i] = i;
  std::stable_sort(youngest_first.begin(), youngest_first.end(),
                   [&](std::size_t a, std::size_t b) { return open[a].since > open[b].since; });
  std::vector<std::size_t> end;
  std::map<std::string, std::size_t> kept_of;
  std::size_t kept = 0;
  for (const std::size_t i : youngest_first) {
    std::size_t& of_address = kept_of[open[i].address];
    if (now - open[i].since >= kHandshakeTime || kept >= limits.in_all || of_address >= limits.of_address) {
      end.push_back(i);
    } else {
      ++kept;
      ++of_address;
    }
  }
  return end;
}

std::size_t HandshakeGuard::tick(const std::set<int>& lanes, MonoTime now) {
  connected_ = 0;
  if (ports_.empty()) return 0;
  std::map<int, Seen> present;
  for (const int fd : descriptors()) {
    if (lanes.contains(fd)) continue;
    const auto from = accepted_from(fd, ports_);
    if (!from) continue;
    std::string peer = from->address + " " + std::to_string(from->port);
    const auto before = seen_.find(fd);
    const bool known = before != seen_.end() && before->second.peer == peer;
    present[fd] = {std::move(peer), {fd, from->address, known ? before->second.half.since : now}};
  }
  seen_ = std::move(present);
  std::vector<HalfOpen> open;
  for (const auto& [fd, seen] : seen_) open.push_back(seen.half);
  const auto end = handshakes_to_end(open, now, limits_);
  for (const std::size_t i : end) ::shutdown(open[i].socket, SHUT_RDWR);
  return end.size();
}

std::size_t HandshakeGuard::end_all(const std::set<int>& lanes) const {
  std::size_t left = 0;
  for (const int fd : descriptors()) {
    if (lanes.contains(fd) || !accepted_at(fd, ports_)) continue;
    ::shutdown(fd, SHUT_RDWR);
    ++left;
  }
  return left;
}

}  // namespace gridtorrent::client::engine
