#include "gui/app/end_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QSocketNotifier>
#include <array>
#include <cerrno>
#include <csignal>

namespace gridtorrent::gui {

namespace {

constexpr std::array kSignals = {SIGTERM, SIGINT, SIGHUP};
std::array<int, 2> pipe_ends = {-1, -1};

/// A handler may do no more than write.
void note_signal(int) {
  const int error_number = errno;
  [[maybe_unused]] const auto written = ::write(pipe_ends[1], "", 1);
  errno = error_number;
}

}  // namespace

EndSignals::EndSignals() {
  if (::pipe2(pipe_ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;  // they end the program as they did
  auto* notifier = new QSocketNotifier(pipe_ends[0], QSocketNotifier::Read, this);
  connect(notifier, &QSocketNotifier::activated, this, [notifier] {
    notifier->setEnabled(false);
    QCoreApplication::exit(0);  // quit() would ask each window first
  });
  struct sigaction action{};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (const int signal : kSignals) ::sigaction(signal, &action, nullptr);
}

EndSignals::~EndSignals() {
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  for (int& end : pipe_ends) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

}  // namespace gridtorrent::gui
