#include "client/core/node_core.h"

#include <pthread.h>

#include <algorithm>
#include <set>

#include "client/core/named_roots.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

constexpr std::chrono::minutes kEndpointsEvery{10};
constexpr std::chrono::seconds kEndpointsRetry{10};
constexpr std::chrono::milliseconds kRemovalLook{500};  ///< between looks whether the node ends
constexpr std::chrono::milliseconds kShortRound{2}, kLongestRest{250};
constexpr std::chrono::hours kEndpointsSaid{1};  ///< a trouble that lasts is told again after so long

bool is_wildcard(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}
bool is_ipv6(const std::string& address) {
  return address.find(':') != std::string::npos;
}

}  // namespace

NodeCore::NodeCore(const NodePorts& ports, NodeOptions options, EngineEvents& events)
    : c_(ports, std::move(options), events),
      announcer_(c_),
      rights_(c_),
      gets_(c_),
      publishes_(c_),
      lasting_(c_, publishes_),
      seeding_(c_),
      estimates_(c_, *this),
      tasks_(c_, *this),
      loop_(c_, gets_, publishes_, lasting_, seeding_, announcer_, rights_),
      tuning_keeper_(c_),
      rate_keeper_(c_),
      steps_(c_),
      node_name_(c_.options.node_name),
      credential_expires_(c_.options.credential_expires) {}

NodeCore::~NodeCore() {
  stop();
}

Status check_limits(const NodeLimits& limits) {
  const auto check = [](const char* option, std::uint64_t limit) -> Status {
    if (limit == 0 || limit >= kLeastNodeLimit) return {};
    return Error{Code::kInvalid, std::string(option) + " " + format_bits_per_s(limit) +
                                     " is too low: give 1Mbit or more, or 0 for no limit"};
  };
  GT_TRY(check("upload-limit", limits.send_bits_per_s));
  return check("download-limit", limits.receive_bits_per_s);
}

Status NodeCore::start() {
  c_.set_settings(c_.options.settings);
  GT_TRY(rights_.restore());
  GT_TRY(restore());
  GT_TRY(lasting_.restore());
  tuning_keeper_.restore();
  GT_TRY(c_.history.restore(c_.ports.clock.wall()));
  GT_TRY(tasks_.restore());
  GT_ASSIGN(const std::uint64_t cursor, c_.ports.store.task_cursor());
  for (const auto& endpoint : c_.ports.engine.listening()) listeners_.emplace_back(endpoint, Reachability::kUnknown);
  c_.events.set_wake([this] { c_.wake_for_events(); });
  c_.ports.link.start(*this, cursor);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return {};
}

Status NodeCore::restore() {
  GT_ASSIGN(std::vector<TransferRow> rows, c_.ports.store.transfers());
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.created < b.created; });
  const auto lock = c_.book.lock();
  for (auto& row : rows) {
    if (row.step == TransferStep::kVerify) row.step = TransferStep::kFetch;  // what is there is looked at again
    auto& transfer = c_.book.insert(std::move(row));
    for (const auto& peer : transfer.row.peers) transfer.earlier[peer.node] = peer;
    transfer.announce.acknowledged = transfer.earlier;
    transfer.announce.claimed = true;
    transfer.earlier_received = transfer.row.received_bytes;
    transfer.earlier_sent = transfer.row.sent_bytes;
    transfer.earlier_redundant = transfer.row.redundant_bytes;
    const bool may_wait = transfer.row.step == TransferStep::kFetch || transfer.row.step == TransferStep::kCheckLocal;
    transfer.held_back = may_wait && transfer.row.error.has_value();
    transfer.barred = true;  // until settled: the oldest of a content seeds
    transfer.recheck = transfer.row.step == TransferStep::kCommit;
    transfer.sums_not_before = c_.ports.clock.mono() + std::chrono::seconds(30);
  }
  c_.forget_given_way();
  c_.settle_all();
  return {};
}

