#include "client/core/limit_hours.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <set>

#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {

namespace {

constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int kDayMinutes = 24 * 60;
/// Intervals are known for longer than changes are looked for, so that none ends for want of the next.
constexpr int kDaysAhead = 9;
constexpr std::chrono::hours kWeek{7 * 24};

Error badly_written(const std::string& what) {
  return {Code::kInvalid, what + "; write it like from=08:00 to=18:00 days=mon-fri up=50Mbit down=100Mbit"};
}

std::string in_quotes(std::string_view text) {
  return "'" + escape_for_display(text) + "'";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// "08:00", to "24:00".
std::optional<int> parse_minute(std::string_view text) {
  if (text.size() == 4) return parse_minute("0" + std::string(text));
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t i : {0U, 1U, 3U, 4U})
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
  const int hour = (text[0] - '0') * 10 + text[1] - '0', minute = (text[3] - '0') * 10 + text[4] - '0';
  const int all = hour * 60 + minute;
  if (minute > 59 || all > kDayMinutes) return std::nullopt;
  return all;
}

std::optional<std::size_t> parse_day(std::string_view text) {
  const auto found = std::ranges::find(kDays, to_lower_ascii(text));
  if (found == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDays.begin());
}

/// "mon-fri", "sat,sun", "fri-mon".
std::optional<std::bitset<7>> parse_days(std::string_view text) {
  std::bitset<7> days;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_day(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_day(part.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    for (std::size_t day = *first;; day = (day + 1) % 7) {
      days.set(day);
      if (day == *last) break;
    }
  }
  if (days.none()) return std::nullopt;
  return days;
}

Status read_rate(std::string_view key, std::string_view value, std::uint64_t& rate) {
  const auto parsed = parse_bits_per_s(value);
  if (!parsed) return parsed.error().with_context(std::string(key));
  if (*parsed == 0) return badly_written(std::string(key) + "=" + std::string(value) + " is no limit: leave it out");
  rate = *parsed;
  return {};
}

Status read_word(std::string_view word, LimitHours& hours, std::string& days) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? "" : word.substr(equals + 1);
  if (key == "from" || key == "to") {
    const auto minute = parse_minute(value);
    if (!minute) return badly_written(std::string(key) + ": " + in_quotes(value) + " is no time of day");
    (key == "from" ? hours.from_minute : hours.to_minute) = *minute;
    return {};
  }
  if (key == "days") {
    const auto parsed = parse_days(value);
    if (!parsed) return badly_written("days: " + in_quotes(value) + " names no days");
    hours.days = *parsed;
    days = to_lower_ascii(value);
    return {};
  }
  if (key == "up") return read_rate(key, value, hours.limits.send_bits_per_s);
  if (key == "down") return read_rate(key, value, hours.limits.receive_bits_per_s);
  return badly_written(in_quotes(word) + " is none of from, to, days, up and down");
}

std::string clock_text(int minute) {
  const std::string hour = std::to_string(minute / 60), rest = std::to_string(minute % 60);
  return (hour.size() < 2 ? "0" : "") + hour + (rest.size() < 2 ? ":0" : ":") + rest;
}

struct Interval {
  WallTime begin, end;
  const LimitHours* hours = nullptr;
};

/// When clocks here show that minute of the day that is so many days after `day`.
WallTime moment(std::tm day, int days, int minute) {
  day.tm_mday += days;
  day.tm_hour = minute / 60;
  day.tm_min = minute % 60;
  day.tm_sec = 0;
  day.tm_isdst = -1;
  return {static_cast<std::int64_t>(::mktime(&day)) * 1000};
}

/// All of a week from `now` on, and those that began on the day before.
std::vector<Interval> intervals_around(const std::vector<LimitHours>& hours, WallTime now) {
  const std::time_t seconds = now.ms / 1000;
  std::tm today{};
  ::localtime_r(&seconds, &today);
  const int weekday = (today.tm_wday + 6) % 7;
  std::vector<Interval> intervals;
  for (const LimitHours& entry : hours) {
    const int nights = entry.to_minute <= entry.from_minute ? 1 : 0;
    for (int day = -1; day < kDaysAhead; ++day) {
      if (!entry.days.test(static_cast<std::size_t>((weekday + day + 7) % 7))) continue;
      intervals.push_back(
          {moment(today, day, entry.from_minute), moment(today, day + nights, entry.to_minute), &entry});
    }
  }
  return intervals;
}

LimitsNow strictest(const NodeLimits& always, const std::vector<Interval>& intervals, WallTime at) {
  LimitsNow now;
  const auto take = [](std::uint64_t rate, const std::string& by, std::uint64_t& least, std::string& held_by) {
    if (rate == 0 || (least != 0 && least <= rate)) return;
    least = rate;
    held_by = by;
  };
  take(always.send_bits_per_s, "configuration", now.limits.send_bits_per_s, now.why.send);
  take(always.receive_bits_per_s, "configuration", now.limits.receive_bits_per_s, now.why.receive);
  for (const Interval& one : intervals) {
    if (at < one.begin || at >= one.end) continue;
    const std::string by = "hours " + one.hours->text;
    take(one.hours->limits.send_bits_per_s, by, now.limits.send_bits_per_s, now.why.send);
    take(one.hours->limits.receive_bits_per_s, by, now.limits.receive_bits_per_s, now.why.receive);
  }
  return now;
}

}  // namespace

