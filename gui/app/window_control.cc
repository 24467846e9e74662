#include "gui/app/window_control.h"

#include <QDir>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QStorageInfo>
#include <algorithm>
#include <cassert>

#include "client/api/call/waiting.h"
#include "common/shell_words.h"
#include "gui/models/text.h"
#include "gui/session/convert.h"
#include "gui/views/details_pane.h"
#include "gui/views/notice_bar.h"
#include "gui/views/rate_dialog.h"
#include "gui/views/transfers_page.h"

namespace gridtorrent::gui {

namespace {

constexpr std::uint32_t kPage = 200;

std::optional<bool> reachable(const v1::StatusReply& status) {
  std::optional<bool> answer;
  for (const v1::NodeListener& listener : status.listeners()) {
    if (listener.reachability() == v1::REACHABLE) return true;
    if (listener.reachability() == v1::UNREACHABLE) answer = false;
  }
  return answer;
}

/// Of the folder, or of the nearest one above that is there already. Waits for the disk.
std::optional<std::uint64_t> free_bytes(QString folder) {
  assert(client::api::may_wait());
  while (!QDir(folder).exists() && folder.contains(u'/')) folder.truncate(folder.lastIndexOf(u'/'));
  const QStorageInfo storage(folder.isEmpty() ? QStringLiteral("/") : folder);
  if (!storage.isValid()) return std::nullopt;
  return static_cast<std::uint64_t>(storage.bytesAvailable());
}

}  // namespace

WindowControl::WindowControl(const Parts& parts) : parts_(parts), details_(parts.clock) {
  join_sessions();
  join_transfers();
  join_find();
  show_connections();
}

void WindowControl::join_sessions() {
  connect(&parts_.node, &NodeSession::changed, this, &WindowControl::show_connections);
  connect(&parts_.server, &ServerSession::changed, this, &WindowControl::show_connections);
  connect(&parts_.window.notice_bar(), &NoticeBar::retry_wanted, this, [this] {
    parts_.node.retry();
    parts_.server.retry();
  });
  connect(&parts_.window.notice_bar(), &NoticeBar::doctor_wanted, this, &WindowControl::show_doctor);
  connect(&parts_.server, &ServerSession::connected, this, [this] {
    if (search_lacks_) parts_.window.find_page().ask_again();
    if (const FoundRow* row = parts_.window.find_page().current()) describe(row->id);
    follow(followed_);
  });
}

void WindowControl::join_transfers() {
  TransfersPage& page = parts_.window.transfers_page();
  NodeSession& node = parts_.node;
  connect(&node, &NodeSession::snapshot, this, [this] { parts_.transfers.settle(); });
  connect(&node, &NodeSession::delta, this, [this](const TransferDelta& delta) { parts_.transfers.apply(delta); });
  connect(&node, &NodeSession::connected, this, [this] { follow(followed_); });
  connect(&node, &NodeSession::lost, this, [this] { details_.follow(nullptr, followed_); });
  connect(&node, &NodeSession::refused, &page,
          [&page](const std::string& message) { page.set_message(shown(message)); });
  const auto step = [this, &page](const char* name) {
    return [this, &page, name](const std::vector<std::string>& ids) {
      page.set_message({});
      parts_.node.change(ids, name);
    };
  };
  connect(&page, &TransfersPage::pause_wanted, this, step("pause"));
  connect(&page, &TransfersPage::resume_wanted, this, step("resume"));
  connect(&page, &TransfersPage::verify_wanted, this, step("verify"));
  connect(&page, &TransfersPage::limit_wanted, this, &WindowControl::limit);
  connect(&page, &TransfersPage::end_wanted, this, &WindowControl::end);
  connect(&page, &TransfersPage::current_changed, this, &WindowControl::follow);

  DetailsPane& pane = page.details();
  connect(&details_, &TransferDetails::peers, &pane,
          [&pane](const std::vector<PeerRow>& rows) { pane.set_peers(rows); });
  connect(&details_, &TransferDetails::history, &pane,
          [&pane](const RateHistory& history, qint64 now_ms) { pane.set_history(history, now_ms); });
  connect(&details_, &TransferDetails::explanation, &pane,
          [&pane](const Explanation& explanation) { pane.set_explanation(explanation); });
  connect(&pane, &DetailsPane::hold_wanted, this, &WindowControl::hold);
  connect(&pane, &DetailsPane::limit_wanted, this, [this](const std::string& id) { limit({id}); });
  connect(&pane, &DetailsPane::files_wanted, this, &WindowControl::choose_files);
  connect(&pane, &DetailsPane::save_wanted, this, &WindowControl::save);
}

void WindowControl::join_find() {
  FindPage& page = parts_.window.find_page();
  page.set_folder(QDir::homePath());
  connect(&page, &FindPage::search_wanted, this, &WindowControl::search);
  connect(&parts_.found, &SearchModel::page_wanted, this, &WindowControl::ask_page);
  connect(&page, &FindPage::current_changed, this, &WindowControl::describe);
  connect(&page, &FindPage::files_wanted, this, &WindowControl::list_files);
  connect(&page, &FindPage::facts_wanted, this, &WindowControl::find_facts);
  connect(&page, &FindPage::get_wanted, this, &WindowControl::get);
}

void WindowControl::show_connections() {
  const NodeSession& node = parts_.node;
  const ServerSession& server = parts_.server;
  Connections connections;
  connections.node = node.link();
  connections.server = server.link();
  connections.account = server.account();
  if (server.login_ended())
    connections.login_command =
        "gridtorrent login" +
        (parts_.profile == "default" ? std::string() : " --profile=" + shell_word(parts_.profile));
  connections.problem = connections.node.state == LinkState::kSilent ? node.problem() : server.problem();
  if (connections.node.state == LinkState::kConnected) {
    connections.reachable = reachable(node.status());
    connections.free_bytes = node.status().data_dir_free_bytes();
  }
  parts_.window.set_connections(connections);
}

void WindowControl::show_doctor() {
  const std::string& problem =
      parts_.node.link().state == LinkState::kConnected ? parts_.server.problem() : parts_.node.problem();
  auto* box =
      new QMessageBox(QMessageBox::Information, tr("Doctor"), shown(problem), QMessageBox::Close, &parts_.window);
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setInformativeText(tr("This command checks ports, certificates, clock and disk, and says what to set:\n%1")
                              .arg(QStringLiteral("gridtorrent doctor")));
  box->open();
}

void WindowControl::follow(const std::string& transfer_id) {
  followed_ = transfer_id;
  details_.follow(parts_.node.api(), transfer_id);
  const NodeSession::Subject subject = parts_.node.subject_of(transfer_id);
  if (subject.content.empty()) return;
  const auto show = [this, transfer_id](Result<FileTree> tree) {
    DetailsPane& pane = parts_.window.transfers_page().details();
    if (!tree || pane.transfer() != transfer_id) return;
    pane.set_files(*std::move(tree));
    list_chosen(transfer_id);
  };
  parts_.server.files(ServerSession::FilesReader::kDetails, subject.content, subject.version, show);
}

/// Of a node that cannot tell (an older one) no other files can be chosen.
void WindowControl::list_chosen(const std::string& transfer_id) {
  client::api::AsyncNodeApi* const node = parts_.node.api();
  if (node == nullptr) return listing_chosen_.cancel();
  listing_chosen_.call<v1::ListChosenFilesReply>(
      [&](auto answer) { return node->list_chosen_files(transfer_id, std::move(answer)); },
      [this, transfer_id](const Result<v1::ListChosenFilesReply>& reply) {
        DetailsPane& pane = parts_.window.transfers_page().details();
        if (reply && pane.transfer() == transfer_id)
          pane.set_chosen_files({reply->entries().begin(), reply->entries().end()});
      });
}

void WindowControl::choose_files(const std::string& transfer_id, const std::vector<std::uint32_t>& places) {
  parts_.window.transfers_page().set_message({});
  v1::ChooseFilesRequest request;
  request.set_transfer_id(transfer_id);
  request.mutable_entries()->Add(places.begin(), places.end());
  parts_.node.choose_files(std::move(request), [this, transfer_id] { list_chosen(transfer_id); });
}

void WindowControl::search(const SearchQuery& query) {
  query_ = search_request(query, parts_.clock.wall().ms);
  query_.set_limit(kPage);
  ask_page(parts_.found.start(), {});
}

void WindowControl::ask_page(quint64 number, const std::string& page) {
  query_.set_page(page);
  parts_.server.search(query_, [this, number](const Result<v1::SearchReply>& reply) {
    FindPage& find = parts_.window.find_page();
    search_lacks_ = !reply;
    if (!reply) {
      parts_.found.fail(number);
      return find.set_problem(shown(reply.error().message));
    }
    FoundPage found;
    found.next = reply->next_page();
    for (const v1::Content& content : reply->contents())
      found.rows.push_back(found_row(content, parts_.node.has_content(content.content_id())));
    parts_.found.add(number, std::move(found));
    find.set_problem({});
  });
}

void WindowControl::describe(const std::string& content_id) {
  FindPage& find = parts_.window.find_page();
  about_ = {};
  about_.id = content_id;
  parts_.server.describe(
      content_id,
      [this, &find](const Result<v1::Content>& content) {
        if (!content) return find.set_content_problem(about_.id, shown(content.error().message));
        auto replicas = std::move(about_.replicas);
        about_ = content_facts(*content);
        about_.replicas = std::move(replicas);
        find.set_content(about_);
      },
      [this, &find](const Result<client::api::Listed<v1::Replica>>& replicas) {
        if (!replicas) return;  // the content's own answer has said why
        about_.replicas.emplace();
        for (const v1::Replica& replica : replicas->items) about_.replicas->push_back(replica_facts(replica));
        if (about_.version > 0) find.set_content(about_);
      });
}

void WindowControl::list_files(const std::string& content_id) {
  parts_.server.files(ServerSession::FilesReader::kChoice, content_id, 0, [this, content_id](Result<FileTree> tree) {
    FindPage& find = parts_.window.find_page();
    if (!tree) return find.set_files_problem(content_id, shown(tree.error().message));
    find.set_files(content_id, *std::move(tree));
  });
}

void WindowControl::find_facts(const std::string& content_id, const QString& folder,
                               const std::vector<std::string>& globs) {
  FindPage& find = parts_.window.find_page();
  facts_ = {};
  measuring_.run<std::optional<std::uint64_t>>(
      parts_.pool, [folder] { return free_bytes(folder); },
      [this, &find](const std::optional<std::uint64_t>& free) {
        facts_.free_bytes = free;
        find.set_facts(facts_);
      });
  client::api::AsyncNodeApi* const node = parts_.node.api();
  if (node == nullptr) return estimating_.cancel();
  v1::EstimateRequest request;
  request.set_content(content_id);
  request.set_to(folder.toStdString());
  *request.mutable_globs() = {globs.begin(), globs.end()};
  request.set_no_probe(true);
  estimating_.watch<v1::EstimateEvent>(
      [&](auto on_event, auto on_end) { return node->estimate(request, std::move(on_event), std::move(on_end)); },
      [this, &find](const v1::EstimateEvent& event) {
        if (!event.has_result()) return;
        facts_.estimate = event.result().text();
        find.set_facts(facts_);
      },
      [this, &find](const Status& ended) {
        if (ended) return;
        // In the window nobody chose that nothing is fetched for an estimate: the command line's way out is none here.
        facts_.estimate =
            ended.error().code == Code::kNotFound
                ? tr("How long it takes is not known: nothing came from its seeders lately.").toStdString()
                : ended.error().message;
        find.set_facts(facts_);
      });
}

void WindowControl::get(const std::string& content_id, const QString& folder, const std::vector<std::string>& globs) {
  FindPage& find = parts_.window.find_page();
  find.set_refusal({});
  v1::GetRequest request;
  request.set_content(content_id);
  request.set_to(folder.toStdString());
  *request.mutable_globs() = {globs.begin(), globs.end()};
  parts_.node.get(std::move(request), [this, &find](const Result<v1::GetReply>& reply) {
    if (!reply) return find.set_refusal(shown(reply.error().message));
    parts_.window.show_page(Page::kTransfers);
  });
}

void WindowControl::limit(const std::vector<std::string>& ids) {
  ask_rate(tr("Limit"),
           tr("No faster than this, for each of the selected transfers (%1); 0 takes the limit off:").arg(ids.size()),
           ids, [](v1::SetTransferRequest& settings, std::uint64_t rate) { settings.set_limit_bits_per_s(rate); });
}

void WindowControl::hold(const std::string& id) {
  ask_rate(tr("Hold at"), tr("Hold this rate, also where others use the path:"), {id},
           [](v1::SetTransferRequest& settings, std::uint64_t rate) {
             settings.mutable_wish()->set_target_bits_per_s(rate);
           });
}

void WindowControl::ask_rate(const QString& title, const QString& question, const std::vector<std::string>& ids,
                             const std::function<void(v1::SetTransferRequest&, std::uint64_t)>& set) {
  auto* dialog = new RateDialog(title, question, &parts_.window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &RateDialog::chosen, this, [this, ids, set](quint64 rate) {
    v1::SetTransferRequest settings;
    set(settings, rate);
    parts_.window.transfers_page().set_message({});
    parts_.node.change(ids, "set", settings);
  });
  dialog->open();
}

void WindowControl::end(Ending ending, const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  auto* box = new QMessageBox(QMessageBox::Question, ending_title(ending), ending_question(ending, ids.size()),
                              QMessageBox::NoButton, &parts_.window);
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* const yes = box->addButton(ending_title(ending), QMessageBox::AcceptRole);
  box->addButton(tr("Leave as it is"), QMessageBox::RejectRole);
  box->setDefaultButton(yes);
  connect(yes, &QPushButton::clicked, this, [this, ids] {
    parts_.window.transfers_page().set_message({});
    parts_.node.change(ids, "cancel");
  });
  box->open();
}

void WindowControl::save(const QString& path, const QByteArray& content) {
  saving_.run<QString>(
      parts_.pool,
      [path, content]() -> QString {
        assert(client::api::may_wait());
        QSaveFile file(path);
        if (file.open(QIODevice::WriteOnly) && file.write(content) == content.size() && file.commit()) return {};
        return file.errorString();
      },
      [this, path](const QString& problem) {
        if (problem.isEmpty()) return;
        parts_.window.transfers_page().set_message(
            tr("%1 was not written: %2. Choose another place.").arg(shown(path.toStdString()), problem));
      });
}

}  // namespace gridtorrent::gui
