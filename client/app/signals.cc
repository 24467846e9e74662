#include "client/app/signals.h"

#include <csignal>
#include <ctime>

namespace gridtorrent::client::app {
namespace {

sigset_t ours() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

void block_signals() {
  const sigset_t set = ours();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

std::optional<Signal> wait_for_signal(std::chrono::milliseconds timeout) {
  const sigset_t set = ours();
  int number = -1;
  if (timeout.count() < 0) {
    if (::sigwait(&set, &number) != 0) return std::nullopt;
  } else {
    const timespec limit{static_cast<std::time_t>(timeout.count() / 1000),
                         static_cast<long>(timeout.count() % 1000) * 1'000'000};
    number = ::sigtimedwait(&set, nullptr, &limit);
    if (number < 0) return std::nullopt;
  }
  return number == SIGHUP ? Signal::kReload : Signal::kEnd;
}

}  // namespace gridtorrent::client::app