void NodeCore::stop() {
  if (stopped_.exchange(true)) return;
  c_.ports.link.stop();
  tasks_.stop();
  c_.events.set_wake({});
  thread_ = {};  // before the jobs are asked to stop: its last round may still begin one
  std::vector<TransferId> fetching;
  {
    const auto lock = c_.book.lock();
    for (auto& [id, transfer] : c_.book.all()) {
      transfer->stop.request_stop();
      transfer->sums_stop.request_stop();
      if (transfer->in_engine && transfer->row.step == TransferStep::kFetch) fetching.push_back(id);
    }
  }
  c_.background.stop();
  c_.publishing.stop();
  c_.heavy.stop();
  c_.quick.stop();
  for (const auto& id : fetching) {
    gets_.save_resume(id, true);
  }
  c_.calls.stop();
  tuning_keeper_.finish();
  rate_keeper_.finish();
  rights_.save_audiences();
  const auto lock = c_.book.lock();
  c_.history.all_ended(c_.ports.clock.wall());
  for (auto& [id, transfer] : c_.book.all()) {
    if (transfer->row.step != TransferStep::kHold || !transfer->in_engine) continue;
    const auto before = transfer->row.received_bytes + transfer->row.sent_bytes;
    note_counters(*transfer, c_.ports.clock.mono());
    // Each is a transaction: thousands that were idle would take minutes.
    if (transfer->row.received_bytes + transfer->row.sent_bytes != before) c_.book.save_or_log(*transfer);
  }
}

void NodeCore::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "gt-transfers");
  const std::stop_callback wake(stop, [this] { c_.wake(); });
  bool all = true;
  while (!stop.stop_requested()) {
    const auto begun = std::chrono::steady_clock::now();
    const auto events = c_.events.take();
    std::chrono::milliseconds pause{};
    {
      const auto lock = c_.book.lock();
      pause = loop_.round(events, own(), all);
      tuning_keeper_.step(c_.ports.clock.mono());
      rate_keeper_.step({c_.ports.clock.mono(), c_.ports.clock.wall()});
    }
    tasks_.step(c_.ports.clock.mono());
    rights_.step(c_.ports.clock.mono());
    publish_endpoints();
    pause = std::min(pause, follow_hours());
    // Every answer rings. A round over thousands of transfers takes milliseconds: let several come together.
    const auto spent = std::chrono::steady_clock::now() - begun;
    if (spent > kShortRound) std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(9 * spent, kLongestRest));
    all = c_.wait(pause);
  }
}

std::chrono::milliseconds NodeCore::follow_hours() {
  const auto [pause, changed] = c_.follow_hours();
  if (changed) {
    const auto lock = c_.book.lock();
    c_.book.touch_all();
  }
  return pause;
}

TransferLoop::Own NodeCore::own() {
  const std::lock_guard lock(link_mutex_);
  const auto of = [this](bool tls) {
    TransferLoop::Listeners found;
    bool any_open = false, all_closed = true;
    for (const auto& [endpoint, reachability] : listeners_) {
      if (endpoint.tls != tls) continue;
      found.endpoints.push_back(endpoint);
      if (reachability == Reachability::kReachable) any_open = true;
      if (reachability != Reachability::kUnreachable) all_closed = false;
    }
    if (any_open) found.reachability = Reachability::kReachable;
    if (all_closed && !found.endpoints.empty()) found.reachability = Reachability::kUnreachable;
    return found;
  };
  return {node_name_, of(false), of(true)};
}

std::vector<LaneEndpoint> NodeCore::endpoints_to_publish() const {
  std::vector<LaneEndpoint> published;
  std::set<LaneEndpoint> seen;
  const auto add = [&](const LaneEndpoint& endpoint) {
    if (seen.insert(endpoint).second) published.push_back(endpoint);
  };
  for (auto endpoint : c_.ports.engine.listening()) {
    if (c_.options.addresses.empty()) {
      endpoint.address.clear();  // as the server sees this node
      add(endpoint);
      continue;
    }
    if (!is_wildcard(endpoint.address)) {
      add(endpoint);
      continue;
    }
    const bool ipv6 = is_ipv6(endpoint.address);
    for (const auto& address : c_.options.addresses) {
      if (is_ipv6(address) != ipv6) continue;
      endpoint.address = address;
      add(endpoint);
    }
  }
  return published;
}

