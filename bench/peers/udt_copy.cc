// One file over UDT (libudt 4.11), as a peer that the bench compares with:
//
//   udt_copy [options] send PORT FILE        serves FILE to the first that asks, then ends
//   udt_copy [options] get HOST PORT FILE    fetches it into FILE
//
// Options, which both ends should be given alike, precede the command; without them libudt's own values hold:
//   --buffer BYTES       UDT's own buffers (UDT_SNDBUF, UDT_RCVBUF)
//   --udp-send BYTES     what the UDP socket may have queued on this host (UDP_SNDBUF)
//   --udp-receive BYTES  what has arrived at the UDP socket and waits for UDT (UDP_RCVBUF)
//   --window PACKETS     the flow window (UDT_FC)
//   --mss BYTES          the size of a packet with its UDP and IP headers (UDT_MSS)
#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <udt/udt.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kUsage =
    "usage: udt_copy [--buffer BYTES] [--udp-send BYTES] [--udp-receive BYTES] [--window PACKETS] [--mss BYTES] "
    "send PORT FILE | get HOST PORT FILE";

struct Options {
  std::optional<int> buffer;
  std::optional<int> udp_send;
  std::optional<int> udp_receive;
  std::optional<int> window;
  std::optional<int> mss;
};

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(what);
}

[[noreturn]] void FailUdt(const std::string& what) {
  Fail(what + ": " + UDT::getlasterror().getErrorMessage());
}

void Check(int result, const std::string& what) {
  if (result == UDT::ERROR) FailUdt(what);
}

int Number(std::string_view text, std::string_view name) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) {
    Fail(std::string(name) + " is no positive number: " + std::string(text));
  }
  return value;
}

sockaddr_in Address(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) Fail("not an IPv4 address: " + host);
  return address;
}

UDTSOCKET MakeSocket(const Options& options) {
  const UDTSOCKET socket = UDT::socket(AF_INET, SOCK_STREAM, 0);
  if (socket == UDT::INVALID_SOCK) FailUdt("cannot make a socket");
  const auto set = [socket](UDT::SOCKOPT name, const std::optional<int>& value, const char* what) {
    if (value) Check(UDT::setsockopt(socket, 0, name, &*value, sizeof(int)), std::string("cannot set ") + what);
  };
  set(UDT_MSS, options.mss, "--mss");
  set(UDT_FC, options.window, "--window");  // libudt wants it before the buffers
  set(UDT_SNDBUF, options.buffer, "--buffer");
  set(UDT_RCVBUF, options.buffer, "--buffer");
  set(UDP_SNDBUF, options.udp_send, "--udp-send");
  set(UDP_RCVBUF, options.udp_receive, "--udp-receive");
  return socket;
}

void SendAll(UDTSOCKET socket, std::span<const char> data) {
  while (!data.empty()) {
    const int sent = UDT::send(socket, data.data(), static_cast<int>(data.size()), 0);
    if (sent == UDT::ERROR) FailUdt("cannot send");
    data = data.subspan(static_cast<size_t>(sent));
  }
}

void ReceiveAll(UDTSOCKET socket, std::span<char> data) {
  while (!data.empty()) {
    const int got = UDT::recv(socket, data.data(), static_cast<int>(data.size()), 0);
    if (got == UDT::ERROR) FailUdt("cannot receive");
    data = data.subspan(static_cast<size_t>(got));
  }
}

// The getter asks with one byte: what a sender sends before the getter's connect() is through gets lost, and UDT takes
// seconds to recover from that. Then come the size, as eight bytes, big-endian, and the file; the getter confirms with
// one byte.
void Send(const Options& options, int port, const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::binary);
  if (!file) Fail("cannot open " + path);
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));

  const UDTSOCKET listener = MakeSocket(options);
  const sockaddr_in address = Address("0.0.0.0", port);
  Check(UDT::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), "cannot bind");
  Check(UDT::listen(listener, 1), "cannot listen");
  sockaddr_in from{};
  int from_size = sizeof(from);
  const UDTSOCKET socket = UDT::accept(listener, reinterpret_cast<sockaddr*>(&from), &from_size);
  if (socket == UDT::INVALID_SOCK) FailUdt("cannot accept");

  char byte = 0;
  ReceiveAll(socket, {&byte, 1});
  const uint64_t header = htobe64(static_cast<uint64_t>(size));
  SendAll(socket, {reinterpret_cast<const char*>(&header), sizeof(header)});
  int64_t offset = 0;
  if (UDT::sendfile(socket, file, offset, size) != size) FailUdt("cannot send all of " + path);
  ReceiveAll(socket, {&byte, 1});
}

void Get(const Options& options, const std::string& host, int port, const std::string& path) {
  const UDTSOCKET socket = MakeSocket(options);
  const sockaddr_in address = Address(host, port);
  Check(UDT::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
        "cannot connect to " + host);

  std::fstream file(path, std::ios::out | std::ios::binary | std::ios::trunc);
  if (!file) Fail("cannot create " + path);
  const char byte = 1;
  SendAll(socket, {&byte, 1});
  uint64_t header = 0;
  ReceiveAll(socket, {reinterpret_cast<char*>(&header), sizeof(header)});
  const auto size = static_cast<int64_t>(be64toh(header));
  int64_t offset = 0;
  if (UDT::recvfile(socket, file, offset, size) != size) FailUdt("cannot receive all of " + path);
  file.close();
  if (!file) Fail("cannot write " + path);
  SendAll(socket, {&byte, 1});
  UDT::close(socket);  // lingers until the byte is there
}

int Run(std::span<char*> arguments) {
  Options options;
  while (arguments.size() >= 2 && std::string_view(arguments[0]).starts_with("--")) {
    const std::string_view name = arguments[0];
    const int value = Number(arguments[1], name);
    if (name == "--buffer") {
      options.buffer = value;
    } else if (name == "--udp-send") {
      options.udp_send = value;
    } else if (name == "--udp-receive") {
      options.udp_receive = value;
    } else if (name == "--window") {
      options.window = value;
    } else if (name == "--mss") {
      options.mss = value;
    } else {
      Fail("unknown option " + std::string(name));
    }
    arguments = arguments.subspan(2);
  }
  const std::string_view command = arguments.empty() ? "" : arguments[0];
  if (command == "send" && arguments.size() == 3) {
    Send(options, Number(arguments[1], "PORT"), arguments[2]);
  } else if (command == "get" && arguments.size() == 4) {
    Get(options, arguments[1], Number(arguments[2], "PORT"), arguments[3]);
  } else {
    std::cerr << kUsage << '\n';
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int code = 1;
  try {
    UDT::startup();
    code = Run(std::span(argv, static_cast<size_t>(argc)).subspan(1));
  } catch (const std::exception& e) {
    std::cerr << "udt_copy: " << e.what() << '\n';
  }
  std::_Exit(code);  // UDT::cleanup() would wait seconds for sockets that are done with
}
