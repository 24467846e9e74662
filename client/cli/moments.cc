#include "client/cli/moments.h"

#include "base/options/options.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

Status is_time_or_duration(std::string_view text) {
  if (options::is_time(text).ok() || options::is_duration(text).ok()) return {};
  return Error{Code::kInvalid,
               "'" + escape_for_display(text) + "' is neither a time nor a duration; write it like 2026-11-20 or 7d"};
}

std::int64_t since_ms(const std::string& text, WallTime now) {
  if (const auto time = parse_rfc3339(text)) return time->ms;
  return (now - parse_duration(text).value()).ms;
}

}  // namespace gridtorrent::client::cli
