#include "gui/models/peers_model.h"

#include <algorithm>
#include <array>

#include "gui/models/text.h"

namespace gridtorrent::gui {

namespace {

constexpr std::array<ColumnSpec, 8> kColumns{{
    {"who", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Node or lane"), false, 48},
    {"state", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "State"), false, 17},
    {"down", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Down"), true, 15},
    {"up", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Up"), true, 15},
    {"received", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Received"), true, 13},
    {"sent", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Sent"), true, 10},
    {"round-trip", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Round trip"), true, 14},
    {"retransmits", QT_TRANSLATE_NOOP("gridtorrent::gui::PeersModel", "Retransmits"), true, 15},
}};

bool is_same(const PeerRow& a, const PeerRow& b) {
  return a.node_id == b.node_id && a.address == b.address;
}
bool is_same(const LaneRow& a, const LaneRow& b) {
  return a.local == b.local && a.remote == b.remote;
}

template <class Row>
auto find_same(std::vector<Row>& rows, const Row& row) {
  return std::ranges::find_if(rows, [&](const Row& other) { return is_same(other, row); });
}

}  // namespace

struct PeersModel::Peer {
  PeerRow row;
};

PeersModel::PeersModel(Format format, QObject* parent) : QAbstractItemModel(parent), format_(std::move(format)) {}

PeersModel::~PeersModel() = default;

std::span<const ColumnSpec> PeersModel::columns() {
  return kColumns;
}

void PeersModel::set_peers(std::vector<PeerRow> peers) {
  const int last_column = columnCount() - 1;
  for (int row = static_cast<int>(peers_.size()) - 1; row >= 0; --row) {
    Peer& peer = *peers_[static_cast<std::size_t>(row)];
    const auto now = find_same(peers, peer.row);
    if (now == peers.end()) {
      beginRemoveRows({}, row, row);
      peers_.erase(peers_.begin() + row);
      endRemoveRows();
      continue;
    }
    std::vector<LaneRow> lanes = std::move(now->lanes);
    now->lanes = peer.row.lanes;
    if (peer.row != *now) {
      peer.row = *now;
      Q_EMIT dataChanged(index(row, 0), index(row, last_column));
    }
    update_lanes(index(row, 0), peer, std::move(lanes));
    peers.erase(now);
  }
  if (peers.empty()) return;
  const int first = static_cast<int>(peers_.size());
  beginInsertRows({}, first, first + static_cast<int>(peers.size()) - 1);
  for (PeerRow& peer : peers) peers_.push_back(std::make_unique<Peer>(Peer{std::move(peer)}));
  endInsertRows();
}

void PeersModel::update_lanes(const QModelIndex& at, Peer& peer, std::vector<LaneRow> lanes) {
  std::vector<LaneRow>& here = peer.row.lanes;
  for (int row = static_cast<int>(here.size()) - 1; row >= 0; --row) {
    LaneRow& lane = here[static_cast<std::size_t>(row)];
    const auto now = find_same(lanes, lane);
    if (now == lanes.end()) {
      beginRemoveRows(at, row, row);
      here.erase(here.begin() + row);
      endRemoveRows();
      continue;
    }
    if (lane != *now) {
      lane = std::move(*now);
      Q_EMIT dataChanged(index(row, 0, at), index(row, columnCount() - 1, at));
    }
    lanes.erase(now);
  }
  if (lanes.empty()) return;
  const int first = static_cast<int>(here.size());
  beginInsertRows(at, first, first + static_cast<int>(lanes.size()) - 1);
  std::ranges::move(lanes, std::back_inserter(here));
  endInsertRows();
}

/// A lane's index points to its peer, a peer's to nothing.
const PeersModel::Peer* PeersModel::parent_of(const QModelIndex& index) const {
  return static_cast<const Peer*>(index.internalPointer());
}

int PeersModel::row_of(const Peer* peer) const {
  return static_cast<int>(std::ranges::find(peers_, peer, &std::unique_ptr<Peer>::get) - peers_.begin());
}

QModelIndex PeersModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  const Peer* peer = parent.isValid() ? peers_[static_cast<std::size_t>(parent.row())].get() : nullptr;
  return createIndex(row, column, peer);
}

QModelIndex PeersModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || parent_of(child) == nullptr) return {};
  return createIndex(row_of(parent_of(child)), 0, nullptr);
}

int PeersModel::rowCount(const QModelIndex& parent) const {
  if (!parent.isValid()) return static_cast<int>(peers_.size());
  if (parent.column() > 0 || parent_of(parent) != nullptr) return 0;
  return static_cast<int>(peers_[static_cast<std::size_t>(parent.row())]->row.lanes.size());
}

int PeersModel::columnCount(const QModelIndex&) const {
  return static_cast<int>(kColumns.size());
}

QVariant PeersModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(index.column())];
  const Peer* peer = parent_of(index);
  const auto row = static_cast<std::size_t>(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return peer != nullptr ? lane_cell(peer->row.lanes[row], index.column())
                             : peer_cell(peers_[row]->row, index.column());
    case Qt::AccessibleTextRole:
      return index.column() == kWho ? sentence(index)
                                    : tr("%1: %2").arg(tr(spec.title), data(index, Qt::DisplayRole).toString());
    case Qt::TextAlignmentRole:
      return alignment(spec);
    default:
      return {};
  }
}

QVariant PeersModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const ColumnSpec& spec = kColumns[static_cast<std::size_t>(section)];
  return header_data(spec, tr(spec.title), role);
}

QString PeersModel::peer_cell(const PeerRow& peer, int column) const {
  switch (column) {
    case kWho:
      return peer.name.empty() ? shown(peer.address) : tr("%1 (%2)").arg(shown(peer.name), shown(peer.address));
    case kState:
      return peer.complete ? tr("has all of it") : tr("has a part");
    case kDown:
      return peer.down_bits_per_s == 0 ? Format::none() : format_.rate(peer.down_bits_per_s);
    case kUp:
      return peer.up_bits_per_s == 0 ? Format::none() : format_.rate(peer.up_bits_per_s);
    case kReceived:
      return format_.bytes(peer.received_bytes);
    case kSent:
      return format_.bytes(peer.sent_bytes);
    default:
      return {};
  }
}

QString PeersModel::lane_cell(const LaneRow& lane, int column) const {
  switch (column) {
    case kWho:
      return tr("%1 → %2").arg(shown(lane.local), shown(lane.remote));
    case kState:
      return lane.congestion_control.empty() ? shown(lane.state)
                                             : tr("%1, %2").arg(shown(lane.state), shown(lane.congestion_control));
    case kDown:
      return lane.down_bits_per_s == 0 ? Format::none() : format_.rate(lane.down_bits_per_s);
    case kUp:
      return lane.up_bits_per_s == 0 ? Format::none() : format_.rate(lane.up_bits_per_s);
    case kRoundTrip:
      return format_.round_trip(lane.round_trip_us);
    case kRetransmits:
      return format_.count(lane.retransmits);
    default:
      return {};
  }
}

QString PeersModel::sentence(const QModelIndex& index) const {
  QStringList parts;
  for (int column = 0; column < columnCount(); ++column) {
    const QString text = data(index.siblingAtColumn(column), Qt::DisplayRole).toString();
    if (text.isEmpty() || text == Format::none()) continue;
    parts.append(column <= kState ? text : tr("%1 %2").arg(tr(kColumns[static_cast<std::size_t>(column)].title), text));
  }
  return parts.join(QStringLiteral(", ")) + u'.';
}

}  // namespace gridtorrent::gui
