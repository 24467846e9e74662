#include "ccm/domain/version.h"

#include <utility>

namespace gridtorrent::ccm {

VersionRecord version_of(const Content& content) {
  VersionRecord version;
  version.content = content.id;
  version.number = content.version;
  version.sealed = content.state != ContentState::kDraft;
  version.bytes = content.bytes;
  version.files = content.files;
  version.entries = content.entries;
  version.base_name = content.base_name;
  version.piece_bytes = content.piece_bytes;
  version.metadata_sha256 = content.metadata_sha256;
  version.metadata_bytes = content.metadata_bytes;
  version.checksums_sha256 = content.checksums_sha256;
  version.checksums_bytes = content.checksums_bytes;
  version.publisher_node = content.publisher_node;
  version.published = content.published;
  version.touched = content.touched;
  return version;
}

Content with_version(Content content, const VersionRecord& version) {
  if (!version.sealed) content.state = ContentState::kDraft;
  content.version = version.number;
  content.bytes = version.bytes;
  content.files = version.files;
  content.entries = version.entries;
  content.base_name = version.base_name;
  content.piece_bytes = version.piece_bytes;
  content.metadata_sha256 = version.metadata_sha256;
  content.metadata_bytes = version.metadata_bytes;
  content.checksums_sha256 = version.checksums_sha256;
  content.checksums_bytes = version.checksums_bytes;
  content.publisher_node = version.publisher_node;
  content.published = version.published;
  content.touched = version.touched;
  return content;
}

}  // namespace gridtorrent::ccm
