#include "base/crypto/tls_probe.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>

#include "common/text.h"
#include "common/unique_fd.h"

namespace gridtorrent::crypto {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Deleter<Free>>;

Status wait_ready(int fd, short events, std::chrono::milliseconds timeout) {
  pollfd wait{fd, events, 0};
  const int ready = ::poll(&wait, 1, static_cast<int>(timeout.count()));
  if (ready > 0) return {};
  return Error{Code::kUnreachable, ready == 0 ? "it does not answer" : errno_text(errno)};
}

Result<UniqueFd> connect_one(const addrinfo& address, std::chrono::milliseconds timeout) {
  UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return Error{Code::kUnreachable, errno_text(errno)};
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS) return Error{Code::kUnreachable, errno_text(errno)};
  GT_TRY(wait_ready(fd.get(), POLLOUT, timeout));
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return Error{Code::kUnreachable, errno_text(error)};
  return fd;
}

Result<UniqueFd> connect_any(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) return Error{Code::kUnreachable, "no such host (" + std::string(::gai_strerror(failed)) + ")"};
  const Owned<addrinfo, &::freeaddrinfo> owner(found);
  Error last{Code::kUnreachable, "it has no address"};
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    auto fd = connect_one(*one, timeout);
    if (fd) return fd;
    last = fd.error();
  }
  return last;
}

WallTime to_wall(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  return {static_cast<std::int64_t>(::timegm(&parts)) * 1000};
}

void read_names(X509& certificate, std::vector<std::string>& names) {
  auto* raw = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  const Owned<GENERAL_NAMES, &GENERAL_NAMES_free> owner(raw);
  for (int i = 0; raw != nullptr && i < sk_GENERAL_NAME_num(raw); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(raw, i);
    if (name->type == GEN_DNS) {
      const auto size = static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName));
      names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)), size);
    } else if (name->type == GEN_IPADD) {
      char text[INET6_ADDRSTRLEN] = {};
      const int family = ASN1_STRING_length(name->d.iPAddress) == 4 ? AF_INET : AF_INET6;
      if (::inet_ntop(family, ASN1_STRING_get0_data(name->d.iPAddress), text, sizeof text) != nullptr) {
        names.emplace_back(text);
      }
    }
  }
}

bool matches(X509& certificate, const std::string& host) {
  return X509_check_ip_asc(&certificate, host.c_str(), 0) == 1 ||
         X509_check_host(&certificate, host.c_str(), host.size(), 0, nullptr) == 1;
}

/// Whether a CA of the context signed the certificate, looking at neither dates nor names.
bool chain_trusted(SSL_CTX& context, X509& certificate, STACK_OF(X509) * chain) {
  const Owned<X509_STORE_CTX, &X509_STORE_CTX_free> verify(X509_STORE_CTX_new());
  if (!verify) return false;
  if (X509_STORE_CTX_init(verify.get(), SSL_CTX_get_cert_store(&context), &certificate, chain) != 1) return false;
  X509_VERIFY_PARAM_set_flags(X509_STORE_CTX_get0_param(verify.get()), X509_V_FLAG_NO_CHECK_TIME);
  return X509_verify_cert(verify.get()) == 1;
}

Status shake_hands(SSL& tls, int fd, std::chrono::milliseconds timeout) {
  for (;;) {
    const int done = SSL_connect(&tls);
    if (done == 1) return {};
    const int why = SSL_get_error(&tls, done);
    if (why == SSL_ERROR_WANT_READ) {
      GT_TRY(wait_ready(fd, POLLIN, timeout));
    } else if (why == SSL_ERROR_WANT_WRITE) {
      GT_TRY(wait_ready(fd, POLLOUT, timeout));
    } else {
      ERR_clear_error();
      return Error{Code::kUnsupported, "what answers there speaks no TLS"};
    }
  }
}

struct Session {
  UniqueFd fd;
  Owned<SSL, &SSL_free> tls;
};

/// Whoever it is: nothing is verified.
Result<Session> shake_hands_with(const std::string& host, std::uint16_t port, SSL_CTX& context,
                                 std::chrono::milliseconds timeout) {
  SSL_CTX_set_verify(&context, SSL_VERIFY_NONE, nullptr);
  Session session;
  GT_ASSIGN(session.fd, connect_any(host, port, timeout));
  session.tls.reset(SSL_new(&context));
  static constexpr unsigned char kAlpn[] = {2, 'h', '2'};
  SSL* const tls = session.tls.get();
  if (tls == nullptr || SSL_set_fd(tls, session.fd.get()) != 1 || SSL_set_alpn_protos(tls, kAlpn, sizeof kAlpn) != 0) {
    return Error{Code::kInternal, "OpenSSL gave no TLS connection"};
  }
  // SSL_set_tlsext_host_name without its old-style cast; OpenSSL copies the name.
  SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str()));
  GT_TRY(shake_hands(*tls, session.fd.get(), timeout));
  return session;
}

}  // namespace

Result<TlsProbe> probe_tls(const std::string& host, std::uint16_t port, const std::string& ca_file,
                           std::chrono::milliseconds timeout) {
  const Owned<SSL_CTX, &SSL_CTX_free> context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Error{Code::kInternal, "OpenSSL gave no TLS context"};
  if (SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr) != 1) {
    ERR_clear_error();
    return Error{Code::kInvalid, escape_for_display(ca_file) + " holds no certificate in PEM form"};
  }
  GT_ASSIGN(const Session session, shake_hands_with(host, port, *context, timeout));
  const Owned<X509, &X509_free> certificate(SSL_get1_peer_certificate(session.tls.get()));
  if (!certificate) return Error{Code::kUnsupported, "what answers there shows no certificate"};
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(session.tls.get());
  TlsProbe probe;
  probe.chain_trusted = chain_trusted(*context, *certificate, chain);
  probe.name_matches = matches(*certificate, host);
  probe.not_before = to_wall(X509_get0_notBefore(certificate.get()));
  probe.not_after = to_wall(X509_get0_notAfter(certificate.get()));
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
    const X509* one = sk_X509_value(chain, i);
    probe.not_before = std::max(probe.not_before, to_wall(X509_get0_notBefore(one)));
    probe.not_after = std::min(probe.not_after, to_wall(X509_get0_notAfter(one)));
  }
  read_names(*certificate, probe.names);
  ERR_clear_error();
  return probe;
}

Result<std::string> shown_authority(const std::string& host, std::uint16_t port, std::chrono::milliseconds timeout) {
  const Owned<SSL_CTX, &SSL_CTX_free> context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Error{Code::kInternal, "OpenSSL gave no TLS context"};
  GT_ASSIGN(const Session session, shake_hands_with(host, port, *context, timeout));
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(session.tls.get());
  X509* const last = chain == nullptr ? nullptr : sk_X509_value(chain, sk_X509_num(chain) - 1);
  if (last == nullptr || X509_self_signed(last, 1) != 1) {
    ERR_clear_error();
    return Error{Code::kUnsupported, "what answers there does not show its certificate authority"};
  }
  const Owned<BIO, &BIO_free_all> text(BIO_new(BIO_s_mem()));
  if (!text || PEM_write_bio_X509(text.get(), last) != 1) {
    return Error{Code::kInternal, "OpenSSL could not write a certificate"};
  }
  char* data = nullptr;
  const long size = BIO_get_mem_data(text.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

}  // namespace gridtorrent::crypto