void NodeCore::publish_endpoints() {
  {
    const std::lock_guard lock(link_mutex_);
    if (c_.ports.clock.mono() < endpoints_due_ || endpoints_in_flight_) return;
    endpoints_due_ = c_.ports.clock.mono() + kEndpointsEvery;
  }
  endpoints_in_flight_ = true;
  const bool posted = c_.calls.post([this] {
    const auto endpoints = endpoints_to_publish();
    const NodeSettings settings = c_.settings();
    const RootNames roots{names_to_tell(settings.share_roots), names_to_tell(settings.download_roots)};
    note_published(endpoints, c_.ports.link.update_endpoints(endpoints, roots));
    endpoints_in_flight_ = false;
    const auto lock = c_.book.lock();
    for (auto& [id, transfer] : c_.book.all()) transfer->plan_due = true;
    c_.wake();
  });
  if (!posted) endpoints_in_flight_ = false;
}

void NodeCore::note_published(const std::vector<LaneEndpoint>& endpoints,
                              const Result<std::vector<Reachability>>& reply) {
  const std::lock_guard lock(link_mutex_);
  if (reply) {
    endpoints_log_due_ = {};
    listeners_.clear();
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      listeners_.emplace_back(endpoints[i], i < reply->size() ? (*reply)[i] : Reachability::kUnknown);
    }
    return;
  }
  const auto now = c_.ports.clock.mono();
  endpoints_due_ = now + std::max<std::chrono::milliseconds>(kEndpointsRetry, c_.retry_pause(1));
  if (now < endpoints_log_due_) return;
  endpoints_log_due_ = now + kEndpointsSaid;
  c_.log(NodeLogLevel::kWarning, "the server was not told where to reach this node: " + reply.error().message +
                                     "; trying again, and told again in an hour");
}

void NodeCore::connected() {
  c_.server_lost = false;
  c_.rights.hear(c_.ports.clock.wall());
  {
    const std::lock_guard lock(link_mutex_);
    server_error_.clear();
    endpoints_due_ = {};
  }
  c_.log(NodeLogLevel::kInfo, "connected to the server " + c_.options.server);
  {
    const auto lock = c_.book.lock();
    announcer_.everything_due(c_.ports.clock.mono());
  }
  tasks_.connected();
  c_.wake();
}

void NodeCore::disconnected(const Error& reason) {
  c_.server_lost = true;
  {
    const std::lock_guard lock(link_mutex_);
    server_error_ = reason.message;
  }
  c_.log(NodeLogLevel::kWarning, "no connection to the server " + c_.options.server + ": " + reason.message +
                                     "; transfers go on, for --list-lifetime at most, trying again");
  c_.wake();
}

Status NodeCore::task(const Task& task) {
  const Status taken = tasks_.accept(task);
  c_.wake();
  return taken;
}

void NodeCore::task_cancelled(const TaskId& id) {
  tasks_.cancel(id);
}

void NodeCore::peer_changed(const ContentId& content, std::uint32_t version, const PeerInfo& peer) {
  const auto lock = c_.book.lock();
  announcer_.peer_changed(content, version, peer, c_.ports.clock.mono());
}

void NodeCore::content_changed(const std::optional<ContentId>& content) {
  {
    const auto lock = c_.book.lock();
    announcer_.content_changed(content, c_.ports.clock.mono());
  }
  c_.wake();
}

void NodeCore::addresses_changed() {
  {
    const std::lock_guard lock(link_mutex_);
    endpoints_due_ = {};
  }
  c_.wake();
}

void NodeCore::identity_changed(const std::string& node_name, WallTime credential_expires) {
  const std::lock_guard lock(link_mutex_);
  node_name_ = node_name;
  credential_expires_ = credential_expires;
}

