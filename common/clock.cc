#include "common/clock.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <optional>

namespace gridtorrent {

WallTime SystemClock::wall() const {
  return {std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()};
}

MonoTime SystemClock::mono() const {
  return std::chrono::steady_clock::now();
}

std::string to_rfc3339(WallTime t) {
  std::int64_t seconds = t.ms / 1000;
  int millis = static_cast<int>(t.ms % 1000);
  if (millis < 0) millis += 1000, --seconds;
  const std::time_t time = seconds;
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return "0000-00-00T00:00:00.000Z";
  std::array<char, 64> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%s.%03dZ", date.data(), millis);
  return text.data();
}

namespace {

/// "Z", or "+01:00": by how many minutes a zone is ahead of UTC.
std::optional<int> zone_minutes(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const std::string copy(text.substr(1));
  int hours = 0, minutes = 0, used = 0;
  if (std::sscanf(copy.c_str(), "%2d:%2d%n", &hours, &minutes, &used) != 2 || used != 5) return std::nullopt;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

Result<WallTime> parse_rfc3339(std::string_view text) {
  const std::string copy(text);
  const Error bad{Code::kInvalid, "'" + copy + "' is no time; write it like 2026-11-20 or 2026-11-20T19:15:00Z"};
  int year = 0, month = 0, day = 0, used = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &used) != 3 || used != 10) return bad;
  int hour = 0, minute = 0, second = 0, millis = 0, offset = 0;
  if (copy.size() > 10) {
    int used2 = 0;
    if (std::sscanf(copy.c_str() + 10, "T%2d:%2d:%2d%n", &hour, &minute, &second, &used2) != 3 || used2 != 9)
      return bad;
    std::string_view rest = std::string_view(copy).substr(19);
    if (rest.starts_with('.')) {
      std::size_t digits = 0;
      int scale = 100;
      for (rest.remove_prefix(1); digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9';
           ++digits, scale /= 10)
        millis += (rest[digits] - '0') * scale;
      if (digits == 0) return bad;
      rest.remove_prefix(digits);
    }
    const auto zone = zone_minutes(rest);
    if (!zone) return bad;
    offset = *zone;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return bad;
  const auto date =
      std::chrono::year_month_day{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                  std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return bad;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return WallTime{((days * 24 + hour) * 60 + minute - offset) * 60'000 + second * 1000LL + millis};
}

}  // namespace gridtorrent
