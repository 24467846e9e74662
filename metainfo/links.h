#pragma once

#include "common/result.h"
#include "metainfo/manifest.h"

namespace gridtorrent::metainfo {

inline constexpr std::size_t kMaxTargetBytes = 4095;

/// Symbolic links of a manifest whose paths and kinds were checked: each has a target, and following it from where it
/// stands, through whatever other links of the manifest, never leaves BASE. Refused: absolute targets, steps above BASE
/// (also where later ones would lead back in), ".." after a name that is no folder of the manifest (on another
/// filesystem it may be one), loops, NUL. What a target names may be missing. The message shows link and target
/// escaped. Pure; takes time in proportion to the manifest's size, whatever leads where.
Status check_links(const Manifest& manifest);

}  // namespace gridtorrent::metainfo
