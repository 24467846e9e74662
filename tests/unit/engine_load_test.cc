// How busy the engine is: what its disk holds up, and its network thread.
#include <gtest/gtest.h>

#include <chrono>

#include "client/engine/busy_time.h"
#include "client/engine/disk_waits.h"
#include "client/engine/node_load.h"

namespace gridtorrent::client::engine {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime kStart{1h};

TEST(BusyTimes, CountWhatOverlapsOnce) {
  BusyTime busy;
  EXPECT_EQ(busy.total(kStart), 0us);
  busy.begin(kStart);
  busy.begin(kStart + 1s);
  busy.end(kStart + 3s);
  EXPECT_EQ(busy.total(kStart + 4s), 4s) << "one is still under way";
  busy.end(kStart + 5s);
  EXPECT_EQ(busy.total(kStart + 9s), 5s);
  busy.begin(kStart + 10s);
  busy.end(kStart + 11s);
  EXPECT_EQ(busy.total(kStart + 20s), 6s);
}

TEST(RecentShares, CoverTheLastFiveSeconds) {
  RecentShare share;
  EXPECT_EQ(share.look(kStart, 100s), 0) << "nothing is known at the first look";
  EXPECT_DOUBLE_EQ(share.look(kStart + 1s, 100s + 500ms), 0.5);
  for (int i = 2; i <= 6; ++i) share.look(kStart + i * 1s, 100s + 500ms);
  EXPECT_DOUBLE_EQ(share.look(kStart + 7s, 100s + 500ms), 0);
  EXPECT_DOUBLE_EQ(share.look(kStart + 8s, 200s), 1) << "never more than all";
  EXPECT_DOUBLE_EQ(share.look(kStart + 8s, 0s), 0) << "nor less than nothing";
}

TEST(WantedCore, GrowsWhileTheThreadRuns) {
  const auto before = wanted_core();
  const auto until = std::chrono::steady_clock::now() + 20ms;
  while (std::chrono::steady_clock::now() < until) continue;
  EXPECT_GT(wanted_core(), before);
}

/// A connection that hands over blocks.
struct Connection final : lt::disk_observer {
  void on_disk() override { ++called_back; }
  int called_back = 0;
};

class Waits : public testing::Test {
 protected:
  std::chrono::microseconds held() const { return times_->held.total(clock_.mono()); }
  ManualClock clock_;
  const std::shared_ptr<DiskTimes> times_ = std::make_shared<DiskTimes>();
  DiskWaits waits_{times_, clock_};
  const std::shared_ptr<Connection> connection_ = std::make_shared<Connection>();
};

TEST_F(Waits, AreNoneWithoutAConnection) {
  EXPECT_EQ(waits_.in_place_of(nullptr), nullptr);
  waits_.full(1000);
  EXPECT_EQ(held(), 0us);
}
TEST_F(Waits, CountUntilTheConnectionIsCalledBack) {
  std::weak_ptr<lt::disk_observer> kept_by_disk = waits_.in_place_of(connection_);
  waits_.full(1000);
  clock_.advance(2s);
  EXPECT_EQ(held(), 2s);
  ASSERT_FALSE(kept_by_disk.expired()) << "the disk keeps it no longer than we do";
  kept_by_disk.lock()->on_disk();
  EXPECT_EQ(connection_->called_back, 1);
  EXPECT_TRUE(kept_by_disk.expired());
  clock_.advance(1min);
  EXPECT_EQ(held(), 2s) << "it is over";
}
TEST_F(Waits, GoOnWhileAnotherConnectionWaits) {
  const auto other = std::make_shared<Connection>();
  const std::weak_ptr<lt::disk_observer> first = waits_.in_place_of(connection_);
  waits_.full(1000);
  const std::weak_ptr<lt::disk_observer> second = waits_.in_place_of(other);
  clock_.advance(1s);
  waits_.full(1000);
  clock_.advance(1s);
  first.lock()->on_disk();
  clock_.advance(1s);
  EXPECT_EQ(held(), 3s) << "since the first began";
  EXPECT_EQ(other->called_back, 0);
  second.lock()->on_disk();
  EXPECT_EQ(other->called_back, 1);
}
TEST_F(Waits, CallNoConnectionBackThatIsGone) {
  auto gone = std::make_shared<Connection>();
  const std::weak_ptr<lt::disk_observer> kept = waits_.in_place_of(gone);
  waits_.full(1000);
  gone.reset();
  kept.lock()->on_disk();
  EXPECT_TRUE(kept.expired());
}
TEST_F(Waits, DoNotCountWhereBlocksForSendingFillTheQueue) {
  const std::weak_ptr<lt::disk_observer> kept = waits_.in_place_of(connection_);
  waits_.full(3);
  clock_.advance(1s);
  EXPECT_EQ(held(), 0us);
  kept.lock()->on_disk();
  EXPECT_EQ(connection_->called_back, 1) << "it is called back all the same";
}

}  // namespace
}  // namespace gridtorrent::client::engine
