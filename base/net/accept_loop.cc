#include "base/net/accept_loop.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "common/check.h"

namespace gridtorrent::net {
namespace {

constexpr std::chrono::milliseconds kSecond{1000};
constexpr int kPauseMs = 100;
// One to accept with; the others in case that another thread takes what was given up.
constexpr std::size_t kReserve = 4;
constexpr int kAcceptsInARow = 64;  // then each_second() and the stop request are looked at
// Data that stays unacknowledged so long: the path or the caller is dead. gRPC's own sockets had the same.
constexpr unsigned kDeadAfterMs = 20'000;

void set_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadAfterMs, sizeof kDeadAfterMs);
}

}  // namespace

AcceptFailure on_accept_failure(int error_number) {
  switch (error_number) {
    case EAGAIN:
      return AcceptFailure::kWait;
    case EMFILE:
    case ENFILE:
      return AcceptFailure::kUseReserve;
    case ENOBUFS:
    case ENOMEM:
      return AcceptFailure::kPause;
    default:  // accept(2): errors of the network are those of the connection that would have come
      return AcceptFailure::kTryNext;
  }
}

AcceptLoop::AcceptLoop(Listening listening, Parts parts)
    : listening_(std::move(listening)), parts_(std::move(parts)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  GT_CHECK(wake_);
  refill_reserve();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "net-accept");
}

AcceptLoop::~AcceptLoop() {
  stop();
}

void AcceptLoop::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  thread_.join();
  listening_.sockets.clear();
  reserve_.clear();
}

void AcceptLoop::run(const std::stop_token& stop) {
  std::vector<pollfd> waits;
  for (const UniqueFd& socket : listening_.sockets) waits.push_back({socket.get(), POLLIN, 0});
  waits.push_back({wake_.get(), POLLIN, 0});
  auto last = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    ::poll(waits.data(), waits.size(), static_cast<int>(kSecond.count()));
    for (std::size_t i = 0; i + 1 < waits.size() && !stop.stop_requested(); ++i) {
      if ((waits[i].revents & POLLIN) != 0) accept_from(waits[i].fd);
    }
    if (std::chrono::steady_clock::now() - last < kSecond) continue;
    last = std::chrono::steady_clock::now();
    refill_reserve();
    parts_.each_second();
  }
}

void AcceptLoop::accept_from(int listener) {
  for (int i = 0; i < kAcceptsInARow; ++i) {
    if (accept_one(listener)) continue;
    switch (on_accept_failure(errno)) {
      case AcceptFailure::kTryNext:
        break;
      case AcceptFailure::kUseReserve:
        if (refuse_with_reserve(listener)) break;
        [[fallthrough]];  // another thread was faster
      case AcceptFailure::kPause:
        ::poll(nullptr, 0, kPauseMs);
        return;
      case AcceptFailure::kWait:
        return;
    }
  }
}

/// False: accept(2) failed, errno says why.
bool AcceptLoop::accept_one(int listener) {
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  UniqueFd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return false;
  Caller caller{std::move(socket), peer_address(from), {}};
  auto place = parts_.limits.take(address_bucket(caller.address.ip));
  if (!place) {
    parts_.refused(place.error().message == "all" ? kFullInAll : kFullByAddress, caller.address);
    return true;
  }
  caller.place = std::move(*place);
  set_options(caller.socket.get());
  parts_.accepted(std::move(caller));
  return true;
}

/// False: none was left in reserve, or somebody else took it.
bool AcceptLoop::refuse_with_reserve(int listener) {
  if (!reserve_.empty()) reserve_.pop_back();
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  UniqueFd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool accepted = static_cast<bool>(socket);
  socket.reset();
  refill_reserve();
  if (accepted) parts_.refused(kNoDescriptor, peer_address(from));
  return accepted;
}

void AcceptLoop::refill_reserve() {
  while (reserve_.size() < kReserve) {
    UniqueFd spare(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!spare) return;
    reserve_.push_back(std::move(spare));
  }
}

}  // namespace gridtorrent::net
