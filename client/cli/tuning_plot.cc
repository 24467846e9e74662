#include "client/cli/tuning_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "client/cli/svg.h"
#include "client/cli/text_view.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

// Where the panels lie, in pixels.
constexpr double kWidth = 960, kHeight = 500;
constexpr double kLeft = 74, kRight = 640;                 // of time
constexpr double kTop = 84, kBottom = 296;                 // of rate
constexpr double kStripTop = 302, kStripHeight = 15;       // of what limited
constexpr double kLanesTop = 330, kLanesBottom = 436;      // of lanes
constexpr double kByLanesLeft = 720, kByLanesRight = 936;  // of rate by lanes
constexpr double kLegendLeft = 700, kLegendTop = 364, kLegendRow = 18, kLegendColumn = 128;

constexpr std::uint32_t kFewSeconds = 3;  // with so many lanes for less than that: no more than a hint
constexpr std::uint64_t kGapMs = 2500;    // samples are a second apart; a look may be late by one

constexpr std::string_view kStyle =
    "text{font:12px 'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif;fill:#333}"
    ".name{font-size:16px;font-weight:bold;fill:#111}.mid{text-anchor:middle}.end{text-anchor:end}"
    ".small{font-size:10px}.small.mid{fill:#555}.on{font-size:10px;text-anchor:middle;fill:#fff}"
    ".axis{stroke:#333;stroke-width:1}.grid{stroke:#e3e3e3;stroke-width:1}"
    ".rate{fill:none;stroke:#0b5394;stroke-width:2.2;stroke-linejoin:round}circle.rate{fill:#0b5394}"
    ".lanes{fill:none;stroke:#333;stroke-width:1.6}circle.lanes{fill:#333}"
    ".limit{fill:none;stroke:#777;stroke-width:1.4;stroke-dasharray:6 3}circle.limit{fill:#777}"
    ".target{fill:none;stroke:#0a7d4f;stroke-width:1.4;stroke-dasharray:2 3}circle.target{fill:#0a7d4f}"
    ".decided{stroke:#b0b0b0;stroke-width:1}.chosen{stroke:#c0392b;stroke-width:1.4;stroke-dasharray:5 3}"
    ".small.chosenword{fill:#c0392b}.spread{stroke:#0b5394;stroke-width:1.2}.join{fill:none;stroke:#0b5394;stroke-"
    "width:.8}"
    ".median{fill:#0b5394;stroke:#fff;stroke-width:1}.few{fill:#fff;stroke:#0b5394;stroke-width:1.4}";

struct WordColour {
  std::string_view word, colour;
};
/// Of Okabe and Ito's colours, which people with any kind of colour vision can tell apart, darkened for white letters.
constexpr std::array<WordColour, 8> kWords{{{"window", "#3b94c9"},
                                            {"loss", "#c65000"},
                                            {"seeder", "#c98a00"},
                                            {"path", "#00875f"},
                                            {"receiver-cpu", "#b5658f"},
                                            {"disk", "#7a5230"},
                                            {"target", "#5a4fa2"},
                                            {"cap", "#555555"}}};
constexpr std::string_view kUnknownColour = "#d9d9d9";

std::string_view colour_of(std::string_view word) {
  const auto* found = std::ranges::find(kWords, word, &WordColour::word);
  return found == kWords.end() ? kUnknownColour : found->colour;
}

double seconds(std::uint64_t ms) {
  return static_cast<double>(ms) / 1000;
}

/// What a rate's axis counts in.
struct Unit {
  double bits = 1;
  std::string name = "bit/s";
};
Unit unit_of(double bits_per_s) {
  constexpr std::array<std::string_view, 4> kNames{"bit/s", "kbit/s", "Mbit/s", "Gbit/s"};
  std::size_t power = 0;
  double bits = 1;
  while (bits_per_s >= 1000 * bits && power + 1 < kNames.size()) bits *= 1000, ++power;
  return {bits, std::string(kNames[power])};
}

/// The samples in runs without a gap: first and last index of each.
std::vector<std::pair<int, int>> runs_of(const v1::Tuning& tuning) {
  std::vector<std::pair<int, int>> runs;
  for (int i = 0; i < tuning.samples_size(); ++i) {
    const bool joined = i > 0 && tuning.samples(i).at_ms() <= tuning.samples(i - 1).at_ms() + kGapMs;
    if (joined) {
      runs.back().second = i;
    } else {
      runs.emplace_back(i, i);
    }
  }
  return runs;
}

