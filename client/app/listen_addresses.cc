#include "client/app/listen_addresses.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "common/unique_fd.h"

namespace gridtorrent::client::app {
namespace {

std::shared_ptr<addrinfo> look_up(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = flags;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return nullptr;
  return {found, ::freeaddrinfo};
}

bool can_listen(const std::string& address) {
  const auto endpoint = look_up(address, "0", AI_NUMERICHOST | AI_NUMERICSERV);
  if (!endpoint) return false;
  const UniqueFd socket(::socket(endpoint->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket && ::bind(socket.get(), endpoint->ai_addr, endpoint->ai_addrlen) == 0;
}

/// A datagram socket's "connection" sends nothing: the kernel chooses the route and its source address.
std::optional<std::string> source_towards(const addrinfo& to) {
  const UniqueFd socket(::socket(to.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  char text[NI_MAXHOST] = {};
  if (!socket || ::connect(socket.get(), to.ai_addr, to.ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&name), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return std::nullopt;
  const std::string address(text);
  if (address.find('%') != std::string::npos) return std::nullopt;  // link-local: needs its interface's name
  return address;
}

}  // namespace

std::vector<std::string> choose_listen_addresses(const std::vector<std::string>& declared, const AddressFacts& facts) {
  if (declared.empty()) {
    return facts.towards_server.empty() ? std::vector<std::string>{"0.0.0.0", "::"} : facts.towards_server;
  }
  std::vector<std::string> chosen;
  for (const bool ipv6 : {false, true}) {
    std::vector<std::string> of_protocol;
    std::ranges::copy_if(declared, std::back_inserter(of_protocol),
                         [&](const std::string& a) { return (a.find(':') != std::string::npos) == ipv6; });
    if (of_protocol.empty()) continue;
    if (!std::ranges::all_of(of_protocol, facts.is_local)) of_protocol = {ipv6 ? "::" : "0.0.0.0"};
    for (const std::string& address : of_protocol) {
      if (std::ranges::find(chosen, address) == chosen.end()) chosen.push_back(address);
    }
  }
  return chosen;
}

ServerRoute::ServerRoute(const std::string& server) {
  const std::size_t colon = server.rfind(':');
  if (colon == std::string::npos) return;
  std::string host = server.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  endpoints_ = look_up(host, server.substr(colon + 1), AI_NUMERICSERV);
}

AddressFacts ServerRoute::facts() const {
  AddressFacts facts{can_listen, {}};
  for (const auto* to = static_cast<const addrinfo*>(endpoints_.get()); to != nullptr; to = to->ai_next) {
    const auto source = source_towards(*to);
    if (source && std::ranges::find(facts.towards_server, *source) == facts.towards_server.end())
      facts.towards_server.push_back(*source);
  }
  return facts;
}

}  // namespace gridtorrent::client::app
