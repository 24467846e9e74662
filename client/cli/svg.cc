#include "client/cli/svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// A tenth of a pixel is enough.
std::string pixels(double value) {
  std::string text = fixed(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string attribute(std::string_view name, double value) {
  return " " + std::string(name) + "=\"" + pixels(value) + "\"";
}

std::string look_of(std::string_view look) {
  return look.empty() ? "" : " class=\"" + std::string(look) + "\"";
}

/// Printable UTF-8 on one line, and no markup.
std::string escaped(std::string_view words) {
  std::string out;
  for (const char c : escape_for_display(words)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

double round_step(double span, int most, double least) {
  double power = std::pow(10, std::floor(std::log10(std::max(span, 1e-9) / most)));
  for (;; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = factor * power;
      if (step >= least && span <= step * most * (1 + 1e-9)) return step;
    }
  }
}

double time_step(double span_s, int most) {
  constexpr double kMinute = 60, kHour = 3600;
  for (const double step :
       {1.0, 2.0, 5.0, 10.0, 20.0, 30.0, kMinute, 2 * kMinute, 5 * kMinute, 10 * kMinute, 20 * kMinute, 30 * kMinute}) {
    if (span_s <= step * most) return step;
  }
  return kHour * round_step(span_s / kHour, most, 1);
}

std::vector<double> Axis::marks() const {
  std::vector<double> all;
  const double slack = step * 1e-6;
  for (double i = std::ceil((from - slack) / step); i * step <= to + slack; ++i) {
    all.push_back(i == 0 ? 0 : i * step);  // no -0
  }
  return all;
}

std::string Axis::label(double mark, double unit) const {
  const int decimals = static_cast<int>(std::max(0.0, std::ceil(-std::log10(step / unit) - 1e-9)));
  return fixed(mark / unit, decimals);
}

Svg::Svg(double width, double height, std::string_view title, std::string_view style_sheet) {
  const std::string w = pixels(width), h = pixels(height);
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " +
         h + "\" role=\"img\">\n<title>" + escaped(title) + "</title>\n<style>" + std::string(style_sheet) +
         "</style>\n<rect width=\"" + w + "\" height=\"" + h + "\" fill=\"#ffffff\"/>\n";
}

void Svg::line(Point from, Point to, std::string_view look) {
  out_ += "<line" + attribute("x1", from.x) + attribute("y1", from.y) + attribute("x2", to.x) + attribute("y2", to.y) +
          look_of(look) + "/>\n";
}

void Svg::rectangle(Point corner, double width, double height, std::string_view look, std::string_view fill) {
  out_ += "<rect" + attribute("x", corner.x) + attribute("y", corner.y) + attribute("width", width) +
          attribute("height", height) + look_of(look);
  if (!fill.empty()) out_ += " fill=\"" + std::string(fill) + "\"";
  out_ += "/>\n";
}

void Svg::path(const std::vector<Point>& points, std::string_view look) {
  if (points.empty()) return;
  if (points.size() == 1) return circle(points.front(), 1.5, look);
  out_ += "<polyline" + look_of(look) + " points=\"";
  for (std::size_t i = 0; i < points.size(); ++i) {
    out_ += (i == 0 ? "" : " ") + pixels(points[i].x) + "," + pixels(points[i].y);
  }
  out_ += "\"/>\n";
}

void Svg::circle(Point centre, double radius, std::string_view look) {
  out_ += "<circle" + attribute("cx", centre.x) + attribute("cy", centre.y) + attribute("r", radius) + look_of(look) +
          "/>\n";
}

void Svg::text(Point at, std::string_view words, std::string_view look) {
  out_ += "<text" + attribute("x", at.x) + attribute("y", at.y) + look_of(look) + ">" + escaped(words) + "</text>\n";
}

void Svg::upright(Point at, std::string_view words, std::string_view look) {
  out_ += "<text transform=\"translate(" + pixels(at.x) + " " + pixels(at.y) + ") rotate(-90)\"" + look_of(look) + ">" +
          escaped(words) + "</text>\n";
}

void Svg::begin_group(std::string_view words) {
  out_ += "<g><title>" + escaped(words) + "</title>\n";
}

void Svg::end_group() {
  out_ += "</g>\n";
}

std::string Svg::finish() && {
  return std::move(out_) + "</svg>\n";
}

}  // namespace gridtorrent::client::cli
