#pragma once

#include <QTabWidget>
#include <string>

#include "gui/models/explanation.h"
#include "gui/models/files_model.h"
#include "gui/models/peers_model.h"
#include "gui/models/transfer_row.h"

namespace gridtorrent::gui {

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
  void set_files(FileTree files) { files_.set_tree(std::move(files)); }
  void set_history(RateHistory history, std::int64_t now_ms);
  void set_explanation(Explanation explanation);

 Q_SIGNALS:
  void hold_wanted(const std::string& transfer_id);
  void limit_wanted(const std::string& transfer_id);
  void save_wanted(const QString& path, const QByteArray& content);

 private:
  PeersModel peers_;
  FilesModel files_;
  Overview* overview_;
  RateTab* rate_;
  WhyTab* why_;
  std::string transfer_;
};

}  // namespace gridtorrent::gui
