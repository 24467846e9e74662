#include "tracker/app/self_probe.h"

#include <pthread.h>

#include "base/logging/logging.h"
#include "base/rpc/channel.h"

namespace gridtorrent::tracker::app {

SelfProbe::SelfProbe(Options options)
    : options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {
  pthread_setname_np(thread_.native_handle(), "self-probe");
}

SelfProbe::~SelfProbe() {
  thread_.request_stop();
  thread_.join();
}

bool SelfProbe::connects() const {
  // A channel of its own each time, and so a connection of its own.
  const auto channel = rpc::connect_tls(options_.address, options_.ca_file);
  return channel && (*channel)->WaitForConnected(std::chrono::system_clock::now() + options_.patience);
}

void SelfProbe::run(const std::stop_token& stop) {
  int failures = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, options_.period, [] { return false; });
    }
    if (stop.stop_requested()) return;
    if (connects() || options_.crowded()) {
      failures = 0;
      continue;
    }
    ++failures;
    logging::warning("the server does not answer its own connection", {{"failures", std::to_string(failures)}});
    if (failures > options_.failures_allowed) return options_.on_dead();
  }
}

}  // namespace gridtorrent::tracker::app
