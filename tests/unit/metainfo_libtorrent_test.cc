#include <gtest/gtest.h>

#include <libtorrent/load_torrent.hpp>
#include <libtorrent/torrent_info.hpp>

#include "common/hex.h"
#include "metainfo/metadata.h"

namespace gridtorrent::metainfo {
namespace {

VersionMetadata sample(std::size_t files) {
  VersionMetadata metadata;
  metadata.manifest.base_name = "set";
  metadata.manifest.entries.push_back({.path = "", .kind = EntryKind::kFolder, .mode = 0755});
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < files; ++i) {
    ManifestEntry entry{.path = std::to_string(1000 + i), .kind = EntryKind::kFile, .size = 16384 * i, .mode = 0644};
    if (entry.size > 0) entry.root.fill(1);
    total += entry.size;
    metadata.manifest.entries.push_back(entry);
  }
  metadata.segments.push_back({.piece_bytes = 32768, .piece_hashes = std::string((total + 32767) / 32768 * 20, 'p')});
  return metadata;
}

void expect_loads(const EditionKey& key, const VersionMetadata& metadata, std::string_view ca_pem) {
  const std::string info = build_info_dict(key, metadata, ca_pem);
  lt::error_code error;
  const std::string torrent_file = "d4:info" + info + "e";
  const lt::torrent_info torrent(torrent_file, error, lt::from_span);
  ASSERT_FALSE(error) << error.message();
  EXPECT_EQ(hex_encode(as_bytes(torrent.info_hashes().v1.to_string())), hex_encode(info_hash(info)));
  EXPECT_FALSE(torrent.info_hashes().has_v2());
  EXPECT_EQ(torrent.name(), torrent_name(key));
  EXPECT_TRUE(torrent.priv());
  EXPECT_EQ(std::string(torrent.ssl_cert()), ca_pem);
  EXPECT_EQ(static_cast<std::uint64_t>(torrent.total_size()), metadata.manifest.total_bytes());
  int index = 0;
  for (const ManifestEntry& entry : metadata.manifest.entries) {
    if (entry.size == 0) continue;
    ASSERT_LT(index, torrent.num_files());
    EXPECT_EQ(static_cast<std::uint64_t>(torrent.files().file_size(lt::file_index_t(index))), entry.size);
    const std::string number = std::to_string(index);
    EXPECT_EQ(torrent.files().file_path(lt::file_index_t(index)),
              torrent_name(key) + "/" + std::string(8 - number.size(), '0') + number);
    ++index;
  }
  EXPECT_EQ(torrent.num_files(), index);
}

TEST(InfoDict, LoadsInLibtorrentWithTheSameInfoHash) {
  EditionKey key;
  key.version = 7;
  expect_loads(key, sample(2), "");
  expect_loads(key, sample(20), "");
  key.generation = 2;
  expect_loads(key, sample(5), "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
}

}  // namespace
}  // namespace gridtorrent::metainfo
