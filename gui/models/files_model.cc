#include "gui/models/files_model.h"

#include <algorithm>
#include <array>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::size_t kAtOnce = 500;

constexpr std::array<ColumnSpec, 3> kColumns{{
    {"name", QT_TRANSLATE_NOOP("gridtorrent::gui::FilesModel", "Name"), false, 60},
    {"size", QT_TRANSLATE_NOOP("gridtorrent::gui::FilesModel", "Size"), true, 12},
    {"files", QT_TRANSLATE_NOOP("gridtorrent::gui::FilesModel", "Files"), true, 10},
}};

}  // namespace

/// What a view has seen of a folder. A folder that was never opened has neither entries nor nodes.
struct FilesModel::Node {
  Node* parent = nullptr;
  int row = 0;
  bool opened = false;
  std::vector<FileTree::Entry> entries;      // all of them
  std::vector<std::unique_ptr<Node>> nodes;  // of those that a view has asked for
};

FilesModel::FilesModel(Format format, Boxes boxes, QObject* parent)
    : QAbstractItemModel(parent), format_(std::move(format)), boxes_(boxes), top_(std::make_unique<Node>()) {}

FilesModel::~FilesModel() = default;

std::span<const ColumnSpec> FilesModel::columns() {
  return kColumns;
}

void FilesModel::set_tree(FileTree tree) {
  beginResetModel();
  all_ = std::move(tree);
  narrowed_.reset();
  chosen_.assign(all_.files(), true);
  top_ = std::make_unique<Node>();
  count();
  endResetModel();
  Q_EMIT choice_changed();
}

void FilesModel::set_chosen(std::vector<bool> chosen) {
  chosen.resize(all_.files());
  if (chosen == chosen_) return;
  chosen_ = std::move(chosen);
  count();
  tell_boxes({});
  Q_EMIT choice_changed();
}

void FilesModel::set_boxes(Boxes boxes) {
  if (boxes_ == boxes) return;
  boxes_ = boxes;
  tell_boxes({});
}

void FilesModel::set_filter(std::string_view part) {
  beginResetModel();
  narrowed_.reset();
  if (!part.empty()) narrowed_ = all_.narrowed(part, which_);
  top_ = std::make_unique<Node>();
  count();
  endResetModel();
}

void FilesModel::choose(bool on) {
  choose(0, visible().files(), on);
}

/// Of the files that are shown.
void FilesModel::choose(std::size_t first, std::size_t end, bool on) {
  for (std::size_t i = first; i < end; ++i) chosen_[place(i)] = on;
  count();
  tell_boxes({});
  Q_EMIT choice_changed();
}

/// All of it anew: some milliseconds for a million files, and then each box costs two reads.
void FilesModel::count() {
  before_.assign(1, 0);
  for (std::size_t i = 0; i < visible().files(); ++i) before_.push_back(before_.back() + (chosen_[place(i)] ? 1 : 0));
  chosen_bytes_ = chosen_files_ = 0;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (!chosen_[i]) continue;
    ++chosen_files_;
    chosen_bytes_ += all_.file(i).bytes;
  }
}

/// Folders above and below one that was ticked have other boxes, too: all that views have seen.
void FilesModel::tell_boxes(const QModelIndex& parent) {
  const int rows = rowCount(parent);
  if (rows == 0) return;
  Q_EMIT dataChanged(index(0, kName, parent), index(rows - 1, kName, parent), {Qt::CheckStateRole});
  for (int row = 0; row < rows; ++row) tell_boxes(index(row, kName, parent));
}

Qt::CheckState FilesModel::state(const FileTree::Entry& entry) const {
  const std::size_t some = before_[entry.end] - before_[entry.first];
  if (some == 0) return Qt::Unchecked;
  return some == entry.end - entry.first ? Qt::Checked : Qt::PartiallyChecked;
}

bool FilesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (boxes_ == Boxes::kNone || role != Qt::CheckStateRole || index.column() != kName ||
      !checkIndex(index, CheckIndexOption::IndexIsValid))
    return false;
  const Node& folder = *static_cast<const Node*>(index.internalPointer());
  const FileTree::Entry entry = folder.entries[static_cast<std::size_t>(index.row())];
  choose(entry.first, entry.end, value.toInt() != Qt::Unchecked);
  return true;
}

