#include "gui/models/transfers_model.h"

#include <algorithm>
#include <array>
#include <limits>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr int kHidden = -1;
constexpr int kComing = -2;  // in the delta at hand, to be shown at its end

constexpr std::array<ColumnSpec, 8> kColumns{{
    {"name", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Name"), false, 34},
    {"state", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "State"), false, 10},
    {"done", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Done"), false, 12},
    {"down", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Down"), true, 15},
    {"up", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Up"), true, 15},
    {"lanes", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Lanes × seeders"), true, 19},
    {"left", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Left"), true, 12},
    {"limit", QT_TRANSLATE_NOOP("gridtorrent::gui::TransfersModel", "Limited by"), false, 12},
}};

bool moves_data(TransferState state) {
  return state == TransferState::kFetching || state == TransferState::kHashing || state == TransferState::kVerifying;
}

}  // namespace

struct TransfersModel::Entry {
  TransferRow row;
  QString name;    // safe to show
  QString folded;  // what the filter looks into
  QCollatorSortKey key;
  int at = kHidden;
};

/// What a delta does to the rows that are shown.
struct TransfersModel::Changes {
  std::vector<Entry*> coming;
  std::unordered_set<Entry*> leaving;
  std::vector<std::string> forgotten;
  int first = std::numeric_limits<int>::max(), last = -1;  // rows whose values changed
};

TransfersModel::TransfersModel(Format format, QObject* parent)
    : QAbstractTableModel(parent), format_(std::move(format)) {
  collator_.setNumericMode(true);
  collator_.setCaseSensitivity(Qt::CaseInsensitive);
}

TransfersModel::~TransfersModel() = default;

std::span<const ColumnSpec> TransfersModel::columns() {
  return kColumns;
}

void TransfersModel::replace(std::vector<TransferRow> all) {
  std::unordered_set<std::string_view> stays;
  for (const TransferRow& row : all) stays.insert(row.id);
  std::vector<std::string> removed;
  for (const auto& [id, entry] : entries_)
    if (!stays.contains(id)) removed.push_back(id);
  apply({std::move(all), std::move(removed)});
  settle();
}

void TransfersModel::apply(TransferDelta delta) {
  Changes changes;
  for (TransferRow& row : delta.changed) note_changed(put(std::move(row)), changes);
  note_removed(delta.removed, changes);
  if (changes.last >= 0) Q_EMIT dataChanged(index(changes.first, 0), index(changes.last, columnCount() - 1));
  take_out(changes.leaving);
  for (const std::string& id : changes.forgotten) forget(id);
  append(changes.coming);
  Q_EMIT rates_changed(rates_);
}

void TransfersModel::note_changed(Entry& entry, Changes& changes) {
  const bool fitting = fits(entry);
  if (entry.at >= 0) {
    changes.first = std::min(changes.first, entry.at);
    changes.last = std::max(changes.last, entry.at);
    if (fitting)
      changes.leaving.erase(&entry);
    else
      changes.leaving.insert(&entry);
  } else if (fitting && entry.at == kHidden) {
    entry.at = kComing;
    changes.coming.push_back(&entry);
  } else if (!fitting && entry.at == kComing) {
    entry.at = kHidden;
    std::erase(changes.coming, &entry);
  }
}

void TransfersModel::note_removed(const std::vector<std::string>& ids, Changes& changes) {
  for (const std::string& id : ids) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) continue;
    Entry* entry = found->second.get();
    if (entry->at >= 0) changes.leaving.insert(entry);
    if (entry->at == kComing) std::erase(changes.coming, entry);
    changes.forgotten.push_back(id);
  }
}

TransfersModel::Entry& TransfersModel::put(TransferRow row) {
  auto& place = entries_[row.id];
  const bool fresh = !place;
  if (fresh) place = std::make_unique<Entry>(Entry{{}, {}, {}, collator_.sortKey({}), kHidden});
  Entry& entry = *place;
  const std::uint64_t before = number_key(entry);
  const bool renamed = fresh || entry.row.name != row.name || entry.row.owner != row.owner;
  rates_.down += row.down_bits_per_s - entry.row.down_bits_per_s;
  rates_.up += row.up_bits_per_s - entry.row.up_bits_per_s;
  entry.row = std::move(row);
  if (renamed) {
    entry.name = shown(entry.row.name);
    entry.folded = (shown(entry.row.owner) + u'/' + entry.name).toCaseFolded();
    entry.key = collator_.sortKey(entry.name);
  }
  if (renamed || before != number_key(entry)) unsorted_ = true;
  return entry;
}

void TransfersModel::forget(const std::string& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  rates_.down -= found->second->row.down_bits_per_s;
  rates_.up -= found->second->row.up_bits_per_s;
  entries_.erase(found);
}

bool TransfersModel::fits(const Entry& entry) const {
  if (filter_.state && entry.row.state != *filter_.state) return false;
  return filter_.text.isEmpty() || entry.folded.contains(filter_.text);
}

void TransfersModel::set_filter(TransferFilter filter) {
  filter_ = std::move(filter);
  filter_.text = filter_.text.toCaseFolded();
  Changes changes;
  for (const auto& [id, entry] : entries_) {
    const bool fitting = fits(*entry);
    if (fitting && entry->at == kHidden) changes.coming.push_back(entry.get());
    if (!fitting && entry->at >= 0) changes.leaving.insert(entry.get());
  }
  take_out(changes.leaving);
  append(changes.coming);
  settle();
}

void TransfersModel::settle() {
  if (!unsorted_) return;
  unsorted_ = false;
  std::vector<Entry*> order = in_order();
  if (order != shown_) arrange(std::move(order));
}

void TransfersModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  sort_column_ = column;
  sort_order_ = order;
  unsorted_ = true;
  settle();
}

/// Larger is "more". What is not known comes last, going up.
std::uint64_t TransfersModel::number_key(const Entry& entry) const {
  const TransferRow& row = entry.row;
  switch (sort_column_) {
    case kState:
      return static_cast<std::uint64_t>(row.state);
    case kDone:
      return row.total_bytes == 0 ? 0
                                  : static_cast<std::uint64_t>(static_cast<long double>(row.verified_bytes) /
                                                               static_cast<long double>(row.total_bytes) * 1e9L);
    case kDown:
      return row.down_bits_per_s;
    case kUp:
      return row.up_bits_per_s;
    case kLanes:
      return std::uint64_t{row.lanes} * row.seeders;
    case kLeft:
      return row.left ? static_cast<std::uint64_t>(row.left->count()) : std::numeric_limits<std::uint64_t>::max();
    case kLimit:
      return limit_rank(row.limit_word);
    default:
      return 0;
  }
}

/// Equal ones keep the order that they have.
std::vector<TransfersModel::Entry*> TransfersModel::in_order() const {
  const bool down = sort_order_ == Qt::DescendingOrder;
  std::vector<Entry*> order = shown_;
  if (sort_column_ == kName) {
    std::ranges::stable_sort(order, [down](const Entry* a, const Entry* b) {
      return down ? b->key.compare(a->key) < 0 : a->key.compare(b->key) < 0;
    });
  } else {
    std::vector<std::pair<std::uint64_t, Entry*>> keyed;
    keyed.reserve(order.size());
    for (Entry* entry : order) keyed.emplace_back(number_key(*entry), entry);
    std::ranges::stable_sort(
        keyed, [down](const auto& a, const auto& b) { return down ? b.first < a.first : a.first < b.first; });
    std::ranges::transform(keyed, order.begin(), [](const auto& pair) { return pair.second; });
  }
  return order;
}

void TransfersModel::arrange(std::vector<Entry*> order) {
  Q_EMIT layoutAboutToBeChanged({}, QAbstractItemModel::VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  std::vector<const Entry*> of;
  for (const QModelIndex& index : before) of.push_back(shown_[static_cast<std::size_t>(index.row())]);
  shown_ = std::move(order);
  renumber(0);
  QModelIndexList after;
  after.reserve(before.size());
  for (qsizetype i = 0; i < before.size(); ++i)
    after.append(index(of[static_cast<std::size_t>(i)]->at, before[i].column()));
  changePersistentIndexList(before, after);
  Q_EMIT layoutChanged({}, QAbstractItemModel::VerticalSortHint);
}

void TransfersModel::append(const std::vector<Entry*>& fresh) {
  if (fresh.empty()) return;
  const std::size_t first = shown_.size();
  beginInsertRows({}, static_cast<int>(first), static_cast<int>(first + fresh.size()) - 1);
  shown_.insert(shown_.end(), fresh.begin(), fresh.end());
  renumber(first);
  unsorted_ = true;
  endInsertRows();
}

/// One span goes as it is. Scattered rows are moved to the end first, so that any number of them costs two signals.
void TransfersModel::take_out(const std::unordered_set<Entry*>& leaving) {
  if (leaving.empty()) return;
  const auto [least, most] = std::ranges::minmax(leaving, {}, &Entry::at);
  auto first = static_cast<std::size_t>(least->at);
  if (static_cast<std::size_t>(most->at - least->at) + 1 != leaving.size()) {
    std::vector<Entry*> order = shown_;
    std::ranges::stable_partition(order, [&](Entry* entry) { return !leaving.contains(entry); });
    arrange(std::move(order));
    first = shown_.size() - leaving.size();
  }
  const std::size_t end = first + leaving.size();
  beginRemoveRows({}, static_cast<int>(first), static_cast<int>(end) - 1);
  for (Entry* entry : leaving) entry->at = kHidden;
  const auto begin = shown_.begin();
  shown_.erase(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end));
  renumber(first);
  endRemoveRows();
}

void TransfersModel::renumber(std::size_t first) {
  for (std::size_t i = first; i < shown_.size(); ++i) shown_[i]->at = static_cast<int>(i);
}

const TransferRow* TransfersModel::at(const QModelIndex& index) const {
  if (!index.isValid() || index.model() != this || index.row() >= rowCount()) return nullptr;
  return &shown_[static_cast<std::size_t>(index.row())]->row;
}

QModelIndex TransfersModel::index_of(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() || found->second->at < 0 ? QModelIndex() : index(found->second->at, 0);
}

int TransfersModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

int TransfersModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(kColumns.size());
}

