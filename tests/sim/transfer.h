#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "client/plan/controller.h"
#include "tests/sim/network.h"
#include "tests/sim/world.h"

namespace gridtorrent::sim {

/// What a person asks for. Rates are payload, bits a second, 0: none.
struct Task {
  std::uint64_t bytes = 1'000'000'000'000;  ///< by default so many that it does not end
  std::uint64_t limit = 0, target = 0, floor = 0;
  double by = 0;  ///< seconds, when it is to be done; 0: whenever
  client::TuningMode mode = client::TuningMode::kBalanced;
};

/// What a transfer did under a controller, second by second.
struct Run {
  std::vector<double> bits_per_s{};                ///< payload of each second
  std::vector<int> sockets{};                      ///< at the end of each second
  std::vector<std::vector<int>> seeder_sockets{};  ///< the same for each seeder
  std::vector<std::string> log{};                  ///< each plan that differs from the one before: when, lanes, why
  double bytes = 0, seconds = 0;                   ///< what it brought until it was done, or the run was over
  /// Over the seconds from `from` to `to`.
  double mean(int from, int to) const;
  /// Until it was done.
  double rate() const { return bytes * 8 / seconds; }
};

/// One transfer over the real interface. Lanes of a plan are dialled one after another 0.1 to 1 s later, and stand
/// after 1.5 round trips. A lane that is no longer wanted, the youngest first, drains for a round trip and then closes.
/// Lanes to a seeder that died close at once; its node leaves the swarm's list five seconds later. gt_stats of a lane
/// come as its handshake is over, each 250 ms in its first 5 s, each second after.
class Transfer {
 public:
  static constexpr double kSample = 0.25;  ///< seconds from one measurement to the next

  /// `number`: tells the transfers of a network apart. All references outlive it.
  Transfer(int number, Network& network, const World& world, client::TransferController& controller, const Task& task,
           std::uint64_t seed);

  /// Each second, after the world may have changed: it notes who died, and asks for a plan.
  void begin_second();
  /// Each quarter of a second, before the network goes on: lanes that were dialled stand, lanes that drained close. It
  /// asks for a plan where a first lane to a seeder stands.
  void open_and_close();
  /// After the network has gone on.
  void measure();
  void end_second();
  bool done() const { return bytes_ >= static_cast<double>(task_.bytes); }
  Run result() &&;

 private:
  struct Lane {
    int number = 0, seeder = 0;
    int network = 0;        ///< 0: still dialled
    double stands_at = 0;   ///< seconds
    double closes_at = -1;  ///< below 0: it is wanted
    double told_at = -1;    ///< of the last gt_stats
    double received = 0, received_before = 0;
    client::TcpFigures theirs{};
  };
  static bool is_open(const Lane& lane) { return lane.network != 0; }
  const Seeder& seeder(int number) const { return world_.seeders[static_cast<std::size_t>(number)]; }
  std::vector<int> wanted() const;
  client::PeerSample peer(int seeder) const;
  void ask();
  void apply(const client::Plan& plan);
  void drop(int seeder);
  void note(const client::Plan& plan);
  void look();

  int number_;
  Network& network_;
  const World& world_;
  client::TransferController& controller_;
  Task task_;
  std::mt19937_64 random_;
  std::vector<double> dead_since_;
  client::ControllerInput input_;
  std::vector<Lane> lanes_;
  std::string said_;
  Run result_;
  double now_ = 0, bytes_ = 0, bytes_before_ = 0;
  int next_ = 1;
};

}  // namespace gridtorrent::sim
