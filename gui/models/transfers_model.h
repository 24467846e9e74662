#pragma once

#include <QAbstractTableModel>
#include <QCollator>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/format.h"
#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

/// The node's transfers as a table that keeps its own order. Sorting again is left to `settle`, which its owner calls
/// once a second: rows do not jump with every delta, and no proxy sorts row by row. Selections and other persistent
/// indexes follow their transfers. Each row costs one `Entry` on the heap. GUI thread only.
class TransfersModel final : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kName, kState, kDone, kDown, kUp, kLanes, kLeft, kLimit };
  enum Role {
    kIdRole = Qt::UserRole,  ///< QByteArray
    kDoneRole,               ///< int, thousandths; -1: no share of anything
  };

  /// Of all transfers together, bits a second.
  struct Rates {
    std::uint64_t down = 0;
    std::uint64_t up = 0;
    friend bool operator==(const Rates&, const Rates&) = default;
  };

  explicit TransfersModel(Format format, QObject* parent = nullptr);
  ~TransfersModel() override;

  static std::span<const ColumnSpec> columns();

  /// A whole snapshot: what is not in it is gone. Sorts.
  void replace(std::vector<TransferRow> all);
  /// A delta: one dataChanged for all rows that stay; new ones come at the end, until `settle`.
  void apply(TransferDelta delta);
  /// Shows what fits the filter. Sorts.
  void set_filter(TransferFilter filter);
  /// Brings the rows into order where a value that decides it has changed since.
  void settle();

  /// The transfer of a row that is shown; null for an index of no row. Valid until the next change.
  const TransferRow* at(const QModelIndex& index) const;
  /// Where the transfer is shown; invalid where it is not.
  QModelIndex index_of(const std::string& id) const;
  /// All transfers, those that the filter hides included.
  std::size_t size() const { return entries_.size(); }
  Rates rates() const { return rates_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 Q_SIGNALS:
  /// After each delta.
  void rates_changed(gridtorrent::gui::TransfersModel::Rates rates);

 private:
  struct Entry;
  struct Changes;

  Entry& put(TransferRow row);
  void note_changed(Entry& entry, Changes& changes);
  void note_removed(const std::vector<std::string>& ids, Changes& changes);
  void forget(const std::string& id);
  bool fits(const Entry& entry) const;
  std::uint64_t number_key(const Entry& entry) const;
  std::vector<Entry*> in_order() const;
  void arrange(std::vector<Entry*> order);
  void append(const std::vector<Entry*>& fresh);
  void take_out(const std::unordered_set<Entry*>& leaving);
  void renumber(std::size_t first);
  QString cell(const Entry& entry, int column) const;
  QString sentence(const Entry& entry) const;
  QString tip(const Entry& entry, int column) const;

  Format format_;
  QCollator collator_;
  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  std::vector<Entry*> shown_;  // what the view sees, in its order
  Rates rates_;
  TransferFilter filter_;
  int sort_column_ = kName;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  bool unsorted_ = false;
};

}  // namespace gridtorrent::gui