QVariant TransfersModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Entry& entry = *shown_[static_cast<std::size_t>(index.row())];
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return cell(entry, index.column());
    case Qt::ToolTipRole:
      return tooltip(tip(entry, index.column()));
    case Qt::AccessibleTextRole:
      if (index.column() == kName) return sentence(entry);
      return tr("%1: %2").arg(tr(spec.title), cell(entry, index.column()));
    case Qt::TextAlignmentRole:
      return alignment(spec);
    case kIdRole:
      return QByteArray::fromStdString(entry.row.id);
    case kDoneRole:
      if (entry.row.total_bytes == 0 || entry.row.verified_bytes > entry.row.total_bytes) return -1;
      return static_cast<int>(static_cast<long double>(entry.row.verified_bytes) /
                              static_cast<long double>(entry.row.total_bytes) * 1000);
    default:
      return {};
  }
}

QVariant TransfersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(section)];
  return header_data(spec, tr(spec.title), role);
}

QString TransfersModel::cell(const Entry& entry, int column) const {
  const TransferRow& row = entry.row;
  switch (column) {
    case kName:
      return entry.name;
    case kState:
      return state_text(row.state);
    case kDone:
      return format_.percent(row.verified_bytes, row.total_bytes);
    case kDown:
      return row.down_bits_per_s == 0 ? Format::none() : format_.rate(row.down_bits_per_s);
    case kUp:
      return row.up_bits_per_s == 0 ? Format::none() : format_.rate(row.up_bits_per_s);
    case kLanes:
      return row.lanes == 0 ? Format::none() : tr("%1 × %2").arg(format_.count(row.lanes), format_.count(row.seeders));
    case kLeft:
      return moves_data(row.state) ? format_.duration(row.left) : Format::none();
    case kLimit:
      return row.limit_word.empty() ? Format::none() : limit_text(row.limit_word);
    default:
      return {};
  }
}

