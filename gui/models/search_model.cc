#include "gui/models/search_model.h"

#include <array>
#include <iterator>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::array<ColumnSpec, 9> kColumns{{
    {"name", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Name"), false, 30},
    {"owner", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Owner"), false, 12},
    {"size", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Size"), true, 10},
    {"files", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Files"), true, 9},
    {"access", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Access"), false, 16},
    {"seeders", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Seeders"), true, 11},
    {"here", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Here"), false, 6},
    {"published", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Published"), false, 25},
    {"tags", QT_TRANSLATE_NOOP("gridtorrent::gui::SearchModel", "Tags"), false, 20},
}};

QString tags_text(const FoundRow& row) {
  QStringList tags;
  for (const std::string& tag : row.tags) tags.append(shown(tag));
  return tags.join(QStringLiteral(", "));
}

}  // namespace

SearchModel::SearchModel(Format format, QObject* parent) : QAbstractTableModel(parent), format_(std::move(format)) {}

std::span<const ColumnSpec> SearchModel::columns() {
  return kColumns;
}

std::uint64_t SearchModel::start() {
  next_.clear();
  asked_ = false;
  return ++newest_;
}

void SearchModel::add(std::uint64_t search, FoundPage page) {
  if (search != newest_) return;
  asked_ = false;
  if (answered_ != newest_) {
    beginResetModel();
    answered_ = newest_;
    rows_ = std::move(page.rows);
    next_ = std::move(page.next);
    endResetModel();
    return;
  }
  next_ = std::move(page.next);
  if (page.rows.empty()) return;
  const int first = rowCount();
  beginInsertRows({}, first, first + static_cast<int>(page.rows.size()) - 1);
  rows_.insert(rows_.end(), std::make_move_iterator(page.rows.begin()), std::make_move_iterator(page.rows.end()));
  endInsertRows();
}

void SearchModel::fail(std::uint64_t search) {
  if (search == newest_) asked_ = false;
}

const FoundRow* SearchModel::at(const QModelIndex& index) const {
  if (!index.isValid() || index.model() != this || index.row() >= rowCount()) return nullptr;
  return &rows_[static_cast<std::size_t>(index.row())];
}

int SearchModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int SearchModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kColumns.size());
}

bool SearchModel::canFetchMore(const QModelIndex& parent) const {
  return !parent.isValid() && !next_.empty() && !asked_;
}

void SearchModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  asked_ = true;
  Q_EMIT page_wanted(newest_, next_);
}

QVariant SearchModel::data(const QModelIndex& index, int role) const {
  const FoundRow* row = at(index);
  if (row == nullptr) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return cell(*row, index.column());
    case Qt::ToolTipRole:
      return index.column() == kName   ? tooltip(shown(row->owner) + u'/' + shown(row->name))
             : index.column() == kTags ? tooltip(tags_text(*row))
                                       : QString();
    case Qt::AccessibleTextRole:
      return index.column() == kName ? sentence(*row) : tr("%1: %2").arg(tr(spec.title), cell(*row, index.column()));
    case Qt::TextAlignmentRole:
      return alignment(spec);
    default:
      return {};
  }
}

QVariant SearchModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(section)];
  return header_data(spec, tr(spec.title), role);
}

QString SearchModel::cell(const FoundRow& row, int column) const {
  switch (column) {
    case kName:
      return shown(row.name);
    case kOwner:
      return shown(row.owner);
    case kSize:
      return format_.bytes(row.bytes);
    case kFiles:
      return format_.count(row.files);
    case kAccess:
      return shown(row.access);
    case kSeeders:
      return format_.count(row.seeders);
    case kHere:
      return row.here ? QStringLiteral("✔") : Format::none();
    case kPublished:
      return format_.moment(row.published_ms);
    case kTags:
      return tags_text(row);
    default:
      return {};
  }
}

QString SearchModel::sentence(const FoundRow& row) const {
  QString text = tr("%1 of %2, %3 in files: %4, access %5, seeders: %6")
                     .arg(shown(row.name), shown(row.owner), format_.bytes(row.bytes), format_.count(row.files),
                          shown(row.access), format_.count(row.seeders));
  if (row.here) text += tr(", on this node");
  return text + u'.';
}

}  // namespace gridtorrent::gui
