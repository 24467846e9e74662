#include "base/net/pump.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/hex.h"

namespace gridtorrent::net {
namespace {

constexpr unsigned kCallerSlot = 0, kBackendSlot = 1;
// A refused caller hears of it so much later. 100 connections that flooded and came again at once made the server begin
// 325 a second, and calls of others took up to 60 ms (p99); now 50 a second and 8 ms (bench/hold.py).
constexpr std::chrono::seconds kLinger{1};
constexpr std::chrono::seconds kReadingTime{1};  // to closing, in which the caller may read why
constexpr int kLingerReceiveBytes = 4096;
// The backend is gone, and the caller does not take the rest.
constexpr std::chrono::seconds kFlushTime{10};

using Step = crypto::TlsSession::Step;

}  // namespace

Pump::Pump(Caller caller, crypto::TlsSession tls, const PumpParts& parts)
    : parts_(parts), caller_(std::move(caller)), tls_(std::move(tls)) {}

Next Pump::begin() {
  // A task may be gone when the call arrives, and so may be its loop's turn: hence the id.
  EventLoop& its_loop = loop();
  const std::uint64_t its_id = id();
  const EndConnection end = [&its_loop, its_id](Reason reason) {
    its_loop.post([&its_loop, its_id, reason] {
      auto* pump = static_cast<Pump*>(its_loop.find(its_id));
      if (pump != nullptr) pump->refuse(reason);
    });
  };
  filter_ = parts_.make_filter(caller_.address, end, now());
  caller_.stranger->on_evicted([end] { end(kStrangers); });
  return move();
}

Next Pump::ready(unsigned slot, std::uint32_t events) {
  if (refused_at_) return Next::kWait;
  if (slot == kCallerSlot) {
    if ((events & EPOLLERR) != 0) return Next::kOver;
    if ((events & (EPOLLIN | EPOLLHUP)) != 0 || read_wants_write_) caller_readable_ = true;
    // Both directions are over: nothing can be delivered any more, and the event would come again for ever.
    if ((events & EPOLLHUP) != 0 && !caller_may_be_read()) return Next::kOver;
  } else {
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) backend_readable_ = true;
    if ((events & (EPOLLHUP | EPOLLERR)) != 0 && !backend_hung_up_) {
      backend_hung_up_ = true;
      unwatch(kBackendSlot, backend_.socket.get());  // epoll would tell so for ever; what is left is read at each turn
    }
  }
  return move();
}

Next Pump::tick(MonoTime now) {
  if (refused_at_) {
    if (now - *refused_at_ >= kLinger + kReadingTime) return Next::kOver;
    if (now - *refused_at_ >= kLinger && !std::exchange(said_farewell_, true)) say_farewell();
    return Next::kWait;
  }
  if (const auto reason = filter_->check_time(now)) {
    refuse(*reason);
    return over();
  }
  if (backend_ended_ && now - ended_since_ > kFlushTime) return Next::kOver;
  return Next::kWait;
}

void Pump::refuse(Reason reason) {
  if (std::exchange(refused_at_, now())) return;
  parts_.refused(reason, caller_.address);
  to_caller_ += filter_->farewell(reason);
  unwatch(kCallerSlot, caller_.socket.get());
  ::setsockopt(caller_.socket.get(), SOL_SOCKET, SO_RCVBUF, &kLingerReceiveBytes, sizeof kLingerReceiveBytes);
  unwatch(kBackendSlot, backend_.socket.get());
  backend_ = {};
  filter_.reset();
  std::string().swap(to_backend_);
  if (reason != kStrangers) return;
  // It did nothing wrong, and others wait for its place.
  caller_.stranger->leave();
  said_farewell_ = true;
  say_farewell();
}

/// As far as the socket takes it at once.
void Pump::say_farewell() {
  // Twice: the first may only finish what was begun.
  if (send_to_caller() == Go::kOn && !to_caller_.empty()) send_to_caller();
  tls_.close();
}

bool Pump::caller_may_be_read() const {
  return !caller_ended_ && to_backend_.empty();
}

bool Pump::backend_may_be_read() const {
  return backend_.socket && !backend_ended_ && to_caller_.empty();
}

Next Pump::move() {
  if (move_from_caller() == Go::kOver || move_from_backend() == Go::kOver) return over();
  caller_.stranger->set_busy(filter_->is_busy());
  // One turn each way; others come before the next.
  const bool more = (caller_may_be_read() && !read_wants_write_ && (caller_readable_ || records_wait_)) ||
                    (backend_may_be_read() && (backend_readable_ || backend_hung_up_));
  if (backend_ended_ && to_caller_.empty()) {
    tls_.close();
    return Next::kOver;
  }
  if (!watch_both()) return Next::kOver;
  return more ? Next::kAgain : Next::kWait;
}

Pump::Go Pump::move_from_caller() {
  if (send_to_backend() == Go::kOver) return Go::kOver;
  if (caller_may_be_read() && (caller_readable_ || records_wait_)) {
    const std::span<std::uint8_t> room = loop().scratch();
    const std::size_t count = read_records(room);
    if (count > 0 && take_from_caller(room.first(count)) == Go::kOver) return Go::kOver;
  }
  if (caller_ended_ && to_backend_.empty() && !told_backend_) {
    if (!backend_.socket) return Go::kOver;  // it left before it said anything
    told_backend_ = true;
    ::shutdown(backend_.socket.get(), SHUT_WR);
  }
  return Go::kOn;
}

