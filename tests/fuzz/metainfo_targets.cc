#include <algorithm>

#include "common/check.h"
#include "common/hex.h"
#include "metainfo/bencode.h"
#include "metainfo/glob.h"
#include "metainfo/metadata.h"
#include "tests/fuzz/targets.h"

namespace gridtorrent::fuzz {

namespace {

using namespace gridtorrent::metainfo;

void write(BencodeWriter& out, const BencodeValue& value) {
  if (const auto* number = value.as_int()) {
    out.integer(*number);
  } else if (const auto* text = value.as_string()) {
    out.string(*text);
  } else if (const auto* list = value.as_list()) {
    out.begin_list();
    for (const BencodeValue& item : *list) write(out, item);
    out.end();
  } else {
    out.begin_dict();
    for (const auto& [key, item] : *value.as_dict()) {
      out.string(key);
      write(out, item);
    }
    out.end();
  }
}

/// No path of an accepted manifest may leave the folder it is put into.
void check_stays_below(const Manifest& manifest) {
  for (const ManifestEntry& entry : manifest.entries) {
    const std::string path = "/" + full_path(manifest, entry) + "/";
    GT_CHECK(path.find("/../") == std::string::npos && path.find("/./") == std::string::npos);
    GT_CHECK(path.find("//") == std::string::npos && path.find('\0') == std::string::npos);
    GT_CHECK(path.size() <= kMaxPathBytes + 2);
  }
}

}  // namespace

/// What is accepted has one spelling: writing it again gives the same bytes.
void bencode(std::span<const std::uint8_t> input) {
  const auto value = bencode_decode(as_chars(input));
  if (!value) return;
  BencodeWriter out;
  write(out, *value);
  GT_CHECK(out.take() == as_chars(input));
}

void metadata(std::span<const std::uint8_t> input) {
  const auto decoded = decode(as_chars(input));
  if (!decoded) return;
  GT_CHECK(encode(*decoded) == as_chars(input));
  GT_CHECK(validate(decoded->manifest).ok());
  check_stays_below(decoded->manifest);
}

/// "PATTERN\nPATH": terminates, and a path is matched by itself where it holds no wildcard.
void glob(std::span<const std::uint8_t> input) {
  const std::string_view text = as_chars(input.first(std::min<std::size_t>(input.size(), 8192)));
  const std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return;
  const std::string_view path = text.substr(line + 1);
  static_cast<void>(glob_matches(text.substr(0, line), path));
  const bool plain = path.find('*') == std::string_view::npos && path.find('?') == std::string_view::npos;
  if (plain && !path.empty() && path.front() != '/' && path.back() != '/') GT_CHECK(glob_matches(path, path));
}

/// The info dictionary of whatever is accepted is canonical bencode.
void torrent(std::span<const std::uint8_t> input) {
  const auto decoded = decode(as_chars(input));
  if (!decoded || decoded->segments.empty()) return;
  const std::string info = build_info_dict({}, *decoded, {});
  const auto dict = bencode_decode(info);
  GT_CHECK(dict.ok());
  GT_CHECK(dict->find("pieces")->as_string()->size() == decoded->segments.front().piece_hashes.size());
}

}  // namespace gridtorrent::fuzz
