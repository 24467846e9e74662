// What a tuner is told of a node's transfers, and when.
#include <algorithm>

#include "tests/support/node_fixture.h"

namespace gridtorrent::testing {
namespace {

class TunersAreTold : public NodeFixture {
 protected:
  /// A swarm with one complete seeder.
  client::PeerInfo seeder() {
    client::PeerInfo peer;
    peer.node = NodeId::make(clock_.wall(), rng_);
    peer.complete = true;
    link_.with([&](auto& state) { state.peers = {peer}; });
    return peer;
  }
  bool asked(const TransferId& id, const std::function<bool(const client::ControllerInput&)>& like) {
    return static_cast<bool>(eventually([&] {
      const auto input = tuner_.asked(id);
      return input && like(*input);
    }));
  }
};

TEST_F(TunersAreTold, WhatIsToComeAndWhatAPersonWants) {
  const auto peer = seeder();
  published("set");
  auto wish = job("set");
  wish.lanes = 3;
  wish.seeders = 2;
  wish.limit_bits_per_s = 9'000'000;
  const auto view = get(wish);
  EXPECT_TRUE(asked(view->id, [&](const auto& input) {
    return input.total_bytes == 8 && input.bytes_left == 8 && input.lanes_wish == 3 && input.seeders_wish == 2 &&
           input.limit_bits_per_s == 9'000'000 && input.peers.size() == 1 && input.peers[0].node == peer.node &&
           input.peers[0].complete && input.now == clock_.mono();
  }));
  ASSERT_TRUE(node_->set_limits({0, 2'000'000}).ok());
  EXPECT_TRUE(asked(view->id, [](const auto& input) { return input.limit_bits_per_s == 2'000'000; }))
      << "the lower of two limits binds";
}
TEST_F(TunersAreTold, NothingOfLanesThatRestNorArePeople) {
  const auto peer = seeder();
  published("set");
  const auto view = get(job("set"));
  ASSERT_TRUE(eventually([&] { return engine_->torrent(view->id).has_value(); }));
  engine_->happens(view->id, [&](auto& snapshot) {
    client::LaneSnapshot lane;
    lane.state = client::LaneState::kOpen;
    lane.outgoing = lane.proven = true;
    client::PeerSnapshot from;
    from.node = peer.node;
    from.lanes = {lane, lane};
    from.lanes[1].rests = true;
    snapshot.peers = {from};
  });
  EXPECT_TRUE(
      asked(view->id, [](const auto& input) { return input.peers.size() == 1 && input.peers[0].lanes.size() == 1; }));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->lanes == 1; }));
}
TEST_F(TunersAreTold, WhichFilesAreWanted) {
  seeder();
  published("set");
  const auto all = get(job("set"));
  EXPECT_TRUE(asked(all->id, [](const auto& input) {
    return input.file_sizes && *input.file_sizes == std::vector<std::uint64_t>{3, 5};
  }));
  published("other");
  auto wish = job("other", "/home/in/other");
  wish.globs = {"a"};
  const auto some = get(wish);
  ASSERT_TRUE(some.ok()) << some.error().message;
  EXPECT_TRUE(asked(some->id, [](const auto& input) {
    return input.file_sizes && *input.file_sizes == std::vector<std::uint64_t>{3};
  }));
}
TEST_F(TunersAreTold, WhatAPersonAsksOfThem) {
  seeder();
  published("set");
  auto wish = job("set");
  const WallTime by = clock_.wall() + std::chrono::minutes(5);
  const MonoTime deadline = clock_.mono() + std::chrono::minutes(5);
  wish.wish = {.tuner = "auto", .mode = "background", .floor_bits_per_s = 3'000, .by = by};
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_TRUE(asked(view->id, [&](const auto& input) {
    return input.tuner == "auto" && input.mode == client::TuningMode::kBackground && input.target_bits_per_s == 0 &&
           input.floor_bits_per_s == 3'000 && input.deadline == deadline;
  }));
  client::TransferSettings settings;
  settings.wish = {.target_bits_per_s = 4'000, .by = WallTime{}};
  ASSERT_TRUE(node_->set(view->id, settings).ok());
  EXPECT_TRUE(asked(view->id, [](const auto& input) {
    return input.target_bits_per_s == 4'000 && !input.deadline && input.floor_bits_per_s == 3'000;
  })) << "it takes effect at once";
  EXPECT_EQ(store_.transfers()->front().wish.target_bits_per_s, 4'000u);
}
TEST_F(TunersAreTold, OfADeadlineThatIsAnywhereInTime) {
  seeder();
  published("set");
  auto wish = job("set");
  wish.wish.by = WallTime{253'402'300'799'999};  // as a task may bring it
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  EXPECT_TRUE(asked(view->id, [&](const auto& input) {
    return input.deadline && *input.deadline > input.now && *input.deadline < input.now + std::chrono::hours(24 * 400);
  }));
}
TEST_F(TunersAreTold, NothingThatContradictsItself) {
  seeder();
  published("set");
  auto wish = job("set");
  wish.limit_bits_per_s = 2'000;
  wish.wish.target_bits_per_s = 3'000;
  EXPECT_EQ(get(wish).error().code, Code::kInvalid);
  wish.wish = {.tuner = "fixed", .mode = "greedy"};
  EXPECT_EQ(get(wish).error().code, Code::kInvalid);
  wish.wish = {.tuner = "nobody"};
  EXPECT_EQ(get(wish).error().code, Code::kInvalid);
  EXPECT_TRUE(node_->transfers().empty());

  wish.wish = {.floor_bits_per_s = 1'000};
  const auto view = get(wish);
  ASSERT_TRUE(view.ok()) << view.error().message;
  wish.wish = {.target_bits_per_s = 3'000};
  EXPECT_EQ(get(wish).error().code, Code::kInvalid) << "joined, its limit would be below";
  client::TransferSettings settings;
  settings.limit_bits_per_s = 500;
  const auto refused = node_->set(view->id, settings);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("takes away a rate with 0"), std::string::npos) << refused.error().message;
  EXPECT_EQ(node_->transfer(view->id)->limit_bits_per_s, 2'000u) << "what was refused changed nothing";
}
TEST_F(TunersAreTold, OfTheNodesOtherTransfersThatFetch) {
  const auto peer = seeder();
  published("one");
  published("two");
  const auto one = get(job("one")), two = get(job("two"));
  EXPECT_TRUE(asked(one->id, [&](const auto& input) {
    return input.others.size() == 1 && input.others[0].id == two->id &&
           input.others[0].sources == std::vector{peer.node};
  }));
  ASSERT_TRUE(node_->pause(two->id).ok());
  EXPECT_TRUE(asked(one->id, [](const auto& input) { return input.others.empty(); }));
}
TEST_F(TunersAreTold, WhereATransferNoLongerFetches) {
  seeder();
  published("set");
  published("gone");
  const auto done = get(job("set")), gone = get(job("gone"));
  EXPECT_TRUE(asked(done->id, [](const auto&) { return true; }));
  EXPECT_TRUE(asked(gone->id, [](const auto&) { return true; }));
  EXPECT_FALSE(tuner_.was_removed(done->id));
  client::TransferSettings settings;
  settings.wish = {.target_bits_per_s = 4'000};
  ASSERT_TRUE(node_->set(done->id, settings).ok());
  complete(done->id);
  wait_for(done->id, client::TransferState::kSeeding);
  EXPECT_TRUE(eventually([&] { return tuner_.was_removed(done->id); }));
  EXPECT_EQ(node_->transfer(done->id)->wish, client::TuningWish{}) << "the rate was of the fetch";
  EXPECT_EQ(node_->set(done->id, settings).error().code, Code::kConflict);
  ASSERT_TRUE(node_->cancel(gone->id).ok());
  EXPECT_TRUE(eventually([&] { return tuner_.was_removed(gone->id); }));
}

TEST_F(TunersAreTold, HowATransferWasTunedOutlivesTheProcess) {
  seeder();
  published("set");
  published("done");
  const auto running = get(job("set")), done = get(job("done"));
  for (const auto& view : {running, done}) {
    EXPECT_TRUE(eventually([&] { return node_->tuning(view->id).ok(); }));
  }
  complete(done->id);
  wait_for(done->id, client::TransferState::kSeeding);
  EXPECT_TRUE(eventually([&] { return store_.tunings()->size() == 2 && !store_.tunings()->back().running; }))
      << "an end is written down at once";
  restart();
  const auto all = node_->tunings();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].transfer, running->id);
  EXPECT_TRUE(all[0].running);
  EXPECT_EQ(all[1].transfer, done->id);
  EXPECT_FALSE(all[1].running);
  EXPECT_EQ(node_->tuning(done->id)->name, "ada/done");
  EXPECT_FALSE(node_->tuning(done->id)->samples.empty());
}
TEST_F(TunersAreTold, NothingOfADiskThatKeepsNoTuning) {
  seeder();
  published("set");
  const auto view = get(job("set"));
  store_.fail(Error{Code::kDisk, "No space left"});
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(log_mutex_);
    return std::ranges::any_of(log_, [](const auto& line) { return line.find("tuned is not written") != line.npos; });
  }));
  store_.fail(std::nullopt);
  EXPECT_TRUE(eventually([&] { return store_.tunings()->size() == 1; })) << "tried again";
  EXPECT_TRUE(node_->tuning(view->id)->running);
}

TEST_F(TunersAreTold, WhichLimitATransferMeetsAsLongAsItFetches) {
  seeder();
  published("set");
  const auto view = get(job("set"));
  EXPECT_TRUE(eventually([&] { return node_->transfer(view->id)->findings.has_value(); }));
  ASSERT_TRUE(node_->pause(view->id).ok());
  EXPECT_TRUE(eventually([&] { return !node_->transfer(view->id)->findings.has_value(); }));
  ASSERT_TRUE(node_->resume(view->id).ok());
  complete(view->id);
  wait_for(view->id, client::TransferState::kSeeding);
  EXPECT_TRUE(eventually([&] { return !node_->transfer(view->id)->findings.has_value(); }));
}

}  // namespace
}  // namespace gridtorrent::testing
