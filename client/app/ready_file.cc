#include "client/app/ready_file.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::app {
namespace {

bool is_ipv6(const std::string& address) {
  return address.find(':') != std::string::npos;
}
bool is_wildcard(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

std::vector<std::string> interface_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return addresses;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = {};
    if (one->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, one->ifa_addr, sizeof address);
      if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) continue;
      ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    } else {
      continue;
    }
    addresses.emplace_back(text);
  }
  return addresses;
}

}  // namespace

std::vector<LaneEndpoint> real_endpoints(const std::vector<LaneEndpoint>& listening,
                                         const std::vector<std::string>& declared) {
  const auto addresses = declared.empty() ? interface_addresses() : declared;
  std::vector<LaneEndpoint> endpoints;
  for (auto endpoint : listening) {
    if (!is_wildcard(endpoint.address)) {
      endpoints.push_back(endpoint);
      continue;
    }
    const bool ipv6 = is_ipv6(endpoint.address);
    for (const auto& address : addresses) {
      if (is_ipv6(address) != ipv6) continue;
      endpoint.address = address;
      endpoints.push_back(endpoint);
    }
  }
  return endpoints;
}

std::string ready_json(const ReadyInfo& info, int pid) {
  nlohmann::ordered_json endpoints = nlohmann::ordered_json::array();
  for (const auto& endpoint : info.lane_endpoints) {
    endpoints.push_back(
        {{"address", endpoint.address}, {"port", endpoint.port}, {"tls", endpoint.tls}, {"path", endpoint.path}});
  }
  nlohmann::ordered_json json{{"pid", pid},
                              {"node_id", info.node.str()},
                              {"node_name", info.node_name},
                              {"owner", info.owner},
                              {"server", info.server},
                              {"control_socket", escape_for_display(info.control_socket)},
                              {"lane_endpoints", endpoints}};
  if (!info.metrics_address.empty()) json["metrics_address"] = info.metrics_address;
  return json.dump(1) + "\n";
}

Status write_ready_file(const std::string& path, const std::string& json) {
  const auto failed = [&](const std::string& doing) {
    return Error{Code::kDisk,
                 "cannot " + doing + " the ready file " + escape_for_display(path) + ": " + errno_text(errno)};
  };
  const std::string beside = path + ".new";
  {
    const UniqueFd fd(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd) return failed("create");
    if (::write(fd.get(), json.data(), json.size()) != static_cast<ssize_t>(json.size())) return failed("write");
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) return failed("rename");
  return {};
}

void notify_systemd(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return;
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof address);
  ::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&storage),
           static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
}

}  // namespace gridtorrent::client::app
