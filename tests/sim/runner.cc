#include "tests/sim/runner.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>

#include "tests/sim/rate_network.h"
#include "tests/sim/window_network.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::sim {
namespace {

constexpr double kSample = 0.25, kYoung = 5, kOldStats = 1;
constexpr double kForgotten = 5;  ///< seconds until a dead node has left the list
constexpr std::uint64_t kBytes = 1'000'000'000'000;

MonoTime at(double seconds) {
  // Not at zero: a controller may take the clock's first value for "never".
  return MonoTime(std::chrono::nanoseconds(1'000'000'000 + static_cast<std::int64_t>(seconds * 1e9)));
}

struct Lane {
  int number = 0, seeder = 0;
  int network = 0;        ///< 0: still dialled
  double stands_at = 0;   ///< seconds
  double closes_at = -1;  ///< below 0: it is wanted
  double told_at = -1;    ///< of the last gt_stats
  double received = 0, received_before = 0;
  client::TcpFigures theirs{};
};

class Transfer {
 public:
  Transfer(Model model, const Scenario& scenario, client::TransferController& controller, std::uint64_t seed)
      : scenario_(scenario),
        world_(scenario.world),
        network_(make_network(model, world_, seed)),
        controller_(controller),
        random_(seed ^ 0x9e3779b97f4a7c15U),
        dead_since_(world_.seeders.size(), -1) {
    input_.transfer = TransferId(TransferId::Bytes{1});
    input_.self = testing::numbered_node(200);
    input_.total_bytes = kBytes;
    // The receiver's part of a window is one for all lanes of its machine.
    double buffer = 0;
    for (const auto& seeder : world_.seeders) buffer = std::max(buffer, seeder.window_bytes);
    input_.host.lane_bytes = static_cast<std::uint64_t>(buffer);
  }

  Run run(int seconds) {
    for (int second = 0; second < seconds; ++second) {
      const double before = bytes_;
      change();
      ask();
      for (int i = 0; i < 4; ++i) tick();
      result_.bits_per_s.push_back((bytes_ - before) * 8);
      result_.sockets.push_back(static_cast<int>(std::ranges::count_if(lanes_, is_open)));
      result_.seeder_sockets.push_back(wanted());
    }
    return std::move(result_);
  }

 private:
  static bool is_open(const Lane& lane) { return lane.network != 0; }

  void change() {
    while (phase_ < scenario_.events.size() && now_ >= scenario_.events[phase_]) {
      scenario_.change(static_cast<int>(phase_++), world_);
    }
    for (std::size_t i = 0; i < world_.seeders.size(); ++i) {
      if (world_.seeders[i].alive || dead_since_[i] >= 0) continue;
      dead_since_[i] = now_;
      for (const auto& lane : lanes_) {
        if (lane.seeder == static_cast<int>(i) && is_open(lane)) network_->close(lane.network);
      }
      std::erase_if(lanes_, [&](const Lane& lane) { return lane.seeder == static_cast<int>(i); });
    }
  }

  std::vector<int> wanted() const {
    std::vector<int> count(world_.seeders.size(), 0);
    for (const auto& lane : lanes_) {
      if (lane.closes_at < 0) ++count[static_cast<std::size_t>(lane.seeder)];
    }
    return count;
  }

  void ask() {
    input_.now = at(now_);
    const auto received = static_cast<std::uint64_t>(bytes_);
    input_.bytes_left = received < kBytes ? kBytes - received : 1;
    input_.peers.clear();
    for (std::size_t i = 0; i < world_.seeders.size(); ++i) {
      if (dead_since_[i] < 0 || now_ < dead_since_[i] + kForgotten) input_.peers.push_back(peer(static_cast<int>(i)));
    }
    apply(controller_.plan(input_));
  }

  client::PeerSample peer(int seeder) const {
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

  void apply(const client::Plan& plan) {
    note(plan);
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

  void drop(int seeder) {
    const auto youngest = std::find_if(lanes_.rbegin(), lanes_.rend(),
                                       [&](const Lane& lane) { return lane.seeder == seeder && lane.closes_at < 0; });
    if (is_open(*youngest)) {
      youngest->closes_at = now_ + world_.seeders[static_cast<std::size_t>(seeder)].round_trip;
    } else {
      lanes_.erase(std::next(youngest).base());
    }
  }

  void note(const client::Plan& plan) {
    std::string line;
    for (const auto& share : plan.peers) {
      line += (line.empty() ? "" : "+") + std::to_string(share.lanes);
    }
    line += "  " + plan.reason.text;
    if (line == said_) return;
    said_ = line;
    char time[16];
    std::snprintf(time, sizeof time, "%5.2f s  ", now_);
    result_.log.push_back(time + line);
  }

  void tick() {
    bool first = false;
    for (auto& lane : lanes_) {
      if (is_open(lane) || lane.stands_at > now_) continue;
      first = first || std::ranges::none_of(
                           lanes_, [&](const Lane& other) { return other.seeder == lane.seeder && is_open(other); });
      lane.network = network_->open(lane.seeder);
    }
    std::erase_if(lanes_, [&](const Lane& lane) {
      if (lane.closes_at < 0 || lane.closes_at > now_) return false;
      network_->close(lane.network);
      return true;
    });
    if (first) {
      measure();
      ask();
    }
    network_->advance(kSample);
    now_ += kSample;
    measure();
  }

  void measure() {
    for (auto& lane : lanes_) {
      if (!is_open(lane)) continue;
      LaneFigures figures = network_->figures(lane.network);
      lane.received_before = lane.received;
      lane.received = figures.received_bytes;
      bytes_ += lane.received - lane.received_before;
      const double every = now_ - lane.stands_at <= kYoung ? kSample : kOldStats;
      if (lane.told_at >= 0 && now_ - lane.told_at < every - 1e-9) continue;
      lane.theirs = std::move(figures.tcp);
      lane.told_at = now_;
    }
  }

  const Scenario& scenario_;
  World world_;
  std::unique_ptr<Network> network_;
  client::TransferController& controller_;
  std::mt19937_64 random_;
  std::vector<double> dead_since_;
  client::ControllerInput input_;
  std::vector<Lane> lanes_;
  std::string said_;
  Run result_;
  double now_ = 0, bytes_ = 0;
  std::size_t phase_ = 0;
  int next_ = 1;
};

}  // namespace

const char* model_name(Model model) {
  return model == Model::kWindows ? "windows" : "rates";
}

std::unique_ptr<Network> make_network(Model model, const World& world, std::uint64_t seed) {
  if (model == Model::kWindows) return std::make_unique<WindowNetwork>(world, seed);
  return std::make_unique<RateNetwork>(world, seed);
}

double Run::mean(int from, int to) const {
  return std::accumulate(bits_per_s.begin() + from, bits_per_s.begin() + to, 0.0) / (to - from);
}

Run run(Model model, const Scenario& scenario, client::TransferController& controller, std::uint64_t seed,
        int seconds) {
  return Transfer(model, scenario, controller, seed).run(seconds);
}

}  // namespace gridtorrent::sim
