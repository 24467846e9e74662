// Calls a server's methods at full speed or at a pace, and says how the calls fared. Reads one JSON object:
//   {"server": "host:port", "ca": FILE, "seconds": 60, "jobs": [{"name": "…", "method": "Tasks/CreateTask",
//    "token": "…", "connections": 4, "pause_ms": 0, "request": {…}}, …]}
// Jobs run side by side, each connection with one call at a time. In a request's texts $ID is a fresh request id, $N a
// number that counts. Prints one JSON object by job: calls by code, and milliseconds of those that were answered "ok".
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/rpc/channel.h"
#include "base/rpc/status.h"
#include "common/codes.h"
#include "common/ids.h"
#include "common/rng.h"
#include "gridtorrent/v1/ccm.pb.h"
#include "gridtorrent/v1/tracker.pb.h"

namespace gridtorrent {
namespace {

using nlohmann::json;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::chrono::seconds kDeadline{60};  // longer than anybody waits: what takes so long should be seen

struct Outcome {
  std::map<std::string, std::uint64_t> codes;
  std::vector<double> ok_ms;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A connection of its own: channels share one otherwise.
std::shared_ptr<grpc::Channel> connect(const std::string& server, const std::string& ca_pem) {
  grpc::ChannelArguments arguments = rpc::client_channel_arguments();
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(server, grpc::SslCredentials({ca_pem, "", ""}), arguments);
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

class Job {
 public:
  explicit Job(const json& wanted)
      : name_(wanted.at("name")),
        method_(wanted.at("method")),
        token_(wanted.value("token", "")),
        request_(wanted.at("request").dump()),
        connections_(wanted.value("connections", 1)),
        pause_(wanted.value("pause_ms", 0)) {
    // Looked up by type: a unary call and a stream of one message are the same on the wire.
    const auto* pool = google::protobuf::DescriptorPool::generated_pool();
    const auto* method = pool->FindMethodByName("gridtorrent.v1." + replaced(method_, "/", "."));
    if (method == nullptr) throw std::runtime_error("no method " + method_);
    prototype_ = google::protobuf::MessageFactory::generated_factory()->GetPrototype(method->input_type());
  }

  void start(const std::string& server, const std::string& ca_pem, std::chrono::steady_clock::time_point until) {
    for (int i = 0; i < connections_; ++i) {
      threads_.emplace_back([this, channel = connect(server, ca_pem), until] { work(channel, until); });
    }
  }

  json finish() {
    threads_.clear();
    std::sort(outcome_.ok_ms.begin(), outcome_.ok_ms.end());
    const auto at = [&](double part) -> json {
      if (outcome_.ok_ms.empty()) return nullptr;
      return outcome_.ok_ms[static_cast<std::size_t>(part * static_cast<double>(outcome_.ok_ms.size() - 1))];
    };
    return {{"name", name_},     {"method", method_},  {"codes", outcome_.codes},
            {"p50_ms", at(0.5)}, {"p99_ms", at(0.99)}, {"max_ms", at(1)}};
  }

 private:
  grpc::ByteBuffer next_request() {
    SystemClock clock;
    std::string text = replaced(request_, "$ID", make_request_id(clock.wall(), rng_));
    text = replaced(std::move(text), "$N", std::to_string(++counter_));
    const std::unique_ptr<google::protobuf::Message> message(prototype_->New());
    if (!google::protobuf::util::JsonStringToMessage(text, message.get()).ok()) {
      throw std::runtime_error(name_ + ": no request of that method: " + text.substr(0, 200));
    }
    const grpc::Slice slice(message->SerializeAsString());
    return {&slice, 1};
  }

  void work(const std::shared_ptr<grpc::Channel>& channel, std::chrono::steady_clock::time_point until) {
    grpc::GenericStub stub(channel);
    while (std::chrono::steady_clock::now() < until) {
      const grpc::ByteBuffer request = next_request();
      grpc::ByteBuffer reply;
      grpc::ClientContext context;
      rpc::prepare(context, kDeadline, token_);
      std::promise<grpc::Status> done;
      const auto begun = std::chrono::steady_clock::now();
      stub.UnaryCall(&context, "/gridtorrent.v1." + method_, {}, &request, &reply,
                     [&done](grpc::Status status) { done.set_value(std::move(status)); });
      note(done.get_future().get(), Milliseconds(std::chrono::steady_clock::now() - begun).count());
      if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
    }
  }

  void note(const grpc::Status& status, double milliseconds) {
    const std::lock_guard lock(mutex_);
    ++outcome_.codes[status.ok() ? "ok" : std::string(code_name(rpc::from_grpc(status).code))];
    if (status.ok()) outcome_.ok_ms.push_back(milliseconds);
  }

  const std::string name_, method_, token_, request_;
  const int connections_;
  const std::chrono::milliseconds pause_;
  const google::protobuf::Message* prototype_ = nullptr;
  SystemRng rng_;
  std::atomic<std::uint64_t> counter_ = 0;
  std::mutex mutex_;
  Outcome outcome_;
  std::vector<std::jthread> threads_;
};

int run(const json& wanted) {
  // Or their descriptors are not in the pool.
  (void)v1::LoginRequest::descriptor();
  (void)v1::EnrollRequest::descriptor();
  const std::string ca_pem = read_file(wanted.at("ca"));
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(wanted.at("seconds").get<int>());
  std::vector<std::unique_ptr<Job>> jobs;
  for (const json& one : wanted.at("jobs")) jobs.push_back(std::make_unique<Job>(one));
  for (const auto& job : jobs) job->start(wanted.at("server"), ca_pem, until);
  for (const auto& job : jobs) std::cout << job->finish().dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace gridtorrent

int main() {
  try {
    return gridtorrent::run(nlohmann::json::parse(std::cin));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "hold_load: %s\n", e.what());
    return 1;
  }
}
