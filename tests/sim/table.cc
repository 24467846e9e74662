#include "tests/sim/table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/tuning/registry.h"
#include "tests/sim/baselines/baselines.h"
#include "tests/sim/held_links.h"
#include "tests/sim/random_links.h"

namespace gridtorrent::sim {
namespace {

constexpr int kHold = 3, kLast = 30;

struct Options {
  std::string controller = client::tuning::kDefaultTuner, scenario{}, model{};
  int seeds = 3, links = 0, link = 0, from = 1;
  bool log = false, compare = false, held = false;
};

template <typename Number>
Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

void print_log(const Scenario& scenario, Model model, const std::string& name) {
  const auto controller = make_controller(name, scenario.world, 1);
  const Run result = run(model, scenario, *controller, 1);
  for (const auto& line : result.log) std::printf("    %s\n", line.c_str());
  std::printf("    Mbit/s in steps of 10 s:");
  for (int second = 0; second + 10 <= static_cast<int>(result.bits_per_s.size()); second += 10) {
    std::printf(" %.0f", result.mean(second, second + 10) / 1e6);
  }
  std::printf("\n");
}

std::vector<Scenario> chosen(const Options& options) {
  auto all = scenarios();
  all.push_back(long_link());
  std::erase_if(
      all, [&](const Scenario& scenario) { return !options.scenario.empty() && options.scenario != scenario.name; });
  return all;
}

Score played(Model model, const Scenario& scenario, const std::string& controller, const Optimum& optimum, int seeds) {
  std::vector<Run> runs;
  for (int i = 1; i <= seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    runs.push_back(run(model, scenario, *make_controller(controller, scenario.world, seed), seed));
  }
  return median_score(runs, optimum);
}

/// A line for each scenario, a column for each tuner and each published one.
void print_comparison(Model model, const Options& options) {
  auto names = client::tuning::tuner_names();
  std::ranges::copy(baseline_names(), std::back_inserter(names));
  std::printf("%-8s %-11s", model_name(model), "0-300 s");
  for (const auto& name : names) std::printf(" %11s", name.c_str());
  std::vector<double> sums(names.size(), 0);
  const auto all = chosen(options);
  for (const auto& scenario : all) {
    const Optimum optimum = find_optimum(model, scenario, 1);
    std::printf("\n%-8s %-11s", model_name(model), scenario.name.c_str());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double ratio = played(model, scenario, names[i], optimum, options.seeds).whole;
      std::printf(" %11.3f", ratio);
      std::fflush(stdout);
      sums[i] += ratio;
    }
  }
  std::printf("\n%-8s %-11s", model_name(model), "mean");
  for (const double sum : sums) std::printf(" %11.3f", sum / static_cast<double>(all.size()));
  std::printf("\n");
}

void print_rows(Model model, const Options& options) {
  std::printf("%-8s %-11s %9s %7s %7s %5s  %s\n", "model", "scenario", "Mbit/s", "0-120", "0-300", "t90",
              "sockets/least");
  double first = 0, whole = 0;
  int rows = 0;
  for (const auto& scenario : chosen(options)) {
    const Optimum optimum = find_optimum(model, scenario, 1);
    const Score got = played(model, scenario, options.controller, optimum, options.seeds);
    std::printf("%-8s %-11s %9.0f %7.3f %7.3f %5d  %d/%d\n", model_name(model), scenario.name.c_str(),
                optimum.whole / 1e6, got.first, got.whole, got.t90, got.sockets, optimum.sockets);
    first += got.first;
    whole += got.whole;
    ++rows;
    if (options.log) print_log(scenario, model, options.controller);
    std::fflush(stdout);
  }
  if (rows > 0) std::printf("%-8s %-11s %9s %7.3f %7.3f\n", model_name(model), "mean", "", first / rows, whole / rows);
}

}  // namespace

int seconds_until(const Run& run, double bits_per_s, int from) {
  const int end = static_cast<int>(run.bits_per_s.size());
  for (int second = from; second + kHold <= end; ++second) {
    if (run.mean(second, second + kHold) >= bits_per_s) return second - from;
  }
  return kNever;
}

Score score(const Run& run, const Optimum& optimum) {
  const int seconds = static_cast<int>(run.bits_per_s.size());
  Score score;
  score.first = run.mean(0, std::min(120, seconds)) / optimum.first;
  score.whole = run.mean(0, seconds) / optimum.whole;
  score.t90 = seconds_until(run, 0.9 * optimum.bits_per_s.front());
  score.sockets = median(std::vector<int>(run.sockets.end() - kLast, run.sockets.end()));
  return score;
}

Score median_score(const std::vector<Run>& runs, const Optimum& optimum) {
  std::vector<double> first, whole;
  std::vector<int> t90, sockets;
  for (const auto& run : runs) {
    const Score one = score(run, optimum);
    first.push_back(one.first);
    whole.push_back(one.whole);
    t90.push_back(one.t90);
    sockets.push_back(one.sockets);
  }
  return {median(first), median(whole), median(t90), median(sockets)};
}

int print_table(const std::vector<std::string_view>& arguments) {
  Options options;
  for (const auto argument : arguments) {
    const auto value = argument.substr(std::min(argument.find('=') + 1, argument.size()));
    if (argument.starts_with("--controller=")) options.controller = value;
    if (argument.starts_with("--scenario=")) options.scenario = value;
    if (argument.starts_with("--model=")) options.model = value;
    if (argument.starts_with("--seeds=")) options.seeds = std::max(1, std::atoi(std::string(value).c_str()));
    if (argument.starts_with("--links=")) options.links = std::max(1, std::atoi(std::string(value).c_str()));
    if (argument.starts_with("--from=")) options.from = std::max(1, std::atoi(std::string(value).c_str()));
    if (argument.starts_with("--link=")) options.link = std::atoi(std::string(value).c_str());
    if (argument == "--log") options.log = true;
    if (argument == "--held") options.held = true;
    if (argument == "--compare") options.compare = true;
  }
  if (make_controller(options.controller, long_link().world, 1) == nullptr) {
    std::fprintf(stderr, "tuning_sim: no controller is called %s\n", options.controller.c_str());
    return 2;
  }
  for (const auto model : {Model::kWindows, Model::kRates}) {
    if (!options.model.empty() && options.model != model_name(model)) continue;
    if (options.held) {
      for (const auto& link : held_links()) {
        const bool asked = options.scenario.empty() || link.text == options.scenario;
        if (!asked || model != Model::kWindows) continue;
        std::printf("%s\n", compare_link(model, options.controller, link, 1, options.log).text.c_str());
      }
    } else if (options.compare) {
      print_comparison(model, options);
    } else if (options.links + options.link > 0) {
      const int first = options.link > 0 ? options.link : options.from;
      print_links(model, options.controller, first, options.link > 0 ? first : first + options.links - 1);
    } else {
      print_rows(model, options);
    }
  }
  return 0;
}

}  // namespace gridtorrent::sim
