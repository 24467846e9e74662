#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <optional>
#include <set>

#include "client/engine/listen.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {
namespace {

EngineOptions on(std::vector<std::string> addresses, std::uint16_t first, std::uint16_t last) {
  EngineOptions options;
  options.listen_addresses = std::move(addresses);
  options.first_lane_port = first;
  options.last_lane_port = last;
  return options;
}

/// A port that another program listens on.
struct TakenPort {
  TakenPort() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(fd.get(), generic, size), 0);
    EXPECT_EQ(::listen(fd.get(), 1), 0);
    EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
    port = ntohs(address.sin_port);
  }
  UniqueFd fd;
  std::uint16_t port = 0;
};

TEST(ListenSockets, RefuseNamesEmptyListsAndReversedRanges) {
  EXPECT_EQ(choose_listen_sockets(on({"localhost"}, 0, 0)).error().code, Code::kInvalid);
  EXPECT_EQ(choose_listen_sockets(on({}, 0, 0)).error().code, Code::kInvalid);
  EXPECT_EQ(choose_listen_sockets(on({"127.0.0.1"}, 50010, 50000)).error().code, Code::kInvalid);
  EXPECT_EQ(choose_listen_sockets(on({"127.0.0.1"}, 0, 50000)).error().code, Code::kInvalid);
}

TEST(ListenSockets, RefuseAnAddressThatIsNotOurs) {
  const auto sockets = choose_listen_sockets(on({"192.0.2.1"}, 0, 0));  // RFC 5737: nobody's
  ASSERT_FALSE(sockets.ok());
  EXPECT_NE(sockets.error().message.find("192.0.2.1"), std::string::npos);
}

TEST(ListenSockets, NameThePortThatIsInUse) {
  const TakenPort taken;
  const auto sockets = choose_listen_sockets(on({"127.0.0.1"}, taken.port, taken.port));
  ASSERT_FALSE(sockets.ok());
  EXPECT_EQ(sockets.error().code, Code::kConflict);
  EXPECT_NE(sockets.error().message.find("port " + std::to_string(taken.port) + ": the port is in use"),
            std::string::npos);
}

TEST(ListenSockets, DoWithoutAPortOfTheRangeThatIsInUse) {
  const auto after = [](const TakenPort& taken) { return static_cast<std::uint16_t>(taken.port + 1); };
  const auto is_free = [](std::uint16_t port) {
    return port != 0 && choose_listen_sockets(on({"127.0.0.1"}, port, port)).ok();
  };
  std::optional<TakenPort> taken;
  do taken.emplace();
  while (!is_free(after(*taken)));  // the neighbour may be in use by chance
  const std::uint16_t next = after(*taken);
  const auto sockets = choose_listen_sockets(on({"127.0.0.1"}, taken->port, next));
  ASSERT_TRUE(sockets.ok()) << sockets.error().message;
  ASSERT_EQ(sockets->size(), 1U);
  EXPECT_EQ(sockets->front().port, next);
}

TEST(ListenSockets, TakeSixteenFreePortsTheSameOnAllAddresses) {
  const auto sockets = choose_listen_sockets(on({"127.0.0.1", "127.0.0.2"}, 0, 0));
  ASSERT_TRUE(sockets.ok()) << sockets.error().message;
  std::set<std::uint16_t> first, second;
  for (const auto& socket : *sockets) (socket.address == "127.0.0.1" ? first : second).insert(socket.port);
  EXPECT_EQ(first.size(), 16U);
  EXPECT_EQ(first, second);
}

TEST(ListenSockets, HaveTlsPortsOfTheirOwnWhereAsked) {
  auto options = on({"127.0.0.1"}, 0, 0);
  options.first_tls_port = options.last_tls_port = 0;
  options.tls_lanes = true;
  const auto sockets = choose_listen_sockets(options);
  ASSERT_TRUE(sockets.ok()) << sockets.error().message;
  std::set<std::uint16_t> plain, tls, all;
  for (const auto& socket : *sockets) {
    (socket.tls ? tls : plain).insert(socket.port);
    all.insert(socket.port);
  }
  EXPECT_EQ(plain.size(), 16U);
  EXPECT_EQ(tls.size(), 16U);
  EXPECT_EQ(all.size(), 32U);
  options.first_tls_port = 50031;
  options.last_tls_port = 50016;
  EXPECT_NE(choose_listen_sockets(options).error().message.find("--tls-lane-ports 50031-50016 is no range"),
            std::string::npos);
}

TEST(ListenSockets, AreWrittenInLibtorrentsForm) {
  EXPECT_EQ(to_listen_interfaces({{"0.0.0.0", 50000, false}, {"::", 50000, false}, {"10.0.0.1", 50016, true}}),
            "0.0.0.0:50000,[::]:50000,10.0.0.1:50016s");
}

}  // namespace
}  // namespace gridtorrent::client::engine
