#include "gui/session/session.h"

namespace gridtorrent::gui {

Session::Session(QThreadPool& pool, const Clock& clock, QObject* parent) : QObject(parent), pool_(pool), clock_(clock) {
  connect(&timer_, &QTimer::timeout, this, &Session::second);
}

void Session::start() {
  timer_.start(std::chrono::seconds(1));
  open();
}

void Session::retry() {
  if (!is_open() && !opening_.waits()) open();
}

void Session::second() {
  if (!is_open()) {
    if (attempts_.second() && !opening_.waits()) open();
    Q_EMIT changed();
    return;
  }
  const auto since = clock_.mono() - answered_;
  if (asking_state_.waits() && since >= kSilence && link().state == LinkState::kConnected) {
    attempts_.silent(answered_ms_);
    Q_EMIT changed();
  }
  if (!asking_state_.waits() && since >= kAskEach) ask_state();
  on_second();
}

void Session::open() {
  attempts_.begin();
  begin_opening();
  Q_EMIT changed();
}

void Session::answered() {
  const bool again = link().state != LinkState::kConnected;
  answered_ = clock_.mono();
  answered_ms_ = clock_.wall().ms;
  problem_.clear();
  attempts_.answered(answered_ms_);
  Q_EMIT changed();
  if (again) Q_EMIT connected();
}

void Session::fail(const Error& error, bool absent) {
  problem_ = error.message;
  attempts_.failed(clock_.wall().ms, absent);
  asking_state_.cancel();
  if (is_open()) Q_EMIT lost();
  close(error);
  Q_EMIT changed();
}

void Session::be_absent() {
  problem_.clear();
  attempts_ = {};
  attempts_.failed(clock_.wall().ms, true);
  Q_EMIT changed();
}

}  // namespace gridtorrent::gui
