// Asks a server "who am I" over and over, and prints how long it took: the load and the yardstick of bench/hold.py.
//
//   calls HOST:PORT CA_FILE TOKEN_FILE SECONDS CONNECTIONS PAUSE_MS MESSAGE_BYTES
//
// Each connection has one call under way at a time and pauses so long between two. MESSAGE_BYTES of padding go along
// with each request (an unknown field, which the server skips). Prints one object of JSON.

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "base/rpc/channel.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"

namespace {

using namespace gridtorrent;
using Clock = std::chrono::steady_clock;

struct Load {
  std::string address, ca_file, token;
  Clock::time_point until;
  std::chrono::milliseconds pause{0};
  std::size_t message_bytes = 0;
};

struct Outcome {
  std::mutex mutex;
  std::vector<double> ms;
  std::size_t failed = 0;
  std::string last_error;
};

void call_over_one_connection(const Load& load, Outcome& outcome) {
  const auto channel = rpc::connect_tls(load.address, load.ca_file);
  if (!channel) std::exit(2);
  const auto stub = v1::Accounts::NewStub(*channel);
  v1::WhoAmIRequest request;
  if (load.message_bytes > 0) {
    request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(1000,
                                                                                std::string(load.message_bytes, 'x'));
  }
  std::vector<double> ms;
  std::size_t failed = 0;
  std::string last_error;
  while (Clock::now() < load.until) {
    grpc::ClientContext context;
    rpc::prepare(context, std::chrono::seconds(60), load.token);
    v1::WhoAmIReply reply;
    const auto began = Clock::now();
    const grpc::Status status = stub->WhoAmI(&context, request, &reply);
    ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    if (!status.ok()) {
      ++failed;
      last_error = status.error_message();
    }
    if (load.pause.count() > 0) std::this_thread::sleep_for(load.pause);
  }
  const std::lock_guard lock(outcome.mutex);
  outcome.ms.insert(outcome.ms.end(), ms.begin(), ms.end());
  outcome.failed += failed;
  if (failed > 0) outcome.last_error = last_error;
}

double quantile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr, "usage: calls HOST:PORT CA_FILE TOKEN_FILE SECONDS CONNECTIONS PAUSE_MS MESSAGE_BYTES\n");
    return 2;
  }
  Load load;
  load.address = argv[1];
  load.ca_file = argv[2];
  std::ifstream(argv[3]) >> load.token;
  const double seconds = std::atof(argv[4]);
  load.pause = std::chrono::milliseconds(std::atoi(argv[6]));
  load.message_bytes = static_cast<std::size_t>(std::atoll(argv[7]));
  load.until = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  Outcome outcome;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < std::atoi(argv[5]); ++i) {
      threads.emplace_back([&] { call_over_one_connection(load, outcome); });
    }
  }
  std::sort(outcome.ms.begin(), outcome.ms.end());
  std::printf(
      "{\"calls\": %zu, \"failed\": %zu, \"calls_per_s\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": "
      "%.3f}\n",
      outcome.ms.size(), outcome.failed, static_cast<double>(outcome.ms.size()) / seconds, quantile(outcome.ms, 0.5),
      quantile(outcome.ms, 0.99), quantile(outcome.ms, 1));
  if (outcome.failed > 0) std::fprintf(stderr, "calls: %s\n", outcome.last_error.c_str());
}
