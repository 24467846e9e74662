// Who may have a content, decided by real engines on every connection of a TLS edition.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/crypto/certificates.h"
#include "base/crypto/digest.h"
#include "base/crypto/keys.h"
#include "common/hex.h"
#include "common/unique_fd.h"
#include "tests/integration/engine_lab.h"

namespace gridtorrent::client::engine::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

WallTime now() {
  return SystemClock().wall();
}

/// A node with a key, and certificates for it.
struct Member {
  Member() = default;
  explicit Member(const crypto::Authority& authority) { show(authority, now()); }
  /// `when`: the certificate is made then, and good for a day from then on.
  void show(const crypto::Authority& authority, WallTime when) {
    const auto certificate = crypto::issue_node_certificate(authority, key.public_der(), when, hours(24));
    ASSERT_TRUE(certificate.ok()) << certificate.error().message;
    node.engine->set_identity(1, {*certificate, key.private_pem()});
  }
  std::pair<const KeyPrint, NodeId> entry() const { return {crypto::sha256(as_bytes(key.public_der())), node.id}; }

  crypto::EcKey key = *crypto::EcKey::make();
  Node node{"127.0.0.1", {}, true};
};

std::shared_ptr<const Audience> audience_of(std::initializer_list<const Member*> members) {
  auto audience = std::make_shared<Audience>();
  for (const Member* member : members) audience->insert(member->entry());
  return audience;
}

class TlsLanes : public testing::Test {
 protected:
  TlsLanes() {
    sample.ca_pem = authority.certificate_pem;
    sample.write(folder / "seed");
  }
  /// The seeder thinks that `audience` may have it; the leecher, that the two may.
  void begin(std::shared_ptr<const Audience> audience, int lanes = 4, bool slowly = false) {
    seeder.node.seed(sample, folder / "seed", transfer, std::move(audience));
    leecher.node.fetch(sample, folder / "get", transfer, audience_of({&seeder, &leecher}));
    if (slowly) leecher.node.engine->set_rate_limit(transfer, 4'000'000, 0);
    leecher.node.plan(transfer, {seeder.node.peer(lanes)});
  }
  bool arrives() {
    return eventually([&] { return is_whole(leecher.node.snapshot(transfer)); });
  }
  std::uint64_t got() { return leecher.node.snapshot(transfer).received_payload_bytes; }
  /// Long enough for several dials; not a byte came and no lane stood.
  void expect_nothing() {
    EXPECT_TRUE(stays(
        [&] {
          return got() == 0 && leecher.node.snapshot(transfer).verified_bytes == 0 &&
                 open_lanes(leecher.node.snapshot(transfer), seeder.node.id) == 0;
        },
        seconds(4)));
    EXPECT_EQ(seeder.node.snapshot(transfer).sent_payload_bytes, 0U);
  }

  const crypto::Authority authority = *crypto::make_authority("data CA", now());
  const Folder folder;
  Sample sample = one_file(20'000'000);
  const TransferId transfer = new_transfer();
  Member seeder{authority}, leecher{authority};
};

TEST_F(TlsLanes, CarryAFileAmongThoseWhoMayHaveIt) {
  begin(audience_of({&seeder, &leecher}), 4, true);
  EXPECT_TRUE(eventually([&] {
    return open_lanes(leecher.node.snapshot(transfer), seeder.node.id) == 4 &&
           open_lanes(seeder.node.snapshot(transfer), leecher.node.id) == 4;
  }));
  EXPECT_TRUE(eventually([&] {
    const auto snapshot = seeder.node.snapshot(transfer);
    return !snapshot.peers.empty() &&
           std::ranges::all_of(snapshot.peers[0].lanes, [](const auto& lane) { return lane.of_sender().srtt_us > 0; });
  })) << "TLS lanes are measured, too";
  leecher.node.engine->set_rate_limit(transfer, 0, 0);
  ASSERT_TRUE(arrives());
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
  EXPECT_EQ(seeder.node.snapshot(transfer).refused_lanes, 0U);
  EXPECT_TRUE(eventually([&] { return sees_complete(seeder.node.snapshot(transfer), leecher.node.id); }));
}

TEST_F(TlsLanes, GiveNothingToAMemberOfTheServerWithoutTheRight) {
  begin(audience_of({&seeder}));
  expect_nothing();
  EXPECT_TRUE(eventually([&] { return seeder.node.snapshot(transfer).refused_lanes >= 4U; }));
  seeder.node.engine->set_audience(transfer, audience_of({&seeder, &leecher}));
  EXPECT_TRUE(arrives()) << "and let it in once it has the right";
}

TEST_F(TlsLanes, TakeNothingFromANodeWithoutTheRight) {
  seeder.node.seed(sample, folder / "seed", transfer, audience_of({&seeder, &leecher}));
  leecher.node.fetch(sample, folder / "get", transfer, audience_of({&leecher}));
  leecher.node.plan(transfer, {seeder.node.peer(4)});
  expect_nothing();
  EXPECT_TRUE(eventually([&] { return leecher.node.snapshot(transfer).refused_lanes >= 4U; }));
  EXPECT_TRUE(eventually([&] {
    const auto problems = leecher.node.snapshot(transfer).problems;
    return problems.size() == 1 && problems[0].message.ends_with("it is not among those who may have this content");
  }));
}

TEST_F(TlsLanes, StandForNobodyBeforeItIsKnownWhoMay) {
  begin(nullptr);
  expect_nothing();
}

