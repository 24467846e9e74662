#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gridtorrent::tracker::app {

/// Opens a new TLS connection to the server itself each `period`: a server that answers nobody shall end, so that a
/// supervisor starts it anew. Owns one thread ("self-probe").
class SelfProbe {
 public:
  struct Options {
    std::string address;  ///< HOST:PORT that the certificate is good for
    std::string ca_file;
    std::chrono::milliseconds period{15'000};
    std::chrono::milliseconds patience{5'000};  ///< for one connection
    int failures_allowed = 2;
    /// Whether there are so many callers that a connection of ours may well find no place: that is no failure.
    std::function<bool()> crowded = [] { return false; };
    std::function<void()> on_dead;  ///< called once, on the probe's thread, after one failure more
  };
  explicit SelfProbe(Options options);
  ~SelfProbe();

 private:
  void run(const std::stop_token& stop);
  bool connects() const;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace gridtorrent::tracker::app
