#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/tuning/search.h"
#include "tests/support/numbered_node.h"

namespace gridtorrent::testing {

/// A search over a path that carries, each second, what `rate` says of the plan (bits a second). One seeder and one
/// file of 1.2 GB where a test says nothing else. Lanes stand at once; the round trip is 50 ms.
class SearchRun {
 public:
  using Rate = std::function<double(const client::tuning::SearchPlan&)>;
  SearchRun(client::tuning::TransferSearch& search, Rate rate, std::vector<std::uint64_t> sizes = {1'200'000'000},
            int seeders = 1)
      : search_(search), rate_(std::move(rate)), sizes_(std::move(sizes)) {
    for (int i = 0; i < seeders; ++i) input.seeders.push_back(numbered_node(static_cast<std::uint8_t>(i + 1)));
    input.now = MonoTime(std::chrono::hours(1));
    input.round_trip_s = 0.05;
    input.file_sizes = sizes_;
    input.bytes_left = input.total_bytes();
    input.most_lanes = client::kMaxLanesPerPeer * seeders;
    plan = search_.step(input);
    reasons.push_back(plan.why);
  }
  void seconds(int count) {
    for (; count > 0; --count) {
      const double bytes = rate_(plan) / 8;
      input.received_bytes += bytes;
      input.bytes_left = std::max(0.0, input.bytes_left - bytes);
      input.now += std::chrono::seconds(1);
      plan = search_.step(input);
      if (plan.why != reasons.back()) reasons.push_back(plan.why);
    }
  }

  client::tuning::SearchInput input;
  client::tuning::SearchPlan plan;
  std::vector<std::string> reasons;  ///< in turn

 private:
  client::tuning::TransferSearch& search_;
  Rate rate_;
  std::vector<std::uint64_t> sizes_;
};

/// Each lane carries so much, all together no more than `most`.
inline SearchRun::Rate each_lane(double bits_per_s, double most) {
  return [=](const client::tuning::SearchPlan& plan) {
    int lanes = 0;
    for (const auto& channel : plan.channels) lanes += channel.lanes;
    return std::min(bits_per_s * lanes, most);
  };
}

inline bool says(const std::string& why, std::string_view part) {
  return why.find(part) != std::string::npos;
}

}  // namespace gridtorrent::testing
