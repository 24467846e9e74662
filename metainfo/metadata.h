#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/crypto/digest.h"
#include "common/ids.h"
#include "common/result.h"
#include "metainfo/manifest.h"

namespace gridtorrent::metainfo {

/// A range of a version's bytes with its piece hashes; on the wire a BitTorrent v1 torrent. The bytes are those of all
/// files with size > 0, in the manifest's order, one after the other.
struct Segment {
  std::uint32_t piece_bytes = 0;  ///< a power of two, 16 KiB to 512 MiB
  std::string piece_hashes;       ///< 20 bytes of SHA-1 a piece
  std::uint64_t piece_count() const { return piece_hashes.size() / 20; }
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// All that a version is, as publisher, server and getter exchange it: one canonical bencoded document, whose SHA-256
/// names it. First release: one segment, none where the data has no byte.
struct VersionMetadata {
  Manifest manifest;
  std::vector<Segment> segments;
  friend bool operator==(const VersionMetadata&, const VersionMetadata&) = default;
};

/// Canonical: equal values give equal bytes.
std::string encode(const VersionMetadata& metadata);

/// Accepts only what `encode` writes (canonical bencode, no unknown keys, no trailing bytes) and what `validate` and
/// the limits allow; piece counts must fit the manifest's size. Never reads past the input, never allocates more than a
/// small multiple of it.
Result<VersionMetadata> decode(std::string_view bytes);

/// The piece size for a segment of so many bytes: large enough for few hashes, small enough to share early, and for a
/// swarm's nodes to take different ones from the seeder. 16 KiB up to 64 MiB of data, 64 KiB to 256 MiB, 256 KiB to
/// 1 GiB, 1 MiB to 4 GiB, 2 MiB to 16 GiB, 4 MiB to 200 GiB, 8 MiB to 2 TiB, 16 MiB to 32 TiB, then doubling so that
/// kMaxPieces is kept.
std::uint32_t choose_piece_bytes(std::uint64_t total_bytes);

/// Which torrent: rights, progress and replicas are keyed by content and version; this adds segment and edition.
struct EditionKey {
  ContentId content;
  std::uint32_t version = 1;
  std::uint32_t segment = 0;
  std::uint32_t generation = 0;  ///< 0: plain; otherwise TLS under that generation of the data CA
};

/// "gt-" and 26 base32 characters, from the key alone: the first 16 bytes of SHA-256 over a domain label and the key.
std::string torrent_name(const EditionKey& key);

/// The bencoded info dictionary of an edition: name, private=1, opaque file names "%08d" (one per file with size > 0),
/// piece length, pieces and, for a TLS edition, `ssl-cert` with the data CA in PEM. Server and nodes derive the
/// same bytes. `ca_pem` must be empty exactly if `key.generation` is 0.
std::string build_info_dict(const EditionKey& key, const VersionMetadata& metadata, std::string_view ca_pem);

/// SHA-1 of the info dictionary: the swarm's name in the BitTorrent handshake.
crypto::Sha1Digest info_hash(std::string_view info_dict);

}  // namespace gridtorrent::metainfo
