#pragma once

#include <map>
#include <random>
#include <vector>

#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace gridtorrent::sim {

/// What each seeder brings in the end with so many lanes, and why; a pure function of the world. Per lane of seeder i
/// f = min(W/RTT, L), L = max(1.22/√p, CUBIC: 1.054·(RTT/p)^0.75)·MSS/RTT, none with BBR or without losses. A seeder
/// brings min(lanes·f, uplink). A path whose demand reaches 95 % of its rate C carries all of it where its queue holds
/// what a sender takes back at a loss; C·(1 − 1/(1 + k·N)) without a queue, k being 3 for Reno and 5.7 for CUBIC;
/// 0.965·C with BBR. Past max(4, segments that path and full queue hold) sockets it carries less by
/// 1 + 0.15·(N − knee)/knee. With rivals it leaves max(C − their demand, C·N/(N + rivals)).
struct SteadyRates {
  std::vector<double> bits_per_s{};  ///< of each seeder
  std::vector<double> queue_s{};     ///< so long a packet waits on its path where the queue is full; 0: there is none
  std::vector<double> loss{};        ///< part of its packets that gets lost, with what the queue drops
  std::vector<bool> by_window{};     ///< its lanes' windows hold it up
  double sum = 0;
};
SteadyRates steady_rates(const World& world, const std::vector<int>& lanes);

/// The rate model: each half second a seeder's rate rises towards its steady one with a lag of max(0.4 s, 6 RTT), or
/// falls by 80 % of the way. Noise: AR(1) with φ = 0.4 and σ = `World::noise` (0: 0.05) over all, σ = 0.03 for each
/// seeder, and 2 % of the half seconds bring half.
class RateNetwork final : public Network {
 public:
  RateNetwork(const World& world, std::uint64_t seed)
      : world_(world), random_(seed), noisy_(~seed), rates_(world.seeders.size()) {}
  int open(int seeder, int transfer) override;
  void close(int lane) override;
  void limit(int transfer, double bits_per_s) override { limits_[transfer] = bits_per_s; }
  void advance(double seconds) override;
  LaneFigures figures(int lane) const override;

 private:
  struct Lane {
    int number = 0, seeder = 0, transfer = 0;
    double bits_per_s = 0;
    double asked = 1;  ///< below 1: of what it could carry, so much is asked for under a limit
    LaneFigures figures{};
    double sent = 0, lost = 0;
  };
  void tick();
  void share();
  void send(Lane& lane, double seconds);
  double normal() { return gauss_(noisy_); }

  const World& world_;
  std::mt19937_64 random_;
  std::mt19937_64 noisy_;  ///< apart, so that the same seed brings the same noise whatever the lanes are
  std::normal_distribution<double> gauss_;
  std::vector<Lane> lanes_;
  std::map<int, double> limits_;  ///< 0: none
  std::vector<double> rates_, factors_;
  SteadyRates steady_;
  double until_tick_ = 0, noise_ = 0;
  int next_ = 1;
};

}  // namespace gridtorrent::sim
