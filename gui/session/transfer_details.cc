#include "gui/session/transfer_details.h"

#include <utility>

#include "gui/session/convert.h"
#include "gui/session/retry.h"

namespace gridtorrent::gui {

TransferDetails::TransferDetails(const Clock& clock, QObject* parent) : QObject(parent), clock_(clock) {
  connect(&timer_, &QTimer::timeout, this, &TransferDetails::ask_for_rates);
}

void TransferDetails::follow(client::api::AsyncNodeApi* node, const std::string& transfer_id) {
  for (Asking* asking : {&following_, &tuning_watch_, &asking_rates_}) asking->cancel();
  timer_.stop();
  node_ = node;
  id_ = transfer_id;
  transfer_.Clear();
  tuning_.Clear();
  rates_ = {};
  keeps_rates_ = true;
  if (node_ == nullptr || id_.empty()) return;
  following_.watch<v1::Transfer>(
      [this](auto on_event, auto on_end) {
        return node_->follow_transfer(id_, std::move(on_event), std::move(on_end));
      },
      [this](const v1::Transfer& transfer) {
        transfer_ = transfer;
        Q_EMIT peers(peer_rows(transfer));
      },
      // What ends it is told by the session, which watches all transfers.
      [](const Status&) {});
  watch_tuning();
  ask_for_rates();
  timer_.start(kAskEach);
}

void TransferDetails::watch_tuning() {
  tuning_watch_.watch<v1::Tuning>(
      [this](auto on_event, auto on_end) { return node_->watch_tuning(id_, std::move(on_event), std::move(on_end)); },
      [this](const v1::Tuning& news) {
        merge_tuning(tuning_, news);
        tuning_ms_ = clock_.wall().ms;
        tell();
      },
      // One that fetches nothing has no tuning, and one that is paused goes on later.
      [](const Status&) {});
}

void TransferDetails::ask_for_rates() {
  if (!keeps_rates_ || asking_rates_.waits()) return;
  v1::RateHistoryRequest request;
  request.set_transfer_id(id_);
  if (!rates_.points.empty()) request.set_from_ms(rates_.points.back().at_ms);
  asking_rates_.call<v1::RateHistoryReply>(
      [&](auto answer) { return node_->rate_history(std::move(request), std::move(answer)); },
      [this](const Result<v1::RateHistoryReply>& reply) {
        if (reply) merge_rates(rates_, rate_history(*reply));
        if (!reply && reply.error().code == Code::kUnsupported) keeps_rates_ = false;
        tell();
      });
}

void TransferDetails::tell() {
  RateHistory known = tuning_history(tuning_, tuning_ms_);
  if (!rates_.points.empty()) known.points = rates_.points;
  if (known.decisions.empty()) known.decisions = rates_.decisions;
  Q_EMIT history(known, clock_.wall().ms);
  Q_EMIT explanation(gui::explanation(tuning_, transfer_.lanes(), transfer_.plan_reason()));
}

}  // namespace gridtorrent::gui
