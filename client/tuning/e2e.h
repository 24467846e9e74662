#pragma once

#include <string>
#include <vector>

#include "client/tuning/search.h"
#include "client/tuning/second_order.h"

namespace gridtorrent::client::tuning {

/// A sample is 50 MB, or a tenth of a transfer that is smaller than 500 MB (the authors' scheduler). It lasts 3 s at
/// least, since the tool's own report shows what too short ones come to, and 10 s at most, so that a slow path is not
/// measured for the whole transfer.
inline constexpr double kE2eSampleBytes = 50e6, kE2eLeastS = 3, kE2eMostS = 10;
/// Before it new lanes have so long to stand and to leave slow start.
inline constexpr double kE2eSettleS = 2;
/// A network card is full when it brings this much of its rate, the rest being headers.
inline constexpr double kFullLink = 0.94;

/// The end-to-end tool: streams between one pair of nodes, 1, 2, 4, … to 32, until fewer are better or the card is
/// full; the second-order model names their best number. Then seeders in the same way, each with so many lanes.
class E2eSearch final : public TransferSearch {
 public:
  SearchPlan step(const SearchInput& input) override;

 private:
  enum class Stage : std::uint8_t { kWarmUp, kStreams, kNodes, kHold };

  void begin(MonoTime now);
  /// What `value_` brought, once that is known.
  bool measured(const SearchInput& input);
  void next(const SearchInput& input);
  bool goes_on(const SearchInput& input, int most) const;
  void explain();

  Stage stage_ = Stage::kWarmUp;
  MonoTime since_{}, settled_{};
  double bytes_at_start_ = 0;
  bool waits_ = true;  ///< for data, or for lanes that are new
  int value_ = 1;      ///< of what is tried: streams, or nodes
  int streams_ = 1, nodes_ = 1;
  std::vector<StreamSample> samples_;
  std::string found_;  ///< about the streams
  std::string why_;
};

}  // namespace gridtorrent::client::tuning
