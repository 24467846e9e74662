#include <gtest/gtest.h>

#include <QElapsedTimer>
#include <QImage>
#include <QTest>
#include <cmath>

#include "gui/plots/export.h"
#include "gui/plots/lanes_plot.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/rate_painter.h"
#include "gui/plots/rate_plot.h"
#include "gui/plots/ticks.h"

namespace gridtorrent::gui {
namespace {

constexpr std::int64_t kStart = 1'800'000'000'000;  // a round hour in UTC
const QLocale kEnglish(QLocale::English, QLocale::UnitedKingdom);

/// One point a second from `from` to before `to`, seconds after kStart.
void add_points(RateHistory& history, int from, int to, std::uint64_t rate, std::uint32_t lanes) {
  for (int s = from; s < to; ++s) history.points.push_back({kStart + (s + 1) * 1000, 1000, rate, lanes});
}

TimeRange seconds_range(int from, int to) {
  return {kStart + from * 1000, kStart + to * 1000};
}

TEST(RateColumns, AreNoneOfAnEmptyRangeOrWidth) {
  EXPECT_TRUE(rate_columns({}, seconds_range(0, 0), 100).empty());
  EXPECT_TRUE(rate_columns({}, seconds_range(0, 10), 0).empty());
}

TEST(RateColumns, LeaveGapsWhereNothingIsKnown) {
  RateHistory history;
  add_points(history, 0, 10, 100, 4);
  add_points(history, 20, 30, 300, 8);
  const auto columns = rate_columns(history.points, seconds_range(0, 40), 40);
  for (int s = 0; s < 40; ++s) EXPECT_EQ(columns[static_cast<std::size_t>(s)].any, s < 10 || (s >= 20 && s < 30)) << s;
  EXPECT_EQ(columns[25].lanes, 8U);
}

TEST(RateColumns, KeepTheExtremesOfManyPoints) {
  RateHistory history;
  for (int s = 0; s < 1000; ++s) add_points(history, s, s + 1, s == 777 ? 5 : s == 333 ? 999 : 100, 1);
  const auto columns = rate_columns(history.points, seconds_range(0, 1000), 10);
  EXPECT_EQ(columns[7].least_bits_per_s, 5U);
  EXPECT_EQ(columns[3].most_bits_per_s, 999U);
  EXPECT_EQ(columns[5].least_bits_per_s, columns[5].most_bits_per_s);
}

TEST(RateColumns, KeepTheMostThatWasSent) {
  RateHistory history;
  add_points(history, 0, 10, 100, 1);
  history.points[3].sent_bits_per_s = 900;
  const auto columns = rate_columns(history.points, seconds_range(0, 10), 2);
  EXPECT_EQ(columns[0].most_sent_bits_per_s, 900U);
  EXPECT_EQ(columns[1].most_sent_bits_per_s, 0U);
}

TEST(RateColumns, ALongRestDoesNotReachOverTheGapBeforeIt) {
  RateHistory history;
  history.points = {{kStart + 1000, 1000, 7, 1}, {kStart + 100'000, 60'000, 0, 0}};
  const auto columns = rate_columns(history.points, {kStart, kStart + 100'000}, 100);
  EXPECT_FALSE(columns[20].any) << "39 s of which nothing is known";
  EXPECT_TRUE(columns[50].any);
}

TEST(RateColumns, TakeALatePointAsJoined) {
  RateHistory history;
  history.points = {{kStart + 1000, 1000, 7, 1}, {kStart + 2400, 1000, 7, 1}, {kStart + 4400, 1000, 7, 1}};
  const auto columns = rate_columns(history.points, {kStart, kStart + 4400}, 44);
  EXPECT_TRUE(columns[12].any) << "0.4 s late";
  EXPECT_FALSE(columns[28].any) << "a whole second is missing";
  EXPECT_TRUE(columns[40].any);
}

TEST(RateColumns, FillBetweenPointsThatAreFewerThanColumns) {
  RateHistory history;
  add_points(history, 0, 4, 50, 2);
  const auto columns = rate_columns(history.points, seconds_range(0, 4), 400);
  EXPECT_TRUE(std::ranges::all_of(columns, &RateColumn::any));
}

TEST(ValueTicks, AreRoundAndReachTheHighest) {
  EXPECT_EQ(value_ticks(0, 4), (std::vector<double>{0, 1}));
  EXPECT_EQ(value_ticks(std::nan(""), 4), (std::vector<double>{0, 1}));
  EXPECT_EQ(value_ticks(842e6, 4), (std::vector<double>{0, 500e6, 1000e6}));
  EXPECT_EQ(value_ticks(1000e6, 5), (std::vector<double>{0, 200e6, 400e6, 600e6, 800e6, 1000e6}));
  EXPECT_EQ(whole_ticks(2, 4), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(whole_ticks(0, 4), (std::vector<double>{0, 1}));
}

TEST(TimeTicks, StandAtRoundTimesOfTheLocalDay) {
  const TimeTicks quarter = time_ticks({kStart + 61'000, kStart + 961'000}, 5, 0);
  EXPECT_EQ(quarter.step_ms, 300'000);
  EXPECT_EQ(quarter.at_ms, (std::vector<std::int64_t>{kStart + 300'000, kStart + 600'000, kStart + 900'000}));
  const std::int64_t india_ms = (5 * 60 + 30) * 60'000;
  for (const std::int64_t at_ms : time_ticks({kStart, kStart + 86'400'000}, 6, india_ms).at_ms)
    EXPECT_EQ((at_ms + india_ms) % 21'600'000, 0);
  EXPECT_TRUE(time_ticks({kStart, kStart}, 5, 0).at_ms.empty());
}

TEST(Csv, WritesPointsAndDecisionsInOrderWithoutFormulas) {
  RateHistory history;
  add_points(history, 0, 2, 100, 4);
  history.points.back().sent_bits_per_s = 30;
  history.decisions = {{kStart + 1500, 4, 8, 41, "=HYPERLINK(\"x\")\n"}, {kStart + 9000, 8, 12, std::nullopt, ""}};
  EXPECT_EQ(rate_csv(history),
            "kind,time,bits_per_s,lanes,lanes_before,reason,sent_bits_per_s\r\n"
            "point,2027-01-15T08:00:01.000Z,100,4,,,0\r\n"
            "decision,2027-01-15T08:00:01.500Z,41,8,4,\"'=HYPERLINK(\"\"x\"\")\\n\",\r\n"
            "point,2027-01-15T08:00:02.000Z,100,4,,,30\r\n"
            "decision,2027-01-15T08:00:09.000Z,,12,8,\"\",\r\n");
}

QPalette palette_of(const QColor& base, const QColor& text) {
  QPalette palette;
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::Text, text);
  return palette;
}

int pixels(const QImage& image, const QRect& part, const QColor& colour) {
  int count = 0;
  for (int y = part.top(); y <= part.bottom(); ++y)
    for (int x = part.left(); x <= part.right(); ++x) count += image.pixelColor(x, y) == colour ? 1 : 0;
  return count;
}

class RatePicture : public testing::TestWithParam<bool> {};

TEST_P(RatePicture, ShowsRateLanesDecisionsAndGapsOnItsBackground) {
  const QPalette palette = GetParam() ? palette_of(Qt::black, Qt::white) : palette_of(Qt::white, Qt::black);
  const PlotColours colours(palette);
  RateHistory history;
  add_points(history, 0, 20, 500'000'000, 4);
  add_points(history, 40, 60, 900'000'000, 8);
  history.decisions = {{kStart + 50'000, 4, 8, std::nullopt, "more"}};
  QImage image(700, 260, QImage::Format_RGB32);
  QPainter painter(&image);
  const QRect area = rate_area(image.rect(), painter.fontMetrics());
  paint_rate(painter, image.rect(), {history, seconds_range(0, 60), std::nullopt}, palette, Format(kEnglish));
  painter.end();

  const int third = area.width() / 3;
  const QRect first(area.left(), area.top(), third - 4, area.height());
  const QRect gap = first.translated(third + 2, 0);
  const QRect last = first.translated(2 * third + 4, 0);
  EXPECT_EQ(image.pixelColor(1, 1), colours.background);
  EXPECT_GT(pixels(image, first, colours.rate), first.width() / 2) << "also where lanes are at the same height";
  EXPECT_GT(pixels(image, last, colours.rate_fill), pixels(image, first, colours.rate_fill));
  EXPECT_EQ(
      pixels(image, gap, colours.rate) + pixels(image, gap, colours.rate_fill) + pixels(image, gap, colours.lanes), 0);
  EXPECT_GT(pixels(image, last, colours.lanes), last.width());
  EXPECT_GT(pixels(image, last, colours.decision), area.height() / 4);
  EXPECT_EQ(pixels(image, first, colours.decision), 0);
}

TEST_P(RatePicture, ShowsWhatIsSentAsADottedLineOfItsOwnHeight) {
  const QPalette palette = GetParam() ? palette_of(Qt::black, Qt::white) : palette_of(Qt::white, Qt::black);
  const PlotColours colours(palette);
  RateHistory history;
  add_points(history, 0, 60, 100'000'000, 4);
  for (RatePoint& point : history.points) {
    if (point.at_ms > kStart + 30'000) point.sent_bits_per_s = 350'000'000;
  }
  QImage image(700, 260, QImage::Format_RGB32);
  QPainter painter(&image);
  const QRect area = rate_area(image.rect(), painter.fontMetrics());
  paint_rate(painter, image.rect(), {history, seconds_range(0, 60), std::nullopt}, palette, Format(kEnglish));
  painter.end();

  const QRect first(area.left(), area.top(), area.width() / 2 - 2, area.height());
  const QRect last = first.translated(area.width() / 2 + 4, 0);
  EXPECT_EQ(pixels(image, first, colours.sent), 0) << "nothing was sent";
  EXPECT_GT(pixels(image, last, colours.sent), last.width());
  int columns = 0;
  for (int x = last.left(); x <= last.right(); ++x)
    columns += pixels(image, QRect(x, area.top(), 1, area.height()), colours.sent) > 0 ? 1 : 0;
  EXPECT_LT(columns, last.width() / 2) << "dots, as no other line has";
  const QRect lower(last.left(), area.center().y(), last.width(), area.height() / 2);
  EXPECT_EQ(pixels(image, lower, colours.sent), 0) << "higher than what came";
}

INSTANTIATE_TEST_SUITE_P(LightAndDark, RatePicture, testing::Bool(),
                         [](const auto& dark) { return dark.param ? "Dark" : "Light"; });

TEST(RatePlotKeys, ReadValuesToTheAccessibleDescription) {
  RatePlot plot{Format(kEnglish)};
  EXPECT_TRUE(plot.reading().isEmpty());
  RateHistory history;
  add_points(history, 0, 100, 842'000'000, 12);
  history.points.back().bits_per_s = 100;
  history.points.back().sent_bits_per_s = 7'000'000;
  history.decisions = {{history.points.back().at_ms - 10, 8, 12, 150'000'000, "<b>more</b>"}};
  plot.set_history(history, kStart + 100'000);
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_TRUE(plot.reading().endsWith(
      QStringLiteral("100 bit/s down, 7.00 Mbit/s up, lanes 12; lanes 8 to 12 (<b>more</b>), then 150 Mbit/s")))
      << plot.reading().toStdString();
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_TRUE(plot.accessibleDescription().endsWith(QStringLiteral("842 Mbit/s down, 0 bit/s up, lanes 12")));
  const QString before = plot.reading();
  plot.set_history(history, kStart + 101'000);
  EXPECT_EQ(plot.reading(), before) << "the cursor stays at its time";
  QTest::keyClick(&plot, Qt::Key_Home);
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_FALSE(plot.reading().isEmpty());
  plot.set_history({}, kStart + 200'000);
  EXPECT_TRUE(plot.reading().isEmpty()) << "its time is no longer known";
  QTest::keyClick(&plot, Qt::Key_Right);
  EXPECT_TRUE(plot.reading().isEmpty());
}

TEST(RatePlotKeys, GiveThePlotAwayAsAPicture) {
  RatePlot plot{Format(kEnglish)};
  plot.resize(400, 200);
  const QImage image = plot.picture();
  EXPECT_EQ(image.size(), QSize(800, 400));
  EXPECT_EQ(image.pixelColor(2, 2), plot.palette().color(QPalette::Base));
}

TEST(LanesPlotKeys, ReadTheCurve) {
  LanesPlot plot{Format(kEnglish)};
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_TRUE(plot.reading().isEmpty());
  plot.set_curve(
      {{{4, 30, 100'000'000, 200'000'000, 300'000'000}, {12, 40, 700'000'000, 842'000'000, 900'000'000}}, 12});
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_EQ(plot.accessibleDescription().toStdString(),
            "Lanes 12: median 842 Mbit/s, 700 Mbit/s to 900 Mbit/s, seen for 40 s, now");
  QTest::keyClick(&plot, Qt::Key_Left);
  EXPECT_TRUE(plot.reading().startsWith(QStringLiteral("Lanes 4:")));
  QTest::keyClick(&plot, Qt::Key_Escape);
  EXPECT_TRUE(plot.reading().isEmpty());
  QTest::keyClick(&plot, Qt::Key_Home);
  plot.set_curve({});
  EXPECT_TRUE(plot.reading().isEmpty());
}

TEST(RatePainting, OfADayIsMeasured) {
  RateHistory history;
  for (int i = 0; i < 14'400; ++i)
    history.points.push_back({kStart + i * 1000, 1000, static_cast<std::uint64_t>(4e8 + 3e8 * std::sin(i / 50.0)), 8});
  QImage image(1280, 260, QImage::Format_RGB32);
  QPainter painter(&image);
  QElapsedTimer timer;
  timer.start();
  for (int i = 0; i < 20; ++i)
    paint_rate(painter, image.rect(), {history, seconds_range(0, 14'400), std::nullopt}, QPalette(), Format(kEnglish));
  std::printf("  14,400 points, 1280 x 260: %.2f ms a paint\n", static_cast<double>(timer.nsecsElapsed()) / 20e6);
  painter.end();
  EXPECT_GT(pixels(image, image.rect(), PlotColours(QPalette()).rate), 1000);
}

}  // namespace
}  // namespace gridtorrent::gui
