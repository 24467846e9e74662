#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/result.h"

/// What --since takes: a time, or how long ago.
namespace gridtorrent::client::cli {

Status is_time_or_duration(std::string_view text);
/// Milliseconds since 1970 for what passed `is_time_or_duration`.
std::int64_t since_ms(const std::string& text, WallTime now);

}  // namespace gridtorrent::client::cli
