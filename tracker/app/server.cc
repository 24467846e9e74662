#include "tracker/app/server.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/crypto/keys.h"
#include "base/logging/logging.h"
#include "base/metrics/metrics.h"
#include "base/rpc/channel.h"
#include "base/rpc/checked_service.h"
#include "base/rpc/document.h"
#include "base/rpc/door.h"
#include "base/rpc/server.h"
#include "ccm/domain/account_service.h"
#include "ccm/domain/buddy_service.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/group_service.h"
#include "ccm/domain/handover_service.h"
#include "ccm/domain/inbox_service.h"
#include "ccm/domain/invite_service.h"
#include "ccm/rpc/accounts_rpc.h"
#include "ccm/rpc/collaboration_rpc.h"
#include "ccm/rpc/contents_rpc.h"
#include "common/clock.h"
#include "common/hex.h"
#include "common/rng.h"
#include "common/version.h"
#include "tracker/app/adapters.h"
#include "tracker/app/data_folder.h"
#include "tracker/app/first_start.h"
#include "tracker/app/identity.h"
#include "tracker/app/memory.h"
#include "tracker/app/self_probe.h"
#include "tracker/authority/data_authority.h"
#include "tracker/authority/enrollment.h"
#include "tracker/authority/generation_mover.h"
#include "tracker/core/audiences.h"
#include "tracker/core/news.h"
#include "tracker/core/node_service.h"
#include "tracker/core/task_service.h"
#include "tracker/rpc/nodes_rpc.h"
#include "tracker/rpc/swarms_rpc.h"
#include "tracker/rpc/tasks_rpc.h"
#include "tracker/store/metadata_folder.h"
#include "tracker/store/sqlite_store.h"

namespace gridtorrent::tracker::app {

namespace wire = gridtorrent::rpc;

namespace {

constexpr char kFirstUser[] = "admin";
constexpr std::chrono::hours kAdminTokenLife{365 * 24};
constexpr std::chrono::milliseconds kTick{1000};
constexpr std::chrono::seconds kSweepNodes{5};
constexpr std::chrono::minutes kSweepRest{5};
constexpr std::chrono::hours kTellAuditHead{1};
constexpr std::chrono::milliseconds kAudiencePause{100}, kAudienceRetry{1000};

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Threads for reads that scan: two at least, so that one user's leave one to everybody else.
std::size_t read_threads() {
  return std::clamp<std::size_t>(cores() / 2, 2, store::kScans);
}
// A person's browser and scripts ask for some lists at once; more at a time is a loop without a pause.
constexpr std::size_t kWaitingReadsOfAUser = 16, kWaitingReads = 256;

// Decoding a document of 49 MB takes 0.3 s of a core; 16 of one user at once held up everybody else's calls for 5 s. A
// second thread, that nobody's large uploads hold up those of others.
constexpr std::size_t kDocumentThreads = 2;

void log_failure(std::string_view what, const Status& status) {
  if (!status) logging::error(what, {{"reason", status.error().message}});
}

}  // namespace

/// Members in the order of who leans on whom; destroyed in the reverse.
struct Server::Parts {
  Parts(ServerConfig wanted, DataFolderLock held, std::unique_ptr<store::SqliteStore> opened,
        std::unique_ptr<store::MetadataFolder> folder, std::unique_ptr<wire::UploadSpool> spool)
      : config(std::move(wanted)),
        lock(std::move(held)),
        sqlite(std::move(opened)),
        files(std::move(folder)),
        uploads(std::move(spool)),
        logins(accounts, clock, config.password_cost) {}

  ServerConfig config;
  DataFolderLock lock;
  SystemClock clock;
  SystemRng rng;
  metrics::Registry metrics;
  std::unique_ptr<store::SqliteStore> sqlite;
  std::unique_ptr<store::MetadataFolder> files;
  std::unique_ptr<wire::UploadSpool> uploads;

