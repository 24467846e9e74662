#include "metainfo/metadata.h"

#include <gtest/gtest.h>

#include "common/rng.h"

namespace gridtorrent::metainfo {
namespace {

VersionMetadata sample() {
  VersionMetadata metadata;
  metadata.manifest.base_name = "set";
  auto& entries = metadata.manifest.entries;
  entries.push_back({.path = "", .kind = EntryKind::kFolder, .mode = 0755, .mtime_ns = 1'700'000'000'123'456'789});
  entries.push_back({.path = "a", .kind = EntryKind::kFile, .size = 40'000, .mode = 0644, .mtime_ns = -5});
  entries.back().root.fill(0xAB);
  entries.push_back({.path = "empty", .kind = EntryKind::kFile, .mode = 0400});
  entries.push_back({.path = "sub", .kind = EntryKind::kFolder, .mode = 0700});
  entries.push_back({.path = "sub/\xff\n", .kind = EntryKind::kFile, .size = 10, .mode = 0777});
  entries.back().root.fill(0x01);
  metadata.segments.push_back({.piece_bytes = 16384, .piece_hashes = std::string(3 * 20, 'h')});
  return metadata;
}

EditionKey key(std::uint32_t generation = 0) {
  ContentId::Bytes bytes{};
  bytes[0] = 1;
  bytes[15] = 2;
  return {.content = ContentId(bytes), .version = 1, .segment = 0, .generation = generation};
}

void expect_refused(const VersionMetadata& metadata, std::string_view part) {
  const auto decoded = decode(encode(metadata));
  ASSERT_FALSE(decoded) << "should be refused: " << part;
  EXPECT_NE(decoded.error().message.find(part), std::string::npos) << decoded.error().message;
}

TEST(Metadata, RefusesPiecesThatDoNotFitTheFiles) {
  VersionMetadata metadata = sample();
  metadata.segments[0].piece_hashes.resize(2 * 20);
  expect_refused(metadata, "3 pieces need 60");
  metadata.segments[0].piece_hashes.resize(61);
  expect_refused(metadata, "61 bytes of piece hashes");
  for (const std::uint32_t bytes : {0U, 1U, 8192U, 16385U, 1U << 30}) {
    metadata = sample();
    metadata.segments[0].piece_bytes = bytes;
    expect_refused(metadata, "");
  }
  metadata = sample();
  metadata.segments.push_back(metadata.segments[0]);
  expect_refused(metadata, "segment");
  metadata = sample();
  metadata.segments.clear();
  expect_refused(metadata, "exactly one");
  metadata = sample();
  metadata.manifest.entries.resize(1);
  metadata.manifest.entries.push_back({.path = "empty", .kind = EntryKind::kFile, .mode = 0400});
  expect_refused(metadata, "without a byte");
  metadata.segments.clear();
  EXPECT_TRUE(decode(encode(metadata)));
}

TEST(Metadata, RefusesMorePiecesThanTheLimitBeforeItNeedsTheirHashes) {
  VersionMetadata metadata = sample();
  metadata.manifest.entries[1].size = (kMaxPieces + 1) * 16384;
  expect_refused(metadata, "the limit is 2097152");
}

TEST(Metadata, RefusesAnInvalidManifest) {
  VersionMetadata metadata = sample();
  metadata.manifest.entries[1].path = "../a";
  expect_refused(metadata, "'..'");
}

TEST(Metadata, RefusesAnUnknownFormatByName) {
  std::string text = encode(sample());
  const std::size_t at = text.find("6:formati1e");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 11, "6:formati3e");
  const auto decoded = decode(text);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Code::kUnsupported);
  EXPECT_NE(decoded.error().message.find("format 3"), std::string::npos);
}

TEST(Metadata, RefusesUnknownKeysAndTrailingBytes) {
  std::string text = encode(sample());
  EXPECT_FALSE(decode(text + "e"));
  EXPECT_FALSE(decode(text + '\0'));
  text.insert(text.size() - 1, "5:valuei1e");
  EXPECT_FALSE(decode(text));
}

TEST(Metadata, RefusesEveryTruncation) {
  const std::string text = encode(sample());
  ASSERT_TRUE(decode(text));
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(decode(text.substr(0, size))) << size;
}

TEST(Metadata, AcceptsAMutationOnlyIfItIsCanonical) {
  const std::uint64_t seed = testing::UnitTest::GetInstance()->random_seed() != 0
                                 ? static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed())
                                 : 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRng rng(seed);
  const std::string original = encode(sample());
  for (int round = 0; round < 20'000; ++round) {
    std::string text = original;
    for (std::uint64_t edits = 1 + rng.below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(3)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(8));
          break;
        default:
          text.insert(at, 1, "0123456789ilde:-"[rng.below(16)]);
          break;
      }
    }
    const auto decoded = decode(text);
    if (decoded) {
      ASSERT_EQ(encode(*decoded), text);
      ASSERT_TRUE(validate(decoded->manifest));
    }
  }
}

