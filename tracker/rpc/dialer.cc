#include "tracker/rpc/dialer.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>

#include "common/unique_fd.h"

namespace gridtorrent::tracker::rpc {

namespace {

struct Attempt {
  std::size_t index = 0;  ///< in the endpoints
  UniqueFd socket;
};

/// A connect that was begun; without a descriptor the verdict is in already (kUnknown: it could not be tried).
struct Begun {
  UniqueFd socket;
  Reachability verdict = Reachability::kUnknown;
};

Begun begin_connect(const Endpoint& endpoint) {
  sockaddr_storage address{};
  socklen_t size = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
  if (inet_pton(AF_INET, endpoint.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(endpoint.port);
    size = sizeof *v4;
  } else if (inet_pton(AF_INET6, endpoint.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(endpoint.port);
    size = sizeof *v6;
  } else {
    return {};
  }
  UniqueFd socket(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    return {UniqueFd(), Reachability::kReachable};
  }
  if (errno != EINPROGRESS) return {UniqueFd(), Reachability::kUnreachable};
  return {std::move(socket), Reachability::kUnknown};
}

bool is_connected(int socket) {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &size) == 0 && error_number == 0;
}

/// Waits for the attempts until the deadline; who has not answered by then is not reachable.
void finish(std::vector<Attempt> attempts, MonoTime deadline, const Clock& clock,
            std::vector<NodeEndpoint>& endpoints) {
  while (!attempts.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.mono()).count();
    std::vector<pollfd> waits;
    for (const Attempt& attempt : attempts) waits.push_back({attempt.socket.get(), POLLOUT, 0});
    const int ready = left > 0 ? ::poll(waits.data(), waits.size(), static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    std::vector<Attempt> waiting;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      NodeEndpoint& endpoint = endpoints[attempts[i].index];
      if (ready > 0 && waits[i].revents == 0) {
        waiting.push_back(std::move(attempts[i]));
      } else {
        const bool connected = ready > 0 && is_connected(attempts[i].socket.get());
        endpoint.reachability = connected ? Reachability::kReachable : Reachability::kUnreachable;
      }
    }
    attempts = std::move(waiting);
  }
}

}  // namespace

std::vector<NodeEndpoint> Dialer::judge(const NodeId& node, std::vector<NodeEndpoint> endpoints,
                                        const std::string& observed_address) {
  const std::vector<std::string> own = own_addresses();
  std::vector<std::size_t> allowed;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    endpoints[i].reachability = Reachability::kUnknown;
    if (may_dial_back(endpoints[i].endpoint, observed_address, own).dial) allowed.push_back(i);
  }
  allowed.resize(std::min(allowed.size(), budget_.take(node, allowed.size(), clock_.mono())));
  const MonoTime deadline = clock_.mono() + timeout_;
  std::vector<Attempt> attempts;
  for (const std::size_t index : allowed) {
    Begun begun = begin_connect(endpoints[index].endpoint);
    endpoints[index].reachability = begun.verdict;
    if (begun.socket) attempts.push_back({index, std::move(begun.socket)});
  }
  finish(std::move(attempts), deadline, clock_, endpoints);
  return endpoints;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const ifaddrs* it = list; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = it->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(it->ifa_addr)->sin_addr;
    if (family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6*>(it->ifa_addr)->sin6_addr;
    if (address != nullptr && inet_ntop(family, address, text.data(), text.size()) != nullptr)
      out.emplace_back(text.data());
  }
  return out;
}

}  // namespace gridtorrent::tracker::rpc
