#include "gui/plots/cursor.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::size_t kFar = 30;

QString say(const char* text) {
  return QCoreApplication::translate("Plot", text);
}

/// First and one past the last point of the range.
std::pair<std::size_t, std::size_t> points_in(const RateHistory& history, TimeRange range) {
  const auto& points = history.points;
  const auto first = std::ranges::lower_bound(points, range.from_ms, {}, &RatePoint::at_ms);
  const auto end = std::ranges::upper_bound(points, range.to_ms, {}, &RatePoint::at_ms);
  return {static_cast<std::size_t>(first - points.begin()), static_cast<std::size_t>(end - points.begin())};
}

}  // namespace

std::optional<std::size_t> nearest_point(const RateHistory& history, TimeRange range, std::int64_t at_ms) {
  const auto [first, end] = points_in(history, range);
  if (first == end) return std::nullopt;
  const auto begin = history.points.begin();
  const auto after = std::ranges::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                              begin + static_cast<std::ptrdiff_t>(end), at_ms, {}, &RatePoint::at_ms);
  const auto at = static_cast<std::size_t>(after - begin);
  if (at == end) return end - 1;
  if (at == first) return first;
  return history.points[at].at_ms - at_ms < at_ms - history.points[at - 1].at_ms ? at : at - 1;
}

std::optional<std::size_t> step_from(const RateHistory& history, TimeRange range, std::optional<std::size_t> at,
                                     Step step) {
  const auto [first, end] = points_in(history, range);
  if (first == end) return std::nullopt;
  if (!at || step == Step::kLast) return end - 1;
  const std::size_t here = std::clamp(*at, first, end - 1);
  switch (step) {
    case Step::kBack:
      return here > first ? here - 1 : first;
    case Step::kOn:
      return std::min(here + 1, end - 1);
    case Step::kFarBack:
      return here - first > kFar ? here - kFar : first;
    case Step::kFarOn:
      return std::min(here + kFar, end - 1);
    case Step::kFirst:
      return first;
    case Step::kLast:
      return end - 1;
  }
  return here;
}

QString decision_text(const LaneDecision& decision, const Format& format) {
  QString text = say(QT_TRANSLATE_NOOP("Plot", "lanes %1 to %2"))
                     .arg(format.count(decision.lanes_before), format.count(decision.lanes));
  if (!decision.reason.empty()) text += QStringLiteral(" (") + shown(decision.reason) + u')';
  if (decision.brought_bits_per_s)
    text += say(QT_TRANSLATE_NOOP("Plot", ", then %1")).arg(format.rate(*decision.brought_bits_per_s));
  return text;
}

QString point_text(const RateHistory& history, std::size_t point, const Format& format) {
  const RatePoint& at = history.points[point];
  QString text = say(QT_TRANSLATE_NOOP("Plot", "%1: %2 down, %3 up, lanes %4"))
                     .arg(format.time_of_day(at.at_ms), format.rate(at.bits_per_s), format.rate(at.sent_bits_per_s),
                          format.count(at.lanes));
  for (const LaneDecision& decision : history.decisions)
    if (decision.at_ms > at.at_ms - at.span_ms && decision.at_ms <= at.at_ms)
      text += QStringLiteral("; ") + decision_text(decision, format);
  return text;
}

}  // namespace gridtorrent::gui
