#include "tests/sim/baselines/baselines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "client/tuning/registry.h"

namespace gridtorrent::sim {
namespace {

constexpr std::array kNames{"globus", "heuristic", "adaptive-cc", "harp", "prob-data", "d-w", "falcon"};

Setting by_formula(const PathFacts& facts) {
  const double streams =
      std::min(std::ceil(facts.product() / facts.buffer_bytes), std::ceil(facts.file_bytes / facts.buffer_bytes));
  const double channels = std::max(std::round(facts.product() / facts.file_bytes), 2.0);
  return {std::min(static_cast<int>(channels), facts.most_channels), std::max(static_cast<int>(streams), 1)};
}

}  // namespace

PathFacts path_facts(const World& world) {
  PathFacts facts;
  for (const auto& path : world.paths) facts.bits_per_s += path.rate;
  facts.bits_per_s = std::min(facts.bits_per_s, world.receiver.rate);
  facts.round_trip = world.seeders.front().round_trip;
  facts.buffer_bytes = world.seeders.front().window_bytes;
  return facts;
}

Script globus(PathFacts facts) {
  constexpr double kSmall = 50e6, kLarge = 250e6;
  const int streams = facts.file_bytes < kSmall ? 2 : facts.file_bytes > kLarge ? 8 : 4;
  co_await hold({2, streams}, 1);
}

Script heuristic(PathFacts facts) {
  co_await hold(by_formula(facts), 1);
}

Script adaptive_cc(PathFacts facts) {
  constexpr double kPeriod = 10, kGain = 1.05;
  Setting best = by_formula(facts);
  double before = (co_await hold(best, kPeriod)).bits_per_s;
  while (best.channels < facts.most_channels) {
    const Setting more{std::min(2 * best.channels, facts.most_channels), best.streams};
    const double rate = (co_await hold(more, kPeriod)).bits_per_s;
    if (rate < kGain * before) break;
    before = rate;
    best = more;
  }
  co_await hold(best, kPeriod);
}

Script d_w() {
  constexpr double kSample = 5, kMost = client::kMaxLanesInAll;
  constexpr int kRepeats = 2;
  for (int sockets = 4;;) {
    const int step = std::max(1, sockets / 4);
    std::array<double, 3> rates{};
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      for (int which = 0; which < 3; ++which) {
        const int tried = std::max(1, sockets + (which - 1) * step);
        rates[static_cast<std::size_t>(which)] += (co_await hold({tried, 1}, kSample)).bits_per_s / kRepeats;
      }
    }
    const double slope = (rates[2] - rates[0]) / (2 * step);
    const double change = std::clamp(std::round(8 * slope * sockets / std::max(rates[1], 1.0)), -8.0, 8.0);
    sockets = static_cast<int>(std::clamp(sockets + change, 1.0, kMost));
  }
}

Script falcon() {
  constexpr double kSettle = 1, kSample = 2, kPrice = 1.02, kLossPrice = 10;
  const auto utility = [](const Brought& brought, int sockets) {
    return brought.bits_per_s / std::pow(kPrice, sockets) - kLossPrice * brought.bits_per_s * brought.resent;
  };
  int before = 1, sockets = 2, most = 12, direction = 0;
  double last = utility(co_await hold({before, 1}, kSample, kSettle), before), best = last;
  for (;;) {
    const double now = utility(co_await hold({sockets, 1}, kSample, kSettle), sockets);
    const double slope = (now - last) / std::max(1, std::abs(sockets - before)) * (sockets < before ? -1 : 1);
    const double part = last == 0 ? 0 : std::abs(slope / last);
    if (now > best) {
      best = now;
      most = std::min(sockets + 10, client::kMaxLanesInAll);
    }
    const int way = slope >= 0 ? 1 : -1;
    direction = direction * way > 0 ? direction + way : way;
    before = sockets;
    last = now;
    sockets = std::clamp(sockets + direction * static_cast<int>(std::ceil(sockets * part)), 2, most);
  }
}

std::vector<std::string> baseline_names() {
  return {kNames.begin(), kNames.end()};
}

std::unique_ptr<client::TransferController> make_controller(const std::string& name, const World& world,
                                                            std::uint64_t seed) {
  const auto play = [](Script script) { return std::make_unique<ScriptController>(std::move(script)); };
  const PathFacts facts = path_facts(world);
  if (name == "globus") return play(globus(facts));
  if (name == "heuristic") return play(heuristic(facts));
  if (name == "adaptive-cc") return play(adaptive_cc(facts));
  if (name == "harp") return play(harp(facts));
  if (name == "prob-data") return play(prob_data(facts, seed));
  if (name == "d-w") return play(d_w());
  if (name == "falcon") return play(falcon());
  return client::tuning::make_tuner(name, seed);
}

}  // namespace gridtorrent::sim
