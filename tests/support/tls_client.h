#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "common/unique_fd.h"

namespace gridtorrent::test {

/// A blocking TLS client on loopback that trusts anybody, for tests that send what no library would.
class TlsClient {
 public:
  /// `alpn` in its wire form ("\x02h2"; empty: none); `from`: the local address to bind, so that tests come from many;
  /// from an address of IPv6 it goes to ::1.
  explicit TlsClient(std::uint16_t port, std::string_view alpn = "\x02h2", const char* from = "127.0.0.1",
                     int patience_s = 10)
      : socket_(::socket(address(from, 0).ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        ssl_(SSL_new(context_.get()), SSL_free) {
    const timeval patience{patience_s, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const sockaddr_storage source = address(from, 0);
    const sockaddr_storage target = address(source.ss_family == AF_INET6 ? "::1" : "127.0.0.1", port);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&source), sizeof source) != 0) return;
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) return;
    if (!alpn.empty()) {
      SSL_set_alpn_protos(ssl_.get(), reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
    }
    SSL_set_fd(ssl_.get(), socket_.get());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }

  bool connected() const { return connected_; }
  int socket() const { return socket_.get(); }

  /// False: the other end is gone, or takes no more.
  bool send(std::string_view bytes) {
    return connected_ && SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  /// The bytes that send() would put onto the wire; for raw_send().
  std::string encrypt(std::string_view bytes) {
    BIO* memory = BIO_new(BIO_s_mem());
    SSL_set0_wbio(ssl_.get(), memory);
    SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    std::string record(BIO_ctrl_pending(memory), '\0');
    BIO_read(memory, record.data(), static_cast<int>(record.size()));
    SSL_set0_wbio(ssl_.get(), BIO_new_socket(socket_.get(), BIO_NOCLOSE));
    return record;
  }
  bool raw_send(std::string_view bytes) {
    return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  /// What comes next; empty: the end, or nothing in time.
  std::string receive() {
    std::array<char, 16'384> buffer{};
    const int size = connected_ ? SSL_read(ssl_.get(), buffer.data(), buffer.size()) : 0;
    return {buffer.data(), static_cast<std::size_t>(size > 0 ? size : 0)};
  }
  std::string receive_all() {
    std::string all;
    for (std::string more = receive(); !more.empty(); more = receive()) all += more;
    return all;
  }
  /// close_notify: nothing more comes from here.
  void end_sending() { SSL_shutdown(ssl_.get()); }

  /// The DER form of the server's certificate.
  std::string certificate() const {
    const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(ssl_.get()), X509_free);
    if (!shown) return {};
    std::string der(static_cast<std::size_t>(i2d_X509(shown.get(), nullptr)), '\0');
    auto* out = reinterpret_cast<unsigned char*>(der.data());
    i2d_X509(shown.get(), &out);
    return der;
  }
  int protocol_version() const { return SSL_version(ssl_.get()); }

 private:
  static sockaddr_storage address(const char* ip, std::uint16_t port) {
    sockaddr_storage out{};
    auto& v4 = reinterpret_cast<sockaddr_in&>(out);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(out);
    if (::inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(port);
    } else {
      out = {};
      v4.sin_family = AF_INET;
      v4.sin_port = htons(port);
      ::inet_pton(AF_INET, ip, &v4.sin_addr);
    }
    return out;
  }

  const UniqueFd socket_;
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  bool connected_ = false;
};

}  // namespace gridtorrent::test
