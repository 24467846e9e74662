#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/wan/host_device.h"
#include "bench/wan/network.h"
#include "bench/wan/scenario.h"

namespace gridtorrent::wan {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHelp[] = R"(wan-emulator FILE: a wide area on one Linux machine, for measurements.

FILE is JSON: {"mtu": 1500, "hosts": {"seed": {"address": "198.18.0.1", "up": "1Gbit", "down": "1Gbit", "delay_ms": 25,
"loss": 0.00005, "queue": "6MB", "flow": "200Mbit"}, ...}, "changes": [{"at_s": 30, "host": "seed", "up": "500Mbit"}]}.
Each host becomes a network namespace; the line that is printed when all stands says how to enter it:
  nsenter --net=PATH COMMAND
While it runs it reads lines from standard input: {"do": "start"} starts the clock of the changes, {"do": "stats"}
prints counters, {"do": "drops"} what was dropped since it was last asked, {"do": "change", "host": "seed", "up": "10Mbit"} changes a link now, {"do": "reseed", "seed": 7} has
random losses begin anew, the same for the same seed, {"do": "reset"} stops that clock and gives every link the values of
FILE again. It ends with its standard input, and the namespaces with it and
the programs in them. Needs root.
)";

Nanos now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// How late packets were handed over, measured against the moment that the model says; and how long they may have
/// waited to be read before, which the model knows nothing of.
struct Lateness {
  static constexpr Nanos kLate = 500'000;
  std::uint64_t packets = 0, late = 0;            ///< handed over; by more than kLate
  std::uint64_t read_packets = 0, read_late = 0;  ///< taken in; after kLate or more without a look at the devices
  Nanos worst = 0;
  void count(Nanos by, std::uint64_t segments) {
    packets += segments;
    if (by > kLate) late += segments;
    worst = std::max(worst, by);
  }
  void count_read(Nanos by, std::uint64_t segments) {
    read_packets += segments;
    if (by > kLate) read_late += segments;
    worst = std::max(worst, by);
  }
};

class Emulator {
 public:
  explicit Emulator(Scenario scenario) : scenario_(std::move(scenario)), network_(scenario_) {}

