#include <algorithm>
#include <array>
#include <cstdio>

#include "client/cli/text_view.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

/// Why a transfer stands still is said below the table, for so many of them.
constexpr std::size_t kReasonsBelowTable = 10;
constexpr std::size_t kAll = 1000;  ///< of a column that is not shortened
constexpr std::size_t kLeastId = 8;

/// Which columns there are, and how wide some of them may be; 0: left out.
struct Layout {
  std::size_t id = kAll, name = 32, path = kAll;
  bool lanes = true, send = true, ratio = true, sent = true, receive = true, eta = true;
};

/// From wide to narrow: each gives up a little more.
constexpr std::array<Layout, 11> kLayouts{{
    {},
    {.path = 40},
    {.id = 0, .path = 40},
    {.id = 0, .path = 24},
    {.id = 0, .path = 24, .lanes = false},
    {.id = 0, .name = 20, .path = 24, .lanes = false, .send = false},
    {.id = 0, .name = 20, .path = 16, .lanes = false, .send = false},
    {.id = 0, .name = 20, .path = 0, .lanes = false, .send = false},
    {.id = 0, .name = 16, .path = 0, .lanes = false, .send = false, .ratio = false},
    {.id = 0, .name = 16, .path = 0, .lanes = false, .send = false, .ratio = false, .sent = false},
    {.id = 0,
     .name = 12,
     .path = 0,
     .lanes = false,
     .send = false,
     .ratio = false,
     .sent = false,
     .receive = false,
     .eta = false},
}};

/// The begin of an id that no other of the list shares; at least kLeastId characters.
std::size_t telling_columns(std::vector<std::string> ids) {
  std::ranges::sort(ids);
  std::size_t columns = kLeastId;
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const auto differ = std::ranges::mismatch(ids[i - 1], ids[i]).in1;
    columns = std::max(columns, static_cast<std::size_t>(differ - ids[i - 1].begin()) + 1);
  }
  return columns;
}

/// What was sent by the size of what is held: 2.00 is two copies.
std::string ratio_text(const v1::Transfer& t) {
  if (t.total_bytes() == 0) return "-";
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%.2f",
                static_cast<double>(t.sent_bytes()) / static_cast<double>(t.total_bytes()));
  return text.data();
}

std::string eta_cell(const v1::Transfer& t) {
  return t.eta_s() >= 0 && t.state() == "fetching" ? format_duration(std::chrono::seconds(t.eta_s())) : "-";
}

std::string table_text(const std::vector<v1::Transfer>& transfers, const Layout& layout, std::size_t id_columns) {
  std::vector<std::string> headings{"ID", "NAME", "STATE", ">VERIFIED", ">SIZE"};
  const auto add_if = [](bool there, std::vector<std::string>& cells, std::string cell) {
    if (there) cells.push_back(std::move(cell));
  };
  const auto add_rest = [&](std::vector<std::string>& cells, const std::array<std::string, 7>& rest) {
    const std::array<bool, 7> there{layout.receive, layout.send, layout.sent,    layout.ratio,
                                    layout.lanes,   layout.eta,  layout.path > 0};
    for (std::size_t i = 0; i < rest.size(); ++i) add_if(there[i], cells, rest[i]);
  };
  add_rest(headings, {">RECEIVE", ">SEND", ">SENT", ">RATIO", ">LANES", "ETA", "PATH"});
  Table table(std::move(headings));
  for (const v1::Transfer& t : transfers) {
    std::vector<std::string> cells{t.transfer_id().substr(0, layout.id == 0 ? id_columns : layout.id),
                                   shortened(escape_for_display(t.name()), layout.name), t.state(), percent_text(t),
                                   format_bytes(t.total_bytes())};
    add_rest(cells, {format_bits_per_s(t.payload_bits_per_s()), format_bits_per_s(t.upload_bits_per_s()),
                     format_bytes(t.sent_bytes()), ratio_text(t), std::to_string(t.lanes()), eta_cell(t),
                     shortened_left(escape_for_display(t.path()), layout.path)});
    table.row(std::move(cells));
  }
  return table.text("no transfers; 'gridtorrent get CONTENT' starts one");
}

std::size_t widest_line(std::string_view text) {
  std::size_t widest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    widest = std::max(widest, display_columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return widest;
}

std::string fitted_table(const std::vector<v1::Transfer>& transfers, std::size_t width) {
  std::vector<std::string> ids;
  for (const v1::Transfer& t : transfers) ids.push_back(t.transfer_id());
  const std::size_t id_columns = telling_columns(std::move(ids));
  std::string text;
  for (const Layout& layout : kLayouts) {
    text = table_text(transfers, layout, id_columns);
    if (width == 0 || widest_line(text) <= width) break;
  }
  return text;
}

}  // namespace

std::string transfers_table(const std::vector<v1::Transfer>& transfers, std::size_t width) {
  std::string text = fitted_table(transfers, width);
  std::size_t told = 0, more = 0;
  for (const v1::Transfer& t : transfers) {
    if (t.message().empty() || (t.payload_bits_per_s() > 0 && t.state() == "fetching")) continue;
    if (told == kReasonsBelowTable) {
      ++more;
    } else {
      text += (told++ == 0 ? "\n" : "") + escape_for_display(t.name()) + ": " + escape_for_display(t.message()) + "\n";
    }
  }
  if (more > 0) text += "and " + std::to_string(more) + " more: 'gridtorrent transfer show ID' says why\n";
  return text;
}

}  // namespace gridtorrent::client::cli
