#include "client/tuning/pcp_law.h"

#include <algorithm>
#include <cmath>

namespace gridtorrent::client::tuning {
namespace {

/// The recursion of algorithm 1 over files of rising size, with sums at hand.
class Division {
 public:
  Division(std::span<const std::uint64_t> sizes, double bdp, double least_bytes, int most)
      : sizes_(sizes), bdp_(bdp), least_bytes_(least_bytes), most_(most), sums_(sizes.size() + 1, 0) {
    for (std::size_t i = 0; i < sizes.size(); ++i) sums_[i + 1] = sums_[i] + static_cast<double>(sizes[i]);
  }

  std::vector<FileChunk> chunks() {
    if (!sizes_.empty()) divide(0, sizes_.size() - 1, 0);
    return std::move(chunks_);
  }

 private:
  double total(std::size_t first, std::size_t last) const { return sums_[last + 1] - sums_[first]; }

  void divide(std::size_t first, std::size_t last, int parent) {
    const double bytes = total(first, last);
    const double mean = bytes / static_cast<double>(last - first + 1);
    const int own = optimal_pipelining(bdp_, mean, most_ + 1);  // one more than `most` is too many
    const auto above = std::upper_bound(
        sizes_.begin() + static_cast<std::ptrdiff_t>(first), sizes_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
        mean, [](double limit, std::uint64_t size) { return limit < static_cast<double>(size); });
    const auto until = static_cast<std::size_t>(above - sizes_.begin());
    const std::size_t middle = until > first ? until - 1 : first;
    if (own != 1 && own != parent && own <= most_ && first < middle && middle < last && bytes > 2 * least_bytes_) {
      divide(first, middle, own);
      divide(middle + 1, last, own);
    } else {
      chunks_.push_back({first, last, bytes, parent > 0 ? parent : std::clamp(own, 1, most_)});
    }
  }

  std::span<const std::uint64_t> sizes_;
  double bdp_, least_bytes_;
  int most_;
  std::vector<double> sums_;
  std::vector<FileChunk> chunks_;
};

}  // namespace

int optimal_pipelining(double bdp, double file_bytes, int most) {
  if (file_bytes <= 0) return most;
  if (file_bytes >= bdp) return 1;
  return static_cast<int>(std::clamp(std::ceil(bdp / file_bytes) - 1, 1.0, static_cast<double>(most)));
}

std::vector<FileChunk> divide_recursively(std::span<const std::uint64_t> sizes, double bdp, double least_bytes,
                                          int most) {
  return Division(sizes, bdp, least_bytes, most).chunks();
}

ChunkSpan joined(const ChunkSpan& one, const ChunkSpan& other) {
  const auto files = [](const ChunkSpan& span) { return span.mean_file > 0 ? span.bytes / span.mean_file : 0; };
  const double count = files(one) + files(other), bytes = one.bytes + other.bytes;
  return {bytes, count > 0 ? bytes / count : 0, one.bytes >= other.bytes ? one.pipelining : other.pipelining};
}

std::vector<ChunkSpan> join_equal(const std::vector<ChunkSpan>& chunks) {
  std::vector<ChunkSpan> equal;
  for (const auto& chunk : chunks) {
    if (!equal.empty() && equal.back().pipelining == chunk.pipelining) {
      equal.back() = joined(equal.back(), chunk);
    } else {
      equal.push_back(chunk);
    }
  }
  return equal;
}

std::vector<ChunkSpan> revise_chunks(const std::vector<FileChunk>& chunks, double least_bytes,
                                     std::size_t least_count) {
  std::vector<ChunkSpan> spans;
  for (const auto& chunk : chunks) {
    const ChunkSpan span{chunk.bytes, chunk.bytes / static_cast<double>(chunk.last - chunk.first + 1),
                         chunk.pipelining};
    const bool joins = !spans.empty() && (span.bytes < least_bytes || spans.back().bytes < least_bytes);
    if (joins) {
      spans.back() = joined(spans.back(), span);
    } else {
      spans.push_back(span);
    }
  }
  while (!spans.empty() && spans.size() < least_count) {
    const auto largest = std::ranges::max_element(spans, {}, &ChunkSpan::bytes);
    if (largest->bytes < 2 * least_bytes || largest->bytes <= 1) break;
    largest->bytes /= 2;
    spans.insert(largest, ChunkSpan(*largest));
  }
  return spans;
}

void Doubling::brought(double bits_per_s, int most) {
  if (over_) return;
  before_ = last_;
  last_ = bits_per_s;
  tried_ = value_;
  if (tried_ > 1 && bits_per_s <= kPcpDrop * before_) {
    over_ = true;
    value_ = tried_ / 2;
  } else if (value_ * 2 > most) {
    over_ = true;
  } else {
    value_ *= 2;
  }
}

}  // namespace gridtorrent::client::tuning
