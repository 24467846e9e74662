#pragma once

#include <QCoreApplication>
#include <QLocale>
#include <QString>
#include <chrono>
#include <cstdint>
#include <optional>

namespace gridtorrent::gui {

/// Sizes, rates, durations and times as the user's locale writes them; the only place where the desktop does so. What
/// is not known, or cannot be, reads "unknown". A value; const and free of side effects, any thread.
class Format {
  Q_DECLARE_TR_FUNCTIONS(gridtorrent::gui::Format)

 public:
  explicit Format(QLocale locale = QLocale()) : locale_(std::move(locale)) {}

  /// "1.50 GB": three digits, decimal units.
  QString bytes(std::uint64_t bytes) const;
  /// "842 Mbit/s".
  QString rate(std::uint64_t bits_per_s) const;
  /// "40 s", "2 min", "3 h 5 min", "4 d 2 h".
  QString duration(std::optional<std::chrono::seconds> duration) const;
  /// "50 ms", "0.2 ms"; microseconds, 0: unknown.
  QString round_trip(std::uint32_t microseconds) const;
  /// "71 %", rounded down: 100 % is said only of what is complete.
  QString percent(std::uint64_t done, std::uint64_t total) const;
  /// "8,412".
  QString count(std::uint64_t number) const;
  /// "14:02:31" in this machine's zone; milliseconds since 1970.
  QString time_of_day(std::int64_t at_ms) const;
  /// "2026-11-20 21:42" as the locale writes it; milliseconds since 1970, 0: unknown.
  QString moment(std::int64_t at_ms) const;
  static QString unknown() { return tr("unknown"); }
  /// In place of a value that there is not: an upload rate of what uploads nothing.
  static QString none() { return QStringLiteral("—"); }

 private:
  QString three_digits(double value) const;

  QLocale locale_;
};

}  // namespace gridtorrent::gui
