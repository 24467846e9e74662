#include "tests/sim/transfer.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "tests/support/numbered_node.h"

namespace gridtorrent::sim {
namespace {

constexpr double kYoung = 5, kOldStats = 1;
constexpr double kForgotten = 5;  ///< seconds until a dead node has left the list

MonoTime at(double seconds) {
  // Not at zero: a controller may take the clock's first value for "never".
  return MonoTime(std::chrono::nanoseconds(1'000'000'000 + static_cast<std::int64_t>(seconds * 1e9)));
}

/// Of two limits of which 0 is none.
std::uint64_t lower_limit(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

double Run::mean(int from, int to) const {
  return std::accumulate(bits_per_s.begin() + from, bits_per_s.begin() + to, 0.0) / (to - from);
}

Transfer::Transfer(int number, Network& network, const World& world, client::TransferController& controller,
                   const Task& task, std::uint64_t seed)
    : number_(number),
      network_(network),
      world_(world),
      controller_(controller),
      task_(task),
      random_(seed ^ 0x9e3779b97f4a7c15U),
      dead_since_(world.seeders.size(), -1) {
  input_.transfer = TransferId(TransferId::Bytes{static_cast<std::uint8_t>(number + 1)});
  input_.self = testing::numbered_node(static_cast<std::uint8_t>(200 + number));
  input_.total_bytes = task.bytes;
  input_.limit_bits_per_s = task.limit;
  input_.target_bits_per_s = task.target;
  input_.floor_bits_per_s = task.floor;
  input_.mode = task.mode;
  if (task.by > 0) input_.deadline = at(task.by);
  // The receiver's part of a window is one for all lanes of its machine.
  double buffer = 0;
  for (const auto& seeder : world.seeders) buffer = std::max(buffer, seeder.window_bytes);
  input_.host.lane_bytes = static_cast<std::uint64_t>(buffer);
}

void Transfer::begin_second() {
  for (std::size_t i = 0; i < world_.seeders.size(); ++i) {
    if (world_.seeders[i].alive || dead_since_[i] >= 0) continue;
    dead_since_[i] = now_;
    for (const auto& lane : lanes_) {
      if (lane.seeder == static_cast<int>(i) && is_open(lane)) network_.close(lane.network);
    }
    std::erase_if(lanes_, [&](const Lane& lane) { return lane.seeder == static_cast<int>(i); });
  }
  ask();
}

std::vector<int> Transfer::wanted() const {
  std::vector<int> count(world_.seeders.size(), 0);
  for (const auto& lane : lanes_) {
    if (lane.closes_at < 0) ++count[static_cast<std::size_t>(lane.seeder)];
  }
  return count;
}

void Transfer::ask() {
  input_.now = at(now_);
  const auto received = static_cast<std::uint64_t>(bytes_);
  input_.bytes_left = received < task_.bytes ? task_.bytes - received : 1;
  input_.peers.clear();
  for (std::size_t i = 0; i < world_.seeders.size(); ++i) {
    if (dead_since_[i] < 0 || now_ < dead_since_[i] + kForgotten) input_.peers.push_back(peer(static_cast<int>(i)));
  }
  apply(controller_.plan(input_));
}

client::PeerSample Transfer::peer(int seeder) const {
  client::PeerSample peer;
  peer.node = testing::numbered_node(static_cast<std::uint8_t>(seeder + 1));
  peer.complete = peer.has_data = true;
  for (const auto& lane : lanes_) {
    if (lane.seeder != seeder || !is_open(lane) || lane.closes_at >= 0) continue;
    peer.stands = true;
    client::LaneSample sample;
    sample.number = lane.number;
    sample.at = at(now_);
    sample.outgoing = true;
    sample.received_bytes = static_cast<std::uint64_t>(lane.received);
    const double rate = (lane.received - lane.received_before) * 8 / kSample;
    sample.receive_bits_per_s = static_cast<std::uint64_t>(std::max(rate, 0.0));
    const auto round_trip = lane.theirs.min_rtt_us;
    sample.own = client::TcpFigures{
        .srtt_us = round_trip, .min_rtt_us = round_trip, .cwnd_segments = 10, .congestion_control = "cubic"};
    sample.theirs = lane.theirs;
    peer.receive_bits_per_s += sample.receive_bits_per_s;
    peer.lanes.push_back(std::move(sample));
  }
  return peer;
}

void Transfer::apply(const client::Plan& plan) {
  note(plan);
  network_.limit(number_, static_cast<double>(lower_limit(task_.limit, plan.limit_bits_per_s)));
  const auto have = wanted();
  std::vector<int> want(have.size(), 0);
  for (const auto& share : plan.peers) want.at(static_cast<std::size_t>(share.node.bytes().back() - 1)) = share.lanes;
  double dial = now_ + 0.1 + 0.9 * static_cast<double>(random_() >> 11) * 0x1.0p-53;
  for (std::size_t i = 0; i < want.size(); ++i) {
    for (int lanes = have[i]; lanes > want[i]; --lanes) drop(static_cast<int>(i));
    if (!world_.seeders[i].alive) continue;
    for (int lanes = have[i]; lanes < want[i]; ++lanes, dial += 0.01) {
      const double stands = dial + 1.5 * world_.seeders[i].round_trip;
      lanes_.push_back({.number = next_++, .seeder = static_cast<int>(i), .stands_at = stands});
    }
  }
}

void Transfer::drop(int seeder) {
  const auto youngest = std::find_if(lanes_.rbegin(), lanes_.rend(),
                                     [&](const Lane& lane) { return lane.seeder == seeder && lane.closes_at < 0; });
  if (is_open(*youngest)) {
    youngest->closes_at = now_ + this->seeder(seeder).round_trip;
  } else {
    lanes_.erase(std::next(youngest).base());
  }
}

void Transfer::note(const client::Plan& plan) {
  std::string line;
  for (const auto& share : plan.peers) {
    line += (line.empty() ? "" : "+") + std::to_string(share.lanes);
  }
  if (plan.limit_bits_per_s > 0) line += ", at most " + std::to_string(plan.limit_bits_per_s) + " bit/s";
  line += "  " + plan.reason.text;
  if (line == said_) return;
  said_ = line;
  char time[16];
  std::snprintf(time, sizeof time, "%5.2f s  ", now_);
  result_.log.push_back(time + line);
}

void Transfer::open_and_close() {
  bool first = false;
  for (auto& lane : lanes_) {
    if (is_open(lane) || lane.stands_at > now_) continue;
    first = first || std::ranges::none_of(
                         lanes_, [&](const Lane& other) { return other.seeder == lane.seeder && is_open(other); });
    lane.network = network_.open(lane.seeder, number_);
  }
  std::erase_if(lanes_, [&](const Lane& lane) {
    if (lane.closes_at < 0 || lane.closes_at > now_) return false;
    network_.close(lane.network);
    return true;
  });
  if (!first) return;
  look();
  ask();
}

void Transfer::measure() {
  now_ += kSample;
  const double before = bytes_;
  look();
  if (!done()) {
    result_.seconds = now_;
    result_.bytes = bytes_;
  } else if (before < static_cast<double>(task_.bytes)) {
    const double part = (static_cast<double>(task_.bytes) - before) / (bytes_ - before);
    result_.seconds = now_ - kSample * (1 - part);
    result_.bytes = static_cast<double>(task_.bytes);
  }
}

void Transfer::look() {
  for (auto& lane : lanes_) {
    if (!is_open(lane)) continue;
    LaneFigures figures = network_.figures(lane.network);
    lane.received_before = lane.received;
    lane.received = figures.received_bytes;
    bytes_ += lane.received - lane.received_before;
    const double every = now_ - lane.stands_at <= kYoung ? kSample : kOldStats;
    if (lane.told_at >= 0 && now_ - lane.told_at < every - 1e-9) continue;
    lane.theirs = std::move(figures.tcp);
    lane.told_at = now_;
  }
}

void Transfer::end_second() {
  result_.bits_per_s.push_back((bytes_ - bytes_before_) * 8);
  bytes_before_ = bytes_;
  result_.sockets.push_back(static_cast<int>(std::ranges::count_if(lanes_, is_open)));
  result_.seeder_sockets.push_back(wanted());
}

Run Transfer::result() && {
  return std::move(result_);
}

}  // namespace gridtorrent::sim