  Swarms swarms{clock, rng};
  NodeHub node_hub;
  TaskHub task_hub;
  Audiences audiences{{*sqlite, node_hub, clock, rng}};
  NodeNews news{node_hub, swarms, audiences};
  authority::DataAuthority data_ca{*sqlite, config.sealing_key, clock};
  ccm::AccountService accounts{{*sqlite, news, clock, rng, {}}};
  ccm::rpc::InboxHub inboxes;
  ccm::ContentService contents{{*sqlite, *files, swarms, news, inboxes, data_ca, clock, rng, {}}};
  ccm::GroupService groups{{*sqlite, news, inboxes, clock, rng, {}}};
  ccm::BuddyService buddies{{*sqlite, news, inboxes, clock, {}}};
  ccm::InboxService inbox{{*sqlite, inboxes, clock}};
  ccm::InviteService invites{{*sqlite, groups, clock, rng, {}, config.managers_make_accounts}};
  ccm::HandoverService handovers{{*sqlite, news, inboxes, clock, {}}};
  NodeService nodes{{*sqlite, swarms, node_hub, audiences, clock, rng, {}}};
  TaskService tasks{{*sqlite, node_hub, task_hub, clock, rng, {}}};
  authority::TokenAuthenticator tokens{accounts, clock};
  authority::GenerationMover generations{{*sqlite, data_ca, news, clock}};
  authority::Logins logins;
  authority::Invitations invitations{accounts, invites, logins, clock};
  authority::Enrollment enrollment{accounts, nodes, clock};
  RpcAuthenticator authenticator{tokens};
  RpcSecrets secrets{logins, invitations, tokens};
  AccountRates own_rates{accounts};

  wire::Executor executor{"rpc-work", std::clamp<std::size_t>(cores() * 2, 4, 8), 1024};
  wire::Executor passwords{"rpc-pass", std::max<std::size_t>(1, cores() / 2), 32};
  wire::Ticker ticker{clock, kTick};
  wire::FairExecutor reads{"rpc-read", read_threads(), {kWaitingReadsOfAUser, kWaitingReads, read_threads() - 1}};
  wire::FairExecutor documents{
      "rpc-document", kDocumentThreads, {wire::Door::kMaxStreamsPerCaller, wire::Door::kMaxPeopleStreams, 1}};
  wire::KnownConnections known;
  wire::Door door{
      {authenticator, executor, passwords, ticker, clock, rng, metrics, reads, &own_rates, &known, &documents}};
  tracker::rpc::Dialer dialer{clock, {config.dial_back_allow, {}}};

  ccm::rpc::AccountsRpc accounts_rpc{door, accounts, secrets, clock, config.advertise};
  ccm::rpc::ContentsRpc contents_rpc{{door, contents, *files, *uploads, clock}};
  ccm::rpc::CollaborationRpc collaboration_rpc{{door, groups, buddies, inbox, handovers, inboxes, clock}};
  tracker::rpc::NodesRpc nodes_rpc{{door, nodes, enrollment, data_ca, clock, task_hub, [this] { wake_housekeeping(); },
                                    [this] { tokens.forget_all(); }}};
  tracker::rpc::SwarmsRpc swarms_rpc{{door, nodes, dialer, clock}};
  tracker::rpc::TasksRpc tasks_rpc{{door, tasks, nodes, node_hub, task_hub, audiences, clock}};

  std::vector<std::unique_ptr<wire::CheckedService>> checked;  ///< the services above, as callers meet them

  Identity identity;
  wire::HostPort listen;
  std::optional<wire::HostPort> advertise;
  std::string admin_token_file;
  bool is_new = false;  ///< its first account was made at this start
  std::unique_ptr<wire::TlsServer> server;
  std::unique_ptr<SelfProbe> probe;

  std::mutex sweep_mutex;
  std::condition_variable_any sweep_wake;
  bool woken = false;
  std::jthread housekeeping;
  std::mutex bell_mutex;
  std::condition_variable_any bell;
  bool rung = false;
  std::jthread audience_keeper;

  std::vector<std::string> names() const { return certificate_names(advertise ? advertise->host : "", listen.host); }
  std::string local_address() const {
    wire::HostPort address = listen;
    if (is_unspecified(address.host)) address.host = "127.0.0.1";
    address.port = server->port();
    return address.str();
  }

