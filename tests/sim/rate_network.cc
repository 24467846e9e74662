#include "tests/sim/rate_network.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gridtorrent::sim {
namespace {

constexpr double kTick = 0.5, kLeastLag = 0.4, kLagRoundTrips = 6, kFall = 0.8;
constexpr double kPhi = 0.4, kNoise = 0.05, kSeederNoise = 0.03, kHiccups = 0.02;

double by_loss(const Seeder& seeder) {
  if (seeder.loss <= 0 || seeder.control == Control::kBbr) return std::numeric_limits<double>::infinity();
  double window = 1.22 / std::sqrt(seeder.loss);
  if (seeder.control == Control::kCubic) {
    window = std::max(window, 1.054 * std::pow(seeder.round_trip / seeder.loss, 0.75));
  }
  return window * kSegmentBytes * 8 / seeder.round_trip;
}

double lane_rate(const Seeder& seeder) {
  return std::min(seeder.window_bytes * 8 / seeder.round_trip, by_loss(seeder));
}

/// Part of its rate that a full path carries. Without a queue 1 − 1/(1 + k·N) (Altman and others, 2005), which leaves
/// nothing out where the queue holds what a sender takes back at a loss: 1/β − 1 bandwidth-delay products.
double used(Control control, int lanes, double queue_bdp) {
  if (control == Control::kBbr) return 0.965;
  const double beta = control == Control::kReno ? 0.5 : 0.7;
  const double empty = 1 / (1 + (1 + beta) / (1 - beta) * lanes);
  return 1 - empty * std::max(0.0, 1 - queue_bdp / (1 / beta - 1));
}

void share_path(const World& world, std::size_t path, const std::vector<int>& lanes, SteadyRates& steady) {
  double demand = 0, least = 1;
  int sockets = 0;
  const Seeder* first = nullptr;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Seeder& seeder = world.seeders[i];
    if (seeder.path != static_cast<int>(path) || lanes[i] == 0 || !seeder.alive) continue;
    if (first == nullptr) first = &seeder;
    demand += steady.bits_per_s[i];
    least = std::min(least, seeder.round_trip);
    sockets += lanes[i];
  }
  if (first == nullptr) return;
  const Path& link = world.paths[path];
  double carries = link.rate;
  if (link.rivals > 0) {
    const double theirs = lane_rate(*first) * link.rivals;
    carries = std::max(carries - theirs, carries * sockets / (sockets + link.rivals));
  }
  if (demand >= 0.95 * carries) {
    carries *= used(first->control, sockets, full_queue_wait(link, least) / least);
  }
  if (demand <= carries) return;
  const double full = least + full_queue_wait(link, least);
  const double knee = std::max(4.0, carries * full / 8 / kSegmentBytes);
  if (sockets > knee) carries /= 1 + 0.15 * (sockets - knee) / knee;
  const double queue_loss = std::pow(1.22 * 8 * kSegmentBytes * sockets / (full * carries), 2);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (world.seeders[i].path != static_cast<int>(path)) continue;
    steady.bits_per_s[i] *= carries / demand;
    steady.queue_s[i] = full - least;
    steady.loss[i] = std::min(std::max(steady.loss[i], queue_loss), 0.5);
  }
}

std::uint64_t whole(double number) {
  return static_cast<std::uint64_t>(std::max(number, 0.0));
}

}  // namespace

SteadyRates steady_rates(const World& world, const std::vector<int>& lanes) {
  const std::size_t count = world.seeders.size();
  SteadyRates steady{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
                     std::vector<bool>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    const Seeder& seeder = world.seeders[i];
    const double wanted = lanes[i] * lane_rate(seeder);
    steady.bits_per_s[i] = seeder.alive ? std::min(wanted, seeder.uplink) : 0;
    steady.loss[i] = seeder.loss;
    steady.by_window[i] = wanted <= seeder.uplink && by_loss(seeder) > seeder.window_bytes * 8 / seeder.round_trip;
  }
  for (std::size_t path = 0; path < world.paths.size(); ++path) share_path(world, path, lanes, steady);
  steady.sum = std::accumulate(steady.bits_per_s.begin(), steady.bits_per_s.end(), 0.0);
  const int sockets = std::accumulate(lanes.begin(), lanes.end(), 0);
  const Receiver& receiver = world.receiver;
  const double past = std::max(0, sockets - receiver.free_sockets);
  const double most = receiver.rate / (1 + receiver.socket_cost * past / receiver.free_sockets);
  if (steady.sum <= most) return steady;
  for (auto& rate : steady.bits_per_s) rate *= most / steady.sum;
  steady.by_window.assign(count, true);  // a receiver that is full closes its windows
  steady.sum = most;
  return steady;
}

int RateNetwork::open(int seeder, int transfer) {
  lanes_.push_back({.number = next_++, .seeder = seeder, .transfer = transfer});
  return lanes_.back().number;
}

