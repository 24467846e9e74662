#pragma once

#include <QObject>
#include <QTimer>
#include <string>

#include "client/api/node/async_node_api.h"
#include "common/clock.h"
#include "gui/models/explanation.h"
#include "gui/models/peers_model.h"
#include "gui/models/rate_history.h"
#include "gui/session/asking.h"

namespace gridtorrent::gui {

/// What a node tells of one transfer while somebody looks at it. GUI thread only.
class TransferDetails final : public QObject {
  Q_OBJECT

 public:
  explicit TransferDetails(const Clock& clock, QObject* parent = nullptr);
  /// From now on this transfer; null or empty: none, and what was told stays. `node` must live
  /// until the next call of this.
  void follow(client::api::AsyncNodeApi* node, const std::string& transfer_id);

 Q_SIGNALS:
  void peers(const std::vector<gridtorrent::gui::PeerRow>& rows);
  void history(const gridtorrent::gui::RateHistory& history, qint64 now_ms);
  void explanation(const gridtorrent::gui::Explanation& explanation);

 private:
  void watch_tuning();
  void ask_for_rates();
  void tell();

  const Clock& clock_;
  QTimer timer_;
  client::api::AsyncNodeApi* node_ = nullptr;
  std::string id_;
  v1::Transfer transfer_;
  v1::Tuning tuning_;
  std::int64_t tuning_ms_ = 0;  ///< when the last news of it came
  RateHistory rates_;           ///< of RateHistory; empty: an older node, whose tuning has samples
  bool keeps_rates_ = true;
  Asking following_, tuning_watch_, asking_rates_;
};

}  // namespace gridtorrent::gui
