#include "tests/sim/table.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "client/tuning/registry.h"

namespace gridtorrent::sim {
namespace {

constexpr int kHold = 5, kLast = 30;

struct Options {
  std::string controller = client::tuning::kDefaultTuner, scenario{}, model{};
  int seeds = 3;
  bool log = false;
};

template <typename Number>
Number median(std::vector<Number> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

int holds_from(const Run& run, int end, double bits_per_s) {
  int from = -1;
  for (int second = 0; second + kHold <= end; ++second) {
    if (run.mean(second, second + kHold) < bits_per_s) {
      from = -1;
    } else if (from < 0) {
      from = second;
    }
  }
  return from;
}

void print_log(const Scenario& scenario, Model model, const std::string& name) {
  const auto controller = client::tuning::make_tuner(name, 1);
  const Run result = run(model, scenario, *controller, 1);
  for (const auto& line : result.log) std::printf("    %s\n", line.c_str());
  std::printf("    Mbit/s in steps of 10 s:");
  for (int second = 0; second + 10 <= static_cast<int>(result.bits_per_s.size()); second += 10) {
    std::printf(" %.0f", result.mean(second, second + 10) / 1e6);
  }
  std::printf("\n");
}

void print_rows(Model model, const Options& options) {
  std::printf("%-8s %-11s %9s %7s %7s %5s  %s\n", "model", "scenario", "Mbit/s", "0-120", "0-300", "t90",
              "sockets/least");
  auto all = scenarios();
  all.push_back(long_link());
  double first = 0, whole = 0;
  int rows = 0;
  for (const auto& scenario : all) {
    if (!options.scenario.empty() && options.scenario != scenario.name) continue;
    const Optimum optimum = find_optimum(model, scenario, 1);
    const Score got = median_score(model, scenario, options.controller, optimum, options.seeds);
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

Score score(const Scenario& scenario, const Run& run, const Optimum& optimum) {
  const int seconds = static_cast<int>(run.bits_per_s.size());
  const int first_phase = scenario.events.empty() ? seconds : static_cast<int>(scenario.events.front());
  Score score;
  score.first = run.mean(0, std::min(120, seconds)) / optimum.first;
  score.whole = run.mean(0, seconds) / optimum.whole;
  score.t90 = holds_from(run, first_phase, 0.9 * optimum.bits_per_s.front());
  score.sockets = median(std::vector<int>(run.sockets.end() - kLast, run.sockets.end()));
  return score;
}

Score median_score(Model model, const Scenario& scenario, const std::string& controller, const Optimum& optimum,
                   int seeds) {
  std::vector<double> first, whole;
  std::vector<int> t90, sockets;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto tuner = client::tuning::make_tuner(controller, static_cast<std::uint64_t>(seed));
    const Score one = score(scenario, run(model, scenario, *tuner, static_cast<std::uint64_t>(seed)), optimum);
    first.push_back(one.first);
    whole.push_back(one.whole);
    t90.push_back(one.t90 < 0 ? 300 : one.t90);
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
    if (argument == "--log") options.log = true;
  }
  if (client::tuning::make_tuner(options.controller, 1) == nullptr) {
    std::fprintf(stderr, "tuning_sim: no controller is called %s\n", options.controller.c_str());
    return 2;
  }
  for (const auto model : {Model::kWindows, Model::kRates}) {
    if (options.model.empty() || options.model == model_name(model)) print_rows(model, options);
  }
  return 0;
}

}  // namespace gridtorrent::sim
