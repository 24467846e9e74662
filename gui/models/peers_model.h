#pragma once

#include <QAbstractItemModel>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gui/models/columns.h"
#include "gui/models/format.h"

namespace gridtorrent::gui {

/// One TCP socket to a peer.
struct LaneRow {
  std::string local;  ///< "192.0.2.1:50000"
  std::string remote;
  std::string state;
  std::uint64_t down_bits_per_s = 0;
  std::uint64_t up_bits_per_s = 0;
  std::uint32_t round_trip_us = 0;  ///< 0: not measured
  std::uint64_t retransmits = 0;
  std::string congestion_control;
  friend bool operator==(const LaneRow&, const LaneRow&) = default;
};

/// Another node that this transfer exchanges data with. Strings are bytes that others wrote.
struct PeerRow {
  std::string node_id;
  std::string name;  ///< empty: only its address is known
  std::string address;
  std::uint64_t down_bits_per_s = 0;
  std::uint64_t up_bits_per_s = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_bytes = 0;
  bool complete = false;
  std::vector<LaneRow> lanes;
  friend bool operator==(const PeerRow&, const PeerRow&) = default;
};

/// The peers of one transfer, and below each its lanes. Rows stay where they are while their peer or lane stays, so
/// that what is opened and chosen remains so. GUI thread only.
class PeersModel final : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kWho, kState, kDown, kUp, kReceived, kSent, kRoundTrip, kRetransmits };

  explicit PeersModel(Format format, QObject* parent = nullptr);
  ~PeersModel() override;
  static std::span<const ColumnSpec> columns();

  /// All peers as they are now. A peer is known by node and address, a lane by its two ends.
  void set_peers(std::vector<PeerRow> peers);

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

 private:
  struct Peer;

  const Peer* parent_of(const QModelIndex& index) const;
  int row_of(const Peer* peer) const;
  void update_lanes(const QModelIndex& at, Peer& peer, std::vector<LaneRow> lanes);
  QString peer_cell(const PeerRow& peer, int column) const;
  QString lane_cell(const LaneRow& lane, int column) const;
  QString sentence(const QModelIndex& index) const;

  Format format_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace gridtorrent::gui
