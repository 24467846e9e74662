#include "client/tuning/pcp.h"

#include <algorithm>
#include <limits>

#include "client/tuning/file_rules.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// "; concurrency 2 brought 41.0 Mbit/s, and 1 brought 22.1 Mbit/s"
std::string brought_text(const Doubling& search, const char* of) {
  if (search.tried() == 0) return "";
  std::string text = std::string("; ") + of + " " + std::to_string(search.tried()) + " brought ";
  text += rate_text(search.brought_last());
  if (search.tried() == 1) return text;
  return text + ", and " + std::to_string(search.tried() / 2) + " brought " + rate_text(search.brought_before());
}

}  // namespace

SearchPlan PcpSearch::step(const SearchInput& input) {
  if (stage_ == Stage::kSample) {
    plan_ = {{Channel{}}, "1 lane, to learn what a single stream brings"};
    if (sample(input)) {
      divide(input);
      stage_ = Stage::kSmall;
      next(input, false);
    }
  } else if (input.received_bytes - bytes_at_start_ >= span_.bytes) {
    next(input, true);
  }
  return plan_;
}

bool PcpSearch::sample(const SearchInput& input) {
  if (input.received_bytes <= 0) return false;
  if (since_ == MonoTime{}) since_ = input.now;
  const double passed = seconds_between(since_, input.now);
  if (bytes_at_half_ < 0 && passed >= kPcpSampleS / 2) {
    bytes_at_half_ = input.received_bytes;
    half_ = input.now;
  }
  if (passed < kPcpSampleS) return false;
  const double seconds = seconds_between(half_, input.now);
  if (seconds > 0) best_bits_per_s_ = (input.received_bytes - bytes_at_half_) * 8 / seconds;
  return best_bits_per_s_ > 0;
}

void PcpSearch::divide(const SearchInput& input) {
  bdp_ = bdp_bytes(best_bits_per_s_, input.round_trip());
  const auto sizes = input.file_sizes;
  const auto border =
      std::ranges::lower_bound(sizes, bdp_, {}, [](std::uint64_t size) { return static_cast<double>(size); });
  const auto small = sizes.first(static_cast<std::size_t>(border - sizes.begin()));
  const auto large = sizes.subspan(small.size());
  // What is here already, and which files it belongs to, is not known: each span has its part of what is left.
  const double part = input.bytes_left / std::max(input.total_bytes(), 1.0);
  for (auto span : revise_chunks(divide_recursively(small, bdp_, least_chunk()), least_chunk())) {
    span.bytes *= part;
    small_.push_back(span);
  }
  SearchInput rest = input;
  rest.file_sizes = large;
  large_bytes_ = rest.total_bytes() * part;
  large_mean_ = large.empty() ? 0 : rest.total_bytes() / static_cast<double>(large.size());
}

double PcpSearch::least_chunk() const {
  return std::max(kPcpChunkBdps * bdp_, 2 * best_bits_per_s_ / 8 * kPcpChunkS);
}

int PcpSearch::most(const SearchInput& input) const {
  if (stage_ == Stage::kParallel) return std::min({kMostPcp, kMaxLanesPerPeer, input.most_lanes});
  return std::min(kMostPcp, input.most_channels(stage_ == Stage::kConcurrent ? lanes_.value() : 1));
}

void PcpSearch::next(const SearchInput& input, bool measured) {
  const double seconds = seconds_between(since_, input.now);
  if (measured && seconds > 0) {
    const double brought = (input.received_bytes - bytes_at_start_) * 8 / seconds;
    best_bits_per_s_ = std::max(best_bits_per_s_, brought);
    if (searches()) searched().brought(brought, most(input));
  }
  if (stage_ == Stage::kSmall && small_channels_.over()) {
    stage_ = Stage::kSmallRest;
    const auto equal = join_equal({small_.begin(), small_.end()});
    small_.assign(equal.begin(), equal.end());
  }
  if (stage_ == Stage::kSmall || stage_ == Stage::kSmallRest) {
    if (!small_.empty()) return start_small(input);
    if (large_bytes_ > 0) stage_ = Stage::kParallel;
  }
  if (stage_ == Stage::kParallel && lanes_.over()) stage_ = Stage::kConcurrent;
  if (stage_ == Stage::kConcurrent && channels_.over()) stage_ = Stage::kRest;
  if (stage_ == Stage::kSmall || stage_ == Stage::kSmallRest || (large_bytes_ <= 0 && stage_ != Stage::kRest)) {
    // Nothing is left to choose for: the last setting stays until the end.
    span_.bytes = std::numeric_limits<double>::infinity();
    return;
  }
  start_large(input);
}

void PcpSearch::start_small(const SearchInput& input) {
  ChunkSpan span = small_.front();
  small_.pop_front();
  while (stage_ == Stage::kSmall && span.bytes < least_chunk() && !small_.empty()) {
    span = joined(span, small_.front());
    small_.pop_front();
  }
  const int channels = small_channels_.value();
  plan_.channels.assign(static_cast<std::size_t>(channels),
                        Channel{1, lane_blocks(span.pipelining, span.mean_file, bdp_, 1)});
  begin(input, span, "concurrency " + std::to_string(channels) + brought_text(small_channels_, "concurrency"));
}

void PcpSearch::start_large(const SearchInput& input) {
  const bool parallel = stage_ == Stage::kParallel;
  const int lanes = lanes_.value(), channels = parallel ? 1 : channels_.value();
  ChunkSpan span{least_chunk() * channels, large_mean_, kLargePipelining};
  if (stage_ == Stage::kRest || span.bytes > large_bytes_) span.bytes = large_bytes_;
  large_bytes_ -= span.bytes;
  if (stage_ == Stage::kRest) span.bytes = std::numeric_limits<double>::infinity();
  plan_.channels.assign(static_cast<std::size_t>(channels), Channel{lanes, 0});
  const std::string why =
      parallel || channels_.tried() == 0 ? brought_text(lanes_, "parallelism") : brought_text(channels_, "concurrency");
  begin(input, span, "parallelism " + std::to_string(lanes) + ", concurrency " + std::to_string(channels) + why);
}

void PcpSearch::begin(const SearchInput& input, const ChunkSpan& span, const std::string& what) {
  span_ = span;
  since_ = input.now;
  bytes_at_start_ = input.received_bytes;
  const bool rest = stage_ == Stage::kRest;
  plan_.why = rest ? "the rest" : "chunk " + std::to_string(++number_);
  if (!rest) plan_.why += " (" + size_text(span.bytes) + ")";
  plan_.why += ": BDP " + size_text(bdp_) + ", pipelining " + std::to_string(span.pipelining) + ", " + what;
}

}  // namespace gridtorrent::client::tuning
