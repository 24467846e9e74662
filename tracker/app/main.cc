#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/logging/logging.h"
#include "base/options/options.h"
#include "base/rpc/server.h"
#include "common/clock.h"
#include "common/codes.h"
#include "common/hex.h"
#include "tracker/app/data_folder.h"
#include "tracker/app/first_start.h"
#include "tracker/app/memory.h"
#include "tracker/app/notify.h"
#include "tracker/app/options.h"
#include "tracker/app/server.h"
#include "tracker/store/sqlite_store.h"

namespace {

using namespace gridtorrent;

constexpr std::chrono::seconds kDrainTime{10};

int fail(const Error& error) {
  std::fprintf(stderr, "gridtorrent-server: %s\n", error.message.c_str());
  return static_cast<int>(exit_code(error.code));
}

int report(const Status& status, const char* done) {
  if (!status) return fail(status.error());
  std::printf("%s\n", done);
  return 0;
}

Status configure_logging(const options::Parsed& parsed) {
  return logging::configure(parsed.str("log-format"), parsed.str("log-level"));
}

/// Secrets stay out of other users' reach: files 0600, no core dumps, no ptrace.
void harden_process() {
  ::umask(077);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  // Each node holds a connection; the usual soft limit of 1024 is soon used up.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void reload(tracker::app::Server& server, options::Parsed& parsed) {
  Result<options::Parsed> again = options::reload(tracker::app::program(), parsed);
  if (!again) {
    logging::error("the configuration is not taken up", {{"reason", again.error().message}});
    return;
  }
  parsed = std::move(*again);
  if (const Status set = configure_logging(parsed); !set) logging::error(set.error().message);
  if (const Status renewed = server.renew_certificate(); !renewed) logging::error(renewed.error().message);
  logging::info("configuration and certificates read anew");
}

/// Until the first SIGTERM or SIGINT.
void wait_for_end(const sigset_t& signals, tracker::app::Server& server, options::Parsed& parsed) {
  for (;;) {
    int number = 0;
    if (sigwait(&signals, &number) != 0) continue;
    if (number != SIGHUP) return;
    reload(server, parsed);
  }
}

/// A second signal does not wait for calls under way: what was acknowledged is on the disk already.
void drain(const sigset_t& signals, tracker::app::Server& server) {
  std::atomic<bool> done = false;
  const pthread_t waiter = pthread_self();
  std::jthread stopping([&] {
    server.stop(kDrainTime);
    done = true;
    pthread_kill(waiter, SIGHUP);
  });
  while (!done) {
    int number = 0;
    if (sigwait(&signals, &number) == 0 && number != SIGHUP) {
      logging::warning("ended without waiting for calls under way");
      std::_Exit(0);
    }
  }
}

/// The next command, at a first start.
void tell_next(const tracker::app::Server& server, const std::string& ready_file) {
  if (!server.is_new()) return;
  const char* runtime_folder = std::getenv("XDG_RUNTIME_DIR");
  const auto found =
      tracker::app::ready_files_that_clients_read(runtime_folder == nullptr ? std::string() : runtime_folder);
  const bool needs_login = std::ranges::find(found, ready_file) == found.end();
  logging::info(
      tracker::app::first_invitation(server.address(), server.ca_file(), server.admin_token_file(), needs_login));
}

int serve(options::Parsed parsed) {
  const sigset_t signals = block_signals();  // before any thread exists
  std::atomic<bool> broken = false;
  tracker::app::ServerConfig config;
  config.data_dir = parsed.str("data-dir");
  config.listen = parsed.str("listen");
  config.advertise = parsed.str("advertise");
  config.metrics_listen = parsed.str("metrics-listen");
  config.sealing_key = parsed.str("sealing-key");
  for (const std::string& text : parsed.list("dial-back-allow")) {
    auto network = tracker::Network::parse(text);
    if (!network) return fail(network.error());
    config.dial_back_allow.push_back(std::move(*network));
  }
  config.as_new = parsed.flag("new");
  config.reflection = parsed.flag("reflection");
  config.managers_make_accounts = parsed.flag("managers-invite");
  config.connections_by_address = static_cast<std::size_t>(parsed.integer("max-connections-per-address"));
  config.on_fatal = [&broken](const Error& error) {
    logging::error("cannot go on", {{"reason", error.message}});
    if (!broken.exchange(true)) ::kill(::getpid(), SIGTERM);
  };
  const auto server = tracker::app::Server::start(std::move(config));
  if (!server) return fail(server.error());
  const std::string ready_file = parsed.str("ready-file");
  if (!ready_file.empty()) {
    if (const Status written = tracker::app::write_public_file(ready_file, (*server)->ready_json()); !written) {
      return fail(written.error());
    }
  }
  tell_next(**server, ready_file);
  logging::info("serving", {{"address", (*server)->address()}, {"ca_file", (*server)->ca_file()}});
  tracker::app::notify_supervisor("READY=1");
  wait_for_end(signals, **server, parsed);
  tracker::app::notify_supervisor("STOPPING=1");
  logging::info("stopping");
  if (!ready_file.empty()) ::unlink(ready_file.c_str());
  drain(signals, **server);
  return broken ? 1 : 0;
}

int check(const std::string& data_dir) {
  const Result<ccm::AuditHead> head = tracker::store::check(data_dir);
  if (!head) return fail(head.error());
  std::printf("database, metadata and %llu audit records are sound; the newest has the hash %s\n",
              static_cast<unsigned long long>(head->records), hex_encode(as_bytes(head->hash)).c_str());
  return 0;
}

int run_command(const options::Parsed& parsed) {
  if (const Status set = configure_logging(parsed); !set) return fail(set.error());
  const std::string& data_dir = parsed.str("data-dir");
  const std::string& command = parsed.command();
  if (command == "check") return check(data_dir);
  if (command == "backup") return report(tracker::store::backup(data_dir, parsed.str("FILE")), "backup written");
  if (command == "restore") {
    if (const Status ready = tracker::app::prepare_data_folder(data_dir); !ready) return fail(ready.error());
    const auto lock = tracker::app::DataFolderLock::take(data_dir);
    if (!lock) return fail(lock.error());
    return report(tracker::store::restore(data_dir, parsed.str("FILE"), SystemClock().wall()), "restored");
  }
  if (const Status safe = rpc::check_trace_environment(); !safe) return fail(safe.error());
  return serve(parsed);
}

}  // namespace

int main(int argc, char** argv) {
  tracker::app::limit_arenas();
  harden_process();
  return options::run(tracker::app::program(), argc, argv, run_command);
}
