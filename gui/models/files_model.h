#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <span>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/file_tree.h"
#include "gui/models/format.h"

namespace gridtorrent::gui {

/// The files of a content as a tree. A folder's entries are made when a view opens it, some hundreds at once. GUI
/// thread only.
class FilesModel final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kSize, kFiles };

  explicit FilesModel(Format format, QObject* parent = nullptr);
  ~FilesModel() override;
  static std::span<const ColumnSpec> columns();

  void set_tree(FileTree tree);
  const FileTree& tree() const { return tree_; }

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  struct Node;

  Node& node_of(const QModelIndex& index) const;
  QString cell(const FileTree::Entry& entry, int column) const;
  QString sentence(const FileTree::Entry& entry) const;

  Format format_;
  FileTree tree_;
  std::unique_ptr<Node> top_;
};

}  // namespace gridtorrent::gui
