#pragma once

#include <optional>
#include <vector>

/// The second-order model of parallel streams: Yildirim, Yin and Kosar, IEEE TPDS 22(12), 2011, as the E2E tool uses
/// it. Pure.
namespace gridtorrent::client::tuning {

/// What `n` streams brought.
struct StreamSample {
  double n = 1;
  double bits_per_s = 0;
  friend bool operator==(const StreamSample&, const StreamSample&) = default;
};

/// Th(n) = n / √(a·n² + b·n + c). Th in bits a second.
struct SecondOrder {
  double a = 0, b = 0, c = 0;
  /// Not a number where the model says nothing for n.
  double at(double n) const;
};

/// Through three samples exactly: with y(n) = n²/Th², divided differences. Nothing where two have the same n, one
/// brought nothing, or a number runs over.
std::optional<SecondOrder> through(const StreamSample& i, const StreamSample& j, const StreamSample& k);

/// Of all triples, the one whose curve is valid at every sample and has the least root mean square error there. Nothing
/// where no triple has such a curve.
std::optional<SecondOrder> fit_second_order(const std::vector<StreamSample>& samples);

/// Where Th(n)/n^eta is greatest; `eta` from 0 (the paper's own: −2c/b) to below 1, the price of a stream. Nothing
/// where the curve has no peak.
std::optional<double> peak_of(const SecondOrder& model, double eta = 0);

/// The number of streams by the model: its peak, rounded, from 1 to `most`. Where the curve rises throughout, the least
/// number within the samples' range that brings 95 % of the most. Without a model, the best sample. No samples: 1.
int best_number(const std::vector<StreamSample>& samples, int most);

}  // namespace gridtorrent::client::tuning
