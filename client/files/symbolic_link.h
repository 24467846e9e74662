#pragma once

#include <string>

#include "common/result.h"
#include "metainfo/manifest.h"

/// Symbolic links as things of their own: none of these follows one.
namespace gridtorrent::client::files {

/// Where a link leads, as bytes; kConflict where it is none (any more), kInvalid where it leads further than
/// kMaxTargetBytes say.
Result<std::string> read_link(int folder, const std::string& name, const std::string& shown);

/// Whether `name` in an open folder is a link with this target.
bool is_link_to(int folder, const std::string& name, const std::string& target);

/// Makes the link and gives it its time. The same one is there already: kept. kConflict, naming `shown`, where anything
/// else is.
Status make_link(int folder, const std::string& name, const std::string& target, const metainfo::ManifestEntry& entry,
                 const std::string& shown);

}  // namespace gridtorrent::client::files
