#include <gtest/gtest.h>

#include <QTextDocument>

#include "gui/models/columns.h"
#include "gui/models/format.h"
#include "gui/models/text.h"

namespace gridtorrent::gui {
namespace {

using std::chrono::seconds;

const QLocale kEnglish(QLocale::English, QLocale::UnitedKingdom);
const QLocale kGerman(QLocale::German, QLocale::Germany);

std::string text(const QString& shown_text) {
  return shown_text.toStdString();
}

TEST(DesktopFormat, SaysUnknownInsteadOfNonsense) {
  const Format format(kEnglish);
  EXPECT_EQ(text(format.duration(std::nullopt)), "unknown");
  EXPECT_EQ(text(format.duration(seconds(-1))), "unknown");
  EXPECT_EQ(text(format.duration(seconds(std::int64_t{1} << 60))), "unknown");
  EXPECT_EQ(text(format.rate(~std::uint64_t{0})), "unknown");
  EXPECT_EQ(text(format.percent(2, 1)), "unknown");
  EXPECT_EQ(text(format.moment(0)), "unknown");
}

TEST(DesktopFormat, RoundsToThreeDigitsAndTheNextUnit) {
  const Format format(kEnglish);
  EXPECT_EQ(text(format.bytes(0)), "0 B");
  EXPECT_EQ(text(format.bytes(999)), "999 B");
  EXPECT_EQ(text(format.bytes(1'500'000'000)), "1.50 GB");
  EXPECT_EQ(text(format.bytes(999'999)), "1.00 MB");
  EXPECT_EQ(text(format.bytes(~std::uint64_t{0})), "18.4 EB");
  EXPECT_EQ(text(format.rate(842'000'000)), "842 Mbit/s");
}

TEST(DesktopFormat, WritesNumbersAsTheLocaleDoes) {
  EXPECT_EQ(text(Format(kGerman).bytes(1'500'000'000)), "1,50 GB");
  EXPECT_EQ(text(Format(kGerman).count(8412)), "8.412");
  EXPECT_EQ(text(Format(kEnglish).count(8412)), "8,412");
}

TEST(DesktopFormat, SaysAHundredPercentOnlyOfWhatIsComplete) {
  const Format format(kEnglish);
  EXPECT_EQ(text(format.percent(999'999, 1'000'000)), "99 %");
  EXPECT_EQ(text(format.percent(1'000'000, 1'000'000)), "100 %");
  EXPECT_EQ(text(format.percent(~std::uint64_t{0} - 1, ~std::uint64_t{0})), "99 %");
  EXPECT_EQ(text(format.percent(0, 0)), "100 %");
}

TEST(DesktopFormat, TakesTwoUnitsOfALongDuration) {
  const Format format(kEnglish);
  EXPECT_EQ(text(format.duration(seconds(40))), "40 s");
  EXPECT_EQ(text(format.duration(seconds(125))), "2 min");
  EXPECT_EQ(text(format.duration(seconds(3 * 3600 + 5 * 60))), "3 h 5 min");
  EXPECT_EQ(text(format.duration(seconds(4 * 86400 + 7200))), "4 d 2 h");
  EXPECT_EQ(text(format.duration(seconds(3600))), "1 h");
}

TEST(DesktopText, EscapesWhatWouldChangeTheLine) {
  EXPECT_EQ(text(shown("a\nb")), "a\\nb");
  EXPECT_EQ(text(shown("photo\xE2\x80\xAEgpj.exe")), "photo\\u202egpj.exe");
  EXPECT_EQ(text(shown("\xD8\x9C")), "\\u061c");
  EXPECT_EQ(text(shown("\xE2\x81\xA6isolated\xE2\x81\xA9")), "\\u2066isolated\\u2069");
  EXPECT_EQ(text(shown(std::string_view("\xff\x00", 2))), "\\xff\\x00");
  EXPECT_EQ(text(shown("Größe 数据")), "Größe 数据");
}

TEST(DesktopText, ShowsMarkupInTooltipsAsItIsWritten) {
  const std::string hostile = "<img src='http://x/y'><b>bold</b> &amp; <!-- -->";
  const QString tip = tooltip(shown(hostile));
  EXPECT_TRUE(Qt::mightBeRichText(tip));
  QTextDocument document;
  document.setHtml(tip);
  EXPECT_EQ(text(document.toPlainText()), hostile);
  EXPECT_TRUE(tooltip({}).isEmpty());
}

constexpr std::array<ColumnSpec, 3> kSpecs{
    {{"name", "Name", false, 30}, {"size", "Size", true, 8}, {"up", "Up", true, 8}}};

TEST(DesktopColumns, PassOverWhatAnotherVersionWrote) {
  const std::vector<ColumnPlace> expected{{1, 80, false}, {0, 0, false}, {2, 0, false}};
  EXPECT_EQ(read_columns(kSpecs, "size:80 colour:12 name:99999 size:20"), expected);
}

TEST(DesktopColumns, AreAllThereAfterRubbish) {
  for (const char* rubbish : {"", " ", ":::", "-", "name", "-name:80", "name:-5 :3", "\xff\xfe"}) {
    const auto places = read_columns(kSpecs, rubbish);
    ASSERT_EQ(places.size(), kSpecs.size()) << rubbish;
    for (const ColumnPlace& place : places) EXPECT_FALSE(place.column == 0 && place.hidden) << rubbish;
  }
}

TEST(DesktopColumns, ReadBackWhatWasWritten) {
  const std::vector<ColumnPlace> places{{2, 90, true}, {0, 240, false}, {1, 80, false}};
  EXPECT_EQ(write_columns(kSpecs, places), "-up:90 name:240 size:80");
  EXPECT_EQ(read_columns(kSpecs, write_columns(kSpecs, places)), places);
}

}  // namespace
}  // namespace gridtorrent::gui
