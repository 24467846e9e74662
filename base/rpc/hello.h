#pragma once

#include "common/clock.h"
#include "common/result.h"
#include "gridtorrent/v1/types.pb.h"

namespace gridtorrent::rpc {

/// Clocks further apart than this break the dates of certificates.
inline constexpr std::chrono::hours kMaxClockSkew{48};

/// Our own greeting.
v1::Hello make_hello(WallTime now);

/// What the other side said, against ours: kUnsupported where no protocol version is shared, kInvalid where the clocks
/// are more than 48 h apart (the message says by how much). `who` names the other side, as in "the server",
/// `whose` the clock `now` was read from: the other side may be the one who reads the message. A greeting without
/// versions (an empty message) is kUnsupported too; one without a time passes.
Status check_hello(const v1::Hello& theirs, WallTime now, std::string_view who,
                   std::string_view whose = "this machine's");

}  // namespace gridtorrent::rpc
