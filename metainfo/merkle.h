#pragma once

#include <span>
#include <vector>

#include "base/crypto/digest.h"

namespace gridtorrent::metainfo {

/// The BEP 52 root of a file from the SHA-256 of each of its 16 KiB blocks (the last one shorter): the leaves are
/// padded with zero digests to a power of two, then hashed pairwise. One leaf is its own root. `leaves` must not be
/// empty.
crypto::Sha256Digest merkle_root(std::span<const crypto::Sha256Digest> leaves);

/// Root of a subtree of exactly `width` leaves (a power of two), padded with zero digests where fewer are given.
crypto::Sha256Digest merkle_subtree(std::span<const crypto::Sha256Digest> leaves, std::size_t width);

/// The root of a file whose leaves were reduced to subtrees of `width` leaves each (a power of two), in order. A
/// file of a single subtree must use merkle_root on its leaves instead unless its tree is at least `width` wide.
crypto::Sha256Digest merkle_root_of_subtrees(std::span<const crypto::Sha256Digest> subtrees, std::size_t width);

}  // namespace gridtorrent::metainfo
