#include "client/engine/listen.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {
namespace {

struct NumericAddress {
  std::string text;
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool wildcard = false;

  bool is_v6() const { return storage.ss_family == AF_INET6; }
  void set_port(std::uint16_t port) {
    if (is_v6()) {
      reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
    } else {
      reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
    }
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

std::optional<NumericAddress> parse(const std::string& text) {
  NumericAddress address;
  address.text = text;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    address.size = sizeof(sockaddr_in);
    address.wildcard = v4->sin_addr.s_addr == INADDR_ANY;
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    address.size = sizeof(sockaddr_in6);
    address.wildcard = IN6_IS_ADDR_UNSPECIFIED(&v6->sin6_addr);
    return address;
  }
  return std::nullopt;
}

/// A socket bound as libtorrent will bind it, or the errno.
struct Bound {
  UniqueFd fd;
  int error = 0;
};
Bound bind_socket(const NumericAddress& address, int type) {
  Bound bound;
  bound.fd.reset(::socket(address.storage.ss_family, type | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!bound.fd) {
    bound.error = errno;
    return bound;
  }
  if (type == SOCK_STREAM) ::setsockopt(bound.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.is_v6()) ::setsockopt(bound.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(bound.fd.get(), address.get(), address.size) != 0) bound.error = errno;
  return bound;
}

Error cannot_listen(const std::string& address, std::uint16_t port, int error) {
  const std::string where = address + (port != 0 ? " port " + std::to_string(port) : "");
  if (error == EADDRINUSE) {
    return {Code::kConflict, "cannot listen on " + where +
                                 ": the port is in use; end the other program, choose another "
                                 "--lane-ports range, or reserve it with sysctl net.ipv4.ip_local_reserved_ports"};
  }
  return {Code::kInvalid,
          "cannot listen on " + where + ": " + errno_text(error) + "; check --address and --lane-ports"};
}

/// Whether the machine lacks the address family altogether.
bool family_missing(const NumericAddress& address) {
  const int error = bind_socket(address, SOCK_STREAM).error;
  return error == EAFNOSUPPORT || error == EADDRNOTAVAIL;
}

/// Both protocols: libtorrent binds UDP too, on every lane port.
int try_port(const std::vector<NumericAddress>& addresses, std::uint16_t port, std::string& failed_on) {
  for (NumericAddress address : addresses) {
    address.set_port(port);
    for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
      const Bound bound = bind_socket(address, type);
      if (bound.error != 0) {
        failed_on = address.text;
        return bound.error;
      }
    }
  }
  return 0;
}

/// A port that is free on all addresses; held by the returned sockets until the caller lets go of them.
Result<std::uint16_t> free_port(const std::vector<NumericAddress>& addresses, std::vector<UniqueFd>& held) {
  std::string failed_on = addresses.front().text;
  int error = EADDRINUSE;
  for (int attempt = 0; attempt < 64; ++attempt) {
    Bound first = bind_socket(addresses.front(), SOCK_STREAM);
    sockaddr_storage name{};
    socklen_t size = sizeof(name);
    if (first.error != 0) return cannot_listen(addresses.front().text, 0, first.error);
    if (::getsockname(first.fd.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
      return cannot_listen(addresses.front().text, 0, errno);
    }
    const std::uint16_t port = ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&name)->sin6_port
                                                                : reinterpret_cast<sockaddr_in*>(&name)->sin_port);
    held.push_back(std::move(first.fd));
    error = try_port({addresses.begin() + 1, addresses.end()}, port, failed_on);
    if (error == 0) return port;
  }
  return cannot_listen(failed_on, 0, error);
}

struct PortRange {
  std::uint16_t first = 0, last = 0;
  std::string_view kind;  ///< of the option: "" or "tls-"
};

Result<std::vector<std::uint16_t>> choose_ports(const std::vector<NumericAddress>& addresses, const PortRange& range,
                                                std::vector<UniqueFd>& held) {
  std::vector<std::uint16_t> ports;
  if (range.first == 0 && range.last == 0) {
    for (int i = 0; i < kFreePorts; ++i) {
      GT_ASSIGN(const std::uint16_t port, free_port(addresses, held));
      ports.push_back(port);
    }
    return ports;
  }
  if (range.first == 0 || range.first > range.last) {
    return Error{Code::kInvalid, "--" + std::string(range.kind) + "lane-ports " + std::to_string(range.first) + "-" +
                                     std::to_string(range.last) + " is no range; write FIRST-LAST"};
  }
  std::optional<Error> taken;
  for (int port = range.first; port <= range.last; ++port) {
    std::string failed_on;
    const int error = try_port(addresses, static_cast<std::uint16_t>(port), failed_on);
    if (error != 0 && error != EADDRINUSE) return cannot_listen(failed_on, static_cast<std::uint16_t>(port), error);
    if (error == 0) {
      ports.push_back(static_cast<std::uint16_t>(port));
    } else if (!taken) {
      taken = cannot_listen(failed_on, static_cast<std::uint16_t>(port), error);
    }
  }
  // A connection to elsewhere may have one of them; the others do without it.
  if (ports.empty()) return *taken;
  return ports;
}

}  // namespace

Result<std::vector<ListenSocket>> choose_listen_sockets(const EngineOptions& options) {
  std::vector<NumericAddress> addresses;
  for (const auto& text : options.listen_addresses) {
    const auto address = parse(text);
    if (!address)
      return Error{Code::kInvalid, "\"" + escape_for_display(text) + "\" is no numeric address to listen on"};
    if (!address->wildcard || !family_missing(*address)) addresses.push_back(*address);
  }
  if (addresses.empty()) return Error{Code::kInvalid, "no address to listen on; give at least one"};

  std::vector<UniqueFd> held;  // free ports are not found twice
  GT_ASSIGN(const auto plain, choose_ports(addresses, {options.first_lane_port, options.last_lane_port, ""}, held));
  std::vector<std::uint16_t> tls;
  if (options.tls_lanes) {
    GT_ASSIGN(tls, choose_ports(addresses, {options.first_tls_port, options.last_tls_port, "tls-"}, held));
  }
  std::vector<ListenSocket> sockets;
  for (const auto& address : addresses) {
    for (const std::uint16_t port : plain) sockets.push_back({address.text, port, false});
    for (const std::uint16_t port : tls) sockets.push_back({address.text, port, true});
  }
  return sockets;
}

std::vector<ListenSocket> on_addresses(const std::vector<ListenSocket>& sockets,
                                       const std::vector<std::string>& addresses) {
  std::vector<ListenSocket> moved;
  for (const std::string& address : addresses) {
    for (const ListenSocket& socket : sockets) {
      if (socket.address == sockets.front().address) moved.push_back({address, socket.port, socket.tls});
    }
  }
  return moved;
}

std::string to_listen_interfaces(const std::vector<ListenSocket>& sockets) {
  std::string text;
  for (const auto& socket : sockets) {
    const bool v6 = socket.address.find(':') != std::string::npos;
    if (!text.empty()) text += ',';
    text += (v6 ? "[" + socket.address + "]" : socket.address) + ":" + std::to_string(socket.port);
    if (socket.tls) text += 's';
  }
  return text;
}

}  // namespace gridtorrent::client::engine
