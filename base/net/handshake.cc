#include "base/net/handshake.h"

#include <sys/epoll.h>

#include <utility>

namespace gridtorrent::net {

using Step = crypto::TlsSession::Step;

Next Handshake::begin() {
  began_ = now();
  return watch(0, caller_.socket.get(), EPOLLIN) ? Next::kWait : Next::kOver;
}

Next Handshake::ready(unsigned, std::uint32_t) {
  if (!tls_) {
    auto session = parts_.tls()->session(caller_.socket.get());
    if (!session) return refuse("tls");
    tls_ = std::move(*session);
  }
  switch (tls_->shake_hands()) {
    case Step::kDone:
      break;
    case Step::kWantsRead:
      return watch(0, caller_.socket.get(), EPOLLIN) ? Next::kWait : Next::kOver;
    case Step::kWantsWrite:
      return watch(0, caller_.socket.get(), EPOLLOUT) ? Next::kWait : Next::kOver;
    default:
      return refuse("tls");
  }
  if (tls_->protocol() != parts_.protocol) return refuse("alpn");
  unwatch(0, caller_.socket.get());
  parts_.done(std::move(caller_), std::move(*tls_));
  return Next::kOver;
}

Next Handshake::tick(MonoTime now) {
  return now - began_ > parts_.time ? refuse("handshake_time") : Next::kWait;
}

Next Handshake::refuse(Reason reason) {
  parts_.refused(reason, caller_.address);
  return Next::kOver;
}

}  // namespace gridtorrent::net
