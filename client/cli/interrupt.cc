#include "client/cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "common/check.h"
#include "common/codes.h"

namespace gridtorrent::client::cli {

namespace {

constexpr char kSignalled = 's';
constexpr char kEnded = 'e';

// What the signal handler may touch: the pipe of the living Interrupt, or -1, and whether a signal came already.
std::atomic<int> g_pipe{-1};
std::atomic<bool> g_signalled{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  const int saved = errno;
  const int pipe = g_pipe.load();
  if (pipe < 0 || g_signalled.exchange(true)) ::_exit(static_cast<int>(Exit::kCancelled));
  if (::write(pipe, &kSignalled, 1) != 1) ::_exit(static_cast<int>(Exit::kCancelled));
  errno = saved;
}

}  // namespace

void install_default_interrupt() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

Interrupt::Interrupt(std::optional<std::chrono::milliseconds> time_limit) {
  int ends[2] = {-1, -1};
  GT_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  g_signalled = false;
  GT_CHECK(g_pipe.exchange(write_end_.get()) == -1);
  thread_ = std::jthread([this, time_limit] { watch(time_limit); });
}

Interrupt::~Interrupt() {
  g_pipe = -1;
  GT_CHECK(::write(write_end_.get(), &kEnded, 1) == 1);
}

void Interrupt::watch(std::optional<std::chrono::milliseconds> time_limit) {
  ::pthread_setname_np(::pthread_self(), "cli-interrupt");
  const auto deadline = std::chrono::steady_clock::now() + time_limit.value_or(std::chrono::milliseconds(0));
  for (;;) {
    int timeout_ms = -1;
    if (time_limit && !stopped()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    }
    pollfd waiting{read_end_.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, timeout_ms);
    char what = kEnded;
    if (ready > 0 && ::read(read_end_.get(), &what, 1) == 1 && what == kEnded) return;
    if (ready < 0) continue;
    if (ready == 0 && std::chrono::steady_clock::now() < deadline) continue;
    {
      const std::lock_guard lock(mutex_);
      timed_out_ = ready == 0;
    }
    stop_.request_stop();
    changed_.notify_all();
  }
}

bool Interrupt::timed_out() const {
  const std::lock_guard lock(mutex_);
  return timed_out_;
}

bool Interrupt::wait_for(std::chrono::milliseconds duration) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop_.get_token(), duration, [this] { return stopped(); });
  return stopped();
}

}  // namespace gridtorrent::client::cli
