#include "gui/views/table_setup.h"

#include <QHeaderView>
#include <QMenu>

namespace gridtorrent::gui {

namespace {

void show_column_menu(QTableView& view, const QPoint& at) {
  QMenu menu(&view);
  for (int column = 1; column < view.model()->columnCount(); ++column) {
    QAction* action = menu.addAction(view.model()->headerData(column, Qt::Horizontal).toString());
    action->setCheckable(true);
    action->setChecked(!view.isColumnHidden(column));
    QObject::connect(action, &QAction::toggled, &view, [&view, column](bool on) { view.setColumnHidden(column, !on); });
  }
  menu.exec(at);
}

}  // namespace

void set_up_table(QTableView& view, std::span<const ColumnSpec> specs) {
  view.setSelectionBehavior(QAbstractItemView::SelectRows);
  view.setSelectionMode(QAbstractItemView::ExtendedSelection);
  view.setShowGrid(false);
  view.setWordWrap(false);
  view.setAlternatingRowColors(true);
  view.setTabKeyNavigation(false);
  view.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  view.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view.verticalHeader()->hide();
  view.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() + 10);
  QHeaderView& header = *view.horizontalHeader();
  header.setSectionsMovable(true);
  header.setHighlightSections(false);
  header.setStretchLastSection(true);
  header.setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(&header, &QHeaderView::customContextMenuRequested, &view,
                   [&view](const QPoint& at) { show_column_menu(view, view.horizontalHeader()->mapToGlobal(at)); });
  place_columns(view, specs, {});
}

void set_up_tree(QTreeView& view, std::span<const ColumnSpec> specs) {
  view.setUniformRowHeights(true);
  view.setAlternatingRowColors(true);
  view.setAllColumnsShowFocus(true);
  view.header()->setStretchLastSection(false);
  for (int column = 0; column < static_cast<int>(specs.size()); ++column)
    view.header()->resizeSection(column,
                                 specs[static_cast<std::size_t>(column)].width * view.fontMetrics().averageCharWidth());
}

void place_columns(QTableView& view, std::span<const ColumnSpec> specs, std::string_view text) {
  QHeaderView& header = *view.horizontalHeader();
  int position = 0;
  for (const ColumnPlace& place : read_columns(specs, text)) {
    const int usual = specs[static_cast<std::size_t>(place.column)].width * view.fontMetrics().averageCharWidth();
    header.moveSection(header.visualIndex(place.column), position++);
    header.resizeSection(place.column, place.width > 0 ? place.width : usual);
    header.setSectionHidden(place.column, place.hidden);
  }
}

std::string columns_text(const QTableView& view, std::span<const ColumnSpec> specs) {
  const QHeaderView& header = *view.horizontalHeader();
  std::vector<ColumnPlace> places;
  for (int position = 0; position < header.count(); ++position) {
    const int column = header.logicalIndex(position);
    const bool hidden = header.isSectionHidden(column);
    places.push_back({column, hidden ? 0 : header.sectionSize(column), hidden});
  }
  return write_columns(specs, places);
}

}  // namespace gridtorrent::gui
