// Peers that speak the protocol and use it to do harm, over a bare socket, against a real engine.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "base/crypto/digest.h"
#include "client/engine/wire.h"
#include "common/hex.h"
#include "common/unique_fd.h"
#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

constexpr char kExtended = 20;  // BEP 10
constexpr int kOurStats = 9;    // the number under which this peer takes gt_stats

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string extended(int number, const std::string& body) {
  return big_endian(static_cast<std::uint32_t>(body.size()) + 2) + kExtended + static_cast<char>(number) + body;
}

/// A peer of a plain torrent: connected, and through BitTorrent's own handshake and ours.
class BarePeer {
 public:
  /// `claims`: the port that it says it listens on; 0: none.
  BarePeer(const Node& seeder, const Sample& sample, std::uint16_t claims = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const auto endpoint = seeder.peer(1).endpoints.front();
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(endpoint.port);
    EXPECT_EQ(::inet_pton(AF_INET, endpoint.address.c_str(), &name.sin_addr), 1);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    const auto hash = crypto::sha1(as_bytes(sample.info_dict()));
    std::string hello =
        "\x13"
        "BitTorrent protocol" +
        std::string(8, '\0') + std::string(as_chars(hash)) + "-XX0000-" + random_bytes(12, 5);
    hello[25] = 0x10;  // extended messages
    send(hello);
    greet(claims);
  }
  void greet(std::uint16_t claims) {
    const std::string gt = encode_hello({new_node(), 0, 16, std::nullopt});
    const std::string port = claims == 0 ? "" : "1:pi" + std::to_string(claims) + "e";
    send(extended(0, "d2:gt" + gt + "1:md8:gt_statsi" + std::to_string(kOurStats) + "ee" + port + "e"));
  }
  /// False: the other end has ended the connection, or takes no more for 20 s.
  bool send(const std::string& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      pollfd ready{socket_.get(), POLLOUT, 0};
      if (::poll(&ready, 1, 20'000) <= 0) return false;
      const ssize_t sent = ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0) return false;
      done += static_cast<std::size_t>(sent);
    }
    return true;
  }
  /// All that comes, until nothing does for a time or the other end is gone.
  std::string receive(std::chrono::milliseconds quiet) {
    std::string all;
    std::array<char, 65'536> bytes{};
    for (;;) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, static_cast<int>(quiet.count())) <= 0) return all;
      const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
      if (got <= 0) {
        ended_ = true;
        return all;
      }
      all.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  bool ended() const { return ended_; }

 private:
  const UniqueFd socket_;
  bool ended_ = false;
};

/// Messages with our number for gt_stats among what came, the handshake of 68 bytes first.
int stats_in(const std::string& bytes) {
  int found = 0;
  for (std::size_t at = 68; at + 6 <= bytes.size();) {
    std::uint32_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i) length = (length << 8) | static_cast<std::uint8_t>(bytes[i]);
    found += length >= 2 && bytes[at + 4] == kExtended && bytes[at + 5] == kOurStats ? 1 : 0;
    at += 4 + length;
  }
  return found;
}

struct Seeding {
  Seeding() {
    sample.write(folder / "seed");
    seeder.seed(sample, folder / "seed", transfer);
  }
  const Folder folder;
  const Sample sample = one_file(1'000'000);
  const TransferId transfer = new_transfer();
  Node seeder;
};

TEST(HostilePeers, AreAnsweredOnceThoughTheyGreetAgainAndAgain) {
  Seeding seeding;
  BarePeer peer(seeding.seeder, seeding.sample);
  ASSERT_TRUE(eventually([&] { return !seeding.seeder.snapshot(seeding.transfer).peers.empty(); }));
  std::string again;
  for (int i = 0; i < 10'000; ++i) again += extended(0, "de");
  ASSERT_TRUE(peer.send(again));
  std::string answers;
  for (int i = 0; i < 10 && stats_in(answers) == 0; ++i) answers += peer.receive(std::chrono::milliseconds(1500));
  EXPECT_GE(stats_in(answers), 1) << "of the first greeting";
  EXPECT_LE(stats_in(answers), 3) << "80 kB were to have 10,000 answers of 200 bytes";
}

TEST(HostilePeers, AreLeftWhereTheyAskForAnswersAndReadNone) {
  Seeding seeding;
  BarePeer peer(seeding.seeder, seeding.sample);
  // Each INTERESTED has an UNCHOKE for an answer, as long as it is.
  std::string interested;
  for (int i = 0; i < 100'000; ++i) interested.append(kInterested.data(), kInterested.size());
  EXPECT_TRUE(eventually([&] { return !peer.send(interested); }, std::chrono::seconds(60)));
  EXPECT_TRUE(eventually([&] {
    const auto snapshot = seeding.seeder.snapshot(seeding.transfer);
    return snapshot.peers.empty() || snapshot.peers.front().lanes.empty();
  }));
}

TEST(HostilePeers, AreSentAwayWhereTheySayAPortAgain) {
  Seeding seeding;
  BarePeer peer(seeding.seeder, seeding.sample);
  peer.greet(7);
  EXPECT_TRUE(eventually([&] {
    peer.receive(std::chrono::milliseconds(100));
    return peer.ended();
  }));
}

TEST(HostilePeers, ThatClaimASeedersPortAtItsAddressKeepNoLaneFromIt) {
  SlowPair pair;
  const auto plan = [&](int lanes) { pair.leecher.plan(pair.transfer, {pair.seeder.peer(lanes, true, 1)}); };
  plan(1);
  ASSERT_TRUE(pair.stand(1));
  const std::uint16_t port = pair.seeder.peer(1).endpoints.front().port;
  const BarePeer first(pair.leecher, pair.sample, port), second(pair.leecher, pair.sample, 1),
      third(pair.leecher, pair.sample, port);
  plan(6);
  EXPECT_TRUE(pair.stand(6));
  pair.leecher.engine->set_rate_limit(pair.transfer, 0, 0);
  EXPECT_TRUE(eventually([&] { return is_whole(pair.leecher.snapshot(pair.transfer)); }));
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
