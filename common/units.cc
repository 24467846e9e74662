#include "common/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "common/text.h"

namespace gridtorrent {

namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr std::array<Suffix, 13> kByteSuffixes{{{"", 1},
                                                {"b", 1},
                                                {"kb", 1e3},
                                                {"mb", 1e6},
                                                {"gb", 1e9},
                                                {"tb", 1e12},
                                                {"pb", 1e15},
                                                {"kib", 1024.0},
                                                {"mib", 1048576.0},
                                                {"gib", 1073741824.0},
                                                {"tib", 1099511627776.0},
                                                {"pib", 1125899906842624.0},
                                                {"k", 1e3}}};
constexpr std::array<Suffix, 10> kBitSuffixes{{{"bit", 1},
                                               {"kbit", 1e3},
                                               {"mbit", 1e6},
                                               {"gbit", 1e9},
                                               {"tbit", 1e12},
                                               {"bps", 1},
                                               {"kbps", 1e3},
                                               {"mbps", 1e6},
                                               {"gbps", 1e9},
                                               {"tbps", 1e12}}};

struct Quantity {
  double number;
  std::string suffix;
};

std::optional<Quantity> split_quantity(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  return Quantity{number, to_lower_ascii(rest)};
}

template <std::size_t N>
std::optional<double> factor_of(const std::array<Suffix, N>& table, std::string_view suffix) {
  for (const Suffix& s : table)
    if (s.name == suffix) return s.factor;
  return std::nullopt;
}

constexpr double kLargest = 9.0e18;

std::string three_digits(double value, std::string_view unit) {
  std::array<char, 48> text{};
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return std::string(text.data()) + " " + std::string(unit);
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
  if (const auto q = split_quantity(text)) {
    const auto factor = factor_of(kByteSuffixes, q->suffix);
    if (factor && q->number * *factor < kLargest) return static_cast<std::uint64_t>(std::llround(q->number * *factor));
  }
  return Error{Code::kInvalid, "'" + std::string(text) + "' is no size; write it like 300MB or 1.5GiB"};
}

Result<std::uint64_t> parse_bits_per_s(std::string_view text) {
  if (text == "unlimited" || text == "none") return std::uint64_t{0};
  std::string_view body = text;
  if (body.ends_with("/s")) body.remove_suffix(2);
  if (const auto q = split_quantity(body)) {
    if (q->suffix.empty() && q->number == 0) return std::uint64_t{0};
    auto factor = factor_of(kBitSuffixes, q->suffix);
    if (!factor && !q->suffix.empty() && q->suffix != "k")
      if (const auto bytes = factor_of(kByteSuffixes, q->suffix)) factor = *bytes * 8;
    if (factor && q->number * *factor < kLargest) return static_cast<std::uint64_t>(std::llround(q->number * *factor));
  }
  return Error{Code::kInvalid, "'" + std::string(text) + "' is no rate; write it like 200Mbit or 25MB (a second)"};
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr std::array<Suffix, 6> kDurations{
      {{"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"min", 60e3}, {"h", 3600e3}, {"d", 86400e3}}};
  if (const auto q = split_quantity(text)) {
    const auto factor = factor_of(kDurations, q->suffix);
    if (factor && q->number * *factor < 1e15)
      return std::chrono::milliseconds(static_cast<std::int64_t>(std::llround(q->number * *factor)));
  }
  return Error{Code::kInvalid, "'" + std::string(text) + "' is no duration; write it like 90s, 15m, 48h or 7d"};
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes);
  constexpr std::array<std::string_view, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return three_digits(value, kUnits[unit]);
}

std::string format_bits_per_s(std::uint64_t bits_per_s) {
  if (bits_per_s < 1000) return std::to_string(bits_per_s) + " bit/s";
  double value = static_cast<double>(bits_per_s);
  constexpr std::array<std::string_view, 5> kUnits{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return three_digits(value, kUnits[unit]);
}

std::string format_duration(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms < 10'000) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ms) / 1000);
    return text.data();
  }
  const std::int64_t s = (ms + 500) / 1000;
  if (s < 60) return std::to_string(s) + " s";
  if (s < 3600) return std::to_string(s / 60) + " min " + std::to_string(s % 60) + " s";
  if (s < 86400) return std::to_string(s / 3600) + " h " + std::to_string(s / 60 % 60) + " min";
  return std::to_string(s / 86400) + " d " + std::to_string(s / 3600 % 24) + " h";
}

}  // namespace gridtorrent
