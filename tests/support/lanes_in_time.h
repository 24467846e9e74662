#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/engine/lane_mover.h"
#include "client/engine/lane_table.h"
#include "common/rng.h"
#include "tests/support/fake_lane_socket.h"

namespace gridtorrent::client::engine {

/// The lanes of a node that fetches from one seeder, without libtorrent and without a clock: a test says what is
/// planned and how lanes stand, and time passes in rounds of a second.
class LanesInTime : public ::testing::Test {
 protected:
  LanesInTime() { facts_.active = true; }

  /// Of the seeder, which listens on `ports` ports.
  PeerPlan plan_of(int lanes, int ports = 16) const {
    PeerPlan plan;
    plan.node = seeder_;
    plan.lanes = lanes;
    for (int i = 0; i < ports; ++i) plan.endpoints.push_back({"192.0.2.1", port(i), false, ""});
    return plan;
  }
  void plan(int lanes, int ports = 16) { link().set_plan(plan_of(lanes, ports), now_); }
  NodeLink& link() { return table_.link_of(seeder_); }

  std::shared_ptr<Lane> add(const lt::tcp::endpoint& remote, bool outgoing) {
    auto lane = std::make_shared<Lane>(lt::peer_connection_handle({}), std::make_unique<FakeSocket>());
    lane->outgoing = outgoing;
    lane->remote = remote;
    lane->since = lane->opened = now_;
    lane->state = outgoing ? LaneState::kConnecting : LaneState::kHandshake;
    table_.add(lane);
    return lane;
  }
  void open(Lane& lane) {
    lane.state = LaneState::kOpen;
    lane.since = now_;
    lane.established = lane.greeted = true;
    if (lane.outgoing && lane.listed_port == 0) lane.listed_port = ++listed_;
    lane.node = seeder_;
    lane.lanes_id = 1;
    lane.congestion_id = 5;
  }
  /// That we dialled, and that stands.
  std::shared_ptr<Lane> ours(int number) {
    auto lane = add({lt::make_address("192.0.2.1"), port(number)}, true);
    open(*lane);
    return lane;
  }
  /// That the seeder dialled, and that stands.
  std::shared_ptr<Lane> theirs(bool proven = true) {
    auto lane = add({lt::make_address("192.0.2.1"), 40'000}, false);
    open(*lane);
    lane->proven = proven;
    return lane;
  }
  std::vector<std::shared_ptr<Lane>> ours_up_to(int count) {
    std::vector<std::shared_ptr<Lane>> lanes;
    for (int i = 0; i < count; ++i) lanes.push_back(ours(i));
    return lanes;
  }
  static void fall_silent(Lane& lane, int seconds) {
    lane.liveness = {true, std::chrono::seconds(seconds), std::chrono::milliseconds(1)};
  }

  /// What a second, or another time, brings.
  Orders round(std::chrono::milliseconds after = std::chrono::seconds(1)) {
    now_ += after;
    Orders orders;
    LaneMover mover(table_, facts_, now_, orders);
    mover.look_for_silence();
    mover.forget_failures();
    mover.follow_plan();
    mover.drain();
    return orders;
  }
  void end(Lane& lane, const std::string& error, bool unanswered = false) {
    const auto kept = table_.take_out(lane);
    Orders orders;
    LaneMover(table_, facts_, now_, orders).lane_ended(lane, error, unanswered);
  }

  static std::uint16_t port(int number) { return static_cast<std::uint16_t>(50'000 + number); }

  SeededRng rng_{7};
  const NodeId self_ = NodeId::make(WallTime{1}, rng_), seeder_ = NodeId::make(WallTime{2}, rng_);
  LaneTable table_;
  std::uint16_t listed_ = 0;  ///< the last port under which libtorrent would list a lane
  SwarmFacts facts_{self_};
  MonoTime now_{std::chrono::seconds(1000)};
};

}  // namespace gridtorrent::client::engine
