#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Pictures as SVG 1.1 text, without a library. Pure; what comes from outside is escaped here.
namespace gridtorrent::client::cli {

struct Point {
  double x = 0, y = 0;  ///< pixels, from the upper left corner
};

/// Values along one side of a panel. `from` lies at the pixel `begin`, `to` at `end`, which may be the lesser one.
struct Axis {
  double from = 0, to = 1, step = 1;  ///< `step`: between two marks, which are its multiples
  double begin = 0, end = 1;
  double at(double value) const { return begin + (value - from) / (to - from) * (end - begin); }
  /// The multiples of `step` from `from` to `to`.
  std::vector<double> marks() const;
  /// Of one of `marks`, with the decimals that `step` takes, divided by `unit`.
  std::string label(double mark, double unit = 1) const;
};

/// The least of 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts; at least `least`.
double round_step(double span, int most, double least = 0);
/// The same for seconds: round in seconds, minutes or hours.
double time_step(double span_s, int most);

/// Collects shapes. Their look is a class of the style sheet, in a `<style>` of the picture's own.
class Svg {
 public:
  /// A white picture with that title for those who cannot see it.
  Svg(double width, double height, std::string_view title, std::string_view style_sheet);
  void line(Point from, Point to, std::string_view look);
  void rectangle(Point corner, double width, double height, std::string_view look, std::string_view fill = "");
  /// A circle for one point, nothing for none.
  void path(const std::vector<Point>& points, std::string_view look);
  void circle(Point centre, double radius, std::string_view look);
  /// `at`: left end, middle or right end of its base line, by the style's text-anchor.
  void text(Point at, std::string_view words, std::string_view look);
  /// Turned, to be read from below, as along a vertical axis.
  void upright(Point at, std::string_view words, std::string_view look);
  /// What is drawn until `end_group` shows these words where the pointer rests on it.
  void begin_group(std::string_view words);
  void end_group();
  /// The whole document. Last.
  std::string finish() &&;

 private:
  std::string out_;
};

}  // namespace gridtorrent::client::cli