/// As many TLS records as wait here and fit. epoll tells when more comes, but not of what waits within TLS. There may
/// be a part of a record only: has_pending() counts that too, and to try again before the rest comes would be a busy
/// loop.
std::size_t Pump::read_records(std::span<std::uint8_t> into) {
  std::size_t have = 0;
  caller_readable_ = false;
  read_wants_write_ = false;
  records_wait_ = false;
  do {
    const crypto::TlsSession::Moved moved = tls_.read(into.subspan(have));
    if (moved.step == Step::kDone) {
      have += moved.bytes;
      continue;
    }
    read_wants_write_ = moved.step == Step::kWantsWrite;
    caller_ended_ = moved.step == Step::kEnded || moved.step == Step::kFailed;
    return have;
  } while (have < into.size() && tls_.has_pending());
  records_wait_ = tls_.has_pending();
  return have;
}

Pump::Go Pump::take_from_caller(std::span<const std::uint8_t> bytes) {
  if (const auto reason = filter_->from_caller(bytes, now())) {
    refuse(*reason);
    return Go::kOver;
  }
  if (!backend_.socket && open_backend() == Go::kOver) return Go::kOver;
  if (backend_ended_) return Go::kOn;  // nobody is left to read it
  const ssize_t sent = ::send(backend_.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && errno != EAGAIN && errno != EINTR) {
    caller_ended_ = true;  // what the backend still has to say is read and passed on
    told_backend_ = true;
    return Go::kOn;
  }
  to_backend_.assign(as_chars(bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)))));
  return Go::kOn;
}

Pump::Go Pump::open_backend() {
  const std::weak_ptr<StrangerPlaces::Place> stranger = caller_.stranger;
  auto opened = parts_.open_backend(caller_.address, [stranger] {
    if (const auto place = stranger.lock()) place->leave();
  });
  if (!opened) {
    refuse("backend");
    return Go::kOver;
  }
  backend_ = std::move(*opened);
  return watch(kBackendSlot, backend_.socket.get(), EPOLLIN) ? Go::kOn : Go::kOver;
}

Pump::Go Pump::send_to_backend() {
  if (to_backend_.empty()) return Go::kOn;
  const ssize_t sent =
      ::send(backend_.socket.get(), to_backend_.data(), to_backend_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EAGAIN || errno == EINTR) return Go::kOn;
    caller_ended_ = told_backend_ = true;
    std::string().swap(to_backend_);
    return Go::kOn;
  }
  to_backend_.erase(0, static_cast<std::size_t>(sent));
  if (to_backend_.empty()) std::string().swap(to_backend_);
  return Go::kOn;
}

Pump::Go Pump::move_from_backend() {
  if (send_to_caller() == Go::kOver) return Go::kOver;
  if (!backend_may_be_read() || !(backend_readable_ || backend_hung_up_)) return Go::kOn;
  const std::span<std::uint8_t> room = loop().scratch();
  const ssize_t count = ::recv(backend_.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
  // A full read: there may be more. Otherwise epoll tells.
  backend_readable_ = count == static_cast<ssize_t>(room.size());
  if (count > 0) return take_from_backend(room.first(static_cast<std::size_t>(count)));
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Go::kOn;
  backend_ended_ = true;
  ended_since_ = now();
  return Go::kOn;
}

Pump::Go Pump::take_from_backend(std::span<const std::uint8_t> bytes) {
  if (const auto reason = filter_->from_server(bytes, now())) {
    refuse(*reason);
    return Go::kOver;
  }
  while (!bytes.empty()) {
    const crypto::TlsSession::Moved moved = tls_.write(bytes);
    if (moved.step == Step::kFailed || moved.step == Step::kEnded) return Go::kOver;
    if (moved.step != Step::kDone) break;
    bytes = bytes.subspan(moved.bytes);
  }
  to_caller_.assign(as_chars(bytes));
  return Go::kOn;
}

Pump::Go Pump::send_to_caller() {
  std::size_t sent = 0;
  while (sent < to_caller_.size()) {
    const auto rest = as_bytes(std::string_view(to_caller_).substr(sent));
    const crypto::TlsSession::Moved moved = tls_.write(rest);
    if (moved.step == Step::kFailed || moved.step == Step::kEnded) return Go::kOver;
    if (moved.step != Step::kDone) break;
    sent += moved.bytes;
  }
  if (sent == 0) return Go::kOn;
  to_caller_.erase(0, sent);
  if (to_caller_.empty()) std::string().swap(to_caller_);
  return Go::kOn;
}

bool Pump::watch_both() {
  std::uint32_t caller = 0;
  if (caller_may_be_read() && !read_wants_write_) caller |= EPOLLIN;
  if (!to_caller_.empty() || read_wants_write_) caller |= EPOLLOUT;
  if (!watch(kCallerSlot, caller_.socket.get(), caller)) return false;
  if (!backend_.socket || backend_hung_up_) return true;
  std::uint32_t backend = 0;
  if (backend_may_be_read()) backend |= EPOLLIN;
  if (!to_backend_.empty()) backend |= EPOLLOUT;
  return watch(kBackendSlot, backend_.socket.get(), backend);
}

}  // namespace gridtorrent::net