  Status open() {
    for (const auto& host : scenario_.hosts) {
      GT_ASSIGN(auto device, HostDevice::make(host, scenario_.mtu));
      devices_.push_back(std::move(device));
    }
    epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
    for (std::size_t i = 0; i < devices_.size(); ++i) watch(devices_[i].fd(), i);
    watch(STDIN_FILENO, kInput);
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    signals_ = Fd(::signalfd(-1, &ends, SFD_CLOEXEC));
    watch(signals_.get(), kSignal);
    // Waking up in time is what delays are made of. Without the right to it the lateness tells.
    const sched_param priority{1};
    (void)::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority);
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    return {};
  }

  void say_ready() const {
    Json hosts;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      Json addresses = Json::array();
      for (const auto& address : scenario_.hosts[i].addresses) addresses.push_back(show_ip(address.ip));
      hosts[scenario_.hosts[i].name] = {{"netns", devices_[i].path()}, {"addresses", addresses}};
    }
    say({{"event", "ready"}, {"pid", ::getpid()}, {"hosts", hosts}});
  }

  void run() {
    started_ = looked_ = now();
    while (!ended_) {
      wait();
      change_what_is_due();
      deliver();
    }
    say_stats("end");
  }

 private:
  static constexpr Nanos kForever = 3600 * Nanos{1'000'000'000};
  static constexpr std::uint64_t kInput = 1'000'000, kSignal = 1'000'001;
  /// A busy network is looked after so often, whatever happens: to wake up for each packet would cost a core at a
  /// gigabit. A packet may wait for it twice, when it comes and when it goes.
  static constexpr Nanos kRound = 200'000;
  static constexpr std::uint64_t kBusySegments = 4;  ///< in a round
  /// A sleeping processor needs so long to come back; in a calm network packets may be early by as much.
  static constexpr Nanos kWakeUp = 60'000;
  static constexpr int kReadsARound = 256;

  void watch(int fd, std::uint64_t what) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = what;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  void wait() {
    std::optional<Nanos> wake = network_.next();
    if (next_change_ < scenario_.changes.size() && clock_started_) {
      const Nanos change = *clock_started_ + static_cast<Nanos>(scenario_.changes[next_change_].at_s * 1e9);
      wake = std::min(wake.value_or(change), change);
    }
    const Nanos at = now();
    Nanos left = wake ? std::max<Nanos>(0, *wake - kWakeUp - at) : kForever;
    if (busy_) {
      const Nanos rest = std::max<Nanos>(0, round_ + kRound - at);
      const timespec pause{0, rest};
      if (rest > 0) ::nanosleep(&pause, nullptr);
      round_ = now();
      left = 0;
    }
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    unread_ = now() - looked_;  // what comes while it sleeps below wakes it up
    std::array<epoll_event, 64> events{};
    const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     wake ? &timeout : nullptr, nullptr);
    if (count < 0 && errno != EINTR) ended_ = true;  // a kernel before 5.11
    looked_ = now();
    for (int i = 0; i < count; ++i) {
      const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
      if (what < devices_.size()) receive(what);
      if (what == kInput) read_commands();
      if (what == kSignal) ended_ = true;
    }
  }

  void receive(std::size_t host) {
    for (int i = 0; i < kReadsARound; ++i) {
      const auto bytes = devices_[host].read();
      if (bytes.empty()) return;
      if (const auto packet = SuperPacket::read(bytes)) {
        lateness_.count_read(unread_, packet->segments());
        network_.send(now(), host, packet);
      } else {
        ++not_ipv4_;
      }
    }
  }

  void deliver() {
    const Nanos at = now();
    std::uint64_t segments = 0;
    for (const auto& run : network_.due(busy_ ? at : at + kWakeUp)) {
      segments += run.last - run.first + 1;
      lateness_.count(at - run.due, run.last - run.first + 1);
      if (!devices_[run.host].write(run.packet->merge(run.first, run.last))) ++refused_writes_;
    }
    busy_ = segments >= kBusySegments;
    if (!busy_) round_ = at;
  }

  void change_what_is_due() {
    while (clock_started_ && next_change_ < scenario_.changes.size() &&
           now() - *clock_started_ >= static_cast<Nanos>(scenario_.changes[next_change_].at_s * 1e9)) {
      network_.apply(scenario_.changes[next_change_++]);
    }
  }

  void read_commands() {
    char text[4096];
    const ssize_t got = ::read(STDIN_FILENO, text, sizeof(text));
    if (got <= 0) {
      ended_ = true;
      return;
    }
    input_.append(text, static_cast<std::size_t>(got));
    for (std::size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n')) {
      carry_out(input_.substr(0, end));
      input_.erase(0, end + 1);
    }
  }

  void carry_out(const std::string& line) {
    const auto command = parse_command(line);
    Status status = command ? Status() : Status(command.error());
    if (command && command.value().kind == Command::Kind::kChange)
      status = check_place(scenario_, command.value().change);
    if (!status) return say({{"event", "error"}, {"message", status.error().message}});
    switch (command.value().kind) {
      case Command::Kind::kStart:
        clock_started_ = now();
        next_change_ = 0;
        return say({{"event", "started"}});
      case Command::Kind::kStats:
        return say_stats("stats");
      case Command::Kind::kDrops:
        return say_drops();
      case Command::Kind::kChange:
        network_.apply(command.value().change);
        return say({{"event", "changed"}});
      case Command::Kind::kReseed:
        network_.reseed(command.value().seed);
        return say({{"event", "reseeded"}});
      case Command::Kind::kReset:
        clock_started_.reset();
        network_.reset(scenario_);
        return say({{"event", "reset"}});
    }
  }

  void say_stats(const char* event) const {
    Json links;
    std::uint64_t unread = 0;
    for (const auto& device : devices_) unread += device.unread_drops();
    for (const auto& host : scenario_.hosts) {
      for (const auto& address : host.addresses) {
        const LinkCounters& c = network_.counters(address.ip);
        links[show_ip(address.ip)] = {{"host", host.name},          {"up_packets", c.up_packets},
                                      {"up_bytes", c.up_bytes},     {"down_packets", c.down_packets},
                                      {"down_bytes", c.down_bytes}, {"queue_drops", c.queue_drops},
                                      {"losses", c.losses}};
      }
    }
    say({{"event", event},
         {"wall_s", static_cast<double>(now() - started_) / 1e9},
         {"cpu_s", cpu_seconds()},
         {"packets", lateness_.packets},
         {"late_packets", lateness_.late},
         {"read_packets", lateness_.read_packets},
         {"read_late_packets", lateness_.read_late},
         {"worst_late_ms", static_cast<double>(lateness_.worst) / 1e6},
         {"unread_drops", unread},
         {"unroutable", network_.unroutable()},
         {"not_ipv4", not_ipv4_},
         {"refused_writes", refused_writes_},
         {"links", links}});
  }

  /// Each with its time by the monotonic clock, in seconds.
  void say_drops() {
    Json drops = Json::array();
    for (const Drop& drop : network_.take_drops()) {
      drops.push_back({{"at_s", static_cast<double>(drop.at) / 1e9},
                       {"address", show_ip(drop.ip)},
                       {"way", drop.up ? "up" : "down"},
                       {"by", drop.by_queue ? "queue" : "random"},
                       {"flow", drop.flow},
                       {"bytes", drop.bytes}});
    }
    say({{"event", "drops"}, {"drops", drops}});
  }

  static void say(const Json& line) {
    std::puts(line.dump().c_str());
    std::fflush(stdout);
  }

  const Scenario scenario_;
  Network network_;
  std::vector<HostDevice> devices_;
  Fd epoll_, signals_;
  std::string input_;
  bool ended_ = false, busy_ = false;
  Nanos started_ = 0, round_ = 0;
  Nanos looked_ = 0;  ///< at the devices
  Nanos unread_ = 0;  ///< how long nobody had, when that began to wait
  std::optional<Nanos> clock_started_;
  std::size_t next_change_ = 0;
  Lateness lateness_;
  std::uint64_t not_ipv4_ = 0, refused_writes_ = 0;
};

int fail(const Error& error) {
  std::fprintf(stderr, "wan-emulator: %s\n", error.message.c_str());
  return error.code == Code::kDenied ? 4 : 2;
}

int emulate(const std::string& file) {
  std::ifstream in(file);
  if (!in) return fail({Code::kNotFound, "cannot read " + file});
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto scenario = parse_scenario(text);
  if (!scenario) return fail(scenario.error().with_context(file));
  Emulator emulator(std::move(scenario).value());
  if (const auto opened = emulator.open(); !opened) return fail(opened.error());
  emulator.say_ready();
  emulator.run();
  return 0;
}

}  // namespace
}  // namespace gridtorrent::wan

int main(int argc, char** argv) {
  if (argc != 2 || std::string(argv[1]) == "--help") {
    std::fputs(gridtorrent::wan::kHelp, argc == 2 ? stdout : stderr);
    return argc == 2 ? 0 : 2;
  }
  return gridtorrent::wan::emulate(argv[1]);
}
