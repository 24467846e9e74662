#include "client/tuning/second_order.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gridtorrent::client::tuning {
namespace {

/// Of the most that a curve without a peak brings, enough.
constexpr double kEnough = 0.95;

/// Root mean square; infinite where the curve is not valid at a sample.
double error_of(const SecondOrder& model, const std::vector<StreamSample>& samples) {
  double sum = 0;
  for (const auto& sample : samples) {
    const double predicted = model.at(sample.n);
    if (!std::isfinite(predicted)) return std::numeric_limits<double>::infinity();
    sum += (predicted - sample.bits_per_s) * (predicted - sample.bits_per_s);
  }
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

int clamped(double number, int most) {
  return static_cast<int>(std::clamp(std::round(number), 1.0, static_cast<double>(std::max(most, 1))));
}

}  // namespace

double SecondOrder::at(double n) const {
  const double y = a * n * n + b * n + c;
  return y > 0 ? n / std::sqrt(y) : std::numeric_limits<double>::quiet_NaN();
}

std::optional<SecondOrder> through(const StreamSample& i, const StreamSample& j, const StreamSample& k) {
  if (i.n == j.n || j.n == k.n || i.n == k.n) return std::nullopt;
  if (i.bits_per_s <= 0 || j.bits_per_s <= 0 || k.bits_per_s <= 0) return std::nullopt;
  const auto y = [](const StreamSample& sample) { return std::pow(sample.n / sample.bits_per_s, 2); };
  const auto slope = [&](const StreamSample& u, const StreamSample& v) { return (y(u) - y(v)) / (u.n - v.n); };
  SecondOrder model;
  model.a = (slope(k, i) - slope(j, i)) / (k.n - j.n);
  model.b = slope(j, i) - (i.n + j.n) * model.a;
  model.c = y(i) - model.a * i.n * i.n - model.b * i.n;
  if (!std::isfinite(model.a) || !std::isfinite(model.b) || !std::isfinite(model.c)) return std::nullopt;
  return model;
}

std::optional<SecondOrder> fit_second_order(const std::vector<StreamSample>& samples) {
  std::optional<SecondOrder> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::size_t j = i + 1; j < samples.size(); ++j) {
      for (std::size_t k = j + 1; k < samples.size(); ++k) {
        const auto model = through(samples[i], samples[j], samples[k]);
        const double error = model ? error_of(*model, samples) : least;
        if (error >= least) continue;
        least = error;
        best = model;
      }
    }
  }
  return best;
}

std::optional<double> peak_of(const SecondOrder& model, double eta) {
  const auto [a, b, c] = model;
  double peak = 0;
  if (eta <= 0) {
    if (b >= 0 || c <= 0) return std::nullopt;
    peak = -2 * c / b;
  } else {
    // Of eta·a·n² − (1/2 − eta)·b·n − (1 − eta)·c = 0, where the derivative of Th(n)/n^eta vanishes.
    const double half = (0.5 - eta) * b;
    const double root = half * half + 4 * eta * (1 - eta) * a * c;
    if (a <= 0 || root < 0) return std::nullopt;
    peak = (half + std::sqrt(root)) / (2 * eta * a);
  }
  return std::isfinite(peak) && peak > 0 ? std::optional(peak) : std::nullopt;
}

int best_number(const std::vector<StreamSample>& samples, int most) {
  if (samples.empty()) return 1;
  const auto best = std::ranges::max_element(samples, {}, &StreamSample::bits_per_s);
  const auto model = fit_second_order(samples);
  if (!model) return clamped(best->n, most);
  if (const auto peak = peak_of(*model)) return clamped(*peak, most);
  const auto [least, last] = std::ranges::minmax_element(samples, {}, &StreamSample::n);
  const int from = clamped(least->n, most), to = clamped(last->n, most);
  double highest = 0;
  for (int n = from; n <= to; ++n) highest = std::max(highest, model->at(n));
  for (int n = from; n < to; ++n) {
    if (model->at(n) >= kEnough * highest) return n;
  }
  return to;
}

}  // namespace gridtorrent::client::tuning
