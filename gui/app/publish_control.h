#pragma once

#include <QObject>
#include <string>

#include "common/clock.h"
#include "gui/models/publish_draft.h"
#include "gui/session/node_session.h"
#include "gui/session/server_session.h"
#include "gui/views/main_window.h"

namespace gridtorrent::gui {

/// Joins the dialog for publishing to node and server. All that it is given must outlive it. GUI thread only.
class PublishControl final : public QObject {
  Q_OBJECT

 public:
  PublishControl(MainWindow& window, NodeSession& node, ServerSession& server, const Clock& clock);

 private:
  void scan(const QString& path);
  void preview(const std::string& access);
  void publish(const PublishDraft& draft);
  void ask_for_groups();

  MainWindow& window_;
  NodeSession& node_;
  ServerSession& server_;
  const Clock& clock_;
  PublishDraft last_;
  std::string request_id_;  ///< of all attempts with `last_`, so that one whose answer was lost is done once
};

}  // namespace gridtorrent::gui
