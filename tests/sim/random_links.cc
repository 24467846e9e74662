#include "tests/sim/random_links.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>

#include "tests/sim/baselines/baselines.h"
#include "tests/sim/optimum.h"

namespace gridtorrent::sim {
namespace {

constexpr double kUnlimited = 268'435'456;

/// Draws that are the same on each machine: the library's distributions are not.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double between(double least, double most) {
    return least + (most - least) * static_cast<double>(engine_() >> 11) * 0x1.0p-53;
  }
  double logarithmic(double least, double most) { return std::exp(between(std::log(least), std::log(most))); }
  bool one_in(int number) { return between(0, number) < 1; }
  int whole(int least, int most) { return static_cast<int>(between(least, most + 1)); }

 private:
  std::mt19937_64 engine_;
};

double draw_loss(Draw& draw) {
  return draw.one_in(3) ? 0 : draw.logarithmic(1e-6, 3e-3);
}

Control draw_control(Draw& draw) {
  const double which = draw.between(0, 20);
  return which < 2 ? Control::kBbr : which < 3 ? Control::kReno : Control::kCubic;
}

std::string draw_change(Draw& draw, RandomLink& link, double after) {
  Scenario& scenario = link.scenario;
  scenario.events = {std::floor(after)};
  char text[64];
  switch (draw.whole(0, 3)) {
    case 0: {
      const double factor = draw.logarithmic(0.3, 3);
      scenario.change = [=](int, World& world) { world.paths[0].rate *= factor; };
      std::snprintf(text, sizeof text, "rate x %.2f", factor);
      break;
    }
    case 1: {
      const double loss = draw.logarithmic(1e-5, 3e-3);
      scenario.change = [=](int, World& world) {
        for (auto& seeder : world.seeders) seeder.loss = loss;
      };
      std::snprintf(text, sizeof text, "loss %.4f %%", 100 * loss);
      break;
    }
    case 2: {
      const int rivals = draw.whole(0, 3);
      link.rivals = link.rivals || rivals > 0;
      scenario.change = [=](int, World& world) { world.paths[0].rivals = rivals; };
      std::snprintf(text, sizeof text, "%d rivals", rivals);
      break;
    }
    default:
      if (scenario.world.seeders.size() == 1) {
        scenario.events.clear();
        return "";
      }
      scenario.change = [](int, World& world) { world.seeders.front().alive = false; };
      std::snprintf(text, sizeof text, "first seeder dies");
  }
  char when[32];
  std::snprintf(when, sizeof when, "; at %.0f s ", scenario.events.front());
  return std::string(when) + text;
}

std::string text_of(const World& world, double seconds) {
  char text[200];
  const Path& path = world.paths.front();
  std::snprintf(text, sizeof text, "%.4g Mbit/s, queue %.2f, %.0f s%s:", path.rate / 1e6, path.queue_bdp, seconds,
                path.rivals > 0 ? (", " + std::to_string(path.rivals) + " rivals").c_str() : "");
  std::string line = text;
  for (const auto& seeder : world.seeders) {
    std::snprintf(text, sizeof text, " [%.3g ms %s", seeder.round_trip * 1e3, control_name(seeder.control));
    line += text;
    if (seeder.loss > 0) std::snprintf(text, sizeof text, " %.2g %%", 100 * seeder.loss), line += text;
    if (seeder.uplink < 1e10) std::snprintf(text, sizeof text, " up %.3g", seeder.uplink / 1e6), line += text;
    if (seeder.window_bytes < kUnlimited) {
      std::snprintf(text, sizeof text, " win %.3gM", seeder.window_bytes / 1e6), line += text;
    }
    line += "]";
  }
  return line;
}

}  // namespace

RandomLink random_link(std::uint64_t seed) {
  Draw draw(seed);
  RandomLink link;
  World& world = link.scenario.world;
  Path& path = world.paths.front();
  path.rate = draw.logarithmic(5e6, 2.5e9);
  path.queue_bdp = draw.logarithmic(0.1, 2);
  const double round_trip = draw.logarithmic(0.3e-3, 0.3);
  Seeder seeder;
  seeder.loss = draw_loss(draw);
  seeder.control = draw_control(draw);
  seeder.window_bytes = draw.one_in(2) ? kUnlimited : draw.logarithmic(64e3, 16e6);
  const int seeders = draw.one_in(3) ? 1 : draw.whole(2, 8);
  double uplinks = 0;
  for (int i = 0; i < seeders; ++i) {
    seeder.round_trip = std::clamp(round_trip * draw.logarithmic(0.5, 2), 0.3e-3, 0.3);
    seeder.uplink = draw.one_in(2) ? path.rate * draw.logarithmic(0.05, 2) : 1e10;
    if (draw.one_in(4)) seeder.loss = draw_loss(draw);
    uplinks += seeder.uplink;
    world.seeders.push_back(seeder);
  }
  if (draw.one_in(5)) path.rivals = draw.whole(1, 3);
  link.rivals = path.rivals > 0;
  const double seconds = draw.logarithmic(4, 300);
  link.task.bytes = static_cast<std::uint64_t>(std::min(path.rate, uplinks) / 8 * seconds);
  link.text = text_of(world, seconds);
  if (draw.one_in(4)) {
    const double after = std::min<double>(seconds, link_seconds(link)) * draw.between(0.3, 0.6);
    link.text += draw_change(draw, link, after);
  }
  link.scenario.name = "link " + std::to_string(seed);
  return link;
}

