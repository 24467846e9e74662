#include "bench/storm/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace gridtorrent::storm {

namespace {

// RFC 9113, section 6.
constexpr std::uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kWindow = 8;
constexpr std::uint8_t kEndStream = 1, kEndHeaders = 4, kAck = 1, kPadded = 8;
constexpr std::size_t kFrameHeader = 9;
constexpr std::uint32_t kStream = 1;
/// Half of the window that a stream begins with.
constexpr std::uint32_t kWindowStep = 32 * 1024;

void put32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

std::uint32_t get32(std::string_view in) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(in[i]);
  return value;
}

void put_frame(std::string& out, std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
               std::string_view payload) {
  out += static_cast<char>(payload.size() >> 16);
  out += static_cast<char>(payload.size() >> 8);
  out += static_cast<char>(payload.size());
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  put32(out, stream);
  out += payload;
}

/// A literal field without indexing and without Huffman coding (RFC 7541, 6.2.2): nobody's table grows.
void put_field(std::string& out, std::string_view name, std::string_view value) {
  out += '\0';
  for (const std::string_view text : {name, value}) {
    if (text.size() < 127) {
      out += static_cast<char>(text.size());
    } else {  // RFC 7541, 5.1: up to 254 here
      out += '\x7f';
      out += static_cast<char>(text.size() - 127);
    }
    out += text;
  }
}

std::string opening(const Subscription& what, std::uint16_t port) {
  std::string fields;
  put_field(fields, ":method", "POST");
  put_field(fields, ":scheme", "https");
  put_field(fields, ":path", what.path);
  put_field(fields, ":authority", "localhost:" + std::to_string(port));
  put_field(fields, "te", "trailers");
  put_field(fields, "content-type", "application/grpc");
  put_field(fields, "authorization", "Bearer " + what.token);
  std::string message(1, '\0');  // not compressed
  put32(message, static_cast<std::uint32_t>(what.request.size()));
  message += what.request;

  std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  put_frame(out, kSettings, 0, 0, "");
  put_frame(out, kHeaders, kEndHeaders, kStream, fields);
  put_frame(out, kData, kEndStream, kStream, message);
  return out;
}

}  // namespace

bool Connection::open(SSL_CTX* tls, std::uint32_t source, std::uint16_t port, const Subscription& what) {
  close();
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return fail(std::strerror(errno));
  const int on = 1;
  ::setsockopt(fd_, SOL_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(source);
  if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return fail(std::strerror(errno));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int begun = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (begun != 0 && errno != EINPROGRESS) return fail(std::strerror(errno));
  ssl_.reset(SSL_new(tls));
  SSL_set_fd(ssl_.get(), fd_);
  SSL_set_connect_state(ssl_.get());
  static char host[] = "localhost";  // the macro SSL_set_tlsext_host_name, without its cast
  SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host);
  out_ = opening(what, port);
  return true;
}

void Connection::close() {
  ssl_.reset();
  if (fd_ >= 0) {
    const linger reset{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    ::close(fd_);
  }
  fd_ = -1;
  connected_ = shaken_ = up_ = tls_wants_write_ = false;
  unacknowledged_ = 0;
  for (std::string* buffer : {&out_, &in_, &messages_}) std::string().swap(*buffer);
}

bool Connection::fail(std::string why) {
  close();
  why_ = std::move(why);
  return false;
}

bool Connection::advance() {
  if (!connected_) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return fail(std::strerror(error));
    connected_ = true;
  }
  if (!shaken_ && !handshake()) return fd_ >= 0;
  return read() && write();
}

/// False: not yet, or failed.
bool Connection::handshake() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  const int state = done == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
  tls_wants_write_ = state == SSL_ERROR_WANT_WRITE;
  shaken_ = state == SSL_ERROR_NONE;
  if (shaken_ || state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE) return shaken_;
  return fail("TLS was refused");
}

bool Connection::write() {
  while (!out_.empty()) {
    ERR_clear_error();
    const int sent = SSL_write(ssl_.get(), out_.data(), static_cast<int>(out_.size()));
    if (sent > 0) {
      out_.erase(0, static_cast<std::size_t>(sent));
      continue;
    }
    const int state = SSL_get_error(ssl_.get(), sent);
    if (state == SSL_ERROR_WANT_WRITE || state == SSL_ERROR_WANT_READ) return true;
    return fail("the connection broke");
  }
  std::string().swap(out_);
  return true;
}

bool Connection::read() {
  std::array<char, 16 * 1024> buffer;
  for (;;) {
    ERR_clear_error();
    const int got = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
    if (got <= 0) {
      const int state = SSL_get_error(ssl_.get(), got);
      if (state == SSL_ERROR_WANT_READ || state == SSL_ERROR_WANT_WRITE) return true;
      return fail("the server closed the connection");
    }
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    if (!take_frames()) return false;
  }
}

bool Connection::take_frames() {
  std::size_t begin = 0;
  while (in_.size() - begin >= kFrameHeader) {
    const std::string_view head = std::string_view(in_).substr(begin, kFrameHeader);
    const std::size_t size = get32(head) >> 8;
    if (in_.size() - begin < kFrameHeader + size) break;
    const std::string_view payload = std::string_view(in_).substr(begin + kFrameHeader, size);
    if (!take_frame(static_cast<std::uint8_t>(head[3]), static_cast<std::uint8_t>(head[4]), payload)) return false;
    begin += kFrameHeader + size;
  }
  in_.erase(0, begin);
  if (in_.empty()) std::string().swap(in_);
  return true;
}

bool Connection::take_frame(std::uint8_t type, std::uint8_t flags, std::string_view payload) {
  switch (type) {
    case kData:
      return (flags & kPadded) == 0 ? take_data(payload) : fail("the server pads");
    case kHeaders:
      return (flags & kEndStream) == 0 || fail("the server ended the stream");
    case kReset:
      return fail("the server reset the stream");
    case kGoAway:
      return fail("the server went away");
    case kSettings:
      if ((flags & kAck) == 0) put_frame(out_, kSettings, kAck, 0, "");
      return true;
    case kPing:
      if ((flags & kAck) == 0) put_frame(out_, kPing, kAck, 0, payload);
      return true;
    default:
      return true;
  }
}

bool Connection::take_data(std::string_view payload) {
  unacknowledged_ += static_cast<std::uint32_t>(payload.size());
  if (unacknowledged_ >= kWindowStep) {
    std::string step;
    put32(step, unacknowledged_);
    put_frame(out_, kWindow, 0, 0, step);
    put_frame(out_, kWindow, 0, kStream, step);
    unacknowledged_ = 0;
  }
  messages_ += payload;
  std::size_t begin = 0;
  while (messages_.size() - begin >= 5) {
    const std::size_t size = get32(std::string_view(messages_).substr(begin + 1));
    if (messages_.size() - begin < 5 + size) break;
    up_ = true;
    reader_.on_message(std::string_view(messages_).substr(begin + 5, size));
    begin += 5 + size;
  }
  messages_.erase(0, begin);
  if (messages_.empty()) std::string().swap(messages_);
  return true;
}

}  // namespace gridtorrent::storm
