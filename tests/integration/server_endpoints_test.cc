// Swarms/UpdateEndpoints over the server's own port, while other callers' addresses keep silent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "base/rpc/channel.h"
#include "base/rpc/door.h"
#include "base/rpc/server.h"
#include "gridtorrent/v1/tracker.grpc.pb.h"
#include "tests/support/dialled_port.h"
#include "tests/support/fake_authenticator.h"
#include "tests/support/server_world.h"
#include "tests/support/temp_folder.h"
#include "tracker/rpc/swarms_rpc.h"

namespace gridtorrent::tracker::rpc {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing_support::DialledPort;
using testing_support::FakeAuthenticator;
using testing_support::ServerWorld;
namespace wire = gridtorrent::rpc;

constexpr std::chrono::hours kNever{24};
constexpr std::size_t kPlacesOfAUser = 4;

/// How many sockets of this host wait for an answer from a port of 127.0.0.1 (proc(5), /proc/net/tcp).
std::size_t connects_under_way(std::uint16_t port) {
  constexpr std::string_view kSynSent = "02";
  std::array<char, 16> remote{};
  std::snprintf(remote.data(), remote.size(), "0100007F:%04X", port);
  std::ifstream table("/proc/self/net/tcp");
  std::size_t found = 0;
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, to, state;
    fields >> number >> local >> to >> state;
    found += to == remote.data() && state == kSynSent ? 1U : 0U;
  }
  return found;
}

class ServerEndpoints : public ::testing::Test {
 protected:
  using Reply = Result<v1::UpdateEndpointsReply>;

  ServerEndpoints() {
    const WallTime now = clock_.wall();
    const auto authority = crypto::make_authority("test", now);
    const auto key = crypto::EcKey::make();
    const auto leaf = crypto::issue_server_certificate(*authority, *key, {"127.0.0.1"}, now);
    const std::string pem_file = folder_.path() + "/tls.pem", ca_file = folder_.path() + "/ca.pem";
    EXPECT_TRUE(crypto::write_secret_file(pem_file, key->private_pem() + *leaf + authority->certificate_pem).ok());
    std::ofstream(ca_file) << authority->certificate_pem;
    wire::ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.pem_file = pem_file;
    options.services = {&swarms_rpc_};
    auto started = wire::TlsServer::start(options);
    EXPECT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(*started);
    channel_ = *wire::connect_tls("127.0.0.1:" + std::to_string(server_->port()), ca_file);
    for (const char* name : {"mallory", "alice", "bob"}) {
      for (const char* number : {"1", "2"}) {
        const std::string node = std::string(name) + number;
        tokens_.add(node, world_.node(world_.user(name), node));
      }
    }
  }
  ~ServerEndpoints() override {
    end_dialer();
    server_.reset();
    ticker_.stop();
    executor_.stop();
    reads_.stop();
  }
  /// Ends what it dials, and the calls that wait for that.
  void end_dialer() { dialer_.reset(); }

  Reply update(const std::string& node, const std::vector<const DialledPort*>& ports) {
    v1::UpdateEndpointsRequest request;
    for (const DialledPort* port : ports) {
      v1::Endpoint& endpoint = *request.add_endpoints();
      endpoint.set_address("127.0.0.1");
      endpoint.set_port(port->number());
    }
    const auto stub = v1::Swarms::NewStub(channel_);
    return wire::call<v1::Swarms::Stub, v1::UpdateEndpointsRequest, v1::UpdateEndpointsReply>(
        *stub, &v1::Swarms::Stub::UpdateEndpoints, request, node, kNever);
  }
  static std::vector<v1::Reachability> verdicts(const Reply& reply) {
    std::vector<v1::Reachability> told;
    EXPECT_TRUE(reply.ok()) << (reply.ok() ? "" : reply.error().message);
    if (!reply.ok()) return told;
    for (const auto& endpoint : reply->endpoints()) told.push_back(endpoint.reachability());
    return told;
  }

  gridtorrent::testing::TempFolder folder_;
  SystemClock clock_;
  ServerWorld world_{"sqlite"};
  FakeAuthenticator tokens_;
  metrics::Registry metrics_;
  wire::Executor executor_{"rpc-work", 2, 16};
  wire::Ticker ticker_{world_.clock, std::chrono::hours(1)};
  wire::FairExecutor reads_{"rpc-read", 1, {}};
  wire::Door door_{{tokens_, executor_, executor_, ticker_, world_.clock, world_.rng, metrics_, reads_}};
  std::unique_ptr<Dialer> dialer_ = std::make_unique<Dialer>(
      clock_, Dialer::Options{{}, {.at_once_of_user = kPlacesOfAUser, .patience = kNever, .timeout = kNever}});
  SwarmsRpc swarms_rpc_{{door_, world_.nodes, *dialer_, world_.clock}};
  std::unique_ptr<wire::TlsServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ServerEndpoints, EverybodyElseIsAnsweredWhileTheSilentAddressesOfAUserAreDialled) {
  const DialledPort open = DialledPort::open(), closed = DialledPort::closed();
  std::vector<DialledPort> silent;
  std::vector<const DialledPort*> all_silent;
  for (std::size_t i = 0; i < kPlacesOfAUser; ++i) silent.push_back(DialledPort::silent());
  for (const DialledPort& port : silent) all_silent.push_back(&port);

  const auto under_way = [&silent] {
    std::size_t count = 0;
    for (const DialledPort& port : silent) count += connects_under_way(port.number());
    return count;
  };
  const std::size_t before = under_way();  // what makes them silent
  std::vector<std::future<Reply>> waiting;
  for (const char* node : {"mallory1", "mallory2"}) {
    waiting.push_back(std::async(std::launch::async, [this, node, all_silent] { return update(node, all_silent); }));
  }
  while (under_way() < before + kPlacesOfAUser) std::this_thread::yield();

  for (const char* node : {"alice1", "alice2", "bob1"}) {
    EXPECT_THAT(verdicts(update(node, {&open, &closed})), ElementsAre(v1::REACHABLE, v1::UNREACHABLE)) << node;
  }
  for (auto& one : waiting) {
    EXPECT_EQ(one.wait_for(std::chrono::seconds(0)), std::future_status::timeout) << "its addresses are still silent";
  }
  end_dialer();
  for (auto& one : waiting) EXPECT_THAT(verdicts(one.get()), Each(v1::REACHABILITY_UNKNOWN));
}

}  // namespace
}  // namespace gridtorrent::tracker::rpc
