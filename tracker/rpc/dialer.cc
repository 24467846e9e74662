#include "tracker/rpc/dialer.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "common/check.h"

namespace gridtorrent::tracker::rpc {

namespace {

/// A connect that was begun; without a descriptor the verdict is in already (kUnknown: it could not be tried).
struct Begun {
  UniqueFd socket;
  Reachability verdict = Reachability::kUnknown;
};

Begun begin_connect(const Endpoint& endpoint) {
  sockaddr_storage address{};
  socklen_t size = 0;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
  if (inet_pton(AF_INET, endpoint.address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(endpoint.port);
    size = sizeof *v4;
  } else if (inet_pton(AF_INET6, endpoint.address.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(endpoint.port);
    size = sizeof *v6;
  } else {
    return {};
  }
  UniqueFd socket(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    return {UniqueFd(), Reachability::kReachable};
  }
  if (errno != EINPROGRESS) return {UniqueFd(), Reachability::kUnreachable};
  return {std::move(socket), Reachability::kUnknown};
}

bool is_connected(int socket) {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error_number, &size) == 0 && error_number == 0;
}

constexpr std::chrono::milliseconds kNothingToWaitFor{60'000};

}  // namespace

Dialer::Dialer(const Clock& clock, Options options)
    : clock_(clock),
      options_(std::move(options)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      turns_(options_.limits) {
  GT_CHECK(bell_);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "dial-back");
}

Dialer::~Dialer() {
  thread_.request_stop();
  ring();
  thread_.join();
  for (auto& [id, update] : updates_) update.done(std::move(update.endpoints));
}

void Dialer::judge(Request request, Done done) {
  const DialBackFacts facts{request.observed_address, own_addresses(), options_.allowed};
  std::vector<std::size_t> allowed;
  for (std::size_t i = 0; i < request.endpoints.size(); ++i) {
    request.endpoints[i].reachability = Reachability::kUnknown;
    if (may_dial_back(request.endpoints[i].endpoint, facts).dial) allowed.push_back(i);
  }
  const MonoTime now = clock_.mono();
  allowed.resize(std::min(allowed.size(), budget_.take(request.node, allowed.size(), now)));
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t id = last_update_ + 1;
    std::size_t open = 0;
    for (const std::size_t index : allowed) open += turns_.add(request.user, {id, index}, now) ? 1U : 0U;
    if (open > 0) {
      last_update_ = id;
      updates_[id] = {std::move(request.endpoints), open, std::move(done)};
      ring();
      return;
    }
  }
  done(std::move(request.endpoints));
}

void Dialer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    begin_next();
    wait();
    settle_attempts();
    give_up_waiting();
    call_finished();
  }
}

void Dialer::begin_next() {
  const std::lock_guard lock(mutex_);
  while (const auto turn = turns_.next()) {
    const Update& update = updates_.at(turn->dial.update);
    Begun begun = begin_connect(update.endpoints[turn->dial.endpoint].endpoint);
    if (begun.socket) {
      attempts_.push_back({*turn, std::move(begun.socket), clock_.mono() + options_.limits.timeout});
      continue;
    }
    settle(turn->dial, begun.verdict);
    turns_.ended(turn->user);
  }
}

void Dialer::wait() {
  std::vector<pollfd> waits;
  waits.reserve(attempts_.size() + 1);
  for (const Attempt& attempt : attempts_) waits.push_back({attempt.socket.get(), POLLOUT, 0});
  waits.push_back({bell_.get(), POLLIN, 0});
  const int ready = ::poll(waits.data(), waits.size(), static_cast<int>(time_left().count()));
  answered_.assign(attempts_.size(), false);
  if (ready <= 0) return;
  for (std::size_t i = 0; i < attempts_.size(); ++i) answered_[i] = waits[i].revents != 0;
  eventfd_t rings = 0;
  if (waits.back().revents != 0) ::eventfd_read(bell_.get(), &rings);
}

void Dialer::settle_attempts() {
  const MonoTime now = clock_.mono();
  const std::lock_guard lock(mutex_);
  std::vector<Attempt> open;
  for (std::size_t i = 0; i < attempts_.size(); ++i) {
    Attempt& attempt = attempts_[i];
    if (!answered_[i] && attempt.until > now) {
      open.push_back(std::move(attempt));
      continue;
    }
    const bool connected = answered_[i] && is_connected(attempt.socket.get());
    settle(attempt.turn.dial, connected ? Reachability::kReachable : Reachability::kUnreachable);
    turns_.ended(attempt.turn.user);
  }
  attempts_ = std::move(open);
}

void Dialer::give_up_waiting() {
  const std::lock_guard lock(mutex_);
  for (const Dial& dial : turns_.expire(clock_.mono())) settle(dial, Reachability::kUnknown);
}

void Dialer::settle(const Dial& dial, Reachability verdict) {
  const auto update = updates_.find(dial.update);
  GT_CHECK(update != updates_.end());
  update->second.endpoints[dial.endpoint].reachability = verdict;
  if (--update->second.open > 0) return;
  finished_.push_back(std::move(update->second));
  updates_.erase(update);
}

void Dialer::call_finished() {
  std::vector<Update> finished;
  {
    const std::lock_guard lock(mutex_);
    finished.swap(finished_);
  }
  for (Update& update : finished) update.done(std::move(update.endpoints));
}

std::chrono::milliseconds Dialer::time_left() const {
  const MonoTime now = clock_.mono();
  const std::lock_guard lock(mutex_);
  if (!finished_.empty()) return std::chrono::milliseconds(0);  // dials that needed no waiting
  MonoTime until = turns_.next_expiry().value_or(now + kNothingToWaitFor);
  for (const Attempt& attempt : attempts_) until = std::min(until, attempt.until);
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(until - now), std::chrono::milliseconds(0));
}

void Dialer::ring() const {
  ::eventfd_write(bell_.get(), 1);  // full is rung enough
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const ifaddrs* it = list; it != nullptr; it = it->ifa_next) {
    if (it->ifa_addr == nullptr) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = it->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(it->ifa_addr)->sin_addr;
    if (family == AF_INET6) address = &reinterpret_cast<const sockaddr_in6*>(it->ifa_addr)->sin6_addr;
    if (address != nullptr && inet_ntop(family, address, text.data(), text.size()) != nullptr)
      out.emplace_back(text.data());
  }
  return out;
}

}  // namespace gridtorrent::tracker::rpc
