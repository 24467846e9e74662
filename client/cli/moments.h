#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"

/// Times as people write and read them: what --since and --by take, and clock times of this machine's zone (TZ).
namespace gridtorrent::client::cli {

Status is_time_or_duration(std::string_view text);
/// Milliseconds since 1970 for what passed `is_time_or_duration`; a date is the begin of that day here.
std::int64_t since_ms(const std::string& text, WallTime now);

/// "06:00", "6:00" or "06:00:30", "+2h" or "90s", or RFC 3339 with time and zone.
Status is_moment(std::string_view text);
/// For what passed `is_moment`: the next time that a clock here shows it, so long from now, or that moment.
WallTime moment_of(std::string_view text, WallTime now);

/// "05:41 CET" by a clock here; with its date where that is not the next time that a clock shows it.
std::string clock_text(WallTime moment, WallTime now);

}  // namespace gridtorrent::client::cli
