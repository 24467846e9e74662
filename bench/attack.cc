// Attacks a server of one's own on loopback, without a login, and prints what came of it: a load for bench/hold.py.
//
//   attack MODE PORT SECONDS CONNECTIONS ADDRESSES
//
// MODE: continuation (a header block without an end), unfinished (messages but for their last byte), resets, silent
// (TCP and nothing more), silent-tls (a handshake and nothing more). Callers come from 127.1.0.1 and the ADDRESSES - 1
// after it, connect again at once when they are refused, and run at nice 19. It ends by itself.

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/http2_bytes.h"
#include "tests/support/tls_client.h"
#include "tests/support/unfinished_sender.h"

namespace {

using namespace gridtorrent;
using http2::FrameType;
using test::frame;

struct Job {
  std::string mode;
  std::uint16_t port = 0;
  int connections = 1, addresses = 1;
  std::chrono::steady_clock::time_point until;
};

struct Counts {
  std::atomic<std::uint64_t> connected = 0, refused = 0, ended = 0, bytes = 0, resets = 0;
};

Counts counts;

bool in_time(const Job& job) {
  return std::chrono::steady_clock::now() < job.until;
}

std::string source(const Job& job, int number) {
  const int host = number % job.addresses;
  return "127.1." + std::to_string(host / 250) + "." + std::to_string(1 + host % 250);
}

void flood_headers(const Job& job, test::TlsClient& client) {
  std::string literals;
  while (literals.size() < 16'000) literals += test::literal_header("name", std::string(100, 'x'));
  const std::string more = frame(FrameType::kContinuation, 0, 1, literals);
  bool alive = client.send(test::kHttp2Preface + frame(FrameType::kSettings, 0, 0) +
                           frame(FrameType::kHeaders, 0, 1, test::call_headers("/x")));
  while (alive && in_time(job)) {
    alive = client.send(more);
    if (alive) counts.bytes += more.size();
  }
}

void flood_resets(const Job& job, test::TlsClient& client) {
  bool alive = client.send(test::kHttp2Preface + frame(FrameType::kSettings, 0, 0));
  const std::string headers = test::call_headers("/gridtorrent.v1.Accounts/WhoAmI");
  for (std::uint32_t stream = 1; alive && in_time(job); stream += 2) {
    alive = client.send(frame(FrameType::kHeaders, http2::kFlagEndHeaders, stream, headers) +
                        frame(FrameType::kResetStream, 0, stream, std::string("\0\0\0\x8", 4)));
    if (alive) ++counts.resets;
  }
}

void attack_once(const Job& job, int number) {
  const std::string from = source(job, number);
  if (job.mode == "unfinished") {
    test::UnfinishedSender sender(job.port, from.c_str(), 32, 1 << 20, 2);
    sender.connected() ? ++counts.connected : ++counts.refused;
    while (sender.connected() && in_time(job) && !sender.run([&] { return in_time(job); })) continue;
    counts.bytes += sender.sent();
  } else {
    test::TlsClient client(job.port, "\x02h2", from.c_str(), 2);
    client.connected() ? ++counts.connected : ++counts.refused;
    if (!client.connected()) return;
    job.mode == "resets" ? flood_resets(job, client) : flood_headers(job, client);
  }
  ++counts.ended;
}

UniqueFd connect_silently(const Job& job, int number) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in from{}, to{};
  from.sin_family = to.sin_family = AF_INET;
  ::inet_pton(AF_INET, source(job, number).c_str(), &from.sin_addr);
  to.sin_port = htons(job.port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0 ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    socket.reset();
  }
  return socket;
}

/// Holds all connections in one thread; those that are ended are opened anew at once.
void hold_silently(const Job& job) {
  const auto count = static_cast<std::size_t>(job.connections);
  const bool tls = job.mode == "silent-tls";
  std::vector<UniqueFd> sockets(count);
  std::vector<std::unique_ptr<test::TlsClient>> clients(count);
  std::vector<pollfd> waits(count, pollfd{-1, POLLIN, 0});
  while (in_time(job)) {
    for (std::size_t i = 0; i < count && in_time(job); ++i) {
      if (waits[i].fd >= 0 && waits[i].revents == 0) continue;
      if (waits[i].fd >= 0) ++counts.ended;
      if (tls) {
        clients[i] = std::make_unique<test::TlsClient>(job.port, "\x02h2", source(job, static_cast<int>(i)).c_str(), 2);
        if (!clients[i]->connected()) clients[i].reset();
      } else {
        sockets[i] = connect_silently(job, static_cast<int>(i));
      }
      waits[i].fd = tls ? (clients[i] ? clients[i]->socket() : -1) : sockets[i].get();
      waits[i].revents = 0;
      waits[i].fd >= 0 ? ++counts.connected : ++counts.refused;
    }
    ::poll(waits.data(), waits.size(), 1);
  }
}

void run(const Job& job) {
  if (job.mode == "silent" || job.mode == "silent-tls") return hold_silently(job);
  std::vector<std::jthread> threads;
  for (int i = 0; i < job.connections; ++i) {
    threads.emplace_back([&job, i] {
      while (in_time(job)) attack_once(job, i);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: attack MODE PORT SECONDS CONNECTIONS ADDRESSES\n");
    return 2;
  }
  Job job{argv[1], static_cast<std::uint16_t>(std::atoi(argv[2])), std::atoi(argv[4]), std::atoi(argv[5]),
          std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[3]))};
  std::signal(SIGPIPE, SIG_IGN);
  ::setpriority(PRIO_PROCESS, 0, 19);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  run(job);
  std::printf("{\"connected\": %llu, \"refused\": %llu, \"ended\": %llu, \"bytes\": %llu, \"resets\": %llu}\n",
              static_cast<unsigned long long>(counts.connected), static_cast<unsigned long long>(counts.refused),
              static_cast<unsigned long long>(counts.ended), static_cast<unsigned long long>(counts.bytes),
              static_cast<unsigned long long>(counts.resets));
}
