#include "base/crypto/digest.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/hex.h"
#include "common/rng.h"

namespace gridtorrent::crypto {
namespace {

template <std::size_t N>
std::string hex(const std::array<std::uint8_t, N>& digest) {
  return hex_encode(digest);
}

TEST(Digest, GivesTheStandardsExamples) {
  // FIPS 180-2, appendices A and B.
  EXPECT_EQ(hex(sha1(as_bytes("abc"))), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex(sha256(as_bytes("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, StreamInPartsEqualsOneShot) {
  const std::string text(100'000, 'g');
  Sha256Stream stream;
  for (std::size_t at = 0; at < text.size(); at += 777) stream.update(as_bytes(std::string_view(text).substr(at, 777)));
  EXPECT_EQ(stream.finish(), sha256(as_bytes(text)));
}

class ManyHasherTest : public testing::TestWithParam<HashBackend> {};

TEST_P(ManyHasherTest, EqualsOneShotForAnyMixOfSizes) {
  constexpr std::uint64_t kSeed = 20261120;
  RecordProperty("seed", std::to_string(kSeed));
  SeededRng rng(kSeed);
  std::vector<std::uint8_t> data(12 << 20);
  rng.fill(data);
  std::vector<std::span<const std::uint8_t>> messages;
  // Around block borders, around the 65534 bytes at which libipsec-mb's checked call stops, and whole pieces.
  for (const std::size_t size :
       {0U, 1U, 55U, 56U, 63U, 64U, 65U, 16383U, 16384U, 65534U, 65535U, 65536U, 1U << 20, 4U << 20, 8U << 20})
    messages.emplace_back(data.data() + size % 977, size);
  for (int i = 0; i < 200; ++i) {
    const std::size_t at = rng.below(1 << 20);
    messages.emplace_back(data.data() + at, rng.below(40'000));
  }
  ManyHasher hasher(GetParam());
  std::vector<Sha1Digest> sha1s(messages.size());
  std::vector<Sha256Digest> sha256s(messages.size());
  for (int round = 0; round < 2; ++round) {
    hasher.sha1(messages, sha1s);
    hasher.sha256(messages, sha256s);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      ASSERT_EQ(sha1s[i], sha1(messages[i]))
          << "message " << i << " of " << messages[i].size() << " bytes, seed " << kSeed;
      ASSERT_EQ(sha256s[i], sha256(messages[i])) << "message " << i << ", seed " << kSeed;
    }
  }
}

TEST_P(ManyHasherTest, NamesItsBackend) {
  EXPECT_FALSE(ManyHasher(GetParam()).backend().empty());
}

INSTANTIATE_TEST_SUITE_P(Backends, ManyHasherTest,
                         testing::Values(HashBackend::kAuto, HashBackend::kMultiBuffer, HashBackend::kOpenSsl));

}  // namespace
}  // namespace gridtorrent::crypto