  template <class Contract, class Service>
  void check(Service& service) {
    checked.push_back(
        std::make_unique<wire::CheckedService>(Contract::service_full_name(), service, Service::methods()));
  }
  Status open_data_ca();
  Status make_first_account();
  Result<bool> admin_token_is_good();
  Status serve();
  void register_metrics();
  void wake_housekeeping();
  void keep_house(const std::stop_token& stop);
  void keep_audiences(const std::stop_token& stop);
  void tell_audit_head();
};

Status Server::Parts::open_data_ca() {
  GT_TRY(data_ca.open());
  if (const auto trouble = data_ca.trouble()) logging::error(trouble->message);
  return {};
}

Status Server::Parts::make_first_account() {
  admin_token_file = config.data_dir + "/admin-token";
  GT_ASSIGN(const std::optional<ccm::User> made, accounts.make_first_user(kFirstUser, /*admin=*/true));
  GT_ASSIGN(const std::optional<ccm::User> admin, accounts.find_user(kFirstUser));
  // The file may be removed once there are passwords; without any, nobody could ever log in again.
  if (!admin || admin->disabled || !admin->password_hash.empty()) return {};
  GT_ASSIGN(const bool good, admin_token_is_good());
  if (good) return {};
  GT_ASSIGN(const authority::Logins::Issued issued, logins.issue_to(*admin, "first start", kAdminTokenLife));
  GT_TRY(crypto::write_secret_file(admin_token_file, issued.text + "\n"));
  is_new = made.has_value();
  return {};
}

/// Not once its year is over, or where a restored database does not know it.
Result<bool> Server::Parts::admin_token_is_good() {
  if (::access(admin_token_file.c_str(), F_OK) != 0) return false;
  GT_ASSIGN(std::string token, crypto::read_secret_file(admin_token_file));
  while (!token.empty() && token.back() == '\n') token.pop_back();
  const auto shown = tokens.resolve(token, "");
  if (!shown && shown.error().code != Code::kUnauthenticated) return shown.error();
  return shown.ok();
}

Status Server::Parts::serve() {
  wire::ServerOptions options;
  options.listen = config.listen;
  options.pem_file = identity.pem_file;
  options.reflection = config.reflection;
  options.metrics = &metrics;
  options.connections_by_address = config.connections_by_address;
  options.known = &known;
  check<v1::Accounts>(accounts_rpc);
  check<v1::Contents>(contents_rpc);
  check<v1::Collaboration>(collaboration_rpc);
  check<v1::Nodes>(nodes_rpc);
  check<v1::Swarms>(swarms_rpc);
  check<v1::Tasks>(tasks_rpc);
  for (const auto& service : checked) options.services.push_back(service.get());
  GT_ASSIGN(server, wire::TlsServer::start(options));
  if (!config.metrics_listen.empty()) {
    GT_ASSIGN(const int port, metrics.expose(config.metrics_listen));
    logging::info("serving metrics", {{"port", std::to_string(port)}});
  }
  SelfProbe::Options probing;
  probing.address = local_address();
  probing.ca_file = identity.ca_file;
  probing.period = config.probe_period;
  probing.crowded = [this] { return server->crowded_within(2 * config.probe_period); };
  probing.on_dead = [this] {
    const Error dead{Code::kInternal, "the server answers no new connections any more: restart it"};
    logging::error(dead.message);
    if (config.on_fatal) config.on_fatal(dead);
  };
  probe = std::make_unique<SelfProbe>(std::move(probing));
  housekeeping = std::jthread([this](const std::stop_token& stop) { keep_house(stop); });
  pthread_setname_np(housekeeping.native_handle(), "housekeeping");
  audiences.set_bell([this] {
    {
      const std::lock_guard guard(bell_mutex);
      rung = true;
    }
    bell.notify_one();
  });
  audience_keeper = std::jthread([this](const std::stop_token& stop) { keep_audiences(stop); });
  pthread_setname_np(audience_keeper.native_handle(), "audiences");
  return {};
}

void Server::Parts::register_metrics() {
  const auto gauge = [this](const char* name, const char* help, std::function<double()> read) {
    metrics.gauge_callback(name, help, {}, std::move(read));
  };
  gauge("gridtorrent_node_streams", "Nodes with an open task stream.",
        [this] { return static_cast<double>(node_hub.stream_count()); });
  gauge("gridtorrent_task_watchers", "Open WatchTask streams.",
        [this] { return static_cast<double>(task_hub.watcher_count()); });
  gauge("gridtorrent_inbox_watchers", "Open WatchInbox streams.",
        [this] { return static_cast<double>(inboxes.watcher_count()); });
  gauge("gridtorrent_swarms", "Contents with a node alive.",
        [this] { return static_cast<double>(swarms.swarm_count()); });
  gauge("gridtorrent_swarm_members", "Nodes in swarms, counted once a swarm.",
        [this] { return static_cast<double>(swarms.member_count()); });
  gauge("gridtorrent_audiences", "Distinct groups of people whose nodes hold or fetch restricted content.",
        [this] { return static_cast<double>(audiences.count()); });
  gauge("gridtorrent_rpc_queue_calls", "Calls that wait for a thread.",
        [this] { return static_cast<double>(executor.queued()); });
  gauge("gridtorrent_password_queue_calls", "Logins that wait for their turn.",
        [this] { return static_cast<double>(door.turns_waiting()); });
  gauge("gridtorrent_read_queue_calls", "Searches and lists that wait for their turn.",
        [this] { return static_cast<double>(reads.queued()); });
}

/// Who is entitled changed: nodes are told at once, many changes in a row together.
void Server::Parts::keep_audiences(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock guard(bell_mutex);
      bell.wait(guard, stop, [this] { return rung; });
      rung = false;
      if (stop.stop_requested()) return;
    }
    const Status done = audiences.refresh();
    log_failure("cannot read who may have restricted content", done);
    std::unique_lock guard(bell_mutex);
    bell.wait_for(guard, stop, done ? kAudiencePause : kAudienceRetry, [] { return false; });
    if (!done) rung = true;
  }
}

