#include "gui/models/columns.h"

#include <algorithm>
#include <charconv>

namespace gridtorrent::gui {

namespace {

constexpr int kLeastWidth = 16;
constexpr int kMostWidth = 4000;

int read_width(std::string_view text) {
  int width = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  const bool good = error == std::errc{} && end == text.data() + text.size();
  return good && width >= kLeastWidth && width <= kMostWidth ? width : 0;
}

}  // namespace

QVariant alignment(const ColumnSpec& spec) {
  return QVariant::fromValue(Qt::Alignment((spec.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
}

QVariant header_data(const ColumnSpec& spec, const QString& title, int role) {
  if (role == Qt::DisplayRole) return title;
  // What is the fastest or the largest is looked for, not the many that stand still.
  if (role == Qt::InitialSortOrderRole) return spec.number ? Qt::DescendingOrder : Qt::AscendingOrder;
  return role == Qt::TextAlignmentRole ? alignment(spec) : QVariant();
}

std::string write_columns(std::span<const ColumnSpec> specs, std::span<const ColumnPlace> places) {
  std::string text;
  for (const ColumnPlace& place : places) {
    if (!text.empty()) text += ' ';
    if (place.hidden) text += '-';
    text += specs[static_cast<std::size_t>(place.column)].key;
    text += ':' + std::to_string(place.width);
  }
  return text;
}

std::vector<ColumnPlace> read_columns(std::span<const ColumnSpec> specs, std::string_view text) {
  std::vector<ColumnPlace> places;
  const auto is_placed = [&](int column) { return std::ranges::count(places, column, &ColumnPlace::column) > 0; };
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool hidden = word.starts_with('-');
    if (hidden) word.remove_prefix(1);
    const auto colon = std::min(word.find(':'), word.size());
    const auto spec = std::ranges::find(specs, word.substr(0, colon), &ColumnSpec::key);
    const auto column = static_cast<int>(spec - specs.begin());
    if (spec == specs.end() || is_placed(column)) continue;
    places.push_back({column, colon < word.size() ? read_width(word.substr(colon + 1)) : 0, hidden && column != 0});
  }
  for (int column = 0; column < static_cast<int>(specs.size()); ++column)
    if (!is_placed(column)) places.push_back({column, 0, false});
  return places;
}

}  // namespace gridtorrent::gui
