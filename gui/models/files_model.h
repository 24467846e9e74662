#pragma once

#include <QAbstractItemModel>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/file_tree.h"
#include "gui/models/format.h"

namespace gridtorrent::gui {

/// The files of a content as a tree. A folder's entries are made when a view opens it, some hundreds at once. Where
/// files can be chosen, each has a check box, and a folder has one for all that is shown below it. GUI thread only.
class FilesModel final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kSize, kFiles };

  enum class Boxes : std::uint8_t { kNone, kToChoose };

  explicit FilesModel(Format format, Boxes boxes = Boxes::kNone, QObject* parent = nullptr);
  ~FilesModel() override;
  static std::span<const ColumnSpec> columns();

  /// All files are chosen.
  void set_tree(FileTree tree);
  /// An entry a file of the tree.
  void set_chosen(std::vector<bool> chosen);
  void set_boxes(Boxes boxes);
  const FileTree& tree() const { return all_; }
  /// Shows the files whose path has this part, ASCII case ignored. What is hidden stays chosen as it was.
  void set_filter(std::string_view part);
  /// Of all files that are shown.
  void choose(bool on);
  /// An entry a file of the tree.
  const std::vector<bool>& chosen() const { return chosen_; }
  std::uint64_t chosen_bytes() const { return chosen_bytes_; }
  std::uint64_t chosen_files() const { return chosen_files_; }

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 Q_SIGNALS:
  /// Other files are chosen, or other ones are there.
  void choice_changed();

 private:
  struct Node;

  const FileTree& visible() const { return narrowed_ ? *narrowed_ : all_; }
  std::size_t place(std::size_t visible) const { return narrowed_ ? which_[visible] : visible; }
  void choose(std::size_t first, std::size_t end, bool on);
  void count();
  void tell_boxes(const QModelIndex& parent);
  Qt::CheckState state(const FileTree::Entry& entry) const;
  Node& node_of(const QModelIndex& index) const;
  QString cell(const FileTree::Entry& entry, int column) const;
  QString sentence(const FileTree::Entry& entry) const;

  Format format_;
  Boxes boxes_;
  FileTree all_;
  std::optional<FileTree> narrowed_;  // what is shown, where that is not all
  std::vector<std::size_t> which_;    // the place in all_ of each file of narrowed_
  std::vector<bool> chosen_;
  std::vector<std::uint32_t> before_;  // chosen ones, of the files that are shown before
  std::uint64_t chosen_bytes_ = 0, chosen_files_ = 0;
  std::unique_ptr<Node> top_;
};

}  // namespace gridtorrent::gui