TEST_F(TlsLanes, GiveNothingForACertificateOfAnotherAuthorityOrOneThatHasExpired) {
  const auto other = *crypto::make_authority("data CA", now());
  leecher.show(other, now());
  begin(audience_of({&seeder, &leecher}));
  expect_nothing();
  EXPECT_TRUE(eventually(
      [&] { return seeder.node.engine->refused_handshakes() + leecher.node.engine->refused_handshakes() >= 4U; }));
  leecher.show(authority, now() - hours(25));
  expect_nothing();
  leecher.show(authority, now() + hours(24 * 3));
  expect_nothing();
  leecher.show(authority, now());
  EXPECT_TRUE(arrives());
}

TEST_F(TlsLanes, GiveNothingToANodeWithoutACertificateNorOverPlainConnections) {
  Member stranger;
  seeder.node.seed(sample, folder / "seed", transfer, audience_of({&seeder, &stranger}));
  stranger.node.fetch(sample, folder / "stranger", transfer, audience_of({&seeder, &stranger}));
  PeerPlan plain = seeder.node.peer(8);
  for (auto& endpoint : plain.endpoints) endpoint.tls = true;  // its plain ports, too
  stranger.node.plan(transfer, {plain});
  EXPECT_TRUE(stays([&] { return stranger.node.snapshot(transfer).received_payload_bytes == 0; }, seconds(4)));
  EXPECT_EQ(seeder.node.snapshot(transfer).sent_payload_bytes, 0U);
}

TEST_F(TlsLanes, EndForWhomTheRightIsTakenAndGoOnForOthers) {
  Member other(authority);
  begin(audience_of({&seeder, &leecher, &other}), 4, true);
  other.node.fetch(sample, folder / "other", transfer, audience_of({&seeder, &leecher, &other}));
  other.node.engine->set_rate_limit(transfer, 4'000'000, 0);
  other.node.plan(transfer, {seeder.node.peer(4)});
  const auto lanes = [&](const Member& member) { return open_lanes(seeder.node.snapshot(transfer), member.node.id); };
  ASSERT_TRUE(eventually([&] { return lanes(leecher) == 4 && lanes(other) == 4 && got() > 0; }));
  seeder.node.engine->set_audience(transfer, audience_of({&seeder, &other}));
  EXPECT_TRUE(eventually([&] { return lanes(leecher) == 0; }));
  EXPECT_TRUE(stays([&] { return lanes(leecher) == 0 && lanes(other) == 4; }, seconds(2)));  // counted once a second
  const std::uint64_t had = leecher.node.snapshot(transfer).verified_bytes, got_before = got();

  seeder.node.engine->set_audience(transfer, audience_of({&seeder, &leecher, &other}));
  leecher.node.engine->set_rate_limit(transfer, 0, 0);
  ASSERT_TRUE(arrives());
  EXPECT_GT(had, 0U);
  EXPECT_LE(got() - got_before, sample.total() - had + 1'000'000) << "what was verified is not fetched again";
  EXPECT_THAT(sample.differing(folder / "get"), testing::IsEmpty());
}

TEST_F(TlsLanes, OutliveANewCertificateAndNewOnesShowIt) {
  begin(audience_of({&seeder, &leecher}), 2, true);
  ASSERT_TRUE(eventually([&] { return open_lanes(seeder.node.snapshot(transfer), leecher.node.id) == 2; }));
  leecher.show(authority, now());
  seeder.show(authority, now());
  EXPECT_TRUE(stays([&] { return open_lanes(seeder.node.snapshot(transfer), leecher.node.id) == 2; }, seconds(2)));
  leecher.node.plan(transfer, {seeder.node.peer(6)});
  EXPECT_TRUE(eventually([&] { return open_lanes(seeder.node.snapshot(transfer), leecher.node.id) == 6; }));
}

/// Connects to a lane port and says that, whatever it is.
UniqueFd caller(const LaneEndpoint& endpoint, std::string_view says) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(endpoint.port);
  EXPECT_EQ(::inet_pton(AF_INET, endpoint.address.c_str(), &to.sin_addr), 1);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const timeval patience{10, 0};
  EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  EXPECT_EQ(::send(fd.get(), says.data(), says.size(), MSG_NOSIGNAL), static_cast<ssize_t>(says.size()));
  return fd;
}

TEST(TlsLanePorts, AnEngineEndsWhileHandshakesAreUnderWay) {
  ::mallopt(M_PERTURB, 0xa5);  // who uses what is freed falls over
  const std::shared_ptr<void> no_more(nullptr, [](void*) { ::mallopt(M_PERTURB, 0); });
  Node node("127.0.0.1", {}, true);
  const auto endpoints = node.engine->listening();
  const auto tls = std::ranges::find_if(endpoints, [](const auto& endpoint) { return endpoint.tls; });
  ASSERT_NE(tls, endpoints.end());
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(caller(*tls, i % 2 == 0 ? "" : "\x16\x03\x01"));  // half a record
  const UniqueFd last = caller(*tls, "GET / HTTP/1.1\r\n\r\n");
  char byte = 0;
  while (::recv(last.get(), &byte, 1, 0) > 0) continue;  // it was refused: those before it are accepted
  node.engine->stop();
  for (const UniqueFd& fd : silent) EXPECT_EQ(::recv(fd.get(), &byte, 1, 0), 0) << "ended, not reset by a crash";
}

}  // namespace
}  // namespace gridtorrent::client::engine::test
