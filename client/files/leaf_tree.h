#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/crypto/digest.h"

namespace gridtorrent::client::files {

/// How a file's Merkle tree is cut into subtrees, so that 32 bytes are kept for each MiB (wider subtrees for very large
/// files) instead of 32 for each 16 KiB.
class TreeShape {
 public:
  explicit TreeShape(std::uint64_t file_bytes);
  std::uint64_t leaves() const { return leaves_; }
  std::uint64_t width() const { return width_; }  ///< leaves a subtree
  std::uint64_t subtrees() const { return (leaves_ + width_ - 1) / width_; }
  std::uint64_t subtree_begin(std::uint64_t subtree) const { return subtree * width_; }
  std::uint64_t subtree_end(std::uint64_t subtree) const;
  /// The value of one complete subtree; of a file with a single one, the root.
  crypto::Sha256Digest subtree(std::span<const crypto::Sha256Digest> leaves) const;
  /// The file's root from the values of all subtrees.
  crypto::Sha256Digest root(std::span<const crypto::Sha256Digest> subtrees) const;

  /// Replaces the leaves of [first_leaf, first_leaf + leaves.size()) by the values of the subtrees that are complete
  /// in there; the leaves of incomplete ones stay.
  std::vector<crypto::Sha256Digest> reduce(std::uint64_t first_leaf,
                                           std::span<const crypto::Sha256Digest> leaves) const;
  /// How many digests `reduce` gives.
  std::uint64_t reduced_count(std::uint64_t first_leaf, std::uint64_t count) const;

 private:
  std::uint64_t leaves_;
  std::uint64_t width_;
};

/// Collects the reduced runs of one file, in any order, each leaf once. Not thread-safe.
class LeafTree {
 public:
  explicit LeafTree(TreeShape shape);
  /// `nodes` is what TreeShape::reduce gave for that range.
  void add(std::uint64_t first_leaf, std::uint64_t count, std::span<const crypto::Sha256Digest> nodes);
  /// Once every leaf is there.
  std::optional<crypto::Sha256Digest> root() const;

 private:
  struct Partial {
    std::vector<crypto::Sha256Digest> leaves;
    std::uint64_t filled = 0;
  };
  void complete(std::uint64_t subtree, const crypto::Sha256Digest& value);

  TreeShape shape_;
  std::vector<crypto::Sha256Digest> subtrees_;
  std::uint64_t complete_ = 0;
  std::map<std::uint64_t, Partial> partial_;
};

}  // namespace gridtorrent::client::files
