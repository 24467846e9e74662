#pragma once

#include <QTableView>
#include <QTreeView>
#include <span>
#include <string>

#include "gui/models/columns.h"

namespace gridtorrent::gui {

/// What all our tables have in common: whole rows, no grid, one line a row, sorting by headers, columns that can be
/// moved, and a menu of them at the header. `specs` must outlive the view. GUI thread only.
void set_up_table(QTableView& view, std::span<const ColumnSpec> specs);

/// The same for trees, which are not sorted.
void set_up_tree(QTreeView& view, std::span<const ColumnSpec> specs);

/// Arranges the columns as `text` says, which `columns_text` gave.
void place_columns(QTableView& view, std::span<const ColumnSpec> specs, std::string_view text);
std::string columns_text(const QTableView& view, std::span<const ColumnSpec> specs);

}  // namespace gridtorrent::gui
