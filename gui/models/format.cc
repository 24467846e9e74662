#include "gui/models/format.h"

#include <QDateTime>
#include <array>

namespace gridtorrent::gui {

namespace {

constexpr std::uint64_t kLargestRate = 1'000'000'000'000'000;  // 1 Pbit/s: more than any machine has
constexpr std::chrono::hours kLongest{24 * 3650};

/// The value in the largest unit of which there is one at least, and which unit that is.
template <std::size_t N>
std::pair<double, const char*> in_unit(std::uint64_t number, const std::array<const char*, N>& units) {
  auto value = static_cast<double>(number);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < N) {
    value /= 1000;
    ++unit;
  }
  return {value, units[unit]};
}

constexpr std::array<const char*, 7> kBytes{
    QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 B"),  QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 kB"),
    QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 MB"), QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 GB"),
    QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 TB"), QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 PB"),
    QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 EB")};
constexpr std::array<const char*, 5> kRates{QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 bit/s"),
                                            QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 kbit/s"),
                                            QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 Mbit/s"),
                                            QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 Gbit/s"),
                                            QT_TRANSLATE_NOOP("gridtorrent::gui::Format", "%1 Tbit/s")};

}  // namespace

QString Format::three_digits(double value) const {
  return locale_.toString(value, 'f', value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

QString Format::bytes(std::uint64_t bytes) const {
  const auto [value, unit] = in_unit(bytes, kBytes);
  return tr(unit).arg(bytes < 1000 ? locale_.toString(bytes) : three_digits(value));
}

QString Format::rate(std::uint64_t bits_per_s) const {
  if (bits_per_s > kLargestRate) return unknown();
  const auto [value, unit] = in_unit(bits_per_s, kRates);
  return tr(unit).arg(bits_per_s < 1000 ? locale_.toString(bits_per_s) : three_digits(value));
}

QString Format::duration(std::optional<std::chrono::seconds> duration) const {
  if (!duration || duration->count() < 0 || *duration > kLongest) return unknown();
  const auto number = [this](auto whole) { return locale_.toString(static_cast<qlonglong>(whole)); };
  const auto s = duration->count();
  if (s < 60) return tr("%1 s").arg(number(s));
  if (s < 3600) return tr("%1 min").arg(number((s + 30) / 60));
  const auto min = (s + 30) / 60;
  if (min < 24 * 60) {
    const QString hours = tr("%1 h").arg(number(min / 60));
    return min % 60 == 0 ? hours : tr("%1 %2 min").arg(hours, number(min % 60));
  }
  const auto h = (s + 1800) / 3600;
  const QString days = tr("%1 d").arg(number(h / 24));
  return h % 24 == 0 ? days : tr("%1 %2 h").arg(days, number(h % 24));
}

QString Format::round_trip(std::uint32_t microseconds) const {
  if (microseconds == 0) return unknown();
  const double ms = microseconds / 1000.0;
  return tr("%1 ms").arg(locale_.toString(ms, 'f', ms < 9.95 ? 1 : 0));
}

QString Format::percent(std::uint64_t done, std::uint64_t total) const {
  if (done > total) return unknown();
  const auto share = total == 0 ? 1.0L : static_cast<long double>(done) / static_cast<long double>(total);
  auto whole = static_cast<int>(share * 100);
  if (done < total && whole > 99) whole = 99;
  return tr("%1 %").arg(locale_.toString(whole));
}

QString Format::count(std::uint64_t number) const {
  return locale_.toString(number);
}

QString Format::time_of_day(std::int64_t at_ms) const {
  return QDateTime::fromMSecsSinceEpoch(at_ms).toString(QStringLiteral("HH:mm:ss"));
}

QString Format::moment(std::int64_t at_ms) const {
  return at_ms <= 0 ? unknown() : locale_.toString(QDateTime::fromMSecsSinceEpoch(at_ms), QLocale::ShortFormat);
}

}  // namespace gridtorrent::gui
