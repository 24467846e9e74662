#pragma once

#include <QAbstractTableModel>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/format.h"

namespace gridtorrent::gui {

/// A content that a search found. Strings are bytes that others wrote.
struct FoundRow {
  std::string id;
  std::string name;
  std::string owner;
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  std::string access;  ///< "public", "private", "group:NAME" …
  std::uint32_t seeders = 0;
  bool here = false;  ///< this node has it, or fetches it
  std::int64_t published_ms = 0;
  std::vector<std::string> tags;
};

struct FoundPage {
  std::vector<FoundRow> rows;
  std::string next;  ///< names the page after this one; empty: this is the last
};

/// Results of one search, page by page, in the server's order. The rows of the search before stay until the first page
/// of the new one is there, so that nothing blinks while somebody types. GUI thread only.
class SearchModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kName, kOwner, kSize, kFiles, kAccess, kSeeders, kHere, kPublished, kTags };

  explicit SearchModel(Format format, QObject* parent = nullptr);
  static std::span<const ColumnSpec> columns();

  /// A new search: its pages bear the number that this answers, and pages of earlier ones are passed over from now on.
  std::uint64_t start();
  /// Replaces the rows by the first page of a search; later ones are added at the end.
  void add(std::uint64_t search, FoundPage page);
  /// The page that was asked for did not come; a view that is scrolled on asks for it again.
  void fail(std::uint64_t search);

  const FoundRow* at(const QModelIndex& index) const;
  /// Whether there are pages that nobody has scrolled to.
  bool has_more() const { return !next_.empty(); }
  /// Whether the first page of the newest search is there.
  bool is_answered() const { return answered_ == newest_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;

 Q_SIGNALS:
  /// The view has come to the end of what is here: please `add` this page.
  void page_wanted(quint64 search, const std::string& page);

 private:
  QString cell(const FoundRow& row, int column) const;
  QString sentence(const FoundRow& row) const;

  Format format_;
  std::vector<FoundRow> rows_;
  std::string next_;
  std::uint64_t newest_ = 0;
  std::uint64_t answered_ = 0;
  bool asked_ = false;
};

}  // namespace gridtorrent::gui
