#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace gridtorrent::tracker::app {

/// Opens a new TLS connection to the server itself each `period`: after running out of descriptors once, gRPC's
/// listener accepts no more, while all looks healthy (CVE-2023-4785; security.md, F6). Owns one thread ("self-probe").
class SelfProbe {
 public:
  struct Options {
    std::string address;  ///< HOST:PORT that the certificate is good for
    std::string ca_file;
    std::chrono::milliseconds period{15'000};
    std::chrono::milliseconds patience{5'000};  ///< for one connection
    int failures_allowed = 2;
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
