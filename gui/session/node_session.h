#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "client/api/node/node_api.h"
#include "gui/models/transfer_row.h"
#include "gui/session/session.h"

namespace gridtorrent::gui {

struct NodeSessionOptions {
  std::string profile = "default";  ///< whose login is shown to the node
  std::string socket;               ///< empty: the usual place
};

/// The node on this computer: how it is, its transfers, and what a person wants of them.
class NodeSession final : public Session {
  Q_OBJECT

 public:
  NodeSession(NodeSessionOptions options, QThreadPool& pool, const Clock& clock, QObject* parent = nullptr);
  ~NodeSession() override;

  /// The last answer of the node about itself.
  const v1::StatusReply& status() const { return status_; }
  /// Whether it has this content, or fetches it.
  bool has_content(const std::string& content_id) const;
  /// What a transfer is of.
  struct Subject {
    std::string content;        ///< its id; empty: not known
    std::uint32_t version = 0;  ///< 0: an older node, which does not say
  };
  Subject subject_of(const std::string& transfer_id) const;
  /// Null while there is no connection. Good until `lost`.
  client::api::AsyncNodeApi* api() { return api_ ? &api_->async() : nullptr; }

  /// A step of ChangeTransfers for all of them. What fails is told by `refused`.
  void change(const std::vector<std::string>& ids, const std::string& step,
              const v1::SetTransferRequest& settings = {});
  /// `done` where the node has begun it; else the error, also where the connection breaks. Not called once this is
  /// destroyed.
  void get(v1::GetRequest request, std::function<void(Result<v1::GetReply>)> done);
  /// Other files of a transfer; `done` where the node has taken them, else `refused` tells why.
  void choose_files(v1::ChooseFilesRequest request, std::function<void()> done);
  /// Files and bytes below an absolute path, some times a second, then `done`. Ends the scan before; an empty path ends
  /// it only.
  void scan(const std::string& path, std::function<void(const v1::ScanPublishEvent&)> on_event,
            std::function<void(Status)> done);
  /// As `get`. What has begun goes on without the window.
  void publish(v1::PublishRequest request, std::function<void(Result<v1::Transfer>)> done);

 Q_SIGNALS:
  /// The node has told all of its transfers: `delta` had them page by page, so that no event has to take in all at
  /// once.
  void snapshot();
  void delta(const gridtorrent::gui::TransferDelta& delta);
  /// A line for the person who wanted it.
  void refused(const std::string& message);

 private:
  bool is_open() const override { return api_ != nullptr; }
  void begin_opening() override;
  void ask_state() override;
  void close(const Error& why) override;
  void on_second() override;
  void stop_watching();
  void watch();
  void take(const v1::TransfersEvent& event);
  std::vector<std::string> not_in_snapshot();
  void list();
  void take_list(std::vector<TransferRow> rows);
  void change_one_by_one(std::vector<std::string> ids, const std::string& step, const v1::SetTransferRequest& settings);
  std::vector<TransferRow> rows_of(const google::protobuf::RepeatedPtrField<v1::Transfer>& transfers);

  const NodeSessionOptions options_;
  v1::StatusReply status_;
  std::shared_ptr<client::api::NodeApi> api_;
  bool lists_ = false;  ///< a node without WatchTransfers is asked for its list each second
  v1::WatchTransfersRequest seen_;
  std::unordered_set<std::string> in_snapshot_;          ///< transfers of one that has begun
  std::unordered_map<std::string, TransferRow> listed_;  ///< the last list, by transfer
  std::unordered_map<std::string, Subject> contents_;    ///< by transfer
  Asking watching_, listing_, scanning_;
  Askings steps_;
};

}  // namespace gridtorrent::gui
