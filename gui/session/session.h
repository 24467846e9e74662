#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <string>
#include <utility>

#include "common/clock.h"
#include "gui/session/asking.h"
#include "gui/session/retry.h"

namespace gridtorrent::gui {

/// One other side, for as long as the window lives: opens a connection, asks each 2 s how it is, tells silence, and
/// tries again where the connection breaks. What a connection is, and what is asked on it, is the part of who derives
/// from this. GUI thread only; nothing here waits. The pool, which opens connections and closes them, must outlive it.
class Session : public QObject {
  Q_OBJECT

 public:
  void start();
  /// At once, where it is waiting for the next attempt.
  virtual void retry();
  /// One second has gone; the timer that `start` begins calls this.
  void second();

  const Link& link() const { return attempts_.link(); }
  /// Why it does not answer, in the words of the error; empty: it does, or it was never there.
  const std::string& problem() const { return problem_; }

 Q_SIGNALS:
  /// Link, problem, or what it says about itself are others than before.
  void changed();
  /// It answers, for the first time or again.
  void connected();
  /// The connection ends: nothing may be asked on it any more.
  void lost();

 protected:
  Session(QThreadPool& pool, const Clock& clock, QObject* parent);

  virtual bool is_open() const = 0;
  /// Begins to open a connection, by `opening_`; then `ask_state`, or `fail`.
  virtual void begin_opening() = 0;
  /// Asks how it is, by `asking_state_`; then `answered`, or `fail`.
  virtual void ask_state() = 0;
  /// Ends the connection, if there is one. What is to be answered on it is answered with `why`.
  virtual void close(const Error& why) = 0;
  /// A second has gone on an open connection.
  virtual void on_second() {}

  void open();
  void answered();
  /// Closes. `absent`: where it never answered, it may be that there is none.
  void fail(const Error& error, bool absent);
  /// There is nobody to connect to; looked for again after the pause.
  void be_absent();
  /// Ending a connection waits for what runs on it, which the GUI thread must not.
  template <class Api>
  void end(std::shared_ptr<Api> api) {
    if (api) pool_.start([api = std::move(api)]() mutable { api.reset(); });
  }

  QThreadPool& pool_;
  const Clock& clock_;
  Asking opening_, asking_state_;

 private:
  QTimer timer_;
  Attempts attempts_;
  std::string problem_;
  MonoTime answered_{};
  std::int64_t answered_ms_ = 0;
};

}  // namespace gridtorrent::gui
