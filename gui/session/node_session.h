#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/api/node/node_api.h"
#include "common/clock.h"
#include "gui/models/transfer_row.h"
#include "gui/session/asking.h"
#include "gui/session/retry.h"

namespace gridtorrent::gui {

struct NodeSessionOptions {
  std::string profile = "default";  ///< whose login is shown to the node
  std::string socket;               ///< empty: the usual place
};

/// The node on this computer, for as long as the window lives: connects, asks how it is, follows its transfers, and
/// connects again where the connection breaks. GUI thread only; nothing here waits. The pool, which opens connections
/// and closes them, must outlive this.
class NodeSession final : public QObject {
  Q_OBJECT

 public:
  NodeSession(NodeSessionOptions options, QThreadPool& pool, const Clock& clock, QObject* parent = nullptr);
  ~NodeSession() override;

  void start();
  /// At once, where it is waiting for the next attempt.
  void retry();
  /// One second has gone; the timer that `start` begins calls this.
  void second();

  const Link& link() const { return attempts_.link(); }
  /// The last answer of the node about itself.
  const v1::StatusReply& status() const { return status_; }
  /// Why it does not answer, in the words of the error; empty: it does.
  const std::string& problem() const { return problem_; }
  /// Whether it has this content, or fetches it.
  bool has_content(const std::string& content_id) const;
  /// Of a transfer; empty: not known.
  std::string content_of(const std::string& transfer_id) const;
  /// Null while there is no connection. Good until the next event of the loop.
  client::api::AsyncNodeApi* api() { return api_ ? &api_->async() : nullptr; }

  /// A step of ChangeTransfers for all of them. What fails is told by `refused`.
  void change(const std::vector<std::string>& ids, const std::string& step,
              const v1::SetTransferRequest& settings = {});
  /// `done` where the node has begun it; else the error. Not called once this is destroyed.
  void get(v1::GetRequest request, std::function<void(Result<v1::GetReply>)> done);

 Q_SIGNALS:
  /// Link, status or problem are others than before.
  void changed();
  /// A new connection: what was asked on the one before gets no answer.
  void connected();
  void snapshot(const std::vector<gridtorrent::gui::TransferRow>& all);
  void delta(const gridtorrent::gui::TransferDelta& delta);
  /// A line for the person who wanted it.
  void refused(const std::string& message);

 private:
  void open();
  void close();
  void ask_status();
  void watch();
  void take(const v1::TransfersEvent& event);
  void list();
  void take_list(std::vector<TransferRow> rows);
  void fail(const Error& error);
  void change_one_by_one(std::vector<std::string> ids, const std::string& step, const v1::SetTransferRequest& settings);
  std::vector<TransferRow> rows_of(const google::protobuf::RepeatedPtrField<v1::Transfer>& transfers);

  const NodeSessionOptions options_;
  QThreadPool& pool_;
  const Clock& clock_;
  QTimer timer_;
  Attempts attempts_;
  std::string problem_;
  v1::StatusReply status_;
  std::shared_ptr<client::api::NodeApi> api_;
  bool waits_ = false;  ///< an answer about its state is to come
  MonoTime answered_{};
  std::int64_t answered_ms_ = 0;
  bool lists_ = false;  ///< a node without WatchTransfers is asked for its list each second
  bool opening_now_ = false;
  v1::WatchTransfersRequest seen_;
  std::vector<TransferRow> pages_;                         ///< of a snapshot that has begun
  std::unordered_map<std::string, TransferRow> listed_;    ///< the last list, by transfer
  std::unordered_map<std::string, std::string> contents_;  ///< by transfer
  Asking opening_, asking_status_, watching_, listing_;
  Askings steps_;
};

}  // namespace gridtorrent::gui