NodeStatus NodeCore::status() {
  NodeStatus status;
  status.node = c_.options.node;
  status.owner_id = c_.options.owner_id;
  status.owner = c_.options.owner;
  status.server = c_.options.server;
  status.server_connected = c_.ports.link.is_connected();
  status.clock_offset = c_.ports.link.clock_offset();
  status.data_dir = c_.options.data_dir;
  if (const auto space = c_.ports.files.disk_space(c_.options.data_dir)) status.data_dir_space = *space;
  auto settings = c_.settings();
  status.share_roots = std::move(settings.share_roots);
  status.download_roots = std::move(settings.download_roots);
  status.limits = settings.limits;
  status.limits_why = c_.limits_why();
  status.tuning = c_.options.tuning;
  const std::lock_guard lock(link_mutex_);
  status.node_name = node_name_;
  status.credential_expires = credential_expires_;
  status.server_error = status.server_connected ? "" : server_error_;
  status.listeners = listeners_;
  return status;
}

void NodeCore::reconfigure(NodeSettings settings) {
  c_.set_settings(std::move(settings));
  addresses_changed();  // the server is told of the roots with them
  const auto lock = c_.book.lock();
  c_.book.touch_all();
}

Status NodeCore::set_limits(const NodeLimits& limits) {
  GT_TRY(check_limits(limits));
  c_.set_limits(limits);
  const auto lock = c_.book.lock();
  c_.book.touch_all();
  return {};
}

Result<ScannedTree> NodeCore::scan_publish(const ScanJob& job, const ScanFn& counting, std::stop_token stop) {
  WalkRules before;
  if (!job.as_before.empty()) {
    GT_ASSIGN(const ContentInfo content, c_.ports.link.content(job.as_before, 0));
    GT_ASSIGN(before, publishes_.rules_before(content.id));
  }
  const bool asked = before == WalkRules();
  GT_ASSIGN(ScannedTree tree, c_.ports.files.scan_tree({job.path, ""}, asked ? job.rules : before, counting, stop));
  tree.rules_as_before = rules_text(before);
  return tree;
}

Result<PublishOutcome> NodeCore::publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) {
  return publishes_.publish(job, hashing, std::move(stop));
}

Result<TransferView> NodeCore::start_publish(const PublishJob& job) {
  return lasting_.start(job);
}

Result<TransferView> NodeCore::get(const GetJob& job, bool& joined) {
  return gets_.get(job, joined);
}

Result<EstimateOutcome> NodeCore::estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token stop) {
  return estimates_.estimate(job, probing, std::move(stop));
}

Result<TransferView> NodeCore::seed(const std::string& content, const Place& from) {
  return seeding_.seed(content, from);
}

std::vector<TransferView> NodeCore::transfers() {
  std::vector<TransferView> views;
  const auto lock = c_.book.lock();
  for (const auto& [id, transfer] : c_.book.all()) {
    if (!is_gone(*transfer)) views.push_back(make_view(*transfer));
  }
  return views;
}

std::optional<TransfersUpdate> NodeCore::next_transfers(JournalPlace& place, std::uint64_t until) {
  const NodeLimits limits = c_.settings().limits;
  const auto lock = c_.book.lock();
  auto page = c_.book.journal().next(place, until, kTransfersPage);
  if (!page) return std::nullopt;
  TransfersUpdate update{.page = std::move(*page),
                         .epoch = c_.book.journal().epoch(),
                         .total = c_.book.journal().size(),
                         .limits = limits,
                         .limits_why = c_.limits_why(),
                         .changed = {}};
  update.changed.reserve(update.page.changed.size());
  for (const auto& id : update.page.changed) update.changed.push_back(make_summary(*c_.book.find(id)));
  return update;
}

std::uint64_t NodeCore::transfers_revision() {
  const auto lock = c_.book.lock();
  return c_.book.journal().revision();
}

void NodeCore::ring_after(std::uint64_t seen, std::function<void()> bell) {
  const auto lock = c_.book.lock();
  c_.book.ring_after(seen, std::move(bell));
}

