#include "client/files/leaf_tree.h"

#include <algorithm>

#include "common/check.h"
#include "metainfo/manifest.h"
#include "metainfo/merkle.h"

namespace gridtorrent::client::files {

using crypto::Sha256Digest;

namespace {
constexpr std::uint64_t kLeavesPerMiB = 64;
constexpr std::uint64_t kMaxSubtrees = std::uint64_t{1} << 18;
}  // namespace

TreeShape::TreeShape(std::uint64_t file_bytes)
    : leaves_((file_bytes + metainfo::kBlockBytes - 1) / metainfo::kBlockBytes), width_(kLeavesPerMiB) {
  while (leaves_ / width_ > kMaxSubtrees) width_ *= 2;
}

std::uint64_t TreeShape::subtree_end(std::uint64_t subtree) const {
  return std::min((subtree + 1) * width_, leaves_);
}

Sha256Digest TreeShape::subtree(std::span<const Sha256Digest> leaves) const {
  return subtrees() == 1 ? metainfo::merkle_root(leaves) : metainfo::merkle_subtree(leaves, width_);
}

Sha256Digest TreeShape::root(std::span<const Sha256Digest> subtrees) const {
  return subtrees.size() == 1 ? subtrees.front() : metainfo::merkle_root_of_subtrees(subtrees, width_);
}

std::vector<Sha256Digest> TreeShape::reduce(std::uint64_t first_leaf, std::span<const Sha256Digest> leaves) const {
  std::vector<Sha256Digest> nodes;
  const std::uint64_t end = first_leaf + leaves.size();
  for (std::uint64_t at = first_leaf; at < end;) {
    const std::uint64_t s = at / width_;
    const std::uint64_t stop = std::min(subtree_end(s), end);
    const auto part = leaves.subspan(at - first_leaf, stop - at);
    if (at == subtree_begin(s) && stop == subtree_end(s)) {
      nodes.push_back(subtree(part));
    } else {
      nodes.insert(nodes.end(), part.begin(), part.end());
    }
    at = stop;
  }
  return nodes;
}

std::uint64_t TreeShape::reduced_count(std::uint64_t first_leaf, std::uint64_t count) const {
  std::uint64_t nodes = 0;
  const std::uint64_t end = first_leaf + count;
  for (std::uint64_t at = first_leaf; at < end;) {
    const std::uint64_t s = at / width_;
    const std::uint64_t stop = std::min(subtree_end(s), end);
    nodes += at == subtree_begin(s) && stop == subtree_end(s) ? 1 : stop - at;
    at = stop;
  }
  return nodes;
}

LeafTree::LeafTree(TreeShape shape) : shape_(shape), subtrees_(shape.subtrees()) {}

void LeafTree::add(std::uint64_t first_leaf, std::uint64_t count, std::span<const Sha256Digest> nodes) {
  const std::uint64_t end = first_leaf + count;
  std::size_t next = 0;
  for (std::uint64_t at = first_leaf; at < end;) {
    const std::uint64_t s = at / shape_.width();
    const std::uint64_t begin = shape_.subtree_begin(s);
    const std::uint64_t stop = std::min(shape_.subtree_end(s), end);
    if (at == begin && stop == shape_.subtree_end(s)) {
      complete(s, nodes[next++]);
    } else {
      Partial& partial = partial_[s];
      partial.leaves.resize(shape_.subtree_end(s) - begin);
      for (; at < stop; ++at, ++partial.filled) partial.leaves[at - begin] = nodes[next++];
      if (partial.filled == partial.leaves.size()) {
        complete(s, shape_.subtree(partial.leaves));
        partial_.erase(s);
      }
    }
    at = stop;
  }
  GT_CHECK(next == nodes.size());
}

void LeafTree::complete(std::uint64_t subtree, const Sha256Digest& value) {
  subtrees_[subtree] = value;
  ++complete_;
}

std::optional<Sha256Digest> LeafTree::root() const {
  if (complete_ < subtrees_.size()) return std::nullopt;
  return shape_.root(subtrees_);
}

}  // namespace gridtorrent::client::files
