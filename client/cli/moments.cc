#include "client/cli/moments.h"

#include <array>
#include <ctime>
#include <optional>

#include "base/options/options.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::chrono::hours kDay{24};

struct ClockTime {
  int hour = 0, minute = 0, second = 0;
};

/// "06:00", "6:00" or "06:00:30".
std::optional<ClockTime> parse_clock(std::string_view written) {
  const std::string text = (written.find(':') == 1 ? "0" : "") + std::string(written);
  if (text.size() != 5 && text.size() != 8) return std::nullopt;
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit == (i % 3 == 2) || (!digit && text[i] != ':')) return std::nullopt;
    if (digit) parts[i / 3] = parts[i / 3] * 10 + (text[i] - '0');
  }
  if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return std::nullopt;
  return ClockTime{parts[0], parts[1], parts[2]};
}

std::string_view without_plus(std::string_view text) {
  return text.starts_with('+') ? text.substr(1) : text;
}

std::tm local(WallTime time) {
  const auto seconds = static_cast<std::time_t>(time.ms / 1000);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return parts;
}

/// Through mktime, which knows the days that are no 24 hours long.
WallTime next(ClockTime clock, WallTime now) {
  for (int days = 0;; ++days) {
    std::tm parts = local(now);
    parts.tm_mday += days;
    parts.tm_hour = clock.hour;
    parts.tm_min = clock.minute;
    parts.tm_sec = clock.second;
    parts.tm_isdst = -1;
    const WallTime found{static_cast<std::int64_t>(::mktime(&parts)) * 1000};
    if (found > now || days == 2) return found;
  }
}

/// "2026-11-20", of what is a time.
bool is_date(std::string_view text) {
  return text.size() == 10;
}

/// When the day that begins at `midnight` in UTC begins here.
WallTime begin_of_day(WallTime midnight) {
  const auto seconds = static_cast<std::time_t>(midnight.ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  parts.tm_isdst = -1;
  return {static_cast<std::int64_t>(::mktime(&parts)) * 1000};
}

}  // namespace

Status is_time_or_duration(std::string_view text) {
  if (options::is_time(text).ok() || options::is_duration(text).ok()) return {};
  return Error{Code::kInvalid,
               "'" + escape_for_display(text) + "' is neither a time nor a duration; write it like 2026-11-20 or 7d"};
}

std::int64_t since_ms(const std::string& text, WallTime now) {
  if (const auto time = parse_rfc3339(text)) return is_date(text) ? begin_of_day(*time).ms : time->ms;
  return (now - parse_duration(text).value()).ms;
}

Status is_moment(std::string_view text) {
  const bool dated = text.find('T') != std::string_view::npos && parse_rfc3339(text).ok();
  if (dated || parse_clock(text) || parse_duration(without_plus(text)).ok()) return {};
  return Error{Code::kInvalid, "'" + escape_for_display(text) +
                                   "' is no time; write 06:00 (the next time that a clock here shows it), +2h, or "
                                   "2026-11-25T06:00:00Z"};
}

WallTime moment_of(std::string_view text, WallTime now) {
  if (const auto clock = parse_clock(text)) return next(*clock, now);
  if (const auto duration = parse_duration(without_plus(text))) return now + *duration;
  return parse_rfc3339(text).value();
}

std::string clock_text(WallTime moment, WallTime now) {
  const std::tm parts = local(moment);
  std::array<char, 32> text{};
  const bool soon = moment >= now && moment - now < kDay;
  std::strftime(text.data(), text.size(), soon ? "%H:%M %Z" : "%Y-%m-%d %H:%M %Z", &parts);
  return text.data();
}

}  // namespace gridtorrent::client::cli