class Plot {
 public:
  explicit Plot(const v1::Tuning& tuning)
      : t_(tuning), runs_(runs_of(tuning)), svg_(kWidth, kHeight, "Tuning of " + tuning.name(), kStyle) {
    scale_time();
    scale_rate();
    scale_lanes();
  }

  std::string draw() && {
    head();
    decisions();
    grid(time_, rate_);
    grid(time_, lanes_);
    grid(by_lanes_, rate_);
    rate_over_time();
    bounds();
    strip();
    lanes_over_time();
    rate_by_lanes();
    labels();
    legend();
    return std::move(svg_).finish();
  }

 private:
  void scale_time() {
    double from = 0, to = seconds(t_.elapsed_ms());
    if (t_.samples_size() > 0) {
      const double first = seconds(t_.samples(0).at_ms());
      if (first > seconds(kGapMs)) from = first;  // of a long transfer only the last samples are kept
      to = std::max(to, seconds(t_.samples(t_.samples_size() - 1).at_ms()));
    }
    for (const auto& decision : t_.decisions()) to = std::max(to, seconds(decision.at_ms()));
    to = std::max(to, from + 1);
    time_ = {from, to, time_step(to - from, 8), kLeft, kRight};
  }
  void scale_rate() {
    std::uint64_t most = 0;
    for (const auto& sample : t_.samples()) most = std::max(most, sample.bits_per_s());
    for (const auto& point : t_.curve()) most = std::max(most, point.most_bits_per_s());
    std::uint64_t shown = most;
    for (const auto& sample : t_.samples()) {
      // A limit far above what comes would press everything else to the ground.
      for (const std::uint64_t bound : {sample.limit_bits_per_s(), sample.target_bits_per_s()}) {
        if (bound <= 2 * most) shown = std::max(shown, bound);
      }
    }
    const double top = shown == 0 ? 1e6 : static_cast<double>(shown) * 1.02;
    const double step = round_step(top, 5);
    rate_ = {0, step * std::ceil(top / step), step, kBottom, kTop};
    unit_ = unit_of(rate_.to);
  }
  void scale_lanes() {
    std::uint32_t most = chosen(), by_lanes = chosen();
    for (const auto& sample : t_.samples()) most = std::max(most, sample.lanes());
    for (const auto& decision : t_.decisions()) most = std::max(most, decision.lanes());
    for (const auto& point : t_.curve()) by_lanes = std::max(by_lanes, point.lanes());
    const double step = round_step(std::max(most, 1U), 4, 1);
    lanes_ = {0, step * std::ceil(std::max(most, 1U) / step), step, kLanesBottom, kLanesTop};
    const double last = std::max(by_lanes, 1U) * 1.08;
    by_lanes_ = {0, last, round_step(last, 5, 1), kByLanesLeft, kByLanesRight};
  }

  /// The lanes that the tuner wants now, or wanted at the end; 0: nothing was decided.
  std::uint32_t chosen() const { return t_.decisions_size() == 0 ? 0 : t_.decisions(t_.decisions_size() - 1).lanes(); }
  double x_of(const v1::TuningSample& sample) const { return time_.at(seconds(sample.at_ms())); }
  double y_of(std::uint64_t bits_per_s) const { return rate_.at(static_cast<double>(bits_per_s)); }

  void head() {
    svg_.text({24, 28}, shortened(t_.name(), 70), "name");
    std::string line = "tuner " + shortened(t_.tuner(), 20);
    const bool known = !t_.limit_word().empty() && t_.limit_word() != "unknown";
    if (known) line += (t_.running() ? " · limited by " : " · was limited by ") + shortened(t_.limit_word(), 20);
    line += " · " + format_duration(std::chrono::milliseconds(t_.elapsed_ms()));
    if (t_.best_bits_per_s() > 0) line += " · best second " + format_bits_per_s(t_.best_bits_per_s());
    svg_.text({24, 48}, line, "");
  }

  void grid(const Axis& across, const Axis& up) {
    for (const double mark : up.marks()) svg_.line({across.begin, up.at(mark)}, {across.end, up.at(mark)}, "grid");
    svg_.line({across.begin, up.end}, {across.begin, up.begin}, "axis");
    svg_.line({across.begin, up.begin}, {across.end, up.begin}, "axis");
    for (const double mark : across.marks()) {
      svg_.line({across.at(mark), up.begin}, {across.at(mark), up.begin + 4}, "axis");
    }
  }

