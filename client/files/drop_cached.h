#pragma once

#include <vector>

#include "common/place.h"
#include "metainfo/manifest.h"

namespace gridtorrent::client::files {

/// As FileWork::drop_cached.
void drop_cached_pages(const Place& parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted);

}  // namespace gridtorrent::client::files
