#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ccm/domain/content.h"
#include "common/clock.h"
#include "common/ids.h"
#include "common/result.h"

namespace gridtorrent::ccm {

/// A version of a content that is not its newest: an earlier one, or the next one while it is being published. The
/// newest one's values stand in the Content itself.
struct VersionRecord {
  ContentId content;
  std::uint32_t number = 1;
  bool sealed = false;  ///< false: being published
  std::uint64_t bytes = 0, files = 0, entries = 0;
  std::string base_name;
  std::uint32_t piece_bytes = 0;
  std::string metadata_sha256;
  std::uint64_t metadata_bytes = 0;
  std::string checksums_sha256;
  std::uint64_t checksums_bytes = 0;
  NodeId publisher_node;
  WallTime published;
  WallTime touched;  ///< of one being published: last sign of life; of an earlier one: when the next one replaced it
  friend bool operator==(const VersionRecord&, const VersionRecord&) = default;
};

/// What the content says of its version.
VersionRecord version_of(const Content& content);
/// The content with that version in place of its newest; one that is being published makes it a draft.
Content with_version(Content content, const VersionRecord& version);

/// A version as it is listed.
struct VersionView {
  VersionRecord version;
  bool newest = false;
  std::uint32_t seeders = 0;   ///< complete nodes alive now
  std::uint32_t replicas = 0;  ///< complete ones that the asker may know of, whether their nodes are alive or not
};

/// Durable versions but the newest of each content. Lives inside one transaction, as the ports of ports.h.
class VersionStore {
 public:
  virtual ~VersionStore() = default;
  /// In place of what was there of that number.
  virtual Status put(const VersionRecord& version) = 0;
  virtual Result<std::optional<VersionRecord>> find(const ContentId& content, std::uint32_t number) = 0;
  /// That is being published.
  virtual Result<std::optional<VersionRecord>> draft_of(const ContentId& content) = 0;
  /// Sealed ones, newest first, at most `limit`.
  virtual Result<std::vector<VersionRecord>> sealed_of(const ContentId& content, std::size_t limit) = 0;
  virtual Status remove(const ContentId& content, std::uint32_t number) = 0;
  /// Being published and not touched since `before`, at most `limit`.
  virtual Result<std::vector<VersionRecord>> stale_drafts(WallTime before, std::size_t limit) = 0;
  /// Sealed, replaced before `before`, and without a replica; at most `limit`.
  virtual Result<std::vector<VersionRecord>> unheld(WallTime before, std::size_t limit) = 0;
};

}  // namespace gridtorrent::ccm
