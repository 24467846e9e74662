#include "base/net/handshake.h"

#include <sys/epoll.h>

#include <utility>

namespace gridtorrent::net {

using Step = crypto::TlsSession::Step;

Handshake::~Handshake() {
  if (waiting_) parts_.strangers.forget(address_bucket(caller_.address.ip), in_line_);
}

Next Handshake::begin() {
  began_ = now();
  caller_.place.wait([&its_loop = loop(), its_id = id()] {
    its_loop.post([&its_loop, its_id] { refuse_later(its_loop, its_id, kFullInAll); });
  });
  return watch(0, caller_.socket.get(), EPOLLIN) ? Next::kWait : Next::kOver;
}

Next Handshake::ready(unsigned, std::uint32_t) {
  return caller_.stranger ? go_on() : ask_for_place();
}

/// At the caller's first bytes: who says nothing needs none.
Next Handshake::ask_for_place() {
  if (std::exchange(waiting_, true)) return Next::kWait;
  unwatch(0, caller_.socket.get());
  EventLoop& its_loop = loop();
  const std::uint64_t its_id = id();
  in_line_ = parts_.strangers.wait(address_bucket(caller_.address.ip), [&its_loop, its_id](const auto& place) {
    its_loop.post([&its_loop, its_id, place] {
      auto* handshake = static_cast<Handshake*>(its_loop.find(its_id));
      if (handshake != nullptr) handshake->admitted(place);
    });
  });
  return Next::kWait;
}

void Handshake::admitted(std::shared_ptr<StrangerPlaces::Place> place) {
  if (!caller_.place.stay()) return;  // it is being ended
  waiting_ = false;
  began_ = now();
  EventLoop& its_loop = loop();
  const std::uint64_t its_id = id();
  place->on_evicted(
      [&its_loop, its_id] { its_loop.post([&its_loop, its_id] { refuse_later(its_loop, its_id, kStrangers); }); });
  caller_.stranger = std::move(place);
  if (!watch(0, caller_.socket.get(), EPOLLIN)) its_loop.end(its_id);
}

void Handshake::refuse_later(EventLoop& loop, std::uint64_t id, Reason reason) {
  auto* handshake = static_cast<Handshake*>(loop.find(id));
  if (handshake == nullptr) return;
  handshake->refuse(reason);
  loop.end(id);
}

Next Handshake::go_on() {
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
  return now - began_ > (waiting_ ? parts_.waiting_time : parts_.time) ? refuse(kHandshakeTime) : Next::kWait;
}

Next Handshake::refuse(Reason reason) {
  parts_.refused(reason, caller_.address);
  return Next::kOver;
}

}  // namespace gridtorrent::net