int link_seconds(const RandomLink& link) {
  constexpr double kMost = 60, kLeast = 15, kRoundTrips = 12'000;
  const auto& seeders = link.scenario.world.seeders;
  const double shortest = std::ranges::min_element(seeders, {}, &Seeder::round_trip)->round_trip;
  return static_cast<int>(std::clamp(kRoundTrips * shortest, kLeast, kMost));
}

namespace {

double fixed_rate(Model model, const RandomLink& link, const BestFixed& plan, std::uint64_t seed) {
  FixedLanes fixed(even_lanes_to(link.scenario.world, plan.seeders, plan.lanes));
  return run(model, link.scenario, fixed, seed, link_seconds(link), link.task).rate();
}

RandomLink without_rivals(RandomLink link) {
  link.scenario.world.paths.front().rivals = 0;
  if (!link.scenario.events.empty()) {
    link.scenario.change = [change = std::move(link.scenario.change)](int phase, World& world) {
      change(phase, world);
      world.paths.front().rivals = 0;
    };
  }
  return link;
}

}  // namespace

BestFixed best_fixed(Model model, const RandomLink& link, std::uint64_t seed) {
  constexpr double kAlike = 0.98;
  const RandomLink alone = link.rivals ? without_rivals(link) : link;
  std::vector<BestFixed> plans;
  for (int seeders = static_cast<int>(link.scenario.world.seeders.size()); seeders >= 1; seeders /= 2) {
    for (const int lanes : {1, 2, 4, 8, 16, 32}) {
      if (seeders * lanes > client::kMaxLanesInAll) break;
      BestFixed plan{0, seeders, lanes};
      plan.bits_per_s = fixed_rate(model, alone, plan, seed);
      plans.push_back(plan);
    }
  }
  const double most = std::ranges::max_element(plans, {}, &BestFixed::bits_per_s)->bits_per_s;
  std::erase_if(plans, [&](const BestFixed& plan) { return plan.bits_per_s < (link.rivals ? kAlike : 1) * most; });
  BestFixed best =
      *std::ranges::min_element(plans, {}, [](const BestFixed& plan) { return plan.seeders * plan.lanes; });
  if (link.rivals) best.bits_per_s = fixed_rate(model, link, best, seed);
  return best;
}

LinkRow compare_link(Model model, const std::string& controller, const RandomLink& link, std::uint64_t seed,
                     bool plans) {
  const BestFixed best = best_fixed(model, link, seed);
  const auto tuner = make_controller(controller, link.scenario.world, seed);
  const Run got = run(model, link.scenario, *tuner, seed, link_seconds(link), link.task);
  const double ratio = got.rate() / best.bits_per_s;
  char text[160];
  std::snprintf(text, sizeof text, "%5.3f %4d  %7.2f of %7.2f Mbit/s %5.1f s  best %d x %-2d last %-3d ", ratio,
                static_cast<int>(seed), got.rate() / 1e6, best.bits_per_s / 1e6, got.seconds, best.seeders, best.lanes,
                got.sockets.back());
  LinkRow row{ratio, link.rivals, text + link.text};
  if (!plans) return row;
  for (const auto& line : got.log) row.text += "\n    " + line;
  row.text += "\n    Mbit/s, second by second:";
  for (const double rate : got.bits_per_s) row.text += " " + std::to_string(static_cast<int>(rate / 1e6));
  return row;
}

std::vector<LinkRow> compare_links(Model model, const std::string& controller, int first, int last, bool plans) {
  std::vector<LinkRow> rows;
  for (int seed = first; seed <= last; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    rows.push_back(compare_link(model, controller, random_link(number), number, plans));
  }
  return rows;
}

void print_links(Model model, const std::string& controller, int first, int last) {
  auto rows = compare_links(model, controller, first, last, first == last);
  std::ranges::sort(rows, {}, &LinkRow::ratio);
  double sum = 0;
  for (const auto& row : rows) {
    std::printf("%s\n", row.text.c_str());
    sum += std::min(row.ratio, 1.0);
  }
  std::printf("%s: mean %.3f, worst %.3f\n", model_name(model), sum / static_cast<double>(rows.size()),
              rows.front().ratio);
}

}  // namespace gridtorrent::sim
