#include "gui/session/node_session.h"

#include <algorithm>
#include <utility>

#include "client/profile/saved_login.h"
#include "gui/session/convert.h"

namespace gridtorrent::gui {

namespace {

using client::api::NodeApi;
using Opened = Result<std::unique_ptr<NodeApi>>;

/// Waits for the disk and the node.
Opened open_node(const NodeSessionOptions& options) {
  client::api::NodeApiOptions node{.socket_path = options.socket, .user_id = {}};
  if (node.socket_path.empty()) {
    GT_ASSIGN(node.socket_path, client::default_control_socket());
  }
  // Without a login the socket's owner decides; what is wrong with the login is told by the server's session.
  if (const auto login = client::saved_login(options.profile); login && *login)
    node.user_id = (*login)->profile.user_id;
  return NodeApi::open(std::move(node));
}

bool has_call_of_its_own(const std::string& step) {
  return step == "pause" || step == "resume" || step == "cancel" || step == "set";
}

}  // namespace

NodeSession::NodeSession(NodeSessionOptions options, QThreadPool& pool, const Clock& clock, QObject* parent)
    : Session(pool, clock, parent), options_(std::move(options)) {}

NodeSession::~NodeSession() {
  stop_watching();
  scanning_.cancel();
  steps_.cancel();
  asking_state_.cancel();
  end(std::move(api_));
}

void NodeSession::on_second() {
  if (lists_ && !listing_.waits()) list();
}

void NodeSession::begin_opening() {
  opening_.run<std::shared_ptr<Opened>>(
      pool_, [options = options_] { return std::make_shared<Opened>(open_node(options)); },
      [this](const std::shared_ptr<Opened>& opened) {
        if (!*opened) return fail(opened->error(), true);
        api_ = std::move(**opened);
        ask_state();
        watch();
      });
}

void NodeSession::close(const Error& why) {
  auto ending = std::exchange(api_, nullptr);
  stop_watching();
  scanning_.fail(why);
  steps_.fail(why);
  end(std::move(ending));
}

void NodeSession::stop_watching() {
  watching_.cancel();
  listing_.cancel();
  lists_ = false;
  in_snapshot_.clear();
}

void NodeSession::ask_state() {
  asking_state_.call<v1::StatusReply>([this](auto answer) { return api()->status(std::move(answer)); },
                                      [this](Result<v1::StatusReply> reply) {
                                        if (!reply) return fail(reply.error(), true);
                                        status_ = *std::move(reply);
                                        answered();
                                      });
}

void NodeSession::watch() {
  watching_.watch<v1::TransfersEvent>(
      [this](auto on_event, auto on_end) {
        return api()->watch_transfers(seen_, std::move(on_event), std::move(on_end));
      },
      [this](const v1::TransfersEvent& event) { take(event); },
      [this](const Status& ended) {
        if (ended) return fail({Code::kUnreachable, "the node has ended the connection"}, true);
        if (ended.error().code != Code::kUnsupported) return fail(ended.error(), true);
        lists_ = true;
        list();
      });
}

std::vector<TransferRow> NodeSession::rows_of(const google::protobuf::RepeatedPtrField<v1::Transfer>& transfers) {
  std::vector<TransferRow> rows;
  rows.reserve(static_cast<std::size_t>(transfers.size()));
  for (const v1::Transfer& transfer : transfers) {
    rows.push_back(transfer_row(transfer));
    contents_[transfer.transfer_id()] = {transfer.content_id(), transfer.version()};
  }
  return rows;
}

void NodeSession::take(const v1::TransfersEvent& event) {
  TransferDelta news{rows_of(event.changed()), {event.removed().begin(), event.removed().end()}};
  if (event.snapshot()) {
    for (const TransferRow& row : news.changed) in_snapshot_.insert(row.id);
    if (event.last_page()) news.removed = not_in_snapshot();
  }
  for (const std::string& id : news.removed) contents_.erase(id);
  Q_EMIT delta(news);
  if (event.snapshot() && !event.last_page()) return;
  seen_.set_epoch(event.epoch());
  seen_.set_revision(event.revision());
  if (event.snapshot()) Q_EMIT snapshot();
}

/// Transfers that were known before it. It has ended.
std::vector<std::string> NodeSession::not_in_snapshot() {
  std::vector<std::string> gone;
  for (const auto& [id, content] : contents_)
    if (!in_snapshot_.contains(id)) gone.push_back(id);
  in_snapshot_.clear();
  return gone;
}

void NodeSession::list() {
  listing_.call<v1::ListTransfersReply>([this](auto answer) { return api()->list_transfers(std::move(answer)); },
                                        [this](const Result<v1::ListTransfersReply>& reply) {
                                          if (!reply) return fail(reply.error(), true);
                                          contents_.clear();
                                          take_list(rows_of(reply->transfers()));
                                        });
}

void NodeSession::take_list(std::vector<TransferRow> rows) {
  std::unordered_map<std::string, TransferRow> listed;
  for (TransferRow& row : rows) listed.insert_or_assign(row.id, std::move(row));
  TransferDelta news;
  for (const auto& [id, row] : listed)
    if (const auto before = listed_.find(id); before == listed_.end() || before->second != row)
      news.changed.push_back(row);
  for (const auto& [id, row] : listed_)
    if (!listed.contains(id)) news.removed.push_back(id);
  listed_ = std::move(listed);
  Q_EMIT delta(news);
}

bool NodeSession::has_content(const std::string& content_id) const {
  return std::any_of(contents_.begin(), contents_.end(),
                     [&](const auto& one) { return one.second.content == content_id; });
}

NodeSession::Subject NodeSession::subject_of(const std::string& transfer_id) const {
  const auto found = contents_.find(transfer_id);
  return found == contents_.end() ? Subject() : found->second;
}

void NodeSession::change(const std::vector<std::string>& ids, const std::string& step,
                         const v1::SetTransferRequest& settings) {
  if (!api_) return Q_EMIT refused(problem());
  v1::ChangeTransfersRequest request;
  *request.mutable_transfer_ids() = {ids.begin(), ids.end()};
  request.set_step(step);
  if (step == "set") *request.mutable_settings() = settings;
  steps_.call<v1::ChangeTransfersReply>(
      [&](auto answer) { return api()->change_transfers(std::move(request), std::move(answer)); },
      [this, ids, step, settings](const Result<v1::ChangeTransfersReply>& reply) {
        const bool older = !reply && reply.error().code == Code::kUnsupported;
        if (older && has_call_of_its_own(step)) return change_one_by_one(ids, step, settings);
        if (!reply) return Q_EMIT refused(reply.error().message);
        if (reply->failures_size() == 0) return;
        const std::string others =
            reply->failed() > 1 ? " (and " + std::to_string(reply->failed() - 1) + " others)" : std::string();
        Q_EMIT refused(reply->failures(0).message() + others);
      });
}

/// For nodes without ChangeTransfers. Goes on after a failure, as that does.
void NodeSession::change_one_by_one(std::vector<std::string> ids, const std::string& step,
                                    const v1::SetTransferRequest& settings) {
  if (ids.empty() || !api_) return;
  const std::string id = ids.back();
  ids.pop_back();
  steps_.call<v1::Transfer>(
      [&](auto answer) {
        if (step == "pause") return api()->pause_transfer(id, std::move(answer));
        if (step == "resume") return api()->resume_transfer(id, std::move(answer));
        if (step == "cancel") return api()->cancel_transfer(id, std::move(answer));
        v1::SetTransferRequest request = settings;
        request.set_transfer_id(id);
        return api()->set_transfer(std::move(request), std::move(answer));
      },
      [this, ids = std::move(ids), step, settings](const Result<v1::Transfer>& changed_one) {
        if (!changed_one) Q_EMIT refused(changed_one.error().message);
        change_one_by_one(ids, step, settings);
      });
}

void NodeSession::get(v1::GetRequest request, std::function<void(Result<v1::GetReply>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  steps_.call<v1::GetReply>([&](auto answer) { return api()->get(std::move(request), std::move(answer)); },
                            std::move(done));
}

void NodeSession::choose_files(v1::ChooseFilesRequest request, std::function<void()> done) {
  if (!api_) return Q_EMIT refused(problem());
  steps_.call<v1::Transfer>([&](auto answer) { return api()->choose_files(std::move(request), std::move(answer)); },
                            [this, done = std::move(done)](const Result<v1::Transfer>& taken) {
                              if (!taken) return Q_EMIT refused(taken.error().message);
                              done();
                            });
}

void NodeSession::scan(const std::string& path, std::function<void(const v1::ScanPublishEvent&)> on_event,
                       std::function<void(Status)> done) {
  scanning_.cancel();
  if (path.empty()) return;
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  scanning_.watch<v1::ScanPublishEvent>(
      [&](auto each, auto on_end) { return api()->scan_publish(path, std::move(each), std::move(on_end)); },
      std::move(on_event), std::move(done));
}

void NodeSession::publish(v1::PublishRequest request, std::function<void(Result<v1::Transfer>)> done) {
  if (!api_) return done(Error{Code::kUnreachable, problem()});
  steps_.call<v1::Transfer>([&](auto answer) { return api()->start_publish(std::move(request), std::move(answer)); },
                            std::move(done));
}

}  // namespace gridtorrent::gui
