#include "client/engine/unread_acks.h"

#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <vector>

#include "common/unique_fd.h"

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

const MonoTime kStart = MonoTime{} + 1h;
constexpr int kSegment = 1448;

void set_option(int fd, int level, int name, int value) {
  ASSERT_EQ(::setsockopt(fd, level, name, &value, sizeof value), 0);
}

/// A connection over loopback with segments as on a wide area, used for a while, so that its first segments, which are
/// acknowledged one by one, are behind it.
class Connection {
 public:
  Connection() : sender_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    for (const int fd : {listener.get(), sender_.get()}) set_option(fd, IPPROTO_TCP, TCP_MAXSEG, kSegment);
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&name), &size), 0);
    EXPECT_EQ(::connect(sender_.get(), reinterpret_cast<sockaddr*>(&name), size), 0);
    receiver_.reset(::accept(listener.get(), nullptr, nullptr));
    for (const int fd : {receiver(), sender_.get()}) set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    for (int i = 0; i < 100; ++i) {
      send(14);
      read(14 * kSegment);
      EXPECT_EQ(::send(receiver(), "x", 1, 0), 1);
      char byte = 0;
      EXPECT_EQ(::recv(sender_.get(), &byte, 1, MSG_WAITALL), 1);
    }
  }
  int receiver() const { return receiver_.get(); }
  void send(int segments) const {
    const std::vector<char> data(static_cast<std::size_t>(segments * kSegment));
    EXPECT_EQ(::send(sender_.get(), data.data(), data.size(), 0), static_cast<ssize_t>(data.size()));
  }
  void read(int bytes) const {
    std::vector<char> data(static_cast<std::size_t>(bytes));
    EXPECT_EQ(::recv(receiver(), data.data(), data.size(), MSG_WAITALL), bytes);
  }
  int unacknowledged() const {
    int bytes = 0;
    EXPECT_EQ(::ioctl(sender_.get(), SIOCOUTQ, &bytes), 0);
    return bytes;
  }
  bool heard() const {
    pollfd entry{receiver(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  int low_water_mark() const {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    EXPECT_EQ(::getsockopt(receiver(), SOL_SOCKET, SO_RCVLOWAT, &bytes, &size), 0);
    return bytes;
  }

 private:
  UniqueFd sender_, receiver_;
};

const auto kNothing = [] {};

TEST(UnreadAcks, AreSentAtOnceWhereTheyWouldWaitForTheReader) {
  const Connection usual, lane;
  UnreadAcks acks;
  acks.received(lane.receiver(), kStart);
  for (const Connection* connection : {&usual, &lane}) {
    for (int i = 0; i < 6; ++i) connection->send(5);
  }
  EXPECT_GT(usual.unacknowledged(), 0) << "else the kernel has another rule, and none of this is needed";
  EXPECT_EQ(lane.unacknowledged(), 0);
}

TEST(UnreadAcks, AreSentAtOnceAfterALookToo) {
  const Connection lane;
  UnreadAcks acks;
  acks.received(lane.receiver(), kStart);
  lane.send(5);
  acks.look(kStart, [&] { lane.read(5 * kSegment); });
  for (int i = 0; i < 6; ++i) lane.send(5);
  EXPECT_EQ(lane.unacknowledged(), 0);
}

TEST(UnreadAcks, LetEachSocketBeHeardDuringALookOneByOneAndByAnEdgeToo) {
  const Connection first, second;
  UnreadAcks acks;
  const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  for (const Connection* lane : {&first, &second}) {
    acks.received(lane->receiver(), kStart);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.fd = lane->receiver();
    ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, lane->receiver(), &event), 0);
    lane->send(5);
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
  for (const Connection* lane : {&first, &second}) lane->send(1);
  ready();
  EXPECT_TRUE(heard.empty());
  acks.look(kStart, [&] {
    ready();
    EXPECT_LE(heard.size(), 2U);
    EXPECT_FALSE(first.heard() && second.heard());
  });
  EXPECT_EQ(heard.size(), 2U);
}

TEST(UnreadAcks, EndForASocketThatNoBlockCameOverForAWhile) {
  const Connection lane;
  UnreadAcks acks;
  acks.received(lane.receiver(), kStart);
  acks.look(kStart + 30ms, kNothing);
  EXPECT_GT(lane.low_water_mark(), 1);
  acks.received(lane.receiver(), kStart + 30ms);
  acks.look(kStart + 60ms, kNothing);
  EXPECT_GT(lane.low_water_mark(), 1);
  acks.look(kStart + 61ms, kNothing);
  EXPECT_EQ(lane.low_water_mark(), 1);
  lane.send(1);
  EXPECT_TRUE(lane.heard());
}

TEST(UnreadAcks, LeaveASocketAloneThatIsClosedBeforeOrDuringALook) {
  const Connection before, during, stays;
  UnreadAcks acks;
  for (const Connection* lane : {&before, &during, &stays}) acks.received(lane->receiver(), kStart);
  acks.closes(before.receiver());
  const auto reuse = [](const Connection& lane) { set_option(lane.receiver(), SOL_SOCKET, SO_RCVLOWAT, 7); };
  reuse(before);
  int looks = 0;
  acks.look(kStart, [&] {
    if (++looks > 1) return;
    acks.closes(during.receiver());
    reuse(during);
  });
  EXPECT_EQ(looks, 2);
  acks.look(kStart, kNothing);
  acks.end();
  EXPECT_EQ(before.low_water_mark(), 7);
  EXPECT_EQ(during.low_water_mark(), 7);
  EXPECT_EQ(stays.low_water_mark(), 1);
}

TEST(UnreadAcks, EndForAllEvenInTheMidstOfALook) {
  const Connection first, second;
  UnreadAcks acks;
  for (const Connection* lane : {&first, &second}) acks.received(lane->receiver(), kStart);
  acks.look(kStart, [&] { acks.end(); });
  for (const Connection* lane : {&first, &second}) EXPECT_EQ(lane->low_water_mark(), 1);
}

TEST(UnreadAcks, TakeNoSocketThatIsNone) {
  UnreadAcks acks;
  acks.received(-1, kStart);
  acks.look(kStart, [] { FAIL() << "there is nothing to look at"; });
}

}  // namespace
}  // namespace gridtorrent::client::engine
