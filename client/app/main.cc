#include <sys/resource.h>
#include <sys/stat.h>

#include "base/options/options.h"
#include "client/app/config.h"
#include "client/app/daemon.h"
#include "client/app/signals.h"

namespace {

/// No core files with keys in them; as many descriptors as the system gives (lanes are sockets).
void set_limits() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const mode_t umask = ::umask(077);  // before there is another thread
  set_limits();
  gridtorrent::client::app::block_signals();
  using namespace gridtorrent;
  return options::run(client::app::program(), argc, argv,
                      [umask](const options::Parsed& parsed) { return client::app::run_daemon(parsed, umask); });
}
