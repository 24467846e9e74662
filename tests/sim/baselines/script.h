#pragma once

#include <algorithm>
#include <coroutine>
#include <exception>
#include <functional>
#include <utility>

#include "client/plan/controller.h"

/// Published tuners, for comparison in simulation only. Each is a coroutine that holds one setting after another and
/// is told what each brought.
namespace gridtorrent::sim {

/// GridFTP's terms: so many channels of so many streams each. Channels are dealt to the seeders in turn.
struct Setting {
  int channels = 1, streams = 1;
};

/// What held while a setting did.
struct Brought {
  double bits_per_s = 0;
  double resent = 0;  ///< part of the bytes that were sent again
};

class Script {
 public:
  struct promise_type {
    Setting setting{};
    double settle_s = 0, hold_s = 0;
    Brought brought{};

    Script get_return_object() { return Script(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit Script(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Script(Script&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  Script& operator=(Script&&) = delete;
  ~Script() {
    if (handle_) handle_.destroy();
  }
  promise_type& promise() const { return handle_.promise(); }
  /// A script that has ended holds its last setting for ever.
  bool ended() const { return handle_.done(); }
  void resume() const { handle_.resume(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// `co_await hold(setting, 10)`: what it brought in ten seconds, those of `settle` before these not counted.
struct Hold {
  Setting setting;
  double seconds, settle;
  Script::promise_type* promise = nullptr;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<Script::promise_type> script) {
    promise = &script.promise();
    promise->setting = setting;
    promise->hold_s = seconds;
    promise->settle_s = settle;
  }
  Brought await_resume() const { return promise->brought; }
};
inline Hold hold(Setting setting, double seconds, double settle = 0) {
  return {setting, seconds, settle};
}

/// Plays a script as a controller.
class ScriptController final : public client::TransferController {
 public:
  explicit ScriptController(Script script) : script_(std::move(script)) {}
  client::Plan plan(const client::ControllerInput& input) override;
  void removed(const TransferId&) override {}

 private:
  struct Counters {
    MonoTime at{};
    double received = 0, sent = 0, resent = 0;
  };
  static Counters count(const client::ControllerInput& input);
  Script script_;
  Counters begun_;  ///< when the present setting began to count
  MonoTime until_{};
  bool settles_ = false, started_ = false;
};

}  // namespace gridtorrent::sim
