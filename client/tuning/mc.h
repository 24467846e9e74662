#pragma once

#include <vector>

#include "client/tuning/mc_law.h"
#include "client/tuning/search.h"

namespace gridtorrent::client::tuning {

/// Channels in all: the paper's runs had 32.
inline constexpr int kMostMcChannels = 32;
/// So often a chunk's rate and the time that it still takes are worked out.
inline constexpr double kMcPeriodS = 3;

/// MC (mc_law.h): chunks by classes of size, all at once, each with a pipelining and a parallelism of its own. The
/// number of channels does not change; those of a chunk that is done move to the one that takes longest.
class McSearch final : public TransferSearch {
 public:
  SearchPlan step(const SearchInput& input) override;

 private:
  struct Setting {
    int pipelining = 1, lanes = 1, blocks = 0;
    friend bool operator==(const Setting&, const Setting&) = default;
  };
  void divide(const SearchInput& input);
  Setting setting_of(const SearchInput& input, const MixChunk& chunk) const;
  /// A channel of another chunk that moves there keeps its lanes where there is one more or less.
  void move_channels();
  void progress(const SearchInput& input);
  void explain();
  std::vector<int> lanes() const;

  bool round_trip_known_ = false;
  double bdp_ = 0;
  std::vector<MixChunk> chunks_;
  std::vector<Setting> settings_;
  std::vector<std::vector<int>> channels_;  ///< of each chunk: lanes of each of its channels
  std::vector<double> left_;
  std::vector<ChunkEta> etas_;
  double received_ = 0, period_bytes_ = 0;
  MonoTime period_{};
  std::string why_;
};

}  // namespace gridtorrent::client::tuning
