#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/tuning/fstream_law.h"
#include "client/tuning/search.h"

namespace gridtorrent::client::tuning {

/// From one look at the rate to the next.
inline constexpr double kFstreamIntervalS = 10;

/// FStream (fstream_law.h): the heuristic start for small and for large files, then, each ten seconds, as many channels
/// as what each of them brought says it takes for 80 % of the link; the first time as many as an earlier transfer had.
/// Where a person asked for a rate, its steps towards that instead.
class FstreamSearch final : public TransferSearch {
 public:
  explicit FstreamSearch(std::shared_ptr<ProfileHistory> history) : history_(std::move(history)) {}
  SearchPlan step(const SearchInput& input) override;

 private:
  struct Cluster {
    bool small = false;
    double files = 0, bytes = 0;
    int channels = 1, lanes = 1, pipelining = 1;  ///< by the heuristic; the last two also by finer steps
    double mean() const { return files > 0 ? bytes / files : 0; }
  };
  void start(const SearchInput& input);
  void interval(const SearchInput& input, double bits_per_s);
  void profile(const SearchInput& input, double bits_per_s);
  void approach(const SearchInput& input, double bits_per_s);
  /// The channels, in parts as the heuristic has them, over the clusters of which something is left.
  std::vector<int> dealt() const;
  std::string clusters_text() const;

  std::shared_ptr<ProfileHistory> history_;
  bool round_trip_known_ = false, asked_history_ = false;
  double link_bits_per_s_ = 0, bdp_ = 0, mean_file_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<double> left_;
  int channels_ = 1;
  double received_ = 0, interval_bytes_ = 0;
  MonoTime interval_{};
  std::string why_;
};

}  // namespace gridtorrent::client::tuning
