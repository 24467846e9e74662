#include "gui/app/publish_control.h"

#include <QFile>

#include "client/api/server/server_api.h"
#include "common/ids.h"
#include "common/rng.h"
#include "gui/models/text.h"
#include "gui/session/convert.h"
#include "gui/views/find_page.h"
#include "gui/views/publish_dialog.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {

PublishControl::PublishControl(MainWindow& window, NodeSession& node, ServerSession& server, const Clock& clock)
    : window_(window), node_(node), server_(server), clock_(clock) {
  PublishDialog& dialog = window_.publish_dialog();
  connect(&dialog, &PublishDialog::opened, this, &PublishControl::ask_for_groups);
  connect(&dialog, &PublishDialog::scan_wanted, this, &PublishControl::scan);
  connect(&dialog, &PublishDialog::preview_wanted, this, &PublishControl::preview);
  connect(&dialog, &PublishDialog::publish_wanted, this, &PublishControl::publish);
  connect(&node_, &NodeSession::connected, &dialog, &PublishDialog::scan_again);
  connect(&server_, &ServerSession::connected, &dialog, &PublishDialog::preview_again);
  connect(&server_, &ServerSession::connected, this, &PublishControl::ask_for_groups);
}

void PublishControl::ask_for_groups() {
  server_.groups([this](const Result<std::vector<std::string>>& groups) {
    if (!groups) return;  // names can be typed without completion, too
    window_.publish_dialog().set_groups(*groups);
    window_.find_page().set_groups(*groups);
  });
}

void PublishControl::scan(const QString& path) {
  PublishDialog& dialog = window_.publish_dialog();
  node_.scan(
      QFile::encodeName(path).toStdString(),
      [&dialog](const v1::ScanPublishEvent& event) {
        dialog.set_scan(event.has_result() ? publish_scan(event.result(), true)
                                           : publish_scan(event.progress(), false));
      },
      [&dialog](const Status& ended) {
        if (ended) return;
        dialog.set_scan_problem(ended.error().code == Code::kUnsupported
                                    ? tr("This node is too old to count files before it publishes them.")
                                    : shown(ended.error().message));
      });
}

void PublishControl::preview(const std::string& access) {
  PublishDialog& dialog = window_.publish_dialog();
  const auto parsed = client::api::parse_access(access);
  if (!parsed) return dialog.set_preview(access, shown(parsed.error().message));
  server_.preview(*parsed, [&dialog, access](const Result<v1::PreviewAccessReply>& reply) {
    // Without an answer, the dialog's own sentence stays. Names that nobody has are worth a line.
    if (reply) return dialog.set_preview(access, shown(reply->text()));
    if (reply.error().code == Code::kInvalid || reply.error().code == Code::kNotFound)
      dialog.set_preview(access, shown(reply.error().message));
  });
}

void PublishControl::publish(const PublishDraft& draft) {
  if (request_id_.empty() || draft != last_) {
    SystemRng rng;
    request_id_ = make_request_id(clock_.wall(), rng);
  }
  last_ = draft;
  v1::PublishRequest request = publish_request(draft);
  request.set_request_id(request_id_);
  node_.publish(std::move(request), [this](const Result<v1::Transfer>& transfer) {
    PublishDialog& dialog = window_.publish_dialog();
    if (!transfer)
      return dialog.set_refusal(transfer.error().code == Code::kUnsupported
                                    ? tr("This node is too old to publish for the window. Use this command: %1")
                                          .arg(QStringLiteral("gridtorrent publish PATH --name NAME"))
                                    : shown(transfer.error().message));
    request_id_.clear();
    dialog.set_accepted();
    window_.show_page(Page::kTransfers);
  });
}

}  // namespace gridtorrent::gui
