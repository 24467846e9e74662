#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "client/core/file_work.h"
#include "client/files/file_identity.h"
#include "client/files/layout.h"

namespace gridtorrent::client::files {

/// What hashing a version can take from an earlier one of the same files. Pure values.
struct PublishReuse {
  /// Per slot of the new layout: the entry of the earlier manifest; nothing: the file is new or changed.
  std::vector<std::optional<std::uint32_t>> entries;
  /// Per new piece: the earlier one with the same bytes. Nothing: its bytes have to be read.
  std::vector<std::optional<std::uint64_t>> pieces;
  std::vector<Range> reads;  ///< whole pieces that have to be read, in order, each stretch as long as can be
  std::uint64_t read_bytes = 0;
  std::uint64_t unchanged_files = 0, unchanged_bytes = 0;
};

/// When the file of an entry of the new manifest came into being; nothing: the filesystem does not say.
using BirthOf = std::function<std::optional<std::int64_t>(std::uint32_t entry)>;

/// A file is unchanged where size, mtime and inode are those of a file of `known`, whatever its name, and it was there
/// when that was hashed; `birth_of` is asked only where its ctime leaves that open. A piece is the same where all its
/// bytes are of unchanged files and lay in one piece before, in the same order. `identities` is per entry.
PublishReuse plan_publish_reuse(std::span<const FileIdentity> identities, const Layout& layout,
                                std::uint32_t piece_bytes, const KnownTree& known, const BirthOf& birth_of);

}  // namespace gridtorrent::client::files
