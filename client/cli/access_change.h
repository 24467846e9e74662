#pragma once

#include "client/api/server/server_api.h"

namespace gridtorrent::client::cli {

/// `now` without the targets of `fewer` and with those of `more`; where none is left, it is private. Both are targets
/// (Access::SHARED) or nothing (nullptr). kInvalid where `now` is public, or both name the same; kDenied where it is
/// another's, whose targets are not shown; kNotFound names a target of `fewer` that has no access. Pure.
Result<v1::Access> changed_access(const v1::Access& now, const v1::Access* more, const v1::Access* fewer);

}  // namespace gridtorrent::client::cli
