#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/api/node/node_api.h"
#include "client/api/server/server_api.h"
#include "client/cli/speed.h"
#include "common/clock.h"

/// What people read on a terminal. Pure functions; whatever came from outside is escaped.
namespace gridtorrent::client::cli {

/// Columns that line up; numbers stand right where their heading starts with '>' (which is not shown).
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  /// Leaves a column out, by its heading.
  void hide(std::string_view heading);
  void row(std::vector<std::string> cells);
  /// Headings and rows, or `if_empty` where there are no rows.
  std::string text(std::string_view if_empty) const;

 private:
  std::vector<std::string> headings_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
  std::optional<std::size_t> hidden_;
};

/// How many columns of a terminal the text takes, by the widths of Unicode: a Chinese character has two, what combines
/// with the one before it none; a byte that is no UTF-8 has one.
std::size_t display_columns(std::string_view text);
/// All of it, or its begin and "…" in so many columns.
std::string shortened(const std::string& text, std::size_t columns);
/// The same with its end: of a path that says more.
std::string shortened_left(const std::string& text, std::size_t columns);
/// Each line shortened to `width` columns; 0: as it is.
std::string cut_lines(std::string_view text, std::size_t width);
/// "62.5 %", never 100 before the last byte.
std::string percent_text(std::uint64_t done, std::uint64_t total);
/// The same of a transfer; "-" where it is not known yet of how much, as of a publish that waits or failed.
std::string percent_text(const v1::Transfer& transfer);

/// "run42  62.5 %  843 Mbit/s  ETA 12 s  625 MB of 1.00 GB  [######----]  2 seeders × 4 lanes", cut to `width`: the bar
/// gives way first, then what stands further back. 0: all but the bar, as wide as it is. Bytes are counted when
/// verified. Times of day are those of this machine's zone. `speed`: of a phase of which the node tells no rate.
std::string progress_line(const v1::Transfer& transfer, std::size_t width, WallTime now, const Speed& speed = {});
/// "hashing  31.0 %  350 MB/s  ETA 8 s  1.2 GB of 4.0 GB  [###-------]", cut likewise.
std::string hashing_line(std::string_view what, std::uint64_t done, std::uint64_t total, std::size_t width,
                         const Speed& speed = {});
/// "get on cluster7: delivered", of what has no figures yet.
std::string waiting_line(const std::string& what, const std::string& state, std::size_t width);
/// "run42: 2.00 GB in 12 s (1.33 Gbit/s) from 2 seeders over up to 8 lanes, verified" and where it lies.
std::string done_text(const v1::Transfer& transfer);

/// No wider than `width`, where that is possible: ids are shortened to what tells them apart, paths to their end, and
/// columns are left out. 0: all columns, as wide as they are.
std::string transfers_table(const std::vector<v1::Transfer>& transfers, std::size_t width = 0);
std::string transfer_text(const v1::Transfer& transfer, WallTime now);
std::string contents_table(const std::vector<v1::Content>& contents, bool ids = false);
std::string content_text(const v1::Content& content);
std::string versions_text(const std::vector<v1::Version>& versions);
std::string replicas_text(const v1::Content& content, const std::vector<v1::Replica>& replicas, bool ids = false);
std::string nodes_table(const std::vector<v1::Node>& nodes, bool ids);
std::string node_text(const v1::Node& node);
std::string tasks_table(const std::vector<v1::Task>& tasks);
std::string task_text(const v1::Task& task);

/// "2026-11-20 20:15 CET", in this machine's zone; "-" for 0.
std::string short_time(std::int64_t ms);

}  // namespace gridtorrent::client::cli