void RateNetwork::close(int lane) {
  std::erase_if(lanes_, [&](const Lane& open) { return open.number == lane; });
}

void RateNetwork::tick() {
  std::vector<int> lanes(world_.seeders.size(), 0);
  for (const auto& lane : lanes_) ++lanes[static_cast<std::size_t>(lane.seeder)];
  steady_ = steady_rates(world_, lanes);
  const double sigma = world_.noise > 0 ? world_.noise : kNoise;
  noise_ = kPhi * noise_ + sigma * std::sqrt(1 - kPhi * kPhi) * normal();
  double all = std::max(0.05, 1 + noise_);
  if (static_cast<double>(noisy_() >> 11) * 0x1.0p-53 < kHiccups) all *= 0.5;
  factors_.assign(lanes.size(), all);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    factors_[i] *= std::max(0.05, 1 + kSeederNoise * normal());
    const double lag = std::max(kLeastLag, kLagRoundTrips * world_.seeders[i].round_trip);
    const double away = steady_.bits_per_s[i] - rates_[i];
    rates_[i] += away * (away > 0 ? 1 - std::exp(-kTick / lag) : kFall);
  }
}

void RateNetwork::advance(double seconds) {
  if (until_tick_ <= 1e-9) {
    tick();
    until_tick_ = kTick;
  }
  until_tick_ -= seconds;
  share();
  for (auto& lane : lanes_) send(lane, seconds);
}

/// A seeder's rate is shared by the lanes that are open now, as far as a limit lets the transfer ask for it.
void RateNetwork::share() {
  std::vector<int> lanes(world_.seeders.size(), 0);
  for (const auto& lane : lanes_) ++lanes[static_cast<std::size_t>(lane.seeder)];
  std::map<int, double> wanted;
  for (auto& lane : lanes_) {
    const auto from = static_cast<std::size_t>(lane.seeder);
    lane.bits_per_s = rates_[from] * factors_[from] / lanes[from];
    wanted[lane.transfer] += lane.bits_per_s;
  }
  for (auto& lane : lanes_) {
    const double limit = limits_[lane.transfer];
    lane.asked = limit > 0 && wanted[lane.transfer] > limit ? limit / wanted[lane.transfer] : 1;
  }
}

void RateNetwork::send(Lane& lane, double seconds) {
  const auto from = static_cast<std::size_t>(lane.seeder);
  const Seeder& seeder = world_.seeders[from];
  const double bytes = lane.bits_per_s * lane.asked / 8 * seconds, segments = bytes / kSegmentBytes;
  const double base = seeder.round_trip * 1e6, full = base + (lane.asked < 1 ? 0 : steady_.queue_s[from] * 1e6);
  client::TcpFigures& tcp = lane.figures.tcp;
  std::poisson_distribution<int> losses(std::max(segments * steady_.loss[from], 1e-12));
  const int lost = losses(random_);
  // Losses of one round trip are one event.
  const int events = std::min(lost, static_cast<int>(seconds / seeder.round_trip) + 1);
  lane.lost += lost;
  lane.sent += segments + lost;
  lane.figures.received_bytes += bytes;
  tcp.srtt_us = static_cast<std::uint32_t>((base + full) / 2);
  tcp.min_rtt_us = static_cast<std::uint32_t>(base);
  tcp.loss_events += static_cast<std::uint64_t>(events);
  for (int i = 0; i < events; ++i) {
    // A random loss meets a queue of any length, one by the queue a full one.
    const bool random = static_cast<double>(random_() >> 11) * 0x1.0p-53 * steady_.loss[from] < seeder.loss;
    tcp.loss_srtt_us += whole(random ? base : full);
  }
  tcp.retransmits = whole(lane.lost);
  tcp.sent_segments = whole(lane.sent);
  tcp.sent_bytes = whole(lane.sent * kSegmentBytes);
  tcp.resent_bytes = whole(lane.lost * kSegmentBytes);
  tcp.delivery_bytes_per_s = whole(bytes / seconds);
  tcp.busy_us += whole(seconds * 1e6);
  if (steady_.by_window[from] && lane.asked == 1) tcp.window_limited_us += whole(seconds * 1e6);
}

LaneFigures RateNetwork::figures(int number) const {
  const auto lane = std::ranges::find(lanes_, number, &Lane::number);
  if (lane == lanes_.end()) return {};
  LaneFigures figures = lane->figures;
  const Seeder& seeder = world_.seeders[static_cast<std::size_t>(lane->seeder)];
  figures.tcp.congestion_control = control_name(seeder.control);
  figures.tcp.min_rtt_us = static_cast<std::uint32_t>(seeder.round_trip * 1e6);
  if (figures.tcp.srtt_us == 0) figures.tcp.srtt_us = figures.tcp.min_rtt_us;
  return figures;
}

}  // namespace gridtorrent::sim
