#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "client/plan/controller.h"
#include "common/rng.h"
#include "tests/support/numbered_node.h"

/// Swarms as controllers see them, for tests.
namespace gridtorrent::testing {

inline client::PeerSample complete_seeder(std::uint8_t number) {
  client::PeerSample peer;
  peer.node = numbered_node(number);
  peer.complete = peer.has_data = true;
  return peer;
}
inline client::PeerSample neighbour(std::uint8_t number) {
  client::PeerSample peer;
  peer.node = numbered_node(number);
  peer.fetches = peer.has_data = true;
  return peer;
}

/// 1.2 GB from so many complete seeders; no lane stands yet.
inline client::ControllerInput input_with(int seeders, std::uint64_t bytes = 1'200'000'000) {
  client::ControllerInput input;
  input.transfer = TransferId(TransferId::Bytes{1});
  input.self = numbered_node(200);
  input.total_bytes = input.bytes_left = bytes;
  for (int i = 0; i < seeders; ++i) input.peers.push_back(complete_seeder(static_cast<std::uint8_t>(i + 1)));
  return input;
}

/// A lane stands to it over a path of that round trip; `sender`: its congestion control, empty: not told yet.
inline void stands(client::PeerSample& peer, std::uint32_t round_trip_us, const char* sender = "") {
  client::LaneSample lane;
  lane.outgoing = true;
  lane.own = client::TcpFigures{round_trip_us, round_trip_us, 0, 10, "cubic"};
  if (*sender != '\0') lane.theirs = client::TcpFigures{round_trip_us, round_trip_us, 0, 10, sender};
  peer.lanes.push_back(lane);
  peer.stands = true;
}

/// Of any size, at the ends of its type now and then.
inline std::uint64_t wild_number(Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0} >> rng.below(3);
    default:
      return rng.next() >> rng.below(64);
  }
}

/// What a sender may say of itself, true or not.
inline client::TcpFigures wild_figures(Rng& rng) {
  client::TcpFigures figures;
  figures.srtt_us = static_cast<std::uint32_t>(wild_number(rng));
  figures.min_rtt_us = static_cast<std::uint32_t>(wild_number(rng));
  figures.cwnd_segments = static_cast<std::uint32_t>(wild_number(rng));
  for (auto* counter : {&figures.retransmits, &figures.loss_events, &figures.loss_srtt_us, &figures.sent_segments,
                        &figures.sent_bytes, &figures.resent_bytes, &figures.delivery_bytes_per_s, &figures.busy_us,
                        &figures.window_limited_us, &figures.buffer_limited_us, &figures.empty_us,
                        &figures.paced_bytes_per_s, &figures.thread_permille, &figures.disk_permille}) {
    *counter = wild_number(rng);
  }
  return figures;
}

inline client::HostLoad wild_load(Rng& rng) {
  client::HostLoad load;
  for (auto* share : {&load.busiest_thread, &load.held_by_disk, &load.held_by_quota}) {
    *share = static_cast<double>(wild_number(rng)) / 1e9;
  }
  return load;
}

/// Anything at all: numbers at the ends of their types, times that go back, sums that run over.
inline client::ControllerInput wild_input(Rng& rng) {
  const auto number = [&] { return wild_number(rng); };
  client::ControllerInput input;
  input.transfer = TransferId(TransferId::Bytes{static_cast<std::uint8_t>(rng.below(3))});
  input.now = MonoTime(std::chrono::nanoseconds(static_cast<std::int64_t>(number() >> 1)));
  input.self = numbered_node(static_cast<std::uint8_t>(rng.below(50)));
  input.total_bytes = number();
  input.bytes_left = number();
  if (rng.below(2) == 0) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t i = 0, count = rng.below(100); i < count; ++i) sizes.push_back(number());
    std::ranges::sort(sizes);
    input.file_sizes = std::make_shared<const std::vector<std::uint64_t>>(std::move(sizes));
  }
  input.lanes_wish = static_cast<int>(static_cast<std::int32_t>(number()));
  input.seeders_wish = static_cast<int>(static_cast<std::int32_t>(number()));
  input.limit_bits_per_s = number();
  input.mode = client::kTuningModes[rng.below(client::kTuningModes.size())];
  input.target_bits_per_s = number();
  input.tuner_limit_bits_per_s = number();
  input.floor_bits_per_s = number();
  if (rng.below(2) == 0) {
    input.deadline = MonoTime(std::chrono::nanoseconds(static_cast<std::int64_t>(number() >> 1)));
  }
  // With fewer descriptors a node does not start.
  input.host = {number(), number(), rng.below(2) == 0 ? 0 : 128 + rng.below(1'000)};
  input.load = wild_load(rng);
  for (std::uint64_t i = 0, count = rng.below(150); i < count; ++i) {
    client::PeerSample peer;
    peer.node = numbered_node(static_cast<std::uint8_t>(i));
    peer.complete = rng.below(2) == 0;
    peer.fetches = rng.below(2) == 0;
    peer.has_data = rng.below(4) != 0;
    peer.receive_bits_per_s = number();
    if (rng.below(2) == 0) peer.grants = {"cubic", "bbr"};
    for (std::uint64_t n = 0, lanes = rng.below(4); n < lanes; ++n) {
      stands(peer, static_cast<std::uint32_t>(number()), rng.below(2) == 0 ? "bbr" : "");
      peer.lanes.back().number = static_cast<int>(rng.below(4));
      peer.lanes.back().received_bytes = number();
      if (auto& theirs = peer.lanes.back().theirs; theirs && rng.below(4) != 0) {
        theirs = wild_figures(rng);
        theirs->congestion_control = "bbr";
      }
      peer.lanes.back().receive_bits_per_s = number();
      peer.lanes.back().outstanding_blocks = static_cast<int>(static_cast<std::int32_t>(number()));
      if (rng.below(4) == 0) peer.lanes.back().own.reset();
    }
    input.peers.push_back(std::move(peer));
  }
  for (std::uint64_t i = 0, count = rng.below(5); i < count; ++i) {
    input.others.push_back({TransferId(TransferId::Bytes{static_cast<std::uint8_t>(9 + i)}),
                            {numbered_node(static_cast<std::uint8_t>(rng.below(150)))},
                            number()});
  }
  for (std::uint64_t i = 0, count = rng.below(5); i < count; ++i) {
    client::PathFacts facts;
    facts.node = numbered_node(static_cast<std::uint8_t>(rng.below(150)));
    facts.congestion_control = rng.below(2) == 0 ? "bbr" : "";
    facts.round_trip = std::chrono::microseconds(static_cast<std::int64_t>(number() >> 1));
    facts.loss_events_per_segment = static_cast<double>(number());
    facts.lanes = static_cast<int>(static_cast<std::int32_t>(number()));
    facts.sources = static_cast<int>(static_cast<std::int32_t>(number()));
    facts.bits_per_s = number();
    input.memories.push_back({facts, static_cast<int>(rng.below(3)), std::chrono::milliseconds(rng.below(1000))});
  }
  return input;
}

}  // namespace gridtorrent::testing
