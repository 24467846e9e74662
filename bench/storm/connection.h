#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gridtorrent::storm {

using Moment = std::chrono::steady_clock::time_point;

struct SslDelete {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

/// What a connection is for: one call that the server answers with a stream.
struct Subscription {
  std::string path;     ///< "/gridtorrent.v1.Tasks/WatchNode"
  std::string token;    ///< bearer token
  std::string request;  ///< the serialized request message
};

/// Who gets the messages of a stream.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual void on_message(std::string_view serialized) = 0;
};

/// One TLS connection with one gRPC call on it, with little memory: just as much of HTTP/2 (RFC 9113) as a stream from
/// gRPC needs. Not thread-safe. Errors end it; `why` says how.
class Connection {
 public:
  Connection(Reader& reader) : reader_(reader) {}
  ~Connection() { close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Begins to connect from an address of 127/8 of its own. False: the kernel gave no socket.
  bool open(SSL_CTX* tls, std::uint32_t source, std::uint16_t port, const Subscription& what);
  /// The socket can be read or written. False: it is over, and closed.
  bool advance();
  /// Resets the connection: no TIME_WAIT stays behind, of which 30,000 would use up the ports.
  void close();

  int descriptor() const { return fd_; }
  bool wants_write() const { return !connected_ || !out_.empty() || tls_wants_write_; }
  /// The first message came: the server holds the stream.
  bool is_up() const { return up_; }
  const std::string& why() const { return why_; }

 private:
  bool handshake();
  bool read();
  bool write();
  bool take_frames();
  bool take_frame(std::uint8_t type, std::uint8_t flags, std::string_view payload);
  bool take_data(std::string_view payload);
  bool fail(std::string why);

  Reader& reader_;
  int fd_ = -1;
  std::unique_ptr<SSL, SslDelete> ssl_;
  bool connected_ = false, shaken_ = false, up_ = false, tls_wants_write_ = false;
  std::string out_, in_, messages_, why_;
  std::uint32_t unacknowledged_ = 0;  ///< bytes of data that no window update gave back yet
};

}  // namespace gridtorrent::storm
