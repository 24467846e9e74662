#include "client/tuning/auto.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "client/tuning/fixed.h"
#include "client/tuning/sources.h"

namespace gridtorrent::client::tuning {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  std::array<char, 32> text{};
  const auto number = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) {
    std::snprintf(text.data(), text.size(), "%.1f GB", number / 1e9);
  } else {
    std::snprintf(text.data(), text.size(), "%.1f MB", number / 1e6);
  }
  return text.data();
}

std::string count(int number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string path_text(const Path& path) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "RTT %.1f ms", static_cast<double>(path.round_trip.count()) / 1e3);
  const std::string sender = path.congestion_control.empty() ? "" : ", " + path.congestion_control;
  switch (path.kind) {
    case PathKind::kUnknown:
      return "path not known yet";
    case PathKind::kFar:
      return std::string(text.data()) + sender;
    case PathKind::kNear:
      return std::string(text.data()) + sender + ": a near path needs few";
    case PathKind::kBbr:
      return std::string(text.data()) + sender + ": BBR needs few";
  }
  return "";
}

bool needs_few(const Path& path) {
  return path.kind == PathKind::kNear || path.kind == PathKind::kBbr;
}

/// "12 lanes to 2 seeders and 1 neighbour".
std::string lanes_text(const StartFacts& facts, const std::vector<int>& lanes) {
  int all = 0, seeders = 0, neighbours = 0;
  for (const int number : lanes) all += number;
  for (const auto& source : facts.sources) ++(source.complete ? seeders : neighbours);
  std::string text = count(all, "lane") + " to ";
  if (seeders > 0) text += count(seeders, "seeder");
  if (seeders > 0 && neighbours > 0) text += " and ";
  if (neighbours > 0) text += count(neighbours, "neighbour");
  return text;
}

/// "16 lanes to 1 seeder (1.2 GB to come; RTT 50.2 ms, cubic)", or of several: "12 lanes to 2 seeders and 1 neighbour
/// (1.2 GB to come; 1 of 3 paths near or with BBR)".
std::string reason_text(const StartFacts& facts, const std::vector<int>& lanes, const std::vector<Path>& paths) {
  std::string text = "auto: " + lanes_text(facts, lanes);
  text += " (" + bytes_text(facts.bytes) + " to come; ";
  if (paths.size() == 1) {
    text += path_text(paths.front());
  } else {
    const auto few = std::ranges::count_if(paths, needs_few);
    text += std::to_string(few) + " of " + std::to_string(paths.size()) + " paths near or with BBR";
  }
  if (facts.limit_bits_per_s > 0) {
    std::array<char, 40> limit{};
    std::snprintf(limit.data(), limit.size(), "; limit %.1f Mbit/s", static_cast<double>(facts.limit_bits_per_s) / 1e6);
    text += limit.data();
  }
  return text + ")";
}

int transfers_from(const NodeId& node, const ControllerInput& input) {
  const auto others = std::ranges::count_if(input.others, [&](const OtherTransfer& other) {
    return other.id != input.transfer && std::ranges::find(other.sources, node) != other.sources.end();
  });
  return 1 + static_cast<int>(others);
}

}  // namespace

Path learn(const Path& known, const Path& seen) {
  if (seen.kind == PathKind::kUnknown || needs_few(known)) return known;
  if (needs_few(seen) || known.kind == PathKind::kUnknown) return seen;
  Path path = known;
  if (path.congestion_control.empty()) path.congestion_control = seen.congestion_control;
  return path;
}

Plan AutoController::plan(const ControllerInput& input) {
  if (input.lanes_wish > 0) return even_plan(input, "auto");
  Known& known = transfers_[input.transfer];
  known.bytes = std::max(known.bytes, input.bytes_left);
  std::erase_if(known.sources, [&](const auto& source) {
    return std::ranges::find(input.peers, source.first, &PeerSample::node) == input.peers.end();
  });
  const auto sources = choose_sources(input);
  if (sources.empty()) return even_plan(input, "auto");
  StartFacts facts{known.bytes, input.limit_bits_per_s, input.host, {}};
  std::vector<Path> paths;
  for (const auto* source : sources) {
    auto& [path, meter] = known.sources[source->node];
    path = learn(path, path_of(*source));
    meter.look(input.now, *source);
    paths.push_back(path);
    facts.sources.push_back({source->complete && !source->fetches, path.kind, transfers_from(source->node, input)});
  }
  std::vector<int> lanes = start_lanes(facts);
  Plan plan;
  plan.reason.text = reason_text(facts, lanes, paths);
  if (std::ranges::all_of(facts.sources, &StartSource::complete)) {
    std::vector<RefinedSource> refined;
    double rate = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const PathMeter& meter = known.sources[sources[i]->node].meter;
      refined.push_back({sources[i]->node, lanes[i], meter.figures(input.now, kLossSpan)});
      rate += meter.figures(input.now, kSettle).bits_per_s;
    }
    Refined now = known.refinement.step(input.now, refined, rate, static_cast<double>(input.limit_bits_per_s),
                                        input.load.busiest_thread > kNeverRests);
    lanes = within_means(facts, std::move(now.lanes));
    if (!now.why.empty()) {
      plan.reason.text = "auto: " + lanes_text(facts, lanes) + " (" + now.why + ")";
      plan.reason.limit = now.held_by;
    }
  }
  for (std::size_t i = 0; i < sources.size(); ++i) plan.peers.push_back({.node = sources[i]->node, .lanes = lanes[i]});
  return plan;
}

}  // namespace gridtorrent::client::tuning