QString TransfersModel::sentence(const Entry& entry) const {
  const TransferRow& row = entry.row;
  QString text = tr("%1 of %2, %3, %4 of %5")
                     .arg(entry.name, shown(row.owner), state_text(row.state),
                          format_.percent(row.verified_bytes, row.total_bytes), format_.bytes(row.total_bytes));
  if (row.down_bits_per_s > 0)
    text += tr(", %1 down, lanes %2, seeders %3")
                .arg(format_.rate(row.down_bits_per_s), format_.count(row.lanes), format_.count(row.seeders));
  if (row.up_bits_per_s > 0) text += tr(", %1 up").arg(format_.rate(row.up_bits_per_s));
  if (moves_data(row.state) && row.left) text += tr(", %1 left").arg(format_.duration(row.left));
  if (!row.limit_word.empty()) text += tr(", limited by %1").arg(limit_text(row.limit_word));
  if (!row.message.empty()) text += tr(", %1").arg(shown(row.message));
  return text + u'.';
}

QString TransfersModel::tip(const Entry& entry, int column) const {
  const TransferRow& row = entry.row;
  if (column == kState && !row.message.empty()) return shown(row.message);
  if (column == kDone) return tr("%1 of %2").arg(format_.bytes(row.verified_bytes), format_.bytes(row.total_bytes));
  if (column != kName) return {};
  const QString full = shown(row.owner) + u'/' + entry.name;
  return row.path.empty() ? full : full + u'\n' + shown(row.path);
}

}  // namespace gridtorrent::gui