  void decisions() {
    double free_from = 0;
    for (const auto& decision : t_.decisions()) {
      const double x = time_.at(seconds(decision.at_ms()));
      if (x < kLeft) continue;
      svg_.begin_group(std::to_string(decision.number()) + ": " + decision.text());
      svg_.line({x, kTop - 4}, {x, kLanesBottom}, "decided");
      const std::string number = std::to_string(decision.number());
      const double half = 3.0 * static_cast<double>(number.size()) + 2;
      if (x - half >= free_from) {
        svg_.text({x, kTop - 8}, number, "small mid");
        free_from = x + half;
      }
      svg_.end_group();
    }
  }

  /// A line in stairs for what holds until the next sample; where it is 0 there is none.
  template <class Of>
  void stairs(const Axis& axis, std::string_view look, Of of, bool zero_is_a_value) {
    for (const auto& [first, last] : runs_) {
      std::vector<Point> points;
      for (int i = first; i <= last; ++i) {
        const double value = static_cast<double>(of(t_.samples(i)));
        if ((value == 0 && !zero_is_a_value) || value > axis.to) {
          svg_.path(points, look);
          points.clear();
          continue;
        }
        const Point point{x_of(t_.samples(i)), axis.at(value)};
        if (!points.empty() && points.back().y != point.y) points.push_back({point.x, points.back().y});
        const bool goes_on = points.size() >= 2 && points.back().y == point.y && points[points.size() - 2].y == point.y;
        if (goes_on) points.pop_back();
        points.push_back(point);
      }
      svg_.path(points, look);
    }
  }
  void bounds() {
    stairs(rate_, "limit", [](const auto& sample) { return sample.limit_bits_per_s(); }, false);
    stairs(rate_, "target", [](const auto& sample) { return sample.target_bits_per_s(); }, false);
  }
  void lanes_over_time() {
    stairs(lanes_, "lanes", [](const auto& sample) { return sample.lanes(); }, true);
  }
  void rate_over_time() {
    for (const auto& [first, last] : runs_) {
      std::vector<Point> points;
      for (int i = first; i <= last; ++i) points.push_back({x_of(t_.samples(i)), y_of(t_.samples(i).bits_per_s())});
      svg_.path(points, "rate");
    }
    if (runs_.empty()) svg_.text({(kLeft + kRight) / 2, (kTop + kBottom) / 2}, "nothing was measured yet", "mid");
  }

  /// One rectangle for each time with the same word.
  void strip() {
    for (const auto& [first, last] : runs_) {
      for (int i = first; i <= last;) {
        int next = i;
        const std::string& word = t_.samples(i).limit_word();
        while (next <= last && t_.samples(next).limit_word() == word) ++next;
        const double end = next <= last ? x_of(t_.samples(next)) : time_.at(seconds(t_.samples(last).at_ms()) + 1);
        band(x_of(t_.samples(i)), std::min(end, kRight), word);
        i = next;
      }
    }
  }
  void band(double from, double to, const std::string& word) {
    svg_.begin_group(word);
    svg_.rectangle({from, kStripTop}, to - from, kStripHeight, "", colour_of(word));
    const bool fits = to - from > 6.0 * static_cast<double>(display_columns(word)) + 6;
    if (fits && colour_of(word) != kUnknownColour) svg_.text({(from + to) / 2, kStripTop + 11}, word, "on");
    svg_.end_group();
  }

  void rate_by_lanes() {
    if (chosen() > 0) {
      const double x = by_lanes_.at(chosen());
      svg_.line({x, kTop - 4}, {x, kBottom}, "chosen");
      svg_.text({x, kTop - 8}, std::to_string(chosen()) + (t_.running() ? " chosen" : " at the end"),
                "small chosenword mid");
    }
    std::vector<Point> curve;
    for (const auto& point : t_.curve()) {
      if (point.seconds() >= kFewSeconds) curve.push_back(median_of(point));
    }
    if (curve.size() > 1) svg_.path(curve, "join");
    for (const auto& point : t_.curve()) {
      const Point median = median_of(point);
      svg_.begin_group(std::to_string(point.lanes()) + " lanes for " + std::to_string(point.seconds()) +
                       " s: " + format_bits_per_s(point.least_bits_per_s()) + ", " +
                       format_bits_per_s(point.median_bits_per_s()) + ", " +
                       format_bits_per_s(point.most_bits_per_s()));
      svg_.line({median.x, y_of(point.least_bits_per_s())}, {median.x, y_of(point.most_bits_per_s())}, "spread");
      svg_.circle(median, 4, point.seconds() < kFewSeconds ? "few" : "median");
      svg_.end_group();
    }
  }
  Point median_of(const v1::LanesPoint& point) const {
    return {by_lanes_.at(point.lanes()), y_of(point.median_bits_per_s())};
  }