Qt::ItemFlags FilesModel::flags(const QModelIndex& index) const {
  const bool box = boxes_ == Boxes::kToChoose && index.isValid() && index.column() == kName;
  return box ? QAbstractItemModel::flags(index) | Qt::ItemIsUserCheckable : QAbstractItemModel::flags(index);
}

FilesModel::Node& FilesModel::node_of(const QModelIndex& index) const {
  if (!index.isValid()) return *top_;
  Node& folder = *static_cast<Node*>(index.internalPointer());
  return *folder.nodes[static_cast<std::size_t>(index.row())];
}

QModelIndex FilesModel::index(int row, int column, const QModelIndex& parent) const {
  return hasIndex(row, column, parent) ? createIndex(row, column, &node_of(parent)) : QModelIndex();
}

QModelIndex FilesModel::parent(const QModelIndex& child) const {
  if (!child.isValid()) return {};
  const Node* folder = static_cast<const Node*>(child.internalPointer());
  return folder->parent == nullptr ? QModelIndex() : createIndex(folder->row, 0, folder->parent);
}

int FilesModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(node_of(parent).nodes.size());
}

int FilesModel::columnCount(const QModelIndex&) const {
  return static_cast<int>(kColumns.size());
}

bool FilesModel::hasChildren(const QModelIndex& parent) const {
  if (!parent.isValid()) return visible().files() > 0;
  const Node& folder = *static_cast<const Node*>(parent.internalPointer());
  return parent.column() == 0 && folder.entries[static_cast<std::size_t>(parent.row())].folder;
}

bool FilesModel::canFetchMore(const QModelIndex& parent) const {
  if (!hasChildren(parent)) return false;
  const Node& node = node_of(parent);
  return !node.opened || node.nodes.size() < node.entries.size();
}

void FilesModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  Node& node = node_of(parent);
  if (!node.opened) {
    node.opened = true;
    if (parent.isValid()) {
      const Node& folder = *static_cast<const Node*>(parent.internalPointer());
      node.entries = visible().entries(folder.entries[static_cast<std::size_t>(parent.row())]);
    } else {
      node.entries = visible().entries();
    }
  }
  const std::size_t first = node.nodes.size();
  const std::size_t end = std::min(first + kAtOnce, node.entries.size());
  beginInsertRows(parent, static_cast<int>(first), static_cast<int>(end) - 1);
  for (std::size_t row = first; row < end; ++row) {
    node.nodes.push_back(std::make_unique<Node>());
    node.nodes.back()->parent = &node;
    node.nodes.back()->row = static_cast<int>(row);
  }
  endInsertRows();
}

QVariant FilesModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Node& folder = *static_cast<const Node*>(index.internalPointer());
  const FileTree::Entry& entry = folder.entries[static_cast<std::size_t>(index.row())];
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return cell(entry, index.column());
    case Qt::ToolTipRole:
      return index.column() == kName ? tooltip(shown(visible().path(entry))) : QString();
    case Qt::AccessibleTextRole:
      return index.column() == kName ? sentence(entry) : tr("%1: %2").arg(tr(spec.title), cell(entry, index.column()));
    case Qt::CheckStateRole:
      return boxes_ == Boxes::kToChoose && index.column() == kName ? QVariant(static_cast<int>(state(entry)))
                                                                   : QVariant();
    case Qt::TextAlignmentRole:
      return alignment(spec);
    default:
      return {};
  }
}

QVariant FilesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(section)];
  return header_data(spec, tr(spec.title), role);
}

QString FilesModel::cell(const FileTree::Entry& entry, int column) const {
  switch (column) {
    case kName:
      return entry.folder ? shown(visible().name(entry)) + u'/' : shown(visible().name(entry));
    case kSize:
      return format_.bytes(visible().bytes(entry));
    case kFiles:
      return entry.folder ? format_.count(entry.end - entry.first) : QString();
    default:
      return {};
  }
}

QString FilesModel::sentence(const FileTree::Entry& entry) const {
  const QString name = shown(visible().name(entry));
  const QString size = format_.bytes(visible().bytes(entry));
  return entry.folder ? tr("Folder %1, %2 in files: %3.").arg(name, size, format_.count(entry.end - entry.first))
                      : tr("File %1, %2.").arg(name, size);
}

}  // namespace gridtorrent::gui
