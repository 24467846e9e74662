#include "tests/sim/optimum.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "tests/sim/rate_network.h"

namespace gridtorrent::sim {
namespace {

constexpr int kFirst = 120;
constexpr double kWithin = 0.98;

struct Tried {
  int sockets = 0;
  double last = 0;  ///< bits a second in the last phase
};

int least_sockets(const std::vector<Tried>& tried) {
  double best = 0;
  for (const auto& plan : tried) best = std::max(best, plan.last);
  int least = client::kMaxLanesInAll;
  for (const auto& plan : tried) {
    if (plan.last >= kWithin * best) least = std::min(least, plan.sockets);
  }
  return least;
}

int sum(const std::vector<int>& lanes) {
  return std::accumulate(lanes.begin(), lanes.end(), 0);
}

/// Lane after lane goes to where it brings most.
void water_fill(const World& world, std::vector<Tried>& tried) {
  std::vector<int> lanes(world.seeders.size(), 0);
  for (int sockets = 1; sockets <= client::kMaxLanesInAll; ++sockets) {
    std::size_t where = lanes.size();
    double best = -1;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i] >= client::kMaxLanesPerPeer || !world.seeders[i].alive) continue;
      ++lanes[i];
      const double rate = steady_rates(world, lanes).sum;
      --lanes[i];
      if (rate > best) {
        best = rate;
        where = i;
      }
    }
    if (where == lanes.size()) return;
    ++lanes[where];
    tried.push_back({sockets, best});
  }
}

Optimum closed_form(const Scenario& scenario, int seconds) {
  Optimum optimum;
  std::vector<double> ends = scenario.events;
  ends.push_back(seconds);
  double begin = 0;
  const auto worlds = phases(scenario);
  for (std::size_t phase = 0; phase < worlds.size(); ++phase) {
    const World& world = worlds[phase];
    std::vector<Tried> tried;
    for (int seeders = 1; seeders <= static_cast<int>(world.seeders.size()); ++seeders) {
      for (int each = 1; each <= client::kMaxLanesPerPeer && each * seeders <= client::kMaxLanesInAll; ++each) {
        const auto lanes = even_lanes_to(world, seeders, each);
        tried.push_back({sum(lanes), steady_rates(world, lanes).sum});
      }
    }
    water_fill(world, tried);
    const double best = std::ranges::max(tried, {}, &Tried::last).last;
    optimum.bits_per_s.push_back(best);
    optimum.sockets = least_sockets(tried);
    const double end = std::min(ends[phase], double(seconds));
    optimum.whole += best * std::max(0.0, end - begin) / seconds;
    optimum.first += best * std::max(0.0, std::min<double>(end, kFirst) - std::min<double>(begin, kFirst)) / kFirst;
    begin = end;
  }
  return optimum;
}

Optimum by_runs(Model model, const Scenario& scenario, std::uint64_t seed, int seconds) {
  Optimum optimum;
  optimum.bits_per_s.assign(scenario.events.size() + 1, 0);
  std::vector<Tried> tried;
  const int count = static_cast<int>(scenario.world.seeders.size());
  for (int seeders = count; seeders >= 1; seeders /= 2) {
    for (const int each : {1, 2, 3, 4, 6, 8, 12, 16}) {
      if (seeders * each > 64) continue;
      FixedLanes fixed(even_lanes_to(scenario.world, seeders, each));
      const Run result = run(model, scenario, fixed, seed, seconds);
      optimum.first = std::max(optimum.first, result.mean(0, std::min(kFirst, seconds)));
      optimum.whole = std::max(optimum.whole, result.mean(0, seconds));
      int begin = 0;
      for (std::size_t phase = 0; phase < optimum.bits_per_s.size(); ++phase) {
        const int end = phase < scenario.events.size() ? static_cast<int>(scenario.events[phase]) : seconds;
        const double rate = result.mean(begin + (end - begin) / 4, end);
        optimum.bits_per_s[phase] = std::max(optimum.bits_per_s[phase], rate);
        begin = end;
        if (phase + 1 == optimum.bits_per_s.size()) tried.push_back({result.sockets.back(), rate});
      }
    }
  }
  optimum.sockets = least_sockets(tried);
  return optimum;
}

}  // namespace

client::Plan FixedLanes::plan(const client::ControllerInput& input) {
  client::Plan plan;
  for (const auto& peer : input.peers) {
    const int lanes = lanes_.at(static_cast<std::size_t>(peer.node.bytes().back() - 1));
    if (lanes > 0) plan.peers.push_back({.node = peer.node, .lanes = lanes});
  }
  plan.reason.text = "fixed";
  return plan;
}

std::vector<int> even_lanes_to(const World& world, int seeders, int per_seeder) {
  std::vector<std::size_t> order(world.seeders.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const Seeder& seeder = world.seeders[i];
    return std::tuple(!seeder.alive, -seeder.uplink, seeder.round_trip);
  });
  std::vector<int> lanes(order.size(), 0);
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(seeders); ++i) {
    if (world.seeders[order[i]].alive) lanes[order[i]] = per_seeder;
  }
  return lanes;
}

Optimum find_optimum(Model model, const Scenario& scenario, std::uint64_t seed, int seconds) {
  return model == Model::kRates ? closed_form(scenario, seconds) : by_runs(model, scenario, seed, seconds);
}

}  // namespace gridtorrent::sim