TEST(Metadata, RoundTrips) {
  const auto decoded = decode(encode(sample()));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, sample());
  EXPECT_EQ(encode(*decoded), encode(sample()));
}

TEST(PieceSize, KeepsToItsTableAndTheLimit) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  EXPECT_EQ(choose_piece_bytes(1), 16U << 10);
  EXPECT_EQ(choose_piece_bytes(64 << 20), 16U << 10);
  EXPECT_EQ(choose_piece_bytes((64 << 20) + 1), 64U << 10);
  EXPECT_EQ(choose_piece_bytes(256 << 20), 64U << 10);
  EXPECT_EQ(choose_piece_bytes((256 << 20) + 1), 256U << 10);
  EXPECT_EQ(choose_piece_bytes(kGiB), 256U << 10);
  EXPECT_EQ(choose_piece_bytes(kGiB + 1), 1U << 20);
  EXPECT_EQ(choose_piece_bytes(4 * kGiB), 1U << 20);
  EXPECT_EQ(choose_piece_bytes(4 * kGiB + 1), 2U << 20);
  EXPECT_EQ(choose_piece_bytes(16 * kGiB + 1), 4U << 20);
  EXPECT_EQ(choose_piece_bytes(200 * kGiB + 1), 8U << 20);
  EXPECT_EQ(choose_piece_bytes(2048 * kGiB + 1), 16U << 20);
  for (std::uint64_t total = 1; total < 1024 * 1024 * kGiB; total = total * 3 / 2 + 1) {
    const std::uint64_t piece = choose_piece_bytes(total);
    EXPECT_LE((total - 1) / piece + 1, kMaxPieces) << total;
  }
  EXPECT_EQ(choose_piece_bytes(UINT64_MAX), 512U << 20);
}

TEST(TorrentName, DiffersByEveryPartOfTheKey) {
  const std::string name = torrent_name(key());
  EXPECT_EQ(name.size(), 29U);
  EXPECT_TRUE(name.starts_with("gt-"));
  // Pinned: server and nodes of every version must agree on it.
  EXPECT_EQ(name, "gt-nx4qbzxlrpfilc2wshsurxtf3a");
  EditionKey other = key();
  other.version = 2;
  EXPECT_NE(torrent_name(other), name);
  other = key();
  other.segment = 1;
  EXPECT_NE(torrent_name(other), name);
  EXPECT_NE(torrent_name(key(1)), name);
  other = key();
  other.content = ContentId{};
  EXPECT_NE(torrent_name(other), name);
}

TEST(InfoDict, HoldsNoRealNameAndNamesTheCaOnlyForTls) {
  const std::string plain = build_info_dict(key(), sample(), "");
  EXPECT_EQ(plain.find("sub"), std::string::npos);
  EXPECT_EQ(plain.find("ssl-cert"), std::string::npos);
  EXPECT_NE(plain.find("7:privatei1e"), std::string::npos);
  const std::string tls = build_info_dict(key(3), sample(), "PEM");
  EXPECT_NE(tls.find("8:ssl-cert3:PEM"), std::string::npos);
  EXPECT_NE(info_hash(plain), info_hash(tls));
}

}  // namespace
}  // namespace gridtorrent::metainfo
