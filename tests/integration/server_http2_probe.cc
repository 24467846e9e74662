#include "tests/integration/server_http2_probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <memory>

#include "common/unique_fd.h"

namespace gridtorrent::test {

namespace {

constexpr std::size_t kFrameHeaderBytes = 9;
enum FrameType : std::uint8_t { kData = 0, kHeaders = 1, kResetStream = 3, kSettings = 4, kGoAway = 7 };
constexpr std::uint8_t kEndStream = 1;
constexpr std::uint8_t kEndHeaders = 4;

std::string frame(FrameType type, std::uint8_t flags, std::uint8_t stream, const std::string& payload) {
  std::string out;
  const auto size = static_cast<std::uint32_t>(payload.size());
  for (const unsigned shift : {16u, 8u, 0u}) out.push_back(static_cast<char>(size >> shift));
  out.push_back(static_cast<char>(type));
  out.push_back(static_cast<char>(flags));
  out.append(3, '\0');
  out.push_back(static_cast<char>(stream));
  return out + payload;
}

/// HPACK (RFC 7541, 6.2.2): a literal that is not indexed, without Huffman coding. Shorter than 127 bytes each.
std::string literal(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

/// Whether a whole frame in `bytes` ends stream 1 or the connection.
bool has_ended(const std::string& bytes) {
  std::size_t at = 0;
  while (bytes.size() >= at + kFrameHeaderBytes) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[at + i]); };
    const std::size_t size = (std::size_t{byte(0)} << 16) | (std::size_t{byte(1)} << 8) | byte(2);
    if (bytes.size() < at + kFrameHeaderBytes + size) return false;
    const bool ends = (byte(3) == kHeaders || byte(3) == kData) && (byte(4) & kEndStream) != 0;
    if (ends || byte(3) == kResetStream || byte(3) == kGoAway) return true;
    at += kFrameHeaderBytes + size;
  }
  return false;
}

}  // namespace

std::string http2_request_over_tls(std::uint16_t port, const std::string& path,
                                   const std::vector<std::pair<std::string, std::string>>& headers) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{10, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  static constexpr std::array<unsigned char, 3> kAlpn = {2, 'h', '2'};
  SSL_set_alpn_protos(ssl.get(), kAlpn.data(), kAlpn.size());
  SSL_set_fd(ssl.get(), socket.get());
  if (SSL_connect(ssl.get()) != 1) return {};

  std::string block = literal(":method", "POST") + literal(":scheme", "https") + literal(":path", path) +
                      literal(":authority", "localhost") + literal("te", "trailers") +
                      literal("content-type", "application/grpc");
  for (const auto& [name, value] : headers) block += literal(name, value);
  const std::string request = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, "") +
                              frame(kHeaders, kEndHeaders, 1, block) +
                              frame(kData, kEndStream, 1, std::string(5, '\0'));
  if (SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) <= 0) return {};
  std::string answer;
  while (!has_ended(answer)) {
    std::array<char, 4096> buffer{};
    const int size = SSL_read(ssl.get(), buffer.data(), buffer.size());
    if (size <= 0) return {};
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

}  // namespace gridtorrent::test
