#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "client/core/file_work.h"

namespace gridtorrent::client::files {

/// Where a file of a version can be taken from an earlier one.
struct LocalSource {
  std::uint32_t entry = 0;  ///< of the earlier manifest
  bool whole = false;       ///< all its bytes are the same: equal size and Merkle root
  friend bool operator==(const LocalSource&, const LocalSource&) = default;
};

/// Per entry of `next`: a file with the same root, whatever its name, else the one under the same name, of which some
/// pieces may be the same. Nothing for folders, empty files, what is not wanted, and where the earlier version as it
/// was fetched (`held`; empty: all) has neither. Pure.
std::vector<std::optional<LocalSource>> plan_local_sources(const metainfo::Manifest& earlier,
                                                           const std::vector<bool>& held,
                                                           const metainfo::Manifest& next,
                                                           const std::vector<bool>& wanted);

/// FileWork::stage_local.
Result<std::uint64_t> stage_local_sources(const LocalTree& earlier, const StagingPlan& plan,
                                          const metainfo::Manifest& next, const ProgressFn& progress,
                                          std::stop_token stop);

/// FileWork::foreign_path.
Result<std::string> find_foreign_path(const LocalTree& tree, bool all);
/// FileWork::is_own_folder.
bool is_own_folder(const Place& place);

}  // namespace gridtorrent::client::files
