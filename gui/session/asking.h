#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "client/api/call/call.h"

namespace gridtorrent::gui {

/// Brings work of other threads to the GUI thread, by its event loop. What was posted and has not run when it is closed
/// never runs. Made, closed and destroyed on the GUI thread; `post` from any thread.
class Mailbox {
 public:
  Mailbox() : target_(new QObject) {}
  ~Mailbox() { close(); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void post(std::function<void()> work);
  /// May be called by posted work.
  void close();

 private:
  std::mutex mutex_;
  QObject* target_;
};

/// One question at a time, whose answers arrive on the GUI thread. Another question, `cancel` and destruction end the
/// one before: nothing of it arrives any more, not even what has come in already. GUI thread only.
class Asking {
 public:
  Asking() = default;
  ~Asking() { cancel(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  void cancel();
  /// Ends a call or a stream, if there is one, and answers it with this.
  void fail(const Error& error);
  /// Whether an answer is to come.
  bool waits() const { return waits_; }

  /// `begin` makes the call with the answer that it is given.
  template <class T>
  void call(const std::function<client::api::Call(client::api::Answer<T>)>& begin,
            std::function<void(Result<T>)> done) {
    const auto box = renew();
    failed_ = [done](const Error& error) { done(error); };
    call_ = begin(answer_for<T>(box, ended_first(std::function<void(Result<T>)>(std::move(done)))));
  }

  /// The same for a stream. Its events are copied.
  template <class Event>
  void watch(const std::function<client::api::Call(std::function<bool(const Event&)>, client::api::Ended)>& begin,
             std::function<void(const Event&)> on_event, std::function<void(Status)> on_end) {
    const auto box = renew();
    failed_ = [on_end](const Error& error) { on_end(error); };
    call_ = begin(
        [box, on_event = std::move(on_event)](const Event& event) {
          box->post([on_event, event] { on_event(event); });
          return true;
        },
        answer_for<void>(box, ended_first(std::move(on_end))));
  }

  /// Runs `work`, which may wait for disks and connections, in the pool. It goes on where it is cancelled.
  template <class T>
  void run(QThreadPool& pool, std::function<T()> work, std::function<void(T)> done) {
    pool.start([box = renew(), work = std::move(work), done = ended_first(std::move(done))] {
      const auto result = std::make_shared<T>(work());
      box->post([result, done] { done(std::move(*result)); });
    });
  }

 private:
  std::shared_ptr<Mailbox> renew();

  /// `done` may ask the next question, or destroy this.
  template <class T>
  std::function<void(T)> ended_first(std::function<void(T)> done) {
    return [this, done = std::move(done)](T answer) {
      waits_ = false;
      failed_ = nullptr;
      done(std::move(answer));
    };
  }

  template <class T>
  static client::api::Answer<T> answer_for(const std::shared_ptr<Mailbox>& box, std::function<void(Result<T>)> done) {
    return [box, done = std::move(done)](Result<T> answer) {
      const auto kept = std::make_shared<Result<T>>(std::move(answer));
      box->post([kept, done] { done(std::move(*kept)); });
    };
  }

  std::shared_ptr<Mailbox> box_;
  client::api::Call call_;
  bool waits_ = false;
  std::function<void(const Error&)> failed_;
};

/// Several questions at a time, none of which ends another; destruction ends all. GUI thread only.
class Askings {
 public:
  template <class T>
  void call(const std::function<client::api::Call(client::api::Answer<T>)>& begin,
            std::function<void(Result<T>)> done) {
    const auto place = all_.emplace(all_.end());
    place->call<T>(begin, [this, place, done = std::move(done)](Result<T> answer) {
      all_.erase(place);
      done(std::move(answer));
    });
  }
  void cancel() { all_.clear(); }
  /// Ends and answers all of them with this.
  void fail(const Error& error) {
    const std::size_t waiting = all_.size();  // an answer may ask anew
    for (std::size_t i = 0; i < waiting && !all_.empty(); ++i) all_.front().fail(error);
  }

 private:
  std::list<Asking> all_;
};

}  // namespace gridtorrent::gui
