#include "client/app/daemon.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "base/crypto/digest.h"
#include "base/crypto/keys.h"
#include "base/logging/logging.h"
#include "base/metrics/metrics.h"
#include "client/app/config.h"
#include "client/app/cpu_quota.h"
#include "client/app/data_dir.h"
#include "client/app/identity_keeper.h"
#include "client/app/listen_addresses.h"
#include "client/app/log_bridge.h"
#include "client/app/node_metrics.h"
#include "client/app/ready_file.h"
#include "client/app/reload.h"
#include "client/app/server_ca.h"
#include "client/app/settings.h"
#include "client/app/signals.h"
#include "client/app/thread_load.h"
#include "client/control/control_server.h"
#include "client/core/engine_events.h"
#include "client/core/node_core.h"
#include "client/engine/congestion_grants.h"
#include "client/engine/descriptor_shares.h"
#include "client/engine/libtorrent_engine.h"
#include "client/engine/tcp_info.h"
#include "client/files/file_work.h"
#include "client/remote/grpc_link.h"
#include "client/security/lane_certificates.h"
#include "client/security/rooted_disk.h"
#include "client/store/sqlite_store.h"
#include "client/tuning/chosen.h"
#include "client/tuning/diagnosis.h"
#include "common/codes.h"
#include "common/text.h"
#include "common/version.h"

