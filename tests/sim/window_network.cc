#include "tests/sim/window_network.h"

#include <algorithm>
#include <cmath>

namespace gridtorrent::sim {
namespace {

/// The transfer of rivals.
constexpr int kNobody = -1;
/// Requests under a limit go out so often (client/engine/request_pacer.cc).
constexpr double kPaced = 0.05;
/// From here on a sender waits for the receive window again and again. BBR paces at its best rate of late, which is a
/// little more than its window lets through.
constexpr double kNearlyAll = 0.95;
/// So much more than it carries may enter a link in one step.
constexpr double kExcess = 0.02;
constexpr int kMostRounds = 30;
constexpr double kLongestStep = 0.025, kShortestStep = 0.0005;

double segments_per_s(double bits_per_s) {
  return std::max(bits_per_s / 8 / kSegmentBytes, 1e-6);
}

double exponential(std::mt19937_64& random) {
  const double uniform = static_cast<double>(random() >> 11) * 0x1.0p-53;
  return -std::log1p(-uniform);
}

std::uint64_t whole(double number) {
  return static_cast<std::uint64_t>(std::max(number, 0.0));
}

}  // namespace

WindowNetwork::WindowNetwork(const World& world, std::uint64_t seed) : world_(world), random_(seed) {}

int WindowNetwork::open(int seeder, int transfer) {
  const Seeder& from = world_.seeders.at(static_cast<std::size_t>(seeder));
  Lane lane{.number = next_++, .seeder = seeder, .path = from.path, .window = Window(from.control)};
  lane.transfer = transfer;
  lane.base = lane.round_trip = from.round_trip;
  lane.until_lost = exponential(random_);
  lanes_.push_back(lane);
  return lane.number;
}

void WindowNetwork::close(int lane) {
  std::erase_if(lanes_, [&](const Lane& open) { return open.number == lane; });
}

void WindowNetwork::limit(int transfer, double bits_per_s) {
  if (bits_per_s > 0) {
    limits_[transfer] = segments_per_s(bits_per_s);
  } else {
    limits_.erase(transfer);
  }
}

double WindowNetwork::step_seconds() const {
  double least = 1;
  for (const auto& lane : lanes_) least = std::min(least, lane.base);
  return std::clamp(least / 2, kShortestStep, kLongestStep);
}

void WindowNetwork::advance(double seconds) {
  match_rivals();
  set_links();
  const double steps = std::max(std::ceil(seconds / step_seconds() - 1e-9), 1.0);
  for (int i = 0; i < static_cast<int>(steps); ++i) step(seconds / steps);
}

void WindowNetwork::match_rivals() {
  for (std::size_t path = 0; path < world_.paths.size(); ++path) {
    const auto is_rival = [&](const Lane& lane) { return lane.rival && lane.path == static_cast<int>(path); };
    auto have = std::ranges::count_if(lanes_, is_rival);
    const auto like = std::ranges::find(world_.seeders, static_cast<int>(path), &Seeder::path);
    if (like == world_.seeders.end()) continue;
    for (; have < world_.paths[path].rivals; ++have) {
      open(static_cast<int>(like - world_.seeders.begin()), kNobody);
      lanes_.back().rival = true;
    }
    for (; have > world_.paths[path].rivals; --have) lanes_.erase(std::ranges::find_if(lanes_, is_rival));
  }
}

void WindowNetwork::set_links() {
  uplinks_.resize(world_.seeders.size());
  paths_.resize(world_.paths.size());
  std::vector<double> least(world_.paths.size(), 1.0);
  for (std::size_t i = 0; i < world_.seeders.size(); ++i) {
    const Seeder& seeder = world_.seeders[i];
    Link& uplink = uplinks_[i];
    uplink.capacity = segments_per_s(seeder.uplink);
    uplink.most_wait = std::max(seeder.round_trip, kLeastQueue / uplink.capacity);
    double& path_least = least[static_cast<std::size_t>(seeder.path)];
    path_least = std::min(path_least, seeder.round_trip);
  }
  for (std::size_t i = 0; i < world_.paths.size(); ++i) {
    paths_[i].capacity = segments_per_s(world_.paths[i].rate);
    paths_[i].most_wait = full_queue_wait(world_.paths[i], least[i]);
  }
  const auto ours = std::ranges::count(lanes_, false, &Lane::rival);
  const Receiver& receiver = world_.receiver;
  const double past = static_cast<double>(std::max<std::ptrdiff_t>(0, ours - receiver.free_sockets));
  receiver_.capacity = segments_per_s(receiver.rate / (1 + receiver.socket_cost * past / receiver.free_sockets));
  receiver_.most_wait = 1e9;
}

double WindowNetwork::wait_before(const Lane& lane) const {
  const double path = paths_[static_cast<std::size_t>(lane.path)].wait;
  return lane.rival ? path : path + uplinks_[static_cast<std::size_t>(lane.seeder)].wait;
}

/// Newton's method for the waits at which what enters each of these links is what it carries. The sum of rates falls
/// and is convex in the wait, so that one step after another follows the windows closely; more are taken where a queue
/// builds up at once.
void WindowNetwork::settle(std::vector<Link>& links, int Lane::* member, bool counts_rivals) {
  for (int round = 0; round < kMostRounds; ++round) {
    for (auto& link : links) link.wanted = link.slope = 0;
    for (const auto& lane : lanes_) {
      if (lane.rival && !counts_rivals) continue;
      const double round_trip = lane.round_trip + wait_before(lane) + (lane.rival ? 0 : receiver_.wait);
      const double rate = lane.in_flight / round_trip;
      Link& link = links[static_cast<std::size_t>(lane.*member)];
      link.wanted += rate;
      link.slope += rate / round_trip;
    }
    bool settled = true;
    for (auto& link : links) {
      const double excess = link.wanted - link.capacity;
      const double wait = link.slope > 0 ? link.wait + excess / link.slope : 0;
      link.dropped = wait > link.most_wait && link.wanted > 0 ? std::max(excess, 0.0) / link.wanted : 0;
      link.wait = std::clamp(wait, 0.0, link.most_wait);
      settled = settled && (link.dropped > 0 || excess <= kExcess * link.capacity);
    }
    if (settled) return;
  }
}

void WindowNetwork::settle_receiver() {
  for (int round = 0; round < kMostRounds; ++round) {
    receiver_.wanted = receiver_.slope = 0;
    for (const auto& lane : lanes_) {
      if (lane.rival) continue;
      const double round_trip = lane.round_trip + wait_before(lane) + receiver_.wait;
      receiver_.wanted += lane.in_flight / round_trip;
      receiver_.slope += lane.in_flight / round_trip / round_trip;
    }
    const double excess = receiver_.wanted - receiver_.capacity;
    receiver_.wait = receiver_.slope > 0 ? std::max(0.0, receiver_.wait + excess / receiver_.slope) : 0;
    if (excess <= kExcess * receiver_.capacity) return;
  }
}

/// What each lane has in flight: its window, or its part of what a limit lets the transfer ask for.
void WindowNetwork::give_windows() {
  std::map<int, double> wanted;
  for (auto& lane : lanes_) {
    const Seeder& from = world_.seeders[static_cast<std::size_t>(lane.seeder)];
    const double most = std::min(from.window_bytes, from.send_buffer_bytes) / kSegmentBytes;
    lane.in_flight = std::min(lane.window.segments(), most);
    lane.asked = 1;
    shape(lane);
    if (limits_.contains(lane.transfer)) {
      wanted[lane.transfer] += lane.in_flight / (lane.round_trip + wait_before(lane) + receiver_.wait);
    }
  }
  for (auto& lane : lanes_) {
    const auto limit = limits_.find(lane.transfer);
    if (limit == limits_.end() || wanted[lane.transfer] <= limit->second) continue;
    lane.asked = limit->second / wanted[lane.transfer];
    lane.in_flight *= lane.asked;
  }
}

/// Its own queue takes up to a round trip, or kLeastQueue segments.
void WindowNetwork::shape(Lane& lane) const {
  const double shaped_to = world_.seeders[static_cast<std::size_t>(lane.seeder)].lane_rate;
  if (shaped_to <= 0) return;
  const double capacity = segments_per_s(shaped_to);
  const double unshaped = lane.base + wait_before(lane) + (lane.rival ? 0 : receiver_.wait);
  const double wanted = lane.in_flight / capacity - unshaped;
  const double wait = std::clamp(wanted, 0.0, std::max(lane.base, kLeastQueue / capacity));
  const double rate = lane.in_flight / (unshaped + wait);
  lane.round_trip = lane.base + wait;
  lane.shaped = rate > (1 + kExcess) * capacity ? 1 - capacity / rate : 0;
}

void WindowNetwork::step(double seconds) {
  give_windows();
  settle(uplinks_, &Lane::seeder, false);
  settle(paths_, &Lane::path, true);
  settle_receiver();
  for (auto& lane : lanes_) send(lane, seconds);
  now_ += seconds;
}

void WindowNetwork::send(Lane& lane, double seconds) {
  const Seeder& from = world_.seeders[static_cast<std::size_t>(lane.seeder)];
  const double round_trip = lane.round_trip + wait_before(lane);
  const double held = lane.rival ? 0 : receiver_.wait;
  const double rate = lane.in_flight / (round_trip + held);
  const double path_dropped = paths_[static_cast<std::size_t>(lane.path)].dropped;
  const double up_dropped = lane.rival ? 0 : uplinks_[static_cast<std::size_t>(lane.seeder)].dropped;
  const double passes = (1 - path_dropped) * (1 - up_dropped) * (1 - lane.shaped);
  const double arrives = passes * (1 - from.loss);
  // Windows answer within a round trip, so what is too much in it is so once.
  const double answered = std::min(seconds, round_trip);
  lose(lane, rate * (seconds * from.loss + answered * (1 - passes)), round_trip);
  lane.sent += rate * seconds;
  lane.received += rate * seconds * arrives * kSegmentBytes;
  // What is asked for at once comes at the lane's own rate, and is on its way for a round trip.
  lane.busy_us += seconds * 1e6 * std::min(lane.asked + (lane.asked < 1 ? round_trip / kPaced : 0), 1.0);
  lane.seen_us = (round_trip + late(lane)) * 1e6;
  const bool by_window = held > 0 || lane.in_flight * kSegmentBytes >= kNearlyAll * from.window_bytes;
  const bool by_buffer = lane.in_flight * kSegmentBytes >= kNearlyAll * from.send_buffer_bytes;
  if (by_window) lane.window_us += seconds * 1e6;
  if (by_buffer) lane.buffer_us += seconds * 1e6;
  lane.window.advance(now_, seconds, round_trip, rate * arrives, by_window || by_buffer || lane.asked < 1);
}

/// What a smoothed round trip has of single packets' delays: their mean, give or take a fifth.
double WindowNetwork::late(const Lane& lane) {
  const double mean = world_.seeders[static_cast<std::size_t>(lane.seeder)].delays;
  if (mean <= 0) return 0;
  const double uniform = static_cast<double>(random_() >> 11) * 0x1.0p-53;
  return mean * (0.8 + 0.4 * uniform);
}

void WindowNetwork::lose(Lane& lane, double segments, double round_trip) {
  lane.until_lost -= segments;
  if (lane.until_lost > 0) return;
  const double lost = 1 + std::floor(-lane.until_lost);
  lane.until_lost = exponential(random_);
  lane.lost += lost;
  lane.sent += lost;
  if (!lane.window.lose(now_, round_trip)) return;
  ++lane.events;
  lane.event_us += (round_trip + late(lane)) * 1e6;
}

LaneFigures WindowNetwork::figures(int number) const {
  const auto lane = std::ranges::find(lanes_, number, &Lane::number);
  if (lane == lanes_.end()) return {};
  const double round_trip = lane->base * 1e6;
  client::TcpFigures tcp;
  tcp.srtt_us = static_cast<std::uint32_t>(std::max(lane->seen_us, round_trip));
  tcp.min_rtt_us = static_cast<std::uint32_t>(round_trip);
  tcp.retransmits = whole(lane->lost);
  tcp.cwnd_segments = static_cast<std::uint32_t>(whole(lane->window.segments()));
  tcp.congestion_control = control_name(world_.seeders[static_cast<std::size_t>(lane->seeder)].control);
  tcp.loss_events = whole(lane->events);
  tcp.loss_srtt_us = whole(lane->event_us);
  tcp.sent_segments = whole(lane->sent);
  tcp.sent_bytes = whole(lane->sent * kSegmentBytes);
  tcp.resent_bytes = whole(lane->lost * kSegmentBytes);
  tcp.delivery_bytes_per_s = whole(lane->in_flight / std::max(lane->seen_us, 1.0) * 1e6 * kSegmentBytes);
  tcp.busy_us = whole(lane->busy_us);
  tcp.window_limited_us = whole(lane->window_us);
  tcp.buffer_limited_us = whole(lane->buffer_us);
  return {lane->received, tcp};
}

}  // namespace gridtorrent::sim
