// What a node keeps and tells of what its transfers received and sent over time.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

using client::RateHistory;
using client::TransferState;
using ::testing::IsEmpty;

class NodeRates : public NodeFixture {
 protected:
  TransferId fetching() {
    published("set");
    const auto id = get(job("set"))->id;
    EXPECT_TRUE(eventually([&] { return engine_->torrent(id).has_value(); }));
    return id;
  }
  RateHistory rates(const TransferId& id, WallTime from = {}) {
    const auto history = node_->rates(id, from);
    EXPECT_TRUE(history.ok());
    return history ? *history : RateHistory{};
  }
  static std::uint64_t received_bytes(const RateHistory& history) {
    std::uint64_t bits = 0;
    for (const auto& point : history.points) {
      bits += point.down_bits_per_s * static_cast<std::uint64_t>(point.span.count()) / 1000;
    }
    return bits / 8;
  }
  /// It receives until so much of it is told.
  void receives(const TransferId& id, std::uint64_t bytes) {
    engine_->happens(id, [&](auto& snapshot) { snapshot.received_payload_bytes += bytes; });
    ASSERT_TRUE(eventually([&] { return received_bytes(rates(id)) >= bytes * 99 / 100; }));
  }
  std::vector<client::RateBlock> stored(const TransferId& id) { return *store_.rates(id, {}); }
};

TEST_F(NodeRates, OfAnUnknownTransferNothingIsTold) {
  EXPECT_EQ(node_->rates(TransferId::make(clock_.wall(), rng_), {}).error().code, Code::kNotFound);
}

TEST_F(NodeRates, WhatWasReceivedIsToldAndJoins) {
  const auto id = fetching();
  receives(id, 1'000'000);
  const auto history = rates(id);
  EXPECT_LE(received_bytes(history), 1'000'001u);
  for (std::size_t i = 1; i < history.points.size(); ++i) {
    // The hands may turn by a step between a round's looks at the two clocks.
    const auto gap = history.points[i].from() - history.points[i - 1].at;
    EXPECT_LE(std::chrono::abs(gap), std::chrono::milliseconds(100));
  }
  const WallTime middle = history.points.back().at;
  for (const auto& point : rates(id, middle).points) EXPECT_GE(point.from(), middle);
}

TEST_F(NodeRates, TheyAreWrittenTogetherNowAndThen) {
  const auto id = fetching();
  receives(id, 1'000'000);
  EXPECT_TRUE(eventually([&] { return !stored(id).empty(); }, std::chrono::seconds(1)));
  const WallTime later = clock_.wall() + client::kSecondsKept * 2;
  ASSERT_TRUE(eventually([&] { return clock_.wall() > later; }, std::chrono::seconds(10)));
  EXPECT_GE(received_bytes(rates(id)), 990'000u) << "of half an hour ago";
}

TEST_F(NodeRates, TheyOutliveTheProcessWithAGapBetween) {
  const auto id = fetching();
  receives(id, 1'000'000);
  end();
  const WallTime ended = clock_.wall();
  clock_.advance(std::chrono::minutes(5));
  start();
  const auto history = rates(id);
  EXPECT_GE(received_bytes(history), 990'000u);
  EXPECT_TRUE(std::ranges::none_of(history.points, [&](const auto& point) {
    return point.from() < ended + std::chrono::minutes(4) && point.at > ended + std::chrono::minutes(1);
  }));
}

TEST_F(NodeRates, TheyGoWithTheTransfer) {
  const auto id = fetching();
  receives(id, 1'000'000);
  ASSERT_TRUE(node_->cancel(id).ok());
  EXPECT_TRUE(eventually([&] { return store_.transfers()->empty(); }));
  EXPECT_THAT(stored(id), IsEmpty());
  EXPECT_EQ(node_->rates(id, {}).error().code, Code::kNotFound);
  EXPECT_TRUE(eventually([&] { return !node_->transfer(id).ok(); }, std::chrono::seconds(20)));
  EXPECT_THAT(stored(id), IsEmpty());
}

TEST_F(NodeRates, ADiskThatRefusesIsToldOnceAndHoldsNothingUp) {
  const auto id = fetching();
  store_.fail(Error{Code::kDisk, "no room"});
  receives(id, 1'000'000);
  const auto told = [&] {
    const std::lock_guard lock(log_mutex_);
    return std::ranges::count_if(log_, [](const auto& line) {
      return line.find("over time is not written down: no room") != std::string::npos;
    });
  };
  EXPECT_TRUE(eventually([&] { return told() > 0; }, std::chrono::seconds(1)));
  clock_.advance(std::chrono::minutes(2));
  receives(id, 1'000'000);
  EXPECT_EQ(told(), 1);
  store_.fail({});
  EXPECT_TRUE(eventually([&] { return !stored(id).empty(); }, std::chrono::seconds(1)));
}

TEST_F(NodeRates, WhatTheTunerDecidedIsToldWithItsTime) {
  client::PeerInfo seeder;
  seeder.node = NodeId::make(clock_.wall(), rng_);
  seeder.complete = true;
  link_.with([&](auto& state) { state.peers = {seeder}; });
  const auto id = fetching();
  ASSERT_TRUE(eventually([&] { return !rates(id).decisions.empty(); }));
  const auto history = rates(id);
  EXPECT_EQ(history.decisions.front().at, std::chrono::milliseconds(0));
  EXPECT_LE(history.decisions_from, clock_.wall());
  EXPECT_GT(history.decisions_from, clock_.wall() - std::chrono::minutes(1));
  EXPECT_THAT(rates(id, clock_.wall()).decisions, IsEmpty());
}

}  // namespace
}  // namespace gridtorrent::testing
