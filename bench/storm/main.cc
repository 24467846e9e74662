#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/rpc/channel.h"
#include "bench/storm/fleet.h"
#include "common/ids.h"
#include "common/rng.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"

// storm PORT CA_FILE NODE_TOKENS PEOPLE_TOKENS OWNER_TOKEN: holds a stream open for each token (one a line), and does
// what its standard input says, one line each: gather, cut, leave, state, one N, all, quit. Answers are lines of JSON.

namespace gridtorrent::storm {

namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kDeadline{60};

std::vector<std::string> lines_of(const char* path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

double seconds_between(Moment from, Moment to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Gives tasks to nodes, and measures until they arrive on the nodes' streams.
class Boss {
 public:
  Boss(const std::shared_ptr<grpc::Channel>& channel, std::string token, Arrivals& arrivals)
      : stub_(v1::Tasks::NewStub(channel)), token_(std::move(token)), arrivals_(arrivals) {}

  /// To one node after the other, every `kPace`, chosen at random.
  Json one(int count, const std::vector<std::string>& nodes) {
    std::vector<double> seconds;
    int failed = 0;
    for (int i = 0; i < count; ++i) {
      v1::CreateTaskRequest request;
      request.set_request_id(request_id());
      request.set_node(nodes[rng_.next() % nodes.size()]);
      request.mutable_work()->mutable_list_folder();
      arrivals_.take();
      const Moment begun = std::chrono::steady_clock::now();
      if (!rpc::call(*stub_, &v1::Tasks::Stub::CreateTask, request, token_) || !wait_for(1)) {
        ++failed;
      } else {
        seconds.push_back(seconds_between(begun, arrivals_.take().begin()->second));
      }
      std::this_thread::sleep_for(kPace);
    }
    std::sort(seconds.begin(), seconds.end());
    const auto at = [&](double part) {
      return seconds.empty() ? -1.0 : seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
    };
    return {{"tasks", count}, {"failed", failed}, {"p50_s", at(0.5)}, {"p99_s", at(0.99)}, {"max_s", at(1)}};
  }

  Json all(std::size_t nodes_up) {
    v1::CreateTasksRequest request;
    request.set_request_id(request_id());
    request.set_all_nodes(true);
    request.mutable_work()->mutable_list_folder();
    arrivals_.take();
    const Moment begun = std::chrono::steady_clock::now();
    const auto made = rpc::call(*stub_, &v1::Tasks::Stub::CreateTasks, request, token_, kDeadline);
    if (!made) return {{"error", made.error().message}};
    const double answered = seconds_between(begun, std::chrono::steady_clock::now());
    const bool whole = wait_for(nodes_up);
    std::vector<double> seconds;
    for (const auto& [task, at] : arrivals_.take()) seconds.push_back(seconds_between(begun, at));
    std::sort(seconds.begin(), seconds.end());
    return {{"tasks", made->tasks_size()},
            {"answered_s", answered},
            {"arrived", seconds.size()},
            {"all_s", whole && !seconds.empty() ? seconds.back() : -1.0}};
  }

 private:
  static constexpr milliseconds kPace{20};

  bool wait_for(std::size_t count) {
    const Moment deadline = std::chrono::steady_clock::now() + kDeadline;
    while (arrivals_.count() < count) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  std::string request_id() { return make_request_id(SystemClock().wall(), rng_); }

  std::unique_ptr<v1::Tasks::Stub> stub_;
  const std::string token_;
  Arrivals& arrivals_;
  SystemRng rng_;
};

int run(char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);

  std::vector<std::string> names;
  Fleet::Options options;
  options.port = static_cast<std::uint16_t>(std::stoi(arguments[1]));
  options.ca_file = arguments[2];
  for (const std::string& line : lines_of(arguments[3])) {  // "TOKEN NODE_ID"
    const std::size_t space = line.find(' ');
    options.nodes.push_back(line.substr(0, space));
    names.push_back(line.substr(space + 1));
  }
  options.people = lines_of(arguments[4]);
  const auto channel = rpc::connect_tls("localhost:" + std::string(arguments[1]), options.ca_file);
  if (!channel) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 2;
  }
  Arrivals arrivals;
  Boss boss(*channel, lines_of(arguments[5]).at(0), arrivals);
  Fleet fleet(options, arrivals);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    Json answer = {{"did", line}};
    if (line == "gather") fleet.gather();
    if (line == "cut") fleet.cut();
    if (line == "leave") fleet.leave();
    if (line.starts_with("one ")) answer = boss.one(std::stoi(line.substr(4)), names);
    if (line == "all") answer = boss.all(fleet.state().nodes_up);
    if (line == "state") {
      const Fleet::State state = fleet.state();
      answer = {{"nodes", state.nodes_up}, {"people", state.people_up}, {"losses", state.losses}};
    }
    std::cout << answer.dump() << std::endl;
  }
  return 0;
}

}  // namespace

}  // namespace gridtorrent::storm

int main(int argc, char** argv) {
  if (argc == 6) return gridtorrent::storm::run(argv);
  std::fprintf(stderr, "usage: storm PORT CA_FILE NODE_TOKENS PEOPLE_TOKENS OWNER_TOKEN\n");
  return 2;
}