  /// Numbers and names along the axes.
  void labels() {
    const double minute = 60, hour = 3600;
    const double in = time_.step >= hour ? hour : time_.step >= minute ? minute : 1;
    const std::string_view name = time_.step >= hour ? "h" : time_.step >= minute ? "min" : "s";
    for (const double mark : time_.marks()) {
      svg_.text({time_.at(mark), kLanesBottom + 18}, time_.label(mark, in), "mid");
    }
    for (const double mark : by_lanes_.marks()) {
      svg_.text({by_lanes_.at(mark), kBottom + 18}, by_lanes_.label(mark), "mid");
    }
    for (const double mark : rate_.marks()) {
      const std::string number = rate_.label(mark, unit_.bits);
      svg_.text({kLeft - 8, rate_.at(mark) + 4}, number, "end");
      svg_.text({kByLanesLeft - 8, rate_.at(mark) + 4}, number, "end");
    }
    for (const double mark : lanes_.marks()) svg_.text({kLeft - 8, lanes_.at(mark) + 4}, lanes_.label(mark), "end");
    svg_.text({(kLeft + kRight) / 2, kLanesBottom + 38}, "time (" + std::string(name) + ")", "mid");
    svg_.text({(kByLanesLeft + kByLanesRight) / 2, kBottom + 38}, "lanes", "mid");
    svg_.upright({24, (kTop + kBottom) / 2}, "payload (" + unit_.name + ")", "mid");
    svg_.upright({24, (kLanesTop + kLanesBottom) / 2}, "lanes", "mid");
  }

  /// What is in the picture, and nothing else: lines at the left, words that limit at the right.
  void legend() {
    double y = kLegendTop;
    const auto line = [&](std::string_view words, std::string_view look) {
      svg_.line({kLegendLeft, y}, {kLegendLeft + 20, y}, look);
      svg_.text({kLegendLeft + 26, y + 4}, words, "");
      y += kLegendRow;
    };
    const auto any = [this](auto has) { return std::ranges::any_of(t_.samples(), has); };
    line("rate", "rate");
    line("lanes", "lanes");
    if (t_.decisions_size() > 0) line("decision", "decided");
    if (any([](const auto& sample) { return sample.limit_bits_per_s() > 0; })) line(limit_name(), "limit");
    if (any([](const auto& sample) { return sample.target_bits_per_s() > 0; })) line("target", "target");
    y = kLegendTop;
    const auto swatch = [&](std::string_view word, std::string_view colour) {
      svg_.rectangle({kLegendLeft + kLegendColumn, y - 5}, 20, 10, "", colour);
      svg_.text({kLegendLeft + kLegendColumn + 26, y + 4}, word, "");
      y += kLegendRow;
    };
    for (const auto& [word, colour] : kWords) {
      if (any([&](const auto& sample) { return sample.limit_word() == word; })) swatch(word, colour);
    }
    const auto is_unknown = [](const auto& sample) { return colour_of(sample.limit_word()) == kUnknownColour; };
    if (any(is_unknown)) swatch("unknown", kUnknownColour);
  }
  std::string limit_name() const {
    const auto shown = [this](const auto& sample) {
      return sample.limit_bits_per_s() > 0 && static_cast<double>(sample.limit_bits_per_s()) <= rate_.to;
    };
    return std::ranges::any_of(t_.samples(), shown) ? "limit" : "limit (above)";
  }

  const v1::Tuning& t_;
  const std::vector<std::pair<int, int>> runs_;
  Svg svg_;
  Axis time_, rate_, lanes_, by_lanes_;
  Unit unit_;
};

}  // namespace

std::string tuning_svg(const v1::Tuning& tuning) {
  return Plot(tuning).draw();
}

}  // namespace gridtorrent::client::cli