/// Into the log, which is kept elsewhere: who rewrites the database's records cannot rewrite that too.
void Server::Parts::tell_audit_head() {
  const Result<ccm::AuditHead> head = accounts.audit_head();
  if (!head) return logging::error("cannot read the audit records", {{"reason", head.error().message}});
  logging::info("audit records so far",
                {{"records", std::to_string(head->records)}, {"hash", hex_encode(as_bytes(head->hash))}});
}

void Server::Parts::wake_housekeeping() {
  {
    const std::lock_guard guard(sweep_mutex);
    woken = true;
  }
  sweep_wake.notify_one();
}

void Server::Parts::keep_house(const std::stop_token& stop) {
  MonoTime last_full = clock.mono(), last_head = last_full;
  MemoryKeeper memory;
  tell_audit_head();
  while (!stop.stop_requested()) {
    {
      std::unique_lock guard(sweep_mutex);
      sweep_wake.wait_for(guard, stop, kSweepNodes, [this] { return woken; });
      woken = false;
    }
    if (stop.stop_requested()) return;
    const auto moved = generations.step();
    if (!moved)
      logging::error("cannot move contents to the data CA's new generation", {{"reason", moved.error().message}});
    log_failure("cannot sweep nodes", nodes.sweep());
    if (memory.due(node_hub.ended_streams())) give_memory_back();
    if (clock.mono() - last_full < kSweepRest) continue;
    last_full = clock.mono();
    if (last_full - last_head >= kTellAuditHead) {
      last_head = last_full;
      tell_audit_head();
    }
    audiences.ring_all();  // nothing should be missed; were it, it would be made good here
    log_failure("cannot sweep tasks", tasks.sweep());
    log_failure("cannot sweep contents", contents.sweep());
    log_failure("cannot sweep groups", groups.sweep());
    const Result<Identity> renewed = ensure_identity(config.data_dir, names(), clock.wall());
    if (!renewed) logging::error("cannot renew the server's certificate", {{"reason", renewed.error().message}});
  }
}

