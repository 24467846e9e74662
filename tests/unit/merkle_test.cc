#include "metainfo/merkle.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/hex.h"

namespace gridtorrent::metainfo {
namespace {

using crypto::Sha256Digest;

std::vector<Sha256Digest> leaves_of(std::size_t size) {
  std::vector<std::uint8_t> data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::uint8_t>(i * 7 + i / 256 * 13);
  std::vector<Sha256Digest> leaves;
  for (std::size_t at = 0; at < size; at += 16384)
    leaves.push_back(crypto::sha256(std::span(data).subspan(at, std::min<std::size_t>(16384, size - at))));
  return leaves;
}

struct Vector {
  std::size_t size;
  std::string_view root;
};

// By an independent program (Python's hashlib) following BEP 52's text, for the bytes of leaves_of().
constexpr Vector kVectors[] = {
    {1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
    {16384, "127c52d4afc9d4e335b94d914f75fbf75b5dc62e6dbd31c6d71c868fc23e5fe5"},
    {16385, "ed50aa6f263172ac5097e54684d484dd9036bae3d7c729b4ede1bd2a125514fe"},
    {49152, "4908d995d9e4bcb9ccd830b858b9bdb26d7e884d39e22da8a958c7a23fb0d2bb"},
    {81925, "03afff19a1c59f19c081a8f94c13b7b51960ec5e678c200bcecbfdb69ec91f92"},
    {1048576, "67dc226d12ad9ba03e557f756e7a0e75aaab6394b11341b82034a87d2cf64031"},
    {1048577, "81a4989c1989d0b591e62142ff4ab299b4955cc458893129c440977e8e9d7c4c"},
    {3145828, "8b49962d103d60212785b691c3fc84a64973bc89f4664e696f6dcc3c61c86e88"},
};

TEST(Merkle, GivesTheRootsOfBep52) {
  for (const Vector& vector : kVectors) EXPECT_EQ(hex_encode(merkle_root(leaves_of(vector.size))), vector.root);
}

TEST(Merkle, SubtreesOfAnyWidthGiveTheSameRoot) {
  for (const Vector& vector : kVectors) {
    const std::vector<Sha256Digest> leaves = leaves_of(vector.size);
    for (std::size_t width = 1; width < leaves.size(); width *= 2) {
      std::vector<Sha256Digest> subtrees;
      for (std::size_t at = 0; at < leaves.size(); at += width)
        subtrees.push_back(merkle_subtree(std::span(leaves).subspan(at, std::min(width, leaves.size() - at)), width));
      EXPECT_EQ(hex_encode(merkle_root_of_subtrees(subtrees, width)), vector.root)
          << vector.size << " bytes, width " << width;
    }
  }
}

TEST(Merkle, PadsWithZeroDigestsNotWithHashesOfNothing) {
  const Sha256Digest zero{};
  const std::vector<Sha256Digest> three{crypto::sha256(as_bytes("a")), crypto::sha256(as_bytes("b")),
                                        crypto::sha256(as_bytes("c"))};
  std::vector<Sha256Digest> padded = three;
  padded.push_back(zero);
  EXPECT_EQ(merkle_root(three), merkle_root(padded));
  EXPECT_EQ(merkle_subtree({}, 4), merkle_root(std::vector<Sha256Digest>(4, zero)));
}

}  // namespace
}  // namespace gridtorrent::metainfo
