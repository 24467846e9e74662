#include "base/crypto/tls_server.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <utility>

namespace gridtorrent::crypto {
namespace {

template <auto Function>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Function(object);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Deleter<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<&EVP_PKEY_free>>;

Bio memory(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Key and chain of one PEM text into the context.
bool use_pem(SSL_CTX* context, std::string_view pem) {
  const Bio key_text = memory(pem), chain_text = memory(pem);
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!key) return false;
  const Certificate leaf(PEM_read_bio_X509(chain_text.get(), nullptr, nullptr, nullptr));
  if (!leaf || SSL_CTX_use_certificate(context, leaf.get()) != 1 || SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return false;
  }
  while (Certificate next{PEM_read_bio_X509(chain_text.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return false;
  }
  return SSL_CTX_check_private_key(context) == 1;
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* ssl) const {
  SSL_free(ssl);
}

TlsSession::TlsSession(ssl_st* ssl, std::shared_ptr<const TlsServerContext> context)
    : context_(std::move(context)), ssl_(ssl) {}

TlsSession::Step TlsSession::step_of(int returned) {
  switch (SSL_get_error(ssl_.get(), returned)) {
    case SSL_ERROR_NONE:
      return Step::kDone;
    case SSL_ERROR_WANT_READ:
      return Step::kWantsRead;
    case SSL_ERROR_WANT_WRITE:
      return Step::kWantsWrite;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kEnded;
    default:
      return Step::kFailed;
  }
}

// OpenSSL keeps errors in a queue of the thread: what another session left there would be taken for this one's.

TlsSession::Step TlsSession::shake_hands() {
  ERR_clear_error();
  return step_of(SSL_accept(ssl_.get()));
}

std::string_view TlsSession::protocol() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

TlsSession::Moved TlsSession::read(std::span<std::uint8_t> into) {
  ERR_clear_error();
  std::size_t count = 0;
  const int returned = SSL_read_ex(ssl_.get(), into.data(), into.size(), &count);
  return {step_of(returned), count};
}

TlsSession::Moved TlsSession::write(std::span<const std::uint8_t> bytes) {
  ERR_clear_error();
  std::size_t count = 0;
  const int returned = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &count);
  return {step_of(returned), count};
}

bool TlsSession::has_pending() const {
  return SSL_has_pending(ssl_.get()) == 1;
}

void TlsSession::close() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
  ssl_.reset();
}

void TlsServerContext::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}

TlsServerContext::TlsServerContext(std::unique_ptr<ssl_ctx_st, Free> context, std::string protocol)
    : protocol_(std::move(protocol)), context_(std::move(context)) {
  SSL_CTX_set_alpn_select_cb(context_.get(), choose_protocol, this);
}

Result<std::shared_ptr<const TlsServerContext>> TlsServerContext::from_pem(std::string_view pem,
                                                                           std::string_view protocol) {
  GT_CHECK(!protocol.empty() && protocol.size() < 256);
  ERR_clear_error();
  std::unique_ptr<ssl_ctx_st, Free> context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Error{Code::kInternal, "OpenSSL gave no TLS context"};
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Those of TLS 1.2; the ones of 1.3 are all good.
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // gRPC's clients do not resume sessions: tickets would be made and sent for nothing.
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  // An idle session keeps no buffers: 34 KiB less each.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context.get(), 1);
  if (!use_pem(context.get(), pem)) {
    ERR_clear_error();
    return Error{Code::kCorrupt, "it holds no private key and certificate chain in PEM form that belong together"};
  }
  ERR_clear_error();
  std::string wire(1, static_cast<char>(protocol.size()));
  wire += protocol;
  return std::shared_ptr<const TlsServerContext>(new TlsServerContext(std::move(context), std::move(wire)));
}

int TlsServerContext::choose_protocol(ssl_st*, const unsigned char** out, unsigned char* out_size,
                                      const unsigned char* in, unsigned in_size, void* self) {
  const std::string& ours = static_cast<const TlsServerContext*>(self)->protocol_;
  unsigned char* chosen = nullptr;
  const int found = SSL_select_next_proto(&chosen, out_size, reinterpret_cast<const unsigned char*>(ours.data()),
                                          static_cast<unsigned>(ours.size()), in, in_size);
  *out = chosen;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<TlsSession> TlsServerContext::session(int socket) const {
  ERR_clear_error();
  TlsSession session(SSL_new(context_.get()), shared_from_this());
  if (!session.ssl_ || SSL_set_fd(session.ssl_.get(), socket) != 1) {
    return Error{Code::kInternal, "OpenSSL gave no TLS session"};
  }
  SSL_set_accept_state(session.ssl_.get());
  return session;
}

}  // namespace gridtorrent::crypto
