#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

struct ssl_st;
struct ssl_ctx_st;

namespace gridtorrent::crypto {

class TlsServerContext;

/// The server's end of one TLS connection over a non-blocking socket, which it does not own. A process that uses it
/// must ignore SIGPIPE: OpenSSL writes with write(2). Movable, not thread-safe.
class TlsSession {
 public:
  enum class Step : std::uint8_t {
    kDone,        ///< bytes were moved, or the handshake is complete
    kWantsRead,   ///< again when the socket can be read
    kWantsWrite,  ///< again when the socket can be written; a write with the same bytes first
    kEnded,       ///< the caller said that nothing more comes, or closed its end
    kFailed,      ///< no TLS, a broken record, a lost connection: close it
  };
  struct Moved {
    Step step = Step::kFailed;
    std::size_t bytes = 0;  ///< with kDone, at least 1
  };

  Step shake_hands();
  /// The application protocol agreed upon (ALPN); empty: none.
  std::string_view protocol() const;
  Moved read(std::span<std::uint8_t> into);
  Moved write(std::span<const std::uint8_t> bytes);
  /// Whether bytes that left the socket already wait to be read here, where poll(2) does not see them.
  bool has_pending() const;
  /// Tells the caller that nothing more comes (close_notify), if the socket takes it at once, and gives all memory
  /// back. Nothing else may be called afterwards.
  void close();

 private:
  friend class TlsServerContext;
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  TlsSession(ssl_st* ssl, std::shared_ptr<const TlsServerContext> context);
  Step step_of(int returned);
  std::shared_ptr<const TlsServerContext> context_;
  std::unique_ptr<ssl_st, Free> ssl_;
};

/// Key, certificate chain and settings for TLS sessions of a server: TLS 1.2 or newer, no client certificates, no
/// session tickets, one application protocol (ALPN, RFC 7301). Immutable; safe to use from several threads.
class TlsServerContext : public std::enable_shared_from_this<TlsServerContext> {
 public:
  /// `pem` holds the key and the chain, leaf first. kCorrupt: it does not, or they do not belong together.
  static Result<std::shared_ptr<const TlsServerContext>> from_pem(std::string_view pem, std::string_view protocol);
  /// A session over a connected socket. It keeps this context.
  Result<TlsSession> session(int socket) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  TlsServerContext(std::unique_ptr<ssl_ctx_st, Free> context, std::string protocol);
  static int choose_protocol(ssl_st* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                             unsigned in_size, void* self);

  std::string protocol_;  ///< in ALPN's form: a byte of length, then the name
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace gridtorrent::crypto
