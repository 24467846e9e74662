#include "base/net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/text.h"

namespace gridtorrent::net {
namespace {

constexpr int kBacklog = 4096;  // the kernel's own limit (net.core.somaxconn) is the same by default

struct Candidate {
  sockaddr_storage address{};
  socklen_t size = 0;
};

void set_port(sockaddr_storage& address, std::uint16_t port) {
  if (address.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  }
}

Candidate any_address() {
  Candidate any;
  any.size = sizeof(sockaddr_in6);
  any.address.ss_family = AF_INET6;  // all zero is "::"
  return any;
}

Result<std::vector<Candidate>> resolve(const std::string& host) {
  if (host == "0.0.0.0" || host == "::") return std::vector<Candidate>{any_address()};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); failed != 0) {
    return Error{Code::kInvalid, "cannot listen on " + escape_for_display(host) + ": " + ::gai_strerror(failed)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<Candidate> candidates;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Candidate& candidate = candidates.emplace_back();
    std::memcpy(&candidate.address, one->ai_addr, one->ai_addrlen);
    candidate.size = one->ai_addrlen;
  }
  return candidates;
}

Result<UniqueFd> listen_one(Candidate candidate, std::uint16_t port) {
  set_port(candidate.address, port);
  UniqueFd fd(::socket(candidate.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error{Code::kConflict, errno_text(errno)};
  const int on = 1, off = 0;
  // A restarted server must not wait for old connections to leave TIME_WAIT. Two servers at once stay impossible.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (candidate.address.ss_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&candidate.address), candidate.size) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return Error{Code::kConflict, errno_text(errno)};
  }
  return fd;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return peer_address(address).port;
}

}  // namespace

PeerAddress peer_address(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4.sin_port)};
  }
  if (address.ss_family != AF_INET6) return {};
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
    ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return {text.data(), ntohs(v6.sin6_port)};
}

std::string address_bucket(std::string_view ip) {
  in6_addr parsed{};
  const std::string text(ip);
  if (inet_pton(AF_INET6, text.c_str(), &parsed) != 1) return text;
  std::memset(&parsed.s6_addr[8], 0, 8);
  std::array<char, INET6_ADDRSTRLEN> out{};
  return inet_ntop(AF_INET6, &parsed, out.data(), out.size()) != nullptr ? std::string(out.data()) + "/64" : text;
}

Result<Listening> listen_tcp(const std::string& host, std::uint16_t port) {
  GT_ASSIGN(std::vector<Candidate> candidates, resolve(host));
  // Where the host has no IPv6 at all.
  if (host == "0.0.0.0") {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    Candidate& v4 = candidates.emplace_back();
    std::memcpy(&v4.address, &any, sizeof any);
    v4.size = sizeof any;
  }
  Listening listening{{}, port};
  Error last{Code::kConflict, "it has no address"};
  for (const Candidate& candidate : candidates) {
    auto fd = listen_one(candidate, listening.port);
    if (!fd) {
      last = fd.error();
      continue;
    }
    if (listening.port == 0) listening.port = bound_port(fd->get());
    listening.sockets.push_back(std::move(*fd));
    if (host == "0.0.0.0") break;
  }
  if (listening.sockets.empty()) return last;
  return listening;
}

}  // namespace gridtorrent::net
