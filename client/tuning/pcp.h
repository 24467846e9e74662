#pragma once

#include <deque>
#include <string>

#include "client/tuning/pcp_law.h"
#include "client/tuning/search.h"

namespace gridtorrent::client::tuning {

/// So long one lane runs first. The second half of that time is the bulk rate of a single stream, which the paper takes
/// as given: the first half holds slow start.
inline constexpr double kPcpSampleS = 4;
/// A chunk of a search is to last so long at twice the best rate so far, which is what the next step may come to: lanes
/// need up to a second until they stand. The paper takes its least chunk from another model.
inline constexpr double kPcpChunkS = 3;
/// And it has at least so many bandwidth-delay products.
inline constexpr double kPcpChunkBdps = 10;
/// Of files that are a BDP or larger.
inline constexpr int kLargePipelining = 2;

/// PCP (pcp_law.h): chunks one after another, each with more concurrency or parallelism than the one before, until that
/// brings more than 5 % less; the rest with what was best. Small files first, then large ones.
class PcpSearch final : public TransferSearch {
 public:
  SearchPlan step(const SearchInput& input) override;

 private:
  enum class Stage : std::uint8_t { kSample, kSmall, kSmallRest, kParallel, kConcurrent, kRest };

  /// The bulk rate, and with it the BDP and the chunks. True once it is known.
  bool sample(const SearchInput& input);
  void divide(const SearchInput& input);
  /// What the chunk that ended brought, and the next one.
  void next(const SearchInput& input, bool measured);
  void start_small(const SearchInput& input);
  void start_large(const SearchInput& input);
  void begin(const SearchInput& input, const ChunkSpan& span, const std::string& what);
  double least_chunk() const;
  bool searches() const {
    return stage_ == Stage::kSmall || stage_ == Stage::kParallel || stage_ == Stage::kConcurrent;
  }
  Doubling& searched() {
    return stage_ == Stage::kSmall ? small_channels_ : stage_ == Stage::kParallel ? lanes_ : channels_;
  }
  int most(const SearchInput& input) const;

  Stage stage_ = Stage::kSample;
  MonoTime since_{}, half_{};
  double bytes_at_start_ = 0, bytes_at_half_ = -1;
  double bdp_ = 0, best_bits_per_s_ = 0;
  std::deque<ChunkSpan> small_;  ///< still to come
  double large_bytes_ = 0, large_mean_ = 0;
  ChunkSpan span_{};  ///< the present one
  int number_ = 0;
  Doubling small_channels_, lanes_, channels_;
  SearchPlan plan_;
};

}  // namespace gridtorrent::client::tuning