namespace gridtorrent::client::app {
namespace {

using security::NodeIdentity;

/// Every part of a running node, made in this order and ended in the other.
struct Parts {
  std::uint32_t umask = 077;
  SystemClock clock;
  SystemRng rng;
  std::unique_ptr<tuning::ChosenController> tuner;
  tuning::Diagnosis diagnosis;
  security::RootedDisk guard;
  EngineEvents events;
  metrics::Registry metrics;
  std::unique_ptr<ServerCaKeeper> ca;
  std::unique_ptr<IdentityKeeper> identity;
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<LanePapers> papers;
  std::unique_ptr<FileWork> files;
  std::unique_ptr<remote::RemoteLink> link;
  std::unique_ptr<engine::LaneEngine> engine;
  std::unique_ptr<NodeCore> node;
  control::ControlServer::Place control_place;  ///< until `control` has it
  std::unique_ptr<control::ControlServer> control;
  std::unique_ptr<ServerRoute> route;
  std::vector<std::string> listening;  ///< addresses
  std::mutex removed_mutex;
  std::optional<Error> removed;  ///< why the node ends although nobody asked it to
};

/// Another network, or another address of the same one: lanes listen there within so long.
constexpr std::chrono::seconds kLookAtAddresses{30};

/// What the first start needs besides, checked before anything else is done.
struct Enrolment {
  EnrolmentPlace place;
  std::string token;
};

Result<Enrolment> plan_enrolment(const Config& config, const options::Parsed& parsed, const std::string& ca_file) {
  if (config.server.empty()) {
    return Error{Code::kInvalid,
                 "--server is needed at the first start: HOST:PORT of the server this node will belong to"};
  }
  if (!config.has_enroll_token) {
    return Error{Code::kInvalid,
                 "this node is not enrolled yet: get a token with `gridtorrent node enroll-token` and name its "
                 "file with --enroll-token-file"};
  }
  GT_ASSIGN(std::string token, parsed.secret("enroll-token-file"));
  return Enrolment{{config.data_dir, config.server, ca_file, config.node_name}, std::move(token)};
}

/// A name in a configuration file is a habit, and gives way to that of a token for one node.
Result<NodeIdentity> enrol_first(Enrolment plan, options::Source named_by, Parts& parts) {
  auto identity = enrol(plan.place, plan.token, parts.clock, parts.rng);
  const bool is_habit = named_by == options::Source::kUserFile || named_by == options::Source::kSystemFile;
  if (identity || identity.error().code != Code::kDenied || !is_habit) return identity;
  logging::warning("without the name of the configuration file: " + identity.error().message);
  plan.place.node_name.clear();
  return enrol(plan.place, plan.token, parts.clock, parts.rng);
}

/// Who this node is; nothing where it was never enrolled.
Result<std::optional<NodeIdentity>> known_identity(const Config& config) {
  GT_ASSIGN(std::optional<NodeIdentity> known, security::load_identity(config.data_dir));
  if (known && !config.server.empty() && config.server != known->server) {
    known->server = config.server;
    GT_TRY(security::save_identity(config.data_dir, *known));
  }
  return known;
}

/// The server has another name for this node.
void take_name(const std::string& name, Parts& parts) {
  if (const auto kept = parts.identity->rename(name); !kept) {
    logging::warning("this node's new name could not be kept: " + kept.error().message);
  }
  parts.node->identity_changed(name, parts.identity->now().expires);
  logging::info("this node is called " + escape_for_display(name) + " now");
}

/// The main thread ends the node in order.
void on_removed(const Config& config, const Error& reason, Parts& parts) {
  {
    const std::lock_guard lock(parts.removed_mutex);
    parts.removed = set_aside(config.data_dir, parts.identity->now(), reason);
  }
  ::kill(::getpid(), SIGTERM);
}

Status make_link(const Config& config, const std::string& ca_file, Parts& parts) {
  const NodeIdentity identity = parts.identity->now();
  remote::ServerLinkOptions options;
  options.server = {identity.server, ca_file};
  options.credential = {identity.token, identity.issued, identity.expires};
  options.node_name = identity.node_name;
  options.on_credential = [&parts](const remote::NodeCredential& renewed) -> Status {
    GT_TRY(parts.identity->renew(renewed));
    const NodeIdentity now = parts.identity->now();
    parts.node->identity_changed(now.node_name, now.expires);
    return {};
  };
  options.on_name = [&parts](const std::string& name) { take_name(name, parts); };
  options.on_removed = [&config, &parts](const Error& reason) { on_removed(config, reason, parts); };
  options.on_proven_ca = [&ca = *parts.ca](const std::string& file) {
    if (const auto kept = ca.proven(file); !kept) logging::warning("the server's CA: " + kept.error().message);
  };
  options.clock = &parts.clock;
  options.rng = &parts.rng;
  GT_ASSIGN(parts.link, remote::make_server_link(std::move(options)));
  return {};
}

/// Another credential for this node's key, which the running node uses at once.
Result<control::Reenrolled> reenrol(const Config& config, const std::string& token, Parts& parts) {
  const NodeIdentity before = parts.identity->now();
  GT_ASSIGN(const ServerCa ca, read_server_ca(config.ca_file, config.data_dir));
  GT_ASSIGN(const NodeIdentity now,
            enrol({config.data_dir, before.server, ca.file, before.node_name}, token, parts.clock, parts.rng));
  // `enrol` has written it down; this is for a renewal that came after that.
  if (const auto kept = parts.identity->take_over(now); !kept) logging::warning(kept.error().message);
  logging::info("enrolled anew as " + now.node.str() + " of " + now.owner);
  if (now.node != before.node) return control::Reenrolled{now.node, now.expires, true};
  parts.node->identity_changed(now.node_name, now.expires);
  parts.link->use_credential({now.token, now.issued, now.expires});
  return control::Reenrolled{now.node, now.expires, false};
}

/// Of what the owner lets others ask for, and the kernel does not allow.
void warn_of_forbidden(const std::vector<std::string>& names) {
  const std::string allowed = engine::allowed_congestion_controls();
  const auto granted = engine::granted_congestion_controls(names, allowed);
  for (const std::string& name : names) {
    if (std::ranges::find(granted, name) != granted.end()) continue;
    logging::warning("--lane-congestion-control: the kernel does not allow " + name +
                     ", so nobody is granted it: sysctl -w net.ipv4.tcp_allowed_congestion_control=\"" + allowed + " " +
                     name + "\"");
  }
}

/// Of the ports that the owner chose, those that other programs have: a firewall may be open for these alone.
void warn_of_taken(const std::string& option, std::pair<std::uint16_t, std::uint16_t> range, bool tls,
                   const std::vector<LaneEndpoint>& listening) {
  std::set<std::uint16_t> open;
  for (const LaneEndpoint& endpoint : listening)
    if (endpoint.tls == tls) open.insert(endpoint.port);
  const std::size_t wanted = static_cast<std::size_t>(range.second) - range.first + 1;
  if (range.first == 0 || open.size() >= wanted) return;
  logging::warning("--" + option + ": " + std::to_string(wanted - open.size()) + " of " + std::to_string(wanted) +
                   " ports are in use by other programs; lanes do without them until the next start");
}

/// Other programs' outgoing connections hold a port for a moment; another node of this host holds it for good.
constexpr std::chrono::milliseconds kPatienceForPorts{10'000}, kPatienceForUsualPorts{2'000};

Status make_engine(const Config& config, const std::string& server, Parts& parts) {
  EngineOptions options;
  parts.route = std::make_unique<ServerRoute>(server);
  parts.listening = choose_listen_addresses(config.addresses, parts.route->facts());
  options.listen_addresses = parts.listening;
  GT_ASSIGN(const crypto::EcKey key, crypto::EcKey::load_or_make(config.data_dir + "/node_key.pem"));
  options.key_pem = key.private_pem();
  options.first_lane_port = config.lane_ports.first;
  options.last_lane_port = config.lane_ports.second;
  options.tls_lanes = true;
  options.first_tls_port = config.tls_lane_ports.first;
  options.last_tls_port = config.tls_lane_ports.second;
  options.congestion_controls = config.lane_congestion_controls;
  warn_of_forbidden(config.lane_congestion_controls);
  auto engine = engine::make_libtorrent_engine(options, parts.events,
                                               config.usual_ports ? kPatienceForUsualPorts : kPatienceForPorts);
  if (!engine && engine.error().code == Code::kConflict && config.usual_ports) {
    // Another node of this host has them; nobody asked for these very ports.
    logging::warning(engine.error().message + "; taking free ports, which a firewall may not let through");
    options.first_lane_port = options.last_lane_port = 0;
    options.first_tls_port = options.last_tls_port = 0;
    engine = engine::make_libtorrent_engine(options, parts.events);
  }
  if (!engine) return engine.error();
  parts.engine = std::move(*engine);
  const std::vector<LaneEndpoint> listening = parts.engine->listening();
  warn_of_taken("lane-ports", {options.first_lane_port, options.last_lane_port}, false, listening);
  warn_of_taken("tls-lane-ports", {options.first_tls_port, options.last_tls_port}, true, listening);
  return {};
}

Status make_node(const Config& config, Parts& parts) {
  const NodeIdentity identity = parts.identity->now();
  NodeOptions options;
  options.node = identity.node;
  options.owner_id = identity.owner_id;
  options.node_name = identity.node_name;
  options.owner = identity.owner;
  options.server = identity.server;
  options.data_dir = config.data_dir;
  options.addresses = config.addresses;
  options.settings = {config.share_roots, config.download_roots, config.max_fetching, config.limits,
                      config.limit_hours};
  options.credential_expires = identity.expires;
  options.umask = parts.umask;
  options.tuning = config.tuning;
  options.list_lifetime = config.list_lifetime;
  const engine::ReceiveLimits limits = engine::receive_limits();
  const std::uint64_t lane_bytes = engine::receive_bytes_of_lane(kMaxLanesPerPeer, limits);
  options.host = {lane_bytes, engine::tcp_memory_pressure(), engine::most_descriptors(),
                  lane_bytes < limits.autotuned_max};
  options.load = [threads = ThreadLoad(), quota = CpuQuota(), &engine = *parts.engine](MonoTime now) mutable {
    const Busiest busiest = threads.busiest(now);
    return HostLoad{busiest.share, engine.load().held_by_disk, thread_name(busiest.thread), quota.stopped(now)};
  };
  parts.tuner = std::make_unique<tuning::ChosenController>(config.tuning.tuner, parts.rng.next());
  const NodePorts ports{*parts.engine,   *parts.files,  *parts.link, *parts.store, parts.guard, *parts.tuner,
                        parts.diagnosis, *parts.papers, parts.clock, parts.rng,    make_log()};
  parts.node = std::make_unique<NodeCore>(ports, std::move(options), parts.events);
  return parts.node->start();
}

/// Where the machine has other addresses now.
void follow_addresses(const Config& config, Parts& parts) {
  const AddressFacts facts = parts.route->facts();
  if (config.addresses.empty() && facts.towards_server.empty()) return;  // no network: it may come back as it was
  std::vector<std::string> now = choose_listen_addresses(config.addresses, facts);
  if (now == parts.listening) return;
  std::string text;
  for (const std::string& address : now) text += (text.empty() ? "" : ", ") + address;
  logging::info("the addresses of this machine changed: lanes listen on " + text);
  parts.listening = std::move(now);
  parts.engine->listen_on(parts.listening);
  parts.node->addresses_changed();
}

[[noreturn]] void disk_lost(const Error& error) {
  // What the database holds is unknown now; going on would acknowledge what may be lost.
  logging::error(error.message);
  ::_exit(static_cast<int>(exit_code(Code::kDisk)));
}

/// The places that others may have: socket, lane ports, figures. Before an enrolment, which costs a token.
Status take_places(const Config& config, const std::string& server, ReadyInfo& ready, Parts& parts) {
  GT_ASSIGN(parts.control_place, control::ControlServer::Place::take(config.socket));
  GT_TRY(make_engine(config, server, parts));
  if (config.metrics_listen.empty()) return {};
  GT_ASSIGN(const int port, parts.metrics.expose(config.metrics_listen));
  ready.metrics_address =
      config.metrics_listen.substr(0, config.metrics_listen.rfind(':')) + ":" + std::to_string(port);
  return {};
}

Status reconfigure(const Config& now, Parts& parts) {
  GT_TRY(logging::configure(now.log_format, now.log_level));
  parts.node->reconfigure({now.share_roots, now.download_roots, now.max_fetching, now.limits, now.limit_hours});
  return {};
}

Status serve_control(Settings& settings, Parts& parts) {
  const Config& config = settings.config();
  control::ControlOptions control;
  control.socket_path = config.socket;
  control.hash_backend = std::string(crypto::ManyHasher().backend());
  control.clock = &parts.clock;
  control.credential_refused = [&link = *parts.link] { return link.credential_refused(); };
  control.reenrol = [&config, &parts](const std::string& token) { return reenrol(config, token, parts); };
  control.settings.list = [&settings] { return settings.list(); };
  control.settings.change = [&settings, &parts](const std::vector<control::SettingChange>& changes) {
    return settings.change(changes, [&parts](const Config&, const Config& now) { return reconfigure(now, parts); });
  };
  GT_ASSIGN(parts.control,
            control::ControlServer::start(std::move(control), *parts.node, std::move(parts.control_place)));
  return {};
}

Status start(Settings& settings, const options::Parsed& parsed, Parts& parts) {
  Config& config = settings.config();
  GT_ASSIGN(const ServerCa ca, read_server_ca(config.ca_file, config.data_dir));
  config.ca_pem = ca.pem;
  GT_ASSIGN(std::optional<NodeIdentity> identity, known_identity(config));
  std::optional<Enrolment> enrolment;
  if (!identity) {
    GT_ASSIGN(enrolment, plan_enrolment(config, parsed, ca.file));
  }
  ReadyInfo ready;
  GT_TRY(take_places(config, identity ? identity->server : config.server, ready, parts));
  if (enrolment) {
    GT_ASSIGN(identity, enrol_first(*enrolment, parsed.source("name"), parts));
    logging::info("enrolled as " + identity->node.str() + " of " + identity->owner + " at " + identity->server);
  }
  parts.engine->set_node(identity->node);
  parts.identity = std::make_unique<IdentityKeeper>(config.data_dir, *identity);
  GT_ASSIGN(parts.store, store::SqliteStore::open({config.data_dir, disk_lost}));
  GT_ASSIGN(parts.papers, security::open_lane_certificates(config.data_dir));
  parts.files = files::make_file_work();
  parts.ca = std::make_unique<ServerCaKeeper>(config.data_dir);
  GT_TRY(parts.ca->use(ca));
  GT_TRY(make_link(config, ca.file, parts));
  GT_TRY(make_node(config, parts));
  GT_TRY(serve_control(settings, parts));
  if (!config.metrics_listen.empty()) register_node_metrics(parts.metrics, *parts.node);

  ready.node = identity->node;
  ready.node_name = identity->node_name;
  ready.owner = identity->owner;
  ready.server = identity->server;
  ready.control_socket = parts.control->socket_path();
  ready.lane_endpoints = real_endpoints(parts.engine->listening(), config.addresses);
  if (!config.ready_file.empty()) GT_TRY(write_ready_file(config.ready_file, ready_json(ready, ::getpid())));
  notify_systemd("READY=1");
  logging::info(std::string("gridtorrentd ") + kVersion + " serves at " + escape_for_display(ready.control_socket));
  return {};
}

void end(Parts& parts) {
  notify_systemd("STOPPING=1");
  parts.control.reset();
  if (parts.node) parts.node->stop();
  if (parts.engine) parts.engine->stop();
  parts.node.reset();
}

/// Ends in order on a thread of its own, while this one listens for the second signal.
void drain(Parts& parts) {
  std::atomic<bool> ended{false};
  std::jthread ending([&] {
    pthread_setname_np(pthread_self(), "gt-drain");
    end(parts);
    ended = true;
  });
  while (!ended) {
    const auto signal = wait_for_signal(std::chrono::milliseconds(50));
    if (signal != Signal::kEnd) continue;
    logging::warning("ending at once: what was fetched since the last note is looked at again at the next start");
    ::_exit(0);
  }
}

/// What can change while the node runs does, or all stays as it was.
Status take_over(const Config& before, Config& now, Parts& parts) {
  GT_ASSIGN(const ServerCa ca, read_server_ca(now.ca_file, before.data_dir));
  now.ca_pem = ca.pem;
  if (now.ca_pem != before.ca_pem) {
    GT_TRY(parts.link->use_ca(ca.file));
    GT_TRY(parts.ca->use(ca));
  }
  return reconfigure(now, parts);
}

void on_reload(Settings& settings, Parts& parts) {
  const auto changes =
      settings.read_again([&](const Config& before, Config& now) { return take_over(before, now, parts); });
  if (changes) {
    logging::info(describe(*changes));
  } else {
    logging::error("the configuration stays as it was: " + changes.error().message);
  }
}

int report(const Error& error) {
  // As in the log: a server may have written it, and a terminal may show it.
  std::fprintf(stderr, "gridtorrentd: %s\n", escape_for_display(error.message).c_str());
  return static_cast<int>(exit_code(error.code));
}

}  // namespace

int run_daemon(const options::Parsed& parsed, std::uint32_t umask) {
  const auto settings = Settings::open(parsed);
  if (!settings) return report(settings.error());
  const Config& config = (*settings)->config();
  if (const auto set = logging::configure(config.log_format, config.log_level); !set) return report(set.error());
  const auto data_dir = DataDir::open(config.data_dir);
  if (!data_dir) return report(data_dir.error());

  Parts parts;
  parts.umask = umask;
  if (const auto started = start(**settings, parsed, parts); !started) {
    end(parts);
    return report(started.error());
  }
  while (true) {
    const auto signal = wait_for_signal(kLookAtAddresses);
    if (!signal) follow_addresses(config, parts);
    if (signal == Signal::kReload) on_reload(**settings, parts);
    if (signal == Signal::kEnd) break;
  }
  logging::info("ending: writing down what was fetched");
  drain(parts);
  if (!config.ready_file.empty()) ::unlink(config.ready_file.c_str());
  const std::lock_guard lock(parts.removed_mutex);
  if (parts.removed) return report(*parts.removed);
  logging::info("ended");
  return 0;
}

}  // namespace gridtorrent::client::app