void NodeCore::ring_on_change(const TransferId& id, std::uint64_t seen, std::function<void()> bell) {
  const auto lock = c_.book.lock();
  c_.book.ring_on_change(id, seen, std::move(bell));
}

Result<TransferView> NodeCore::transfer(const TransferId& id) {
  const auto lock = c_.book.lock();
  const auto* found = c_.book.find(id);
  if (found == nullptr) return unknown_transfer(id);
  return make_view(*found);
}

Result<TransferView> NodeCore::wait_for_change(const TransferId& id, std::uint64_t seen,
                                               std::chrono::milliseconds timeout) {
  auto lock = c_.book.lock();
  c_.book.wait_for_change(lock, id, seen, timeout);
  const auto* found = c_.book.find(id);
  if (found == nullptr) return unknown_transfer(id);
  return make_view(*found);
}

Result<TransferView> NodeCore::pause(const TransferId& id) {
  return steps_.change(id, {ChangeKind::kPause});
}

Result<TransferView> NodeCore::resume(const TransferId& id) {
  return steps_.change(id, {ChangeKind::kResume});
}

Result<TransferView> NodeCore::cancel(const TransferId& id) {
  return steps_.change(id, {ChangeKind::kCancel});
}

Result<TransferView> NodeCore::set(const TransferId& id, const TransferSettings& settings) {
  return steps_.change(id, {ChangeKind::kSet, settings});
}

Result<RemovedFiles> NodeCore::remove_files(const TransferId& id, bool look_only) {
  if (look_only) return gets_.removable(id);
  std::optional<TransferRow> row;
  {
    const auto lock = c_.book.lock();
    if (const auto* found = c_.book.find(id)) row = found->row;
  }
  if (row && may_remove(*row)) GT_TRY(gets_.are_placed(*row));
  GT_TRY(steps_.change(id, {ChangeKind::kRemove}));
  std::uint64_t seen = 0;
  auto lock = c_.book.lock();
  for (const auto* found = c_.book.find(id); found != nullptr && !stopped_; found = c_.book.find(id)) {
    if (found->removed) return *found->removed;
    seen = found->revision;
    c_.book.wait_for_change(lock, id, seen, kRemovalLook);
  }
  return Error{Code::kUnreachable, "the node ended while it removed files of transfer " + id.str() +
                                       ": it goes on once it is started again"};
}

Result<TransferView> NodeCore::choose_files(const TransferId& id, const FileChoice& choice) {
  return gets_.choose(id, choice);
}

Result<std::vector<std::uint32_t>> NodeCore::chosen_files(const TransferId& id) {
  return gets_.chosen(id);
}

ChangeOutcome NodeCore::change_all(const std::vector<TransferId>& ids, const TransferChange& change) {
  return steps_.change_all(ids, change);
}

Result<TuningRecord> NodeCore::tuning(const TransferId& id) {
  const auto lock = c_.book.lock();
  return c_.tuning.find(id);
}

std::vector<TuningRecord> NodeCore::tunings() {
  const auto lock = c_.book.lock();
  return c_.tuning.list();
}

Result<RateHistory> NodeCore::rates(const TransferId& id, WallTime from) {
  return rate_keeper_.history(id, from);
}

std::vector<PathRecord> NodeCore::path_history() {
  const auto lock = c_.book.lock();
  return c_.history.list();
}

Result<std::vector<PathRecord>> NodeCore::forget_paths(const std::optional<NodeId>& node) {
  const auto lock = c_.book.lock();
  GT_ASSIGN(std::vector<PathRecord> gone, c_.history.forget(node));
  if (node && gone.empty()) {
    return Error{Code::kNotFound, "nothing is remembered of the path from " + node->str() +
                                      "; `gridtorrent tune history` lists what is"};
  }
  return gone;
}

Result<VerifyOutcome> NodeCore::verify(const std::string& content, const std::string& path, bool sha256,
                                       const ProgressFn& progress, std::stop_token stop) {
  return seeding_.verify(content, path, sha256, progress, std::move(stop));
}

}  // namespace gridtorrent::client