Result<LimitHours> parse_limit_hours(std::string_view text) {
  LimitHours hours;
  std::string days;
  std::set<std::string_view> seen;
  for (const std::string_view word : split(text, ' ')) {
    if (!seen.insert(word.substr(0, word.find('='))).second) return badly_written(in_quotes(word) + " comes twice");
    GT_TRY(read_word(word, hours, days));
  }
  if (hours.limits == NodeLimits()) return badly_written(in_quotes(text) + " limits nothing: give up or down a rate");
  GT_TRY(check_limits(hours.limits));
  if (hours.from_minute == hours.to_minute || hours.from_minute == kDayMinutes)
    return badly_written(in_quotes(text) + " begins where it ends");
  hours.text = clock_text(hours.from_minute) + "-" + clock_text(hours.to_minute) + (days.empty() ? "" : " " + days);
  return hours;
}

LimitsNow limits_at(const NodeLimits& always, const std::vector<LimitHours>& hours, WallTime now) {
  const std::vector<Interval> intervals = intervals_around(hours, now);
  LimitsNow result = strictest(always, intervals, now);
  std::set<WallTime> changes;
  for (const Interval& one : intervals) {
    changes.insert(one.begin);
    changes.insert(one.end);
  }
  for (auto at = changes.upper_bound(now); at != changes.end() && *at - now <= kWeek && !result.why.until; ++at)
    if (strictest(always, intervals, *at).limits != result.limits) result.why.until = *at;
  return result;
}

void HeldLimits::configure(const NodeLimits& always, std::vector<LimitHours> hours, WallTime now) {
  if (always != always_ || hours != hours_) by_hand_.reset();
  always_ = always;
  hours_ = std::move(hours);
  decide(now);
}

void HeldLimits::set_by_hand(const NodeLimits& limits, WallTime now) {
  decide(now);
  by_hand_ = limits;
  decide(now);
}

bool HeldLimits::follow(WallTime now) {
  const NodeLimits before = now_.limits;
  decide(now);
  return now_.limits != before;
}

void HeldLimits::decide(WallTime now) {
  LimitsNow planned = limits_at(always_, hours_, now);
  if (planned.limits != planned_) by_hand_.reset();
  planned_ = planned.limits;
  if (by_hand_) {
    if (by_hand_->send_bits_per_s != planned.limits.send_bits_per_s) planned.why.send = "hand";
    if (by_hand_->receive_bits_per_s != planned.limits.receive_bits_per_s) planned.why.receive = "hand";
    planned.limits = *by_hand_;
  }
  now_ = std::move(planned);
}

}  // namespace gridtorrent::client
