#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "client/engine/descriptor_shares.h"
#include "client/engine/half_open.h"
#include "common/unique_fd.h"

namespace gridtorrent::client::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

HalfOpen from(const std::string& address, MonoTime since) {
  return {3, address, since};
}

TEST(HandshakesToEnd, AreThoseWhoseTimeIsOver) {
  const MonoTime start{};
  const std::array open = {from("a", start), from("a", start + seconds(1))};
  EXPECT_THAT(handshakes_to_end(open, start + kHandshakeTime - milliseconds(1)), IsEmpty());
  EXPECT_THAT(handshakes_to_end(open, start + kHandshakeTime), ElementsAre(0));
}

TEST(HandshakesToEnd, AreTheOldestOfTooManyFromOneAddressAndNobodyElses) {
  const MonoTime start{};
  std::vector<HalfOpen> open = {from("good", start)};
  for (std::size_t i = 0; i < kMaxHalfOpenOfAnAddress + 2; ++i) {
    open.push_back(from("bad", start + milliseconds(static_cast<int>(i))));
  }
  EXPECT_THAT(handshakes_to_end(open, start + seconds(1)), testing::UnorderedElementsAre(1, 2));
}

TEST(HandshakesToEnd, AreTheOldestOfTooManyAltogether) {
  const MonoTime start{};
  std::vector<HalfOpen> open;
  for (std::size_t i = 0; i < kMaxHalfOpen + 3; ++i) {
    open.push_back(from("address" + std::to_string(i % 50), start + milliseconds(static_cast<int>(i))));
  }
  EXPECT_THAT(handshakes_to_end(open, start + seconds(1)), testing::UnorderedElementsAre(0, 1, 2));
}

TEST(HandshakesToEnd, AreMoreWhereDescriptorsAreFew) {
  const MonoTime start{};
  std::vector<HalfOpen> open;
  for (int i = 0; i < 10; ++i) open.push_back(from("address" + std::to_string(i), start + milliseconds(i)));
  EXPECT_THAT(handshakes_to_end(open, start + seconds(1), {8, 3}), testing::UnorderedElementsAre(0, 1));
}

