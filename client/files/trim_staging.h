#pragma once

#include <string>

#include "client/files/selection.h"
#include "common/result.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// Removes from below an open staging folder what is not selected: what an earlier choice of files had brought. Looks
/// at what is there, not at all that could be. `shown`: the staging folder's path, for errors (kDisk, kDenied). Can be
/// done again after a crash.
Status trim_staging(int staging, const metainfo::Manifest& manifest, const Selection& selection,
                    const std::string& shown);

}  // namespace gridtorrent::client::files
