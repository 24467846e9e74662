#include "client/tuning/search_controller.h"

#include <algorithm>

#include "client/tuning/fixed.h"
#include "client/tuning/sources.h"
#include "client/tuning/start.h"

namespace gridtorrent::client::tuning {

void SearchController::update(std::vector<Seeder>& known, const std::vector<const PeerSample*>& seen, MonoTime now) {
  std::erase_if(known, [&](const Seeder& seeder) {
    return std::ranges::find(seen, seeder.node, [](const auto* peer) { return peer->node; }) == seen.end();
  });
  for (const auto* peer : seen) {
    auto seeder = std::ranges::find(known, peer->node, &Seeder::node);
    if (seeder == known.end()) seeder = known.insert(known.end(), {.node = peer->node, .stood = now});
    if (peer->stands || !seeder->used) seeder->stood = now;
    const double round_trip = std::chrono::duration<double>(path_of(*peer).round_trip).count();
    if (round_trip > 0 && (seeder->round_trip_s <= 0 || round_trip < seeder->round_trip_s)) {
      seeder->round_trip_s = round_trip;
    }
  }
  std::ranges::stable_partition(known, [&](const Seeder& seeder) { return now - seeder.stood < kStandsWithin; });
}

Plan SearchController::plan(const ControllerInput& input) {
  std::vector<const PeerSample*> seeders, neighbours;
  for (const auto* source : choose_sources(input)) {
    (source->complete && !source->fetches ? seeders : neighbours).push_back(source);
  }
  if (input.lanes_wish > 0 || seeders.empty()) return even_plan(input, name_);
  Known& known = transfers_[input.transfer];
  if (known.search == nullptr) known.search = make_();
  known.meter.look(input.peers);
  if (known.planned != MonoTime{}) {
    known.clock += std::clamp<MonoTime::duration>(input.now - known.planned, {}, kPausedAfter);
  }
  known.planned = input.now;
  update(known.seeders, seeders, known.clock);

  SearchInput facts;
  facts.now = known.clock;
  double round_trips = 0;
  int measured = 0;
  for (const auto& seeder : known.seeders) {
    facts.seeders.push_back(seeder.node);
    round_trips += seeder.round_trip_s;
    measured += seeder.round_trip_s > 0 ? 1 : 0;
  }
  if (measured > 0) facts.round_trip_s = round_trips / measured;
  const std::uint64_t whole = std::max<std::uint64_t>(input.total_bytes, 1);
  facts.file_sizes =
      input.file_sizes && !input.file_sizes->empty() ? std::span(*input.file_sizes) : std::span(&whole, 1);
  facts.bytes_left = static_cast<double>(input.bytes_left);
  facts.received_bytes = known.meter.bytes();
  facts.limit_bits_per_s = static_cast<double>(input.limit_bits_per_s);
  facts.target_bits_per_s = static_cast<double>(input.target_bits_per_s);
  facts.buffer_bytes = static_cast<double>(input.host.lane_bytes);
  facts.most_lanes = std::min(most_lanes(input.host) - static_cast<int>(neighbours.size()),
                              kMaxLanesPerPeer * static_cast<int>(seeders.size()));
  const SearchPlan wanted = known.search->step(facts);

  Plan plan;
  plan.peers = share_out(facts.seeders, wanted.channels, facts.most_lanes);
  for (auto& seeder : known.seeders) {
    seeder.used = std::ranges::find(plan.peers, seeder.node, &PeerShare::node) != plan.peers.end();
  }
  for (const auto* neighbour : neighbours) plan.peers.push_back({.node = neighbour->node, .lanes = 1});
  plan.reason.text = name_ + ": " + wanted.why;
  return plan;
}

}  // namespace gridtorrent::client::tuning