TEST(HandshakeGuard, IsDueAsSoonAsManyHaveConnected) {
  HandshakeGuard guard({50'000}, {16, 6});
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(guard.connected()) << i;
  EXPECT_TRUE(guard.connected());
  guard.tick({}, MonoTime(seconds(1)));
  EXPECT_FALSE(guard.connected()) << "it has looked";
}

TEST(DescriptorShares, NeverComeToMoreThanThereAre) {
  for (const std::uint64_t limit : {256U, 300U, 512U, 1'024U, 4'096U, 65'536U, 1'048'576U}) {
    const DescriptorShares shares = share_descriptors(limit, 32);
    const std::uint64_t all =
        static_cast<std::uint64_t>(shares.connections + shares.open_files) + 32 + shares.half_open.in_all;
    EXPECT_LE(all + 64, limit) << "64 are for everything else";
    EXPECT_GE(shares.connections, 24) << limit;
    EXPECT_LE(shares.half_open.of_address, shares.half_open.in_all);
  }
}

TEST(DescriptorShares, AreTheUsualOnesWhereThereAreEnough) {
  const DescriptorShares shares = share_descriptors(65'536, 64);
  EXPECT_EQ(shares.connections, 4'000);
  EXPECT_EQ(shares.open_files, 500);
  EXPECT_EQ(shares.half_open.in_all, kMaxHalfOpen);
  EXPECT_EQ(shares.half_open.of_address, kMaxHalfOpenOfAnAddress);
}

TEST(DescriptorShares, LeaveSomethingToEachWhereThereAreTooFew) {
  const DescriptorShares shares = share_descriptors(64, 320);
  EXPECT_GT(shares.connections, 0);
  EXPECT_GT(shares.open_files, 0);
  EXPECT_GT(shares.half_open.of_address, 0U);
}

/// A listening port on loopback, and connections to it.
class Guarded : public testing::Test {
 protected:
  Guarded() {
    listener_.reset(::socket(AF_INET, SOCK_STREAM, 0));
    name_.sin_family = AF_INET;
    name_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name_;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name_), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name_), &size), 0);
  }
  std::uint16_t port() const { return ntohs(name_.sin_port); }
  struct Pair {
    UniqueFd theirs, ours;
  };
  UniqueFd dial() {
    UniqueFd theirs(::socket(AF_INET, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(theirs.get(), reinterpret_cast<const sockaddr*>(&name_), sizeof name_), 0);
    return theirs;
  }
  UniqueFd accept() { return UniqueFd(::accept(listener_.get(), nullptr, nullptr)); }
  Pair connect() {
    Pair pair{dial(), accept()};
    EXPECT_GE(pair.ours.get(), 0);
    return pair;
  }
  /// The end of the connection has come to the other side.
  static bool ended(const Pair& pair, int patience_ms = 0) {
    pollfd end{pair.theirs.get(), POLLIN, 0};
    if (::poll(&end, 1, patience_ms) != 1) return false;
    char byte = 0;
    return ::recv(pair.theirs.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  UniqueFd listener_;
  sockaddr_in name_{};
};

TEST_F(Guarded, OnlyConnectionsToTheTlsPortsThatAreNoLanesAreEnded) {
  const Pair silent = connect(), lane = connect();
  HandshakeGuard guard({port()}), other({1});  // a port that neither end can have
  const MonoTime start{};
  const std::set<int> lanes = {lane.ours.get()};
  for (const MonoTime now : {start, start + seconds(1), start + kHandshakeTime}) other.tick({}, now);
  EXPECT_EQ(guard.tick(lanes, start), 0u);
  EXPECT_EQ(guard.tick(lanes, start + kHandshakeTime - milliseconds(1)), 0u);
  EXPECT_FALSE(ended(silent));
  EXPECT_EQ(guard.tick(lanes, start + kHandshakeTime), 1u);
  EXPECT_TRUE(ended(silent, 10'000));
  EXPECT_FALSE(ended(lane));
  const Pair later = connect();
  EXPECT_FALSE(ended(later));
  EXPECT_EQ(::fcntl(listener_.get(), F_GETFD), 0) << "the listening socket goes on";
}

TEST_F(Guarded, AllButLanesAreEndedAtOnceAndCountedUntilTheyAreClosed) {
  Pair silent = connect(), reset = connect();
  const Pair lane = connect();
  const linger at_once{1, 0};
  ASSERT_EQ(::setsockopt(reset.theirs.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
  reset.theirs.reset();
  const HandshakeGuard guard({port()});
  EXPECT_EQ(guard.end_all({lane.ours.get()}), 2u) << "the one that the other end has reset is open, too";
  EXPECT_TRUE(ended(silent, 10'000));
  EXPECT_FALSE(ended(lane));
  silent.ours.reset();
  EXPECT_EQ(guard.end_all({lane.ours.get()}), 1u);
  reset.ours.reset();
  EXPECT_EQ(guard.end_all({lane.ours.get()}), 0u);
  EXPECT_EQ(::fcntl(listener_.get(), F_GETFD), 0) << "the listening socket is none of them";
}

TEST_F(Guarded, ANumberThatAnotherConnectionGotStartsAnew) {
  HandshakeGuard guard({port()});
  const MonoTime start{};
  Pair first = connect();
  const int number = first.ours.get();
  guard.tick({}, start);
  Pair second{dial(), UniqueFd()};
  first.ours.reset();
  second.ours = accept();
  ASSERT_EQ(second.ours.get(), number);
  EXPECT_EQ(guard.tick({}, start + kHandshakeTime), 0u);
  EXPECT_FALSE(ended(second));
}

}  // namespace
}  // namespace gridtorrent::client::engine
