#include "client/engine/unread_acks.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <vector>

#include "tests/support/loopback_connection.h"

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

const MonoTime kStart = MonoTime{} + 1h;
const auto kNothing = [] {};

/// A lane whose blocks follow each other closely.
void brings_blocks(UnreadAcks& acks, const LoopbackConnection& lane, MonoTime now = kStart) {
  acks.received(lane.receiver(), now);
  acks.received(lane.receiver(), now);
}

/// The kernel's work on loopback may wait for its turn, but not for the timer of delayed acknowledgements (40 ms).
bool all_acknowledged(const LoopbackConnection& connection) {
  const auto until = std::chrono::steady_clock::now() + 20ms;
  while (connection.unacknowledged() > 0) {
    if (std::chrono::steady_clock::now() > until) return false;
  }
  return std::chrono::steady_clock::now() <= until;  // else the machine stood still, and the timer may have done it
}

TEST(UnreadAcks, AreSentAtOnceWhereTheyWouldWaitForTheReader) {
  bool waits = false, at_once = false;
  for (int round = 0; round < 20 && !(waits && at_once);
       ++round) {  // a machine that stops here for 20 ms shows nothing
    const LoopbackConnection usual, lane;
    UnreadAcks acks;
    brings_blocks(acks, lane);
    for (int i = 0; i < 6; ++i) lane.send(5);
    at_once = at_once || all_acknowledged(lane);
    for (int i = 0; i < 6; ++i) usual.send(5);
    waits = waits || usual.unacknowledged() > 0;
  }
  EXPECT_TRUE(at_once);
  EXPECT_TRUE(waits) << "the kernel has another rule, and none of this is needed";
}

TEST(UnreadAcks, AreSentAtOnceAfterALookToo) {
  bool at_once = false;
  for (int round = 0; round < 20 && !at_once; ++round) {  // the kernel's work may have to wait longer than 20 ms
    const LoopbackConnection lane;
    UnreadAcks acks;
    brings_blocks(acks, lane);
    lane.send(5);
    acks.look(kStart, [&] { lane.read(5 * kSegment); });
    for (int i = 0; i < 6; ++i) lane.send(5);
    at_once = all_acknowledged(lane);
  }
  EXPECT_TRUE(at_once);
}

TEST(UnreadAcks, LetEachSocketBeHeardDuringALookOneByOneAndByAnEdgeToo) {
  const LoopbackConnection first, second;
  UnreadAcks acks;
  const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  for (const LoopbackConnection* lane : {&first, &second}) {
    brings_blocks(acks, *lane);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = lane->receiver();
    ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, lane->receiver(), &event), 0);
    lane->send(5);
    EXPECT_TRUE(lane->arrived(5));
  }
  std::vector<int> heard;
  const auto ready = [&] {
    std::array<epoll_event, 4> events{};
    const int count = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) heard.push_back(events[static_cast<std::size_t>(i)].data.fd);
  };
  ready();
  EXPECT_TRUE(heard.empty());
  acks.look(kStart, ready);
  EXPECT_EQ(heard, (std::vector{first.receiver(), second.receiver()}));
  heard.clear();
  for (const LoopbackConnection* lane : {&first, &second}) {
    lane->send(1);
    EXPECT_TRUE(lane->arrived(6));
  }
  ready();
  EXPECT_TRUE(heard.empty());
  acks.look(kStart, [&] {
    ready();
    EXPECT_LE(heard.size(), 2U);
    EXPECT_FALSE(first.heard() && second.heard());
  });
  EXPECT_EQ(heard.size(), 2U);
}

TEST(UnreadAcks, AreNotForALaneWhoseBlocksComeFarApart) {
  const LoopbackConnection lane;
  UnreadAcks acks;
  for (const auto at : {0ms, 11ms, 22ms}) {
    acks.received(lane.receiver(), kStart + at);
    acks.look(kStart + at, kNothing);
    EXPECT_EQ(lane.low_water_mark(), 1);
  }
  acks.received(lane.receiver(), kStart + 32ms);
  EXPECT_GT(lane.low_water_mark(), 1);
}

TEST(UnreadAcks, EndForASocketThatNoBlockCameOverForAWhile) {
  const LoopbackConnection lane;
  UnreadAcks acks;
  brings_blocks(acks, lane);
  acks.look(kStart + 100ms, kNothing);
  EXPECT_GT(lane.low_water_mark(), 1);
  acks.received(lane.receiver(), kStart + 100ms);
  acks.look(kStart + 200ms, kNothing);
  EXPECT_GT(lane.low_water_mark(), 1);
  acks.look(kStart + 201ms, kNothing);
  EXPECT_EQ(lane.low_water_mark(), 1);
  lane.send(1);
  EXPECT_TRUE(lane.arrived(1));
  EXPECT_TRUE(lane.heard());
}

TEST(UnreadAcks, LeaveASocketAloneThatIsClosedBeforeOrDuringALook) {
  const LoopbackConnection before, stays, during, later;
  UnreadAcks acks;
  for (const LoopbackConnection* lane : {&before, &stays, &during, &later}) brings_blocks(acks, *lane);
  const auto close_and_reuse = [&](const LoopbackConnection& lane) {
    acks.closes(lane.receiver());
    set_option(lane.receiver(), SOL_SOCKET, SO_RCVLOWAT, 7);
  };
  close_and_reuse(before);
  int looks = 0;
  acks.look(kStart, [&] {
    if (++looks == 1) close_and_reuse(later);
    if (looks == 2) close_and_reuse(during);
  });
  EXPECT_EQ(looks, 2);
  acks.look(kStart, kNothing);
  acks.end();
  for (const LoopbackConnection* lane : {&before, &during, &later}) EXPECT_EQ(lane->low_water_mark(), 7);
  EXPECT_EQ(stays.low_water_mark(), 1);
}

TEST(UnreadAcks, EndForAllEvenInTheMidstOfALook) {
  const LoopbackConnection first, second;
  UnreadAcks acks;
  for (const LoopbackConnection* lane : {&first, &second}) brings_blocks(acks, *lane);
  acks.look(kStart, [&] { acks.end(); });
  for (const LoopbackConnection* lane : {&first, &second}) EXPECT_EQ(lane->low_water_mark(), 1);
}

TEST(UnreadAcks, TakeNoSocketThatIsNone) {
  UnreadAcks acks;
  acks.received(-1, kStart);
  acks.look(kStart, [] { FAIL() << "there is nothing to look at"; });
}

}  // namespace
}  // namespace gridtorrent::client::engine
