// Callers without a login who try to use up the server's memory, streams or places, over the server's real port: they
// are ended, memory stays, and others notice nothing. The numbers are small here; bench/attack has the large ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/crypto/certificates.h"
#include "base/crypto/keys.h"
#include "base/net/stranger_places.h"
#include "base/rpc/backend_name.h"
#include "base/rpc/channel.h"
#include "base/rpc/known_connections.h"
#include "base/rpc/limits.h"
#include "base/rpc/server.h"
#include "common/hex.h"
#include "gridtorrent/v1/ccm.grpc.pb.h"
#include "tests/support/http2_bytes.h"
#include "tests/support/own_network.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tls_client.h"
#include "tests/support/unfinished_sender.h"

namespace gridtorrent::test {
namespace {

using http2::FrameType;
using ::testing::HasSubstr;

constexpr std::size_t kMib = std::size_t{1} << 20;

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  status >> size >> resident;
  return resident * 4096;
}

/// Sanitizers keep what was freed.
constexpr bool memory_is_ours() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

/// Answers at once, and remembers who asked.
class Echo final : public v1::Accounts::CallbackService {
 public:
  grpc::ServerUnaryReactor* WhoAmI(grpc::CallbackServerContext* context, const v1::WhoAmIRequest*,
                                   v1::WhoAmIReply*) override {
    {
      const std::lock_guard lock(mutex_);
      last_peer_ = context->peer();
      if (known_ != nullptr) known_->tell(rpc::parse_backend_name(last_peer_)->connection);
    }
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  /// Takes every caller for known from here on.
  void tell_known(rpc::KnownConnections* known) {
    const std::lock_guard lock(mutex_);
    known_ = known;
  }
  std::string last_peer() {
    const std::lock_guard lock(mutex_);
    return last_peer_;
  }

 private:
  std::mutex mutex_;
  std::string last_peer_;
  rpc::KnownConnections* known_ = nullptr;
};

/// Sends one event, then is silent until it is cancelled.
class Silence final : public v1::Collaboration::CallbackService {
 public:
  grpc::ServerWriteReactor<v1::Inbox>* WatchInbox(grpc::CallbackServerContext*, const v1::GetInboxRequest*) override {
    struct Reactor final : grpc::ServerWriteReactor<v1::Inbox> {
      Reactor() { StartWrite(&first); }
      void OnCancel() override { Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }
      v1::Inbox first;
    };
    return new Reactor;
  }
};

class TlsServerFlood : public ::testing::Test {
 protected:
  TlsServerFlood() {
    const auto authority = crypto::make_authority("test", SystemClock().wall());
    authority_ = std::make_unique<crypto::Authority>(*authority);
    write_certificate();
    std::ofstream(folder_.path() + "/ca.pem") << authority_->certificate_pem;
    options_.listen = "127.0.0.1:0";
    options_.pem_file = folder_.path() + "/tls.pem";
    options_.services = {&echo_, &silence_};
    options_.known = &known_;
    echo_.tell_known(&known_);
    auto started = rpc::TlsServer::start(options_);
    EXPECT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(*started);
    channel_ = *rpc::connect_tls("127.0.0.1:" + std::to_string(port()), folder_.path() + "/ca.pem");
    expect_others_unharmed();
    start_bytes_ = resident_bytes();
  }
  void write_certificate() {
    const auto key = crypto::EcKey::make();
    const auto leaf =
        crypto::issue_server_certificate(*authority_, *key, {"localhost", "127.0.0.1", "::1"}, SystemClock().wall());
    ASSERT_TRUE(
        crypto::write_secret_file(folder_.path() + "/tls.pem", key->private_pem() + *leaf + authority_->certificate_pem)
            .ok());
  }
  void expect_others_unharmed() {
    grpc::ClientContext context;
    rpc::prepare(context, std::chrono::seconds(20));
    v1::WhoAmIReply reply;
    const grpc::Status status = v1::Accounts::NewStub(channel_)->WhoAmI(&context, v1::WhoAmIRequest(), &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  void expect_memory_below(std::size_t added) {
    if (!memory_is_ours()) return;
    EXPECT_LT(resident_bytes(), start_bytes_ + added);
  }
  std::uint16_t port() { return server_->port(); }
  std::unique_ptr<TlsClient> greet(const char* from = "127.0.0.1") {
    auto client = std::make_unique<TlsClient>(port(), "\x02h2", from);
    EXPECT_TRUE(client->send(kHttp2Preface + frame(FrameType::kSettings, 0, 0)));
    return client;
  }

  testing::TempFolder folder_;
  rpc::KnownConnections known_;
  Echo echo_;
  Silence silence_;
  rpc::ServerOptions options_;
  std::unique_ptr<crypto::Authority> authority_;
  std::unique_ptr<rpc::TlsServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::size_t start_bytes_ = 0;
};

TEST_F(TlsServerFlood, AHeaderBlockWithoutAnEndIsEnded) {
  const auto client = greet();
  ASSERT_TRUE(client->send(frame(FrameType::kHeaders, 0, 1, call_headers("/x"))));
  std::string literals;
  while (literals.size() < 16'000) literals += literal_header("name", std::string(100, 'x'));
  std::size_t sent = 0;
  while (sent < 300 * kMib && client->send(frame(FrameType::kContinuation, 0, 1, literals))) sent += literals.size();
  EXPECT_LT(sent, 8 * kMib) << "socket buffers take some";
  expect_memory_below(16 * kMib);
  expect_others_unharmed();
}

TEST_F(TlsServerFlood, TheReasonReachesACallerWhoReads) {
  const auto client = greet();
  ASSERT_TRUE(client->send(frame(FrameType::kHeaders, 0, 1, call_headers("/x")) +
                           frame(FrameType::kContinuation, 0, 1, std::string(16'384, '\0'))));
  EXPECT_THAT(client->receive_all(), HasSubstr("the headers of a call are too large"));
}

TEST_F(TlsServerFlood, UnfinishedMessagesOfOneConnectionAreBounded) {
  UnfinishedSender sender(port(), "127.0.0.2", 32, kMib, 10);
  EXPECT_TRUE(sender.run([] { return true; }));
  EXPECT_LT(sender.sent(), 8 * kMib);
  expect_memory_below(32 * kMib);
  expect_others_unharmed();
}

TEST_F(TlsServerFlood, UnfinishedMessagesOfManyAddressesEndTheirOwnConnectionsOnly) {
  grpc::ClientContext context;
  rpc::prepare(context, std::chrono::minutes(2));
  const auto watching = v1::Collaboration::NewStub(channel_)->WatchInbox(&context, v1::GetInboxRequest());
  v1::Inbox event;
  ASSERT_TRUE(watching->Read(&event));
  std::atomic<int> ended = 0;
  std::vector<std::jthread> attackers;
  for (int i = 0; i < 40; ++i) {
    attackers.emplace_back([&, i] {
      UnfinishedSender sender(port(), ("127.0.1." + std::to_string(i + 1)).c_str(), 3, kMib, 15);
      if (sender.run([] { return true; })) ++ended;
    });
  }
  for (int i = 0; i < 20; ++i) {
    expect_memory_below(64 * kMib);
    expect_others_unharmed();
  }
  attackers.clear();
  EXPECT_GE(ended, 20) << "120 MiB do not fit";
  expect_memory_below(64 * kMib);
  context.TryCancel();
  EXPECT_EQ(watching->Finish().error_code(), grpc::StatusCode::CANCELLED) << "not ended by the server";
}

TEST_F(TlsServerFlood, RapidResetsAreEnded) {
  const auto client = greet();
  std::uint32_t streams = 0;
  for (; streams < 100'000; ++streams) {
    if (!client->send(frame(FrameType::kHeaders, http2::kFlagEndHeaders, 2 * streams + 1,
                            call_headers("/gridtorrent.v1.Accounts/WhoAmI")) +
                      frame(FrameType::kResetStream, 0, 2 * streams + 1, std::string("\0\0\0\x8", 4)))) {
      break;
    }
  }
  EXPECT_LT(streams, 50'000u) << "socket buffers take some";
  EXPECT_THAT(client->receive_all(), ::testing::Not(HasSubstr("grpc-status")));
  expect_others_unharmed();
}

TEST_F(TlsServerFlood, WhoSpeaksNoHttp2IsRefused) {
  EXPECT_FALSE(TlsClient(port(), "\x08http/1.1").connected());
  TlsClient silent(port(), "");
  silent.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(silent.receive_all(), "");
  const auto client = std::make_unique<TlsClient>(port());
  ASSERT_TRUE(client->send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_THAT(client->receive_all(), HasSubstr("HTTP/2"));
}

TEST_F(TlsServerFlood, AConnectionEndsWithAGoodbyeWhenTheServerStops) {
  const auto client = greet();
  const std::string settings = client->receive();
  ASSERT_FALSE(settings.empty());
  server_->drain(std::chrono::seconds(2));
  const std::string last = client->receive_all();
  bool goodbye = false;
  http2::FrameReader reader;
  std::span<const std::uint8_t> rest = as_bytes(last);
  while (const auto piece = reader.next(rest)) goodbye = goodbye || piece->frame.type == FrameType::kGoAway;
  EXPECT_TRUE(goodbye) << last.size();
}

TEST_F(TlsServerFlood, ANewCertificateIsShownToNewConnectionsAndOldOnesGoOn) {
  const auto before = greet();
  const std::string shown = before->certificate();
  write_certificate();
  std::string now = shown;
  for (int i = 0; i < 200 && now == shown; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    now = TlsClient(port()).certificate();
  }
  EXPECT_NE(now, shown);
  EXPECT_TRUE(before->send(frame(FrameType::kPing, 0, 0, "12345678")));
  std::string answer;
  while (answer.find("12345678") == std::string::npos) {
    const std::string more = before->receive();
    ASSERT_FALSE(more.empty());
    answer += more;
  }
  expect_others_unharmed();
}

TEST_F(TlsServerFlood, HandlersSeeTheCallersAddress) {
  EXPECT_EQ(rpc::peer_address(echo_.last_peer()), "127.0.0.1") << echo_.last_peer();
}

TEST_F(TlsServerFlood, StrangersWhoFillAllTheirPlacesKeepNobodyElseOut) {
  std::vector<std::unique_ptr<TlsClient>> strangers;
  const std::size_t places = net::StrangerPlaces::Limits().at_once;
  while (strangers.size() < places) strangers.push_back(greet("127.0.0.2"));
  const auto newcomer = greet("127.0.0.3");
  EXPECT_TRUE(newcomer->send(frame(FrameType::kPing, 0, 0, std::string(8, 'x'))));
  EXPECT_NE(newcomer->receive(), "");
  expect_others_unharmed();
}

TEST_F(TlsServerFlood, AConnectionThatIsKnownTakesNoStrangersPlace) {
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  rpc::KnownConnections known;
  Echo echo;
  echo.tell_known(&known);
  rpc::ServerOptions options = options_;
  options.services = {&echo};
  options.known = &known;
  const auto server = rpc::TlsServer::start(options);
  ASSERT_TRUE(server.ok()) << server.error().message;
  const std::size_t more = net::StrangerPlaces::Limits().at_once + 10;
  for (std::size_t i = 0; i < more; ++i) {
    channels.push_back(*rpc::connect_tls("127.0.0.1:" + std::to_string((*server)->port()), folder_.path() + "/ca.pem"));
    grpc::ClientContext context;
    rpc::prepare(context, std::chrono::seconds(20));
    v1::WhoAmIReply reply;
    ASSERT_TRUE(v1::Accounts::NewStub(channels.back())->WhoAmI(&context, v1::WhoAmIRequest(), &reply).ok()) << i;
  }
  for (const auto& channel : channels) EXPECT_EQ(channel->GetState(false), GRPC_CHANNEL_READY);
}

TEST_F(TlsServerFlood, ConnectionsOfOneAddressAreBoundedAndThoseOfOthersAreNot) {
  Echo echo;
  rpc::ServerOptions options = options_;
  options.services = {&echo};
  options.connections_by_address = 3;
  const auto server = rpc::TlsServer::start(options);
  ASSERT_TRUE(server.ok());
  const auto connect = [&](const char* from) {
    return std::make_unique<TlsClient>((*server)->port(), "\x02h2", from, 60);
  };
  std::vector<std::unique_ptr<TlsClient>> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(connect("127.0.0.9"));
    ASSERT_TRUE(held.back()->connected());
  }
  EXPECT_FALSE(connect("127.0.0.9")->connected());
  EXPECT_TRUE(connect("127.0.0.10")->connected());
  held.pop_back();
  bool again = false;
  for (int i = 0; i < 2000 && !again; ++i) {
    again = connect("127.0.0.9")->connected();
    if (!again) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(again) << "a place that is given back is free";
}

TEST_F(TlsServerFlood, HandlersSeeACallersAddressOfIpv6) {
  rpc::ServerOptions options = options_;
  options.listen = "[::1]:0";
  const auto server = rpc::TlsServer::start(options);
  if (!server) GTEST_SKIP() << "this host has no IPv6: " << server.error().message;
  channel_ = *rpc::connect_tls("[::1]:" + std::to_string((*server)->port()), folder_.path() + "/ca.pem");
  expect_others_unharmed();
  EXPECT_EQ(rpc::peer_address(echo_.last_peer()), "::1") << echo_.last_peer();
}

TEST_F(TlsServerFlood, CallersOfOneIpv6NetworkShareItsPlacesAndAreToldApart) {
  OwnNetwork::run([&] {
    OwnNetwork network;
    for (const char* address : {"fd00:0:0:1::1", "fd00:0:0:1::2", "fd00:0:0:1::3", "fd00:0:0:2::1"}) {
      network.add(address);
    }
    if (!network.trouble().empty()) GTEST_SKIP() << network.trouble();
    Echo echo;
    rpc::ServerOptions options = options_;
    options.listen = "[::1]:0";
    options.services = {&echo};
    options.connections_by_address = 2;
    const auto server = rpc::TlsServer::start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    const auto connect = [&](const char* from) {
      return std::make_unique<TlsClient>((*server)->port(), "\x02h2", from, 60);
    };
    const auto first = connect("fd00:0:0:1::1"), second = connect("fd00:0:0:1::2");
    ASSERT_TRUE(first->connected() && second->connected());
    EXPECT_FALSE(connect("fd00:0:0:1::3")->connected()) << "the /64 has its two places";
    EXPECT_TRUE(connect("fd00:0:0:2::1")->connected());
    ASSERT_TRUE(second->send(
        kHttp2Preface + frame(FrameType::kSettings, 0, 0) +
        frame(FrameType::kHeaders, http2::kFlagEndHeaders, 1, call_headers("/gridtorrent.v1.Accounts/WhoAmI")) +
        frame(FrameType::kData, http2::kFlagEndStream, 1, message_prefix(0))));
    while (echo.last_peer().empty()) ASSERT_FALSE(second->receive().empty());
    EXPECT_EQ(rpc::peer_address(echo.last_peer()), "fd00:0:0:1::2") << echo.last_peer();
  });
}

}  // namespace
}  // namespace gridtorrent::test
