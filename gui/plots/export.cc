#include "gui/plots/export.h"

#include "common/clock.h"
#include "common/text.h"

namespace gridtorrent::gui {

namespace {

std::string quoted(const std::string& bytes) {
  std::string text = escape_for_display(bytes);
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) text.insert(0, 1, '\'');
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string line(const RatePoint& point) {
  return "point," + to_rfc3339({point.at_ms}) + ',' + std::to_string(point.bits_per_s) + ',' +
         std::to_string(point.lanes) + ",,," + std::to_string(point.sent_bits_per_s) + "\r\n";
}

std::string line(const LaneDecision& decision) {
  const std::string brought = decision.brought_bits_per_s ? std::to_string(*decision.brought_bits_per_s) : "";
  return "decision," + to_rfc3339({decision.at_ms}) + ',' + brought + ',' + std::to_string(decision.lanes) + ',' +
         std::to_string(decision.lanes_before) + ',' + quoted(decision.reason) + ",\r\n";
}

}  // namespace

std::string rate_csv(const RateHistory& history) {
  std::string csv = "kind,time,bits_per_s,lanes,lanes_before,reason,sent_bits_per_s\r\n";
  auto decision = history.decisions.begin();
  const auto write_decisions_before = [&](std::int64_t at_ms) {
    for (; decision != history.decisions.end() && decision->at_ms < at_ms; ++decision) csv += line(*decision);
  };
  for (const RatePoint& point : history.points) {
    write_decisions_before(point.at_ms);
    csv += line(point);
  }
  for (; decision != history.decisions.end(); ++decision) csv += line(*decision);
  return csv;
}

std::string lanes_csv(const LanesCurve& curve) {
  std::string csv = "lanes,seconds,least_bits_per_s,median_bits_per_s,most_bits_per_s\r\n";
  for (const LanesRate& point : curve.points)
    csv += std::to_string(point.lanes) + ',' + std::to_string(point.seconds) + ',' +
           std::to_string(point.least_bits_per_s) + ',' + std::to_string(point.median_bits_per_s) + ',' +
           std::to_string(point.most_bits_per_s) + "\r\n";
  return csv;
}

}  // namespace gridtorrent::gui
