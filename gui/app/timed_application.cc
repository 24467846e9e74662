#include "gui/app/timed_application.h"

#include <QThread>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <utility>

namespace gridtorrent::gui {

namespace {

constexpr std::int64_t kStepNs = 100'000;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

TimedApplication::TimedApplication(int& argc, char** argv, std::string file)
    : QApplication(argc, argv), file_(std::move(file)) {}

TimedApplication::~TimedApplication() {
  std::ofstream out(file_);
  out << "first-paint-ns " << first_paint_ns_ << "\nfirst-answer-ns " << first_answer_ns_ << '\n';
  for (std::size_t step = 0; step < kSteps; ++step)
    if (by_cpu_[step] > 0) out << "events " << step << ' ' << by_cpu_[step] << '\n';
  for (const Event& event : slow_)
    out << "slow " << event.began_ns << ' ' << event.cpu_ns << ' ' << event.wall_ns << ' ' << event.receiver << ' '
        << event.type << '\n';
  if (!out.flush()) std::fprintf(stderr, "gridtorrent-gui: %s was not written\n", file_.c_str());
}

bool TimedApplication::notify(QObject* receiver, QEvent* event) {
  // Qt's own threads have events, too.
  if (QThread::currentThread() != thread()) return QApplication::notify(receiver, event);
  if (event->type() == QEvent::Paint) paints_ = true;
  if (inside_) return QApplication::notify(receiver, event);
  inside_ = true;
  Event timed{.began_ns = now_ns(CLOCK_MONOTONIC),
              .cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID),
              .wall_ns = 0,
              .receiver = receiver->metaObject()->className(),  // it may delete itself
              .type = event->type()};
  const bool handled = QApplication::notify(receiver, event);
  const std::int64_t now = now_ns(CLOCK_MONOTONIC);
  timed.cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - timed.cpu_ns;
  timed.wall_ns = now - timed.began_ns;
  add(timed);
  follow_start(now);
  inside_ = false;
  return handled;
}

void TimedApplication::add(const Event& event) {
  ++by_cpu_[std::min(kSteps - 1, static_cast<std::size_t>(event.cpu_ns / kStepNs))];
  if (std::max(event.cpu_ns, event.wall_ns) >= kSlowNs && slow_.size() < kMostSlow) slow_.push_back(event);
}

/// It can be used once it answers to what comes after its first picture.
void TimedApplication::follow_start(std::int64_t now_ns) {
  if (first_paint_ns_ > 0 || !paints_) return;
  first_paint_ns_ = now_ns;
  QMetaObject::invokeMethod(this, [this] { first_answer_ns_ = gui::now_ns(CLOCK_MONOTONIC); }, Qt::QueuedConnection);
}

}  // namespace gridtorrent::gui
