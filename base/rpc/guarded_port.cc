#include "base/rpc/guarded_port.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>
#include <utility>

#include "base/logging/logging.h"
#include "base/rpc/backend_name.h"
#include "common/hex.h"
#include "common/rng.h"
#include "common/text.h"

namespace gridtorrent::rpc {
namespace {

// The socket, and both ends of the pair.
constexpr std::size_t kDescriptorsEach = 3;
// Database, metadata, uploads, logs, metrics, gRPC's own; measured in docs/verification.md.
constexpr std::size_t kDescriptorsForOthers = 512;
constexpr std::size_t kLeastConnections = 16;

std::size_t descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 1024;
  return static_cast<std::size_t>(std::min<rlim_t>(files.rlim_cur, rlim_t{1} << 20));
}

/// As net sees it: the guard's offences are words there.
class GuardFilter final : public net::Filter {
 public:
  GuardFilter(const http2::GuardLimits& limits, http2::MessageBudget& budget, const net::PeerAddress& caller,
              net::EndConnection end, MonoTime now)
      : guard_(
            limits, budget, net::address_bucket(caller.ip),
            [end = std::move(end)](http2::Offence offence) { end(http2::offence_name(offence)); }, now) {}

  std::optional<net::Reason> from_caller(std::span<const std::uint8_t> bytes, MonoTime now) override {
    return reason(guard_.from_caller(bytes, now));
  }
  std::optional<net::Reason> from_server(std::span<const std::uint8_t> bytes, MonoTime now) override {
    return reason(guard_.from_server(bytes, now));
  }
  std::optional<net::Reason> check_time(MonoTime now) override { return reason(guard_.check_time(now)); }
  bool is_busy() const override { return guard_.open_streams() > 0; }
  std::string farewell(net::Reason reason) override {
    if (reason == net::kStrangers) return guard_.graceful_end();
    const auto offence = http2::offence_named(reason);
    return offence ? guard_.farewell(*offence) : "";
  }

 private:
  static std::optional<net::Reason> reason(std::optional<http2::Offence> offence) {
    if (!offence) return std::nullopt;
    return http2::offence_name(*offence);
  }
  http2::Guard guard_;
};

Status bind_abstract(int fd, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  GT_CHECK(name.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // the zero in front makes it abstract: unix(7)
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return {};
  return Error{Code::kConflict, "cannot bind a Unix socket: " + errno_text(errno)};
}

}  // namespace

std::size_t connections_for(std::size_t descriptors) {
  const std::size_t left = descriptors > kDescriptorsForOthers ? descriptors - kDescriptorsForOthers : 0;
  return std::max(kLeastConnections, left / kDescriptorsEach);
}

GuardedPort::GuardedPort(Options options) : options_(std::move(options)), budget_(options_.messages) {
  SystemRng rng;
  std::array<std::uint8_t, 12> random{};
  rng.fill(random);
  process_name_ = hex_encode(random);
}

Result<std::unique_ptr<GuardedPort>> GuardedPort::start(Options wanted) {
  std::unique_ptr<GuardedPort> made(new GuardedPort(std::move(wanted)));
  GT_ASSIGN(made->certificate_, CertificateFile::open(made->options_.pem_file));
  GT_ASSIGN(made->terminator_, net::TlsTerminator::start(made->terminator_options(), made->clock_));
  return made;
}

net::TlsTerminator::Options GuardedPort::terminator_options() {
  net::TlsTerminator::Options options;
  options.host = options_.host;
  options.port = options_.port;
  options.protocol = "h2";
  options.pump_threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
  options.handshake_threads = std::clamp<std::size_t>(std::thread::hardware_concurrency() / 2, 1, 4);
  options.limits = {options_.connections_by_address, connections_for(descriptor_limit())};
  options.tls = [this] { return certificate_->current(); };
  options.make_filter = [this](const net::PeerAddress& caller, net::EndConnection end, MonoTime now) {
    return std::make_unique<GuardFilter>(options_.guard, budget_, caller, std::move(end), now);
  };
  options.strangers = options_.strangers;
  options.open_backend = [this](const net::PeerAddress& caller, std::function<void()> known) {
    return open_backend(caller, std::move(known));
  };
  options.refused = [this](net::Reason reason, const net::PeerAddress& from) { refused(reason, from); };
  options.each_second = [this](std::size_t connections) { each_second(connections); };
  return options;
}

void GuardedPort::stop_accepting() {
  {
    const std::lock_guard lock(handing_);
    closed_ = true;
  }
  terminator_->stop_accepting();
}

void GuardedPort::each_second(std::size_t connections) {
  certificate_->reload_if_changed();
  if (options_.metrics == nullptr) return;
  options_.metrics->gauge("gridtorrent_connections", "TLS connections, those that still shake hands included.")
      .set(static_cast<double>(connections));
  options_.metrics
      ->gauge("gridtorrent_unfinished_message_bytes", "Held by messages that callers have begun and not finished.")
      .set(static_cast<double>(budget_.held_bytes()));
}

bool GuardedPort::crowded_within(std::chrono::milliseconds time) const {
  if (terminator_->strangers_waiting() > 0) return true;
  const MonoTime last = crowded_at_.load();
  return last != MonoTime::min() && clock_.mono() - last < time;
}

void GuardedPort::refused(net::Reason reason, const net::PeerAddress& from) {
  if (net::is_limit(reason)) crowded_at_ = clock_.mono();
  if (options_.metrics != nullptr) {
    options_.metrics
        ->counter("gridtorrent_connections_refused_total", "Connections that were refused or ended, by reason.",
                  {{"reason", std::string(reason)}})
        .add();
  }
  const auto count = refusals_.add(reason, clock_.mono());
  if (!count) return;
  logging::warning("connections refused or ended; at most one such line a minute",
                   {{"reason", std::string(reason)}, {"number", std::to_string(*count)}, {"last_from", from.ip}});
}

Result<net::Backend> GuardedPort::open_backend(const net::PeerAddress& caller, std::function<void()> known) {
  static std::atomic<std::uint64_t> last = 0;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return Error{Code::kExhausted, "cannot make a socket pair: " + errno_text(errno)};
  }
  UniqueFd ours(ends[0]), grpcs(ends[1]);
  const std::uint64_t connection = ++last;
  GT_TRY(bind_abstract(ours.get(), backend_name(caller, connection, process_name_)));
  std::shared_ptr<void> held;
  if (options_.known != nullptr) held = options_.known->add(connection, std::move(known));
  const std::lock_guard lock(handing_);
  if (closed_) return Error{Code::kUnreachable, "the server ends"};
  options_.hand_to_grpc(std::move(grpcs));
  return net::Backend{std::move(ours), std::move(held)};
}

}  // namespace gridtorrent::rpc
