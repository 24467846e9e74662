#pragma once

#include <QTabWidget>
#include <cstdint>
#include <string>
#include <vector>

#include "gui/models/explanation.h"
#include "gui/models/file_tree.h"
#include "gui/models/peers_model.h"
#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

class FilesTab;
class Overview;
class RateTab;
class WhyTab;

/// All about one transfer, in tabs. Another transfer empties what is known of the one before. GUI thread only.
class DetailsPane final : public QTabWidget {
  Q_OBJECT

 public:
  explicit DetailsPane(Format format, QWidget* parent = nullptr);
  /// The transfer to show; null: none is chosen.
  void set_transfer(const TransferRow* row);
  /// Its id; empty: none.
  const std::string& transfer() const { return transfer_; }

  void set_peers(std::vector<PeerRow> peers) { peers_.set_peers(std::move(peers)); }
  void set_files(FileTree files);
  /// Places in the manifest of the files that it fetches or holds; of the files that were set last.
  void set_chosen_files(const std::vector<std::uint32_t>& places);
  void set_history(RateHistory history, std::int64_t now_ms);
  void set_explanation(Explanation explanation);

 Q_SIGNALS:
  void hold_wanted(const std::string& transfer_id);
  void limit_wanted(const std::string& transfer_id);
  /// These files and no others from now on, by their places in the manifest.
  void files_wanted(const std::string& transfer_id, const std::vector<std::uint32_t>& places);
  void save_wanted(const QString& path, const QByteArray& content);

 private:
  PeersModel peers_;
  Overview* overview_;
  FilesTab* files_;
  RateTab* rate_;
  WhyTab* why_;
  std::string transfer_;
};

}  // namespace gridtorrent::gui