Result<std::unique_ptr<Server>> Server::start(ServerConfig config) {
  GT_ASSIGN(const wire::HostPort listen, wire::parse_host_port(config.listen));
  std::optional<wire::HostPort> advertise;
  if (!config.advertise.empty()) {
    GT_ASSIGN(advertise, wire::parse_host_port(config.advertise));
  }
  // The ready file names files in it for readers in other folders.
  config.data_dir = std::filesystem::absolute(config.data_dir).lexically_normal().native();
  while (config.data_dir.size() > 1 && config.data_dir.back() == '/') config.data_dir.pop_back();
  if (config.sealing_key.empty()) config.sealing_key = config.data_dir + "/sealing-key";
  GT_TRY(prepare_data_folder(config.data_dir));
  GT_ASSIGN(DataFolderLock lock, DataFolderLock::take(config.data_dir));
  GT_ASSIGN(const DataFolderState found, inspect_data_folder(config.data_dir, config.sealing_key));
  GT_TRY(may_start(found, config.as_new, config.data_dir));
  // Before the CA, the sealing key and the first document: may_start relies on this order.
  GT_ASSIGN(auto sqlite, store::SqliteStore::open({config.data_dir, config.on_fatal}));
  GT_ASSIGN(auto files, store::MetadataFolder::open(config.data_dir));
  GT_ASSIGN(auto uploads, wire::UploadSpool::open(config.data_dir + "/uploads"));
  auto parts = std::make_unique<Parts>(std::move(config), std::move(lock), std::move(sqlite), std::move(files),
                                       std::move(uploads));
  parts->listen = listen;
  parts->advertise = advertise;
  GT_ASSIGN(parts->identity, ensure_identity(parts->config.data_dir, parts->names(), parts->clock.wall()));
  GT_TRY(parts->open_data_ca());
  GT_TRY(parts->make_first_account());
  parts->register_metrics();
  GT_TRY(parts->serve());
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() {
  stop(std::chrono::milliseconds(0));
}

std::uint16_t Server::port() const {
  return parts_->server->port();
}

std::string Server::address() const {
  if (!parts_->advertise) return parts_->local_address();
  wire::HostPort address = *parts_->advertise;
  if (address.port == 0) address.port = port();
  return address.str();
}

const std::string& Server::ca_file() const {
  return parts_->identity.ca_file;
}

std::string Server::admin_token_file() const {
  return ::access(parts_->admin_token_file.c_str(), F_OK) == 0 ? parts_->admin_token_file : "";
}

bool Server::is_new() const {
  return parts_->is_new;
}

std::string Server::ready_json() const {
  nlohmann::ordered_json ready;
  ready["pid"] = ::getpid();
  ready["version"] = kVersion;
  ready["address"] = address();
  ready["ca_file"] = ca_file();
  if (const std::string file = admin_token_file(); !file.empty()) ready["admin_token_file"] = file;
  return ready.dump() + "\n";
}

Status Server::renew_certificate() {
  GT_ASSIGN(const Identity identity, ensure_identity(parts_->config.data_dir, parts_->names(), parts_->clock.wall()));
  if (identity.reissued) logging::info("made a new server certificate");
  parts_->server->reload_certificate();
  return {};
}

void Server::stop(std::chrono::milliseconds grace) {
  Parts& p = *parts_;
  p.probe.reset();
  p.housekeeping.request_stop();
  if (p.housekeeping.joinable()) p.housekeeping.join();
  p.audience_keeper.request_stop();
  if (p.audience_keeper.joinable()) p.audience_keeper.join();
  p.node_hub.end_all();
  // After the last call has ended nobody posts any more; what is queued runs.
  if (p.server) p.server->drain(grace);
  p.ticker.stop();
  p.executor.stop();
  p.reads.stop();
  p.documents.stop();
  p.passwords.stop();
  log_failure("cannot write down when nodes were last seen", p.nodes.write_signs(std::chrono::milliseconds(0)));
}

}  // namespace gridtorrent::tracker::app
