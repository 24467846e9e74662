#include <cstdio>

#include "common/base32.h"
#include "common/check.h"
#include "common/hex.h"
#include "metainfo/bencode.h"
#include "metainfo/metadata.h"

namespace gridtorrent::metainfo {

namespace {

void append_big_endian(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

std::string opaque_name(std::uint64_t index) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%08llu", static_cast<unsigned long long>(index));
  return text.data();
}

}  // namespace

std::string torrent_name(const EditionKey& key) {
  std::string label("gridtorrent torrent name 1");
  label += '\0';
  label += as_chars(key.content.bytes());
  append_big_endian(label, key.version);
  append_big_endian(label, key.segment);
  append_big_endian(label, key.generation);
  const crypto::Sha256Digest digest = crypto::sha256(as_bytes(label));
  return "gt-" + base32_encode(std::span(digest).first(16));
}

std::string build_info_dict(const EditionKey& key, const VersionMetadata& metadata, std::string_view ca_pem) {
  GT_CHECK(ca_pem.empty() == (key.generation == 0));
  GT_CHECK(key.segment < metadata.segments.size());
  const Segment& segment = metadata.segments[key.segment];
  BencodeWriter out;
  out.begin_dict();
  out.string("files");
  out.begin_list();
  std::uint64_t index = 0;
  for (const ManifestEntry& entry : metadata.manifest.entries) {
    if (entry.size == 0) continue;
    out.begin_dict();
    out.string("length");
    out.integer(static_cast<std::int64_t>(entry.size));
    out.string("path");
    out.begin_list();
    out.string(opaque_name(index++));
    out.end();
    out.end();
  }
  out.end();
  out.string("name");
  out.string(torrent_name(key));
  out.string("piece length");
  out.integer(segment.piece_bytes);
  out.string("pieces");
  out.string(segment.piece_hashes);
  out.string("private");
  out.integer(1);
  if (!ca_pem.empty()) {
    out.string("ssl-cert");
    out.string(ca_pem);
  }
  out.end();
  return out.take();
}

crypto::Sha1Digest info_hash(std::string_view info_dict) {
  return crypto::sha1(as_bytes(info_dict));
}

}  // namespace gridtorrent::metainfo
