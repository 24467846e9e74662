#include "metainfo/merkle.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/check.h"

namespace gridtorrent::metainfo {

namespace {

using crypto::Sha256Digest;

Sha256Digest hash_pair(const Sha256Digest& left, const Sha256Digest& right) {
  std::array<std::uint8_t, 64> both{};
  std::memcpy(both.data(), left.data(), 32);
  std::memcpy(both.data() + 32, right.data(), 32);
  return crypto::sha256(both);
}

/// The root of an all-zero subtree of 2^i leaves, at [i].
const std::array<Sha256Digest, 64>& padding() {
  static const std::array<Sha256Digest, 64> levels = [] {
    std::array<Sha256Digest, 64> made{};
    for (std::size_t i = 1; i < made.size(); ++i) made[i] = hash_pair(made[i - 1], made[i - 1]);
    return made;
  }();
  return levels;
}

/// Replaces each pair of nodes by its parent, many at once. `nodes` has an even number of entries.
void reduce_level(std::vector<Sha256Digest>& nodes) {
  constexpr std::size_t kBatch = 256;
  constexpr std::size_t kWorthManyAtOnce = 16;
  const std::size_t parents = nodes.size() / 2;
  if (parents < kWorthManyAtOnce) {
    for (std::size_t i = 0; i < parents; ++i) nodes[i] = hash_pair(nodes[2 * i], nodes[2 * i + 1]);
  } else {
    thread_local crypto::ManyHasher hasher;
    std::array<std::span<const std::uint8_t>, kBatch> pairs;
    std::array<Sha256Digest, kBatch> made;
    for (std::size_t start = 0; start < parents; start += kBatch) {
      const std::size_t count = std::min(kBatch, parents - start);
      for (std::size_t i = 0; i < count; ++i) pairs[i] = {nodes[2 * (start + i)].data(), 64};
      hasher.sha256(std::span(pairs).first(count), std::span(made).first(count));
      std::copy_n(made.begin(), count, nodes.begin() + static_cast<std::ptrdiff_t>(start));
    }
  }
  nodes.resize(parents);
}

/// Root of a tree whose lowest given level is `level` and which ends at `top` (both: levels above the leaves).
Sha256Digest reduce(std::span<const Sha256Digest> given, std::size_t level, std::size_t top) {
  static_assert(sizeof(Sha256Digest) == 32, "neighbouring digests are hashed as one message of 64 bytes");
  std::vector<Sha256Digest> nodes(given.begin(), given.end());
  for (; level < top; ++level) {
    if (nodes.size() % 2 != 0) nodes.push_back(padding()[level]);
    reduce_level(nodes);
  }
  return nodes.front();
}

std::size_t log2_ceil(std::size_t count) {
  return static_cast<std::size_t>(std::bit_width(count - 1));
}

}  // namespace

Sha256Digest merkle_root(std::span<const Sha256Digest> leaves) {
  GT_CHECK(!leaves.empty());
  return reduce(leaves, 0, log2_ceil(leaves.size()));
}

Sha256Digest merkle_subtree(std::span<const Sha256Digest> leaves, std::size_t width) {
  GT_CHECK(std::has_single_bit(width) && leaves.size() <= width);
  const std::size_t top = log2_ceil(width);
  return leaves.empty() ? padding()[top] : reduce(leaves, 0, top);
}

Sha256Digest merkle_root_of_subtrees(std::span<const Sha256Digest> subtrees, std::size_t width) {
  GT_CHECK(!subtrees.empty() && std::has_single_bit(width));
  const std::size_t level = log2_ceil(width);
  return reduce(subtrees, level, level + log2_ceil(subtrees.size()));
}

}  // namespace gridtorrent::metainfo
