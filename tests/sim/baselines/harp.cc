#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "tests/sim/baselines/baselines.h"
#include "tests/sim/rate_network.h"

namespace gridtorrent::sim {
namespace {

constexpr int kMost = 16;           ///< channels, and streams of a channel
constexpr double kFits = 0.7;       ///< coefficient of determination from which a polynomial is believed
constexpr double kRelaxed = 0.7;    ///< fewer channels and streams are taken as long as so much is foretold
constexpr double kSimilar = 0.999;  ///< cosine; lowered by 0.001 until some past transfers are as similar

struct Past {
  PathFacts facts;
  std::vector<double> polynomial{};
  int degree = 2;
  double similarity = 0;
};

std::vector<double> terms(Setting setting, int degree) {
  const double channels = double(setting.channels) / kMost, streams = double(setting.streams) / kMost;
  std::vector<double> terms;
  for (int i = 0; i <= degree; ++i) {
    for (int k = 0; i + k <= degree; ++k) terms.push_back(std::pow(channels, i) * std::pow(streams, k));
  }
  return terms;
}

double foretold(const Past& past, Setting setting) {
  const auto powers = terms(setting, past.degree);
  return std::inner_product(powers.begin(), powers.end(), past.polynomial.begin(), 0.0);
}

/// Gauss's elimination with the largest pivot.
std::vector<double> solve(std::vector<std::vector<double>> rows) {
  const std::size_t count = rows.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto pivot = std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
                                        [&](auto& a, auto& b) { return std::abs(a[i]) < std::abs(b[i]); });
    std::swap(rows[i], *pivot);
    for (std::size_t k = 0; k < count; ++k) {
      if (k == i) continue;
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t column = i; column <= count; ++column) rows[k][column] -= factor * rows[i][column];
    }
  }
  std::vector<double> solution;
  for (std::size_t i = 0; i < count; ++i) solution.push_back(rows[i][count] / rows[i][i]);
  return solution;
}

double rate_of(const World& world, Setting setting) {
  std::vector<int> lanes(world.seeders.size(), 0);
  for (int channel = 0; channel < setting.channels; ++channel) {
    int& held = lanes[static_cast<std::size_t>(channel) % lanes.size()];
    held = std::min(held + setting.streams, client::kMaxLanesPerPeer);
  }
  return steady_rates(world, lanes).sum;
}

template <typename Visit>
void each_setting(const Visit& visit) {
  for (int channels = 1; channels <= kMost; ++channels) {
    for (int streams = 1; streams <= kMost; ++streams) visit(Setting{channels, streams});
  }
}

/// Least squares over every second setting; how well it foretells the others decides the degree.
void fit(Past& past, const World& world) {
  for (past.degree = 2; past.degree <= 4; ++past.degree) {
    const std::size_t count = terms({1, 1}, past.degree).size();
    std::vector<std::vector<double>> rows(count, std::vector<double>(count + 1, 0));
    each_setting([&](Setting setting) {
      if ((setting.channels + setting.streams) % 2 != 0) return;
      const auto powers = terms(setting, past.degree);
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < count; ++k) rows[i][k] += powers[i] * powers[k];
        rows[i][count] += powers[i] * rate_of(world, setting);
      }
    });
    past.polynomial = solve(std::move(rows));
    double sum = 0, squares = 0, errors = 0;
    int tested = 0;
    each_setting([&](Setting setting) {
      if ((setting.channels + setting.streams) % 2 == 0) return;
      const double rate = rate_of(world, setting);
      sum += rate;
      squares += rate * rate;
      errors += std::pow(rate - foretold(past, setting), 2);
      ++tested;
    });
    if (errors <= (1 - kFits) * (squares - sum * sum / tested) || past.degree == 4) return;
  }
}

double similarity(const PathFacts& one, const PathFacts& other) {
  const auto features = [](const PathFacts& facts) {
    return std::array{std::log2(facts.bits_per_s), std::log2(1e6 * facts.round_trip), std::log2(facts.buffer_bytes)};
  };
  const auto a = features(one), b = features(other);
  const auto product = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

Setting best_of(const Past& past) {
  Setting best;
  each_setting([&](Setting setting) {
    if (foretold(past, setting) > foretold(past, best)) best = setting;
  });
  const double least = kRelaxed * foretold(past, best);
  while (best.channels > 1 && foretold(past, {best.channels - 1, best.streams}) >= least) --best.channels;
  while (best.streams > 1 && foretold(past, {best.channels, best.streams - 1}) >= least) --best.streams;
  return best;
}

std::vector<Past> similar_pasts(const PathFacts& facts) {
  std::vector<Past> pasts, chosen;
  for (const auto& scenario : scenarios()) {
    Past past{.facts = path_facts(scenario.world)};
    past.similarity = similarity(facts, past.facts);
    fit(past, scenario.world);
    pasts.push_back(std::move(past));
  }
  for (double least = kSimilar; chosen.empty(); least -= 0.001) {
    std::ranges::copy_if(pasts, std::back_inserter(chosen), [&](auto& past) { return past.similarity >= least; });
  }
  std::ranges::sort(chosen, {}, &Past::similarity);
  return chosen;
}

}  // namespace

Script harp(PathFacts facts) {
  constexpr double kSample = 5;
  std::vector<Past> pasts = similar_pasts(facts);
  const Setting first = best_of(pasts.back());
  const double rate = (co_await hold(first, kSample)).bits_per_s;
  // Each weighs twice as much as the one that foretold this sample worse.
  std::ranges::sort(pasts, std::ranges::greater{}, [&](auto& past) { return std::abs(foretold(past, first) - rate); });
  double weight = 1, weights = 0, channels = 0, streams = 0;
  for (const auto& past : pasts) {
    const Setting best = best_of(past);
    channels += weight * best.channels;
    streams += weight * best.streams;
    weights += weight;
    weight *= 2;
  }
  co_await hold({static_cast<int>(std::round(channels / weights)), static_cast<int>(std::round(streams / weights))}, 1);
}

}  // namespace gridtorrent::sim
