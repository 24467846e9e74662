#include "client/app/daemon.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "base/crypto/digest.h"
#include "base/crypto/keys.h"
#include "base/logging/logging.h"
#include "base/metrics/metrics.h"
#include "client/app/config.h"
#include "client/app/cpu_quota.h"
#include "client/app/data_dir.h"
#include "client/app/listen_addresses.h"
#include "client/app/log_bridge.h"
#include "client/app/node_metrics.h"
#include "client/app/ready_file.h"
#include "client/app/reload.h"
#include "client/app/server_ca.h"
#include "client/app/signals.h"
#include "client/app/thread_load.h"
#include "client/control/control_server.h"
#include "client/core/engine_events.h"
#include "client/core/node_core.h"
#include "client/engine/congestion_grants.h"
#include "client/engine/libtorrent_engine.h"
#include "client/engine/tcp_info.h"
#include "client/files/file_work.h"
#include "client/remote/grpc_link.h"
#include "client/security/lane_certificates.h"
#include "client/security/node_identity.h"
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
  SystemClock clock;
  SystemRng rng;
  std::unique_ptr<tuning::ChosenController> tuner;
  tuning::Diagnosis diagnosis;
  security::RootedDisk guard;
  EngineEvents events;
  metrics::Registry metrics;
  std::unique_ptr<ServerCaKeeper> ca;
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<LanePapers> papers;
  std::unique_ptr<FileWork> files;
  std::unique_ptr<remote::RemoteLink> link;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<NodeCore> node;
  std::unique_ptr<control::ControlServer> control;
  std::unique_ptr<ServerRoute> route;
  std::vector<std::string> listening;  ///< addresses
};

/// Another network, or another address of the same one: lanes listen there within so long.
constexpr std::chrono::seconds kLookAtAddresses{30};

Result<NodeIdentity> enrol(const Config& config, const options::Parsed& parsed, const std::string& ca_file,
                           Parts& parts) {
  if (config.server.empty()) {
    return Error{Code::kInvalid,
                 "--server is needed at the first start: HOST:PORT of the server this node will belong to"};
  }
  if (!config.has_enroll_token) {
    return Error{Code::kInvalid,
                 "this node is not enrolled yet: get a token with `gridtorrent node enroll-token` and name its "
                 "file with --enroll-token-file"};
  }
  GT_ASSIGN(const std::string token, parsed.secret("enroll-token-file"));
  const auto ask = [&](const security::EnrolmentRequest& request) -> Result<NodeIdentity> {
    const remote::EnrollRequest wire{request.enroll_token, request.request_id, request.node_name, request.public_key,
                                     request.proof};
    GT_ASSIGN(const remote::Enrollment answer, remote::enroll({config.server, ca_file}, wire, parts.clock));
    return NodeIdentity{answer.node,   request.node_name,       answer.owner_id,          answer.owner,
                        config.server, answer.credential.token, answer.credential.issued, answer.credential.expires};
  };
  GT_ASSIGN(NodeIdentity identity,
            security::enrol_once(config.data_dir, token, config.node_name,
                                 make_request_id(parts.clock.wall(), parts.rng), remote::enroll_proof_text, ask));
  logging::info("enrolled as " + identity.node.str() + " of " + identity.owner + " at " + identity.server);
  return identity;
}

Result<NodeIdentity> identify(const Config& config, const options::Parsed& parsed, const std::string& ca_file,
                              Parts& parts) {
  GT_ASSIGN(std::optional<NodeIdentity> known, security::load_identity(config.data_dir));
  if (!known) return enrol(config, parsed, ca_file, parts);
  if (!config.server.empty() && config.server != known->server) {
    known->server = config.server;
    GT_TRY(security::save_identity(config.data_dir, *known));
  }
  return *known;
}

Status make_link(const Config& config, const NodeIdentity& identity, const std::string& ca_file, Parts& parts) {
  remote::ServerLinkOptions options;
  options.server = {identity.server, ca_file};
  options.credential = {identity.token, identity.issued, identity.expires};
  options.on_credential = [data_dir = config.data_dir, identity](const remote::NodeCredential& renewed) -> Status {
    auto next = identity;
    next.token = renewed.token;
    next.issued = renewed.issued;
    next.expires = renewed.expires;
    return security::save_identity(data_dir, next);
  };
  options.on_proven_ca = [&ca = *parts.ca](const std::string& file) {
    if (const auto kept = ca.proven(file); !kept) logging::warning("the server's CA: " + kept.error().message);
  };
  options.clock = &parts.clock;
  options.rng = &parts.rng;
  GT_ASSIGN(parts.link, remote::make_server_link(std::move(options)));
  return {};
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

Status make_engine(const Config& config, const NodeIdentity& identity, Parts& parts) {
  EngineOptions options;
  options.node = identity.node;
  parts.route = std::make_unique<ServerRoute>(identity.server);
  parts.listening = choose_listen_addresses(config.addresses, parts.route->facts());
  options.listen_addresses = parts.listening;
  GT_ASSIGN(options.key_pem, crypto::read_secret_file(config.data_dir + "/node_key.pem"));
  options.first_lane_port = config.lane_ports.first;
  options.last_lane_port = config.lane_ports.second;
  options.tls_lanes = true;
  options.first_tls_port = config.tls_lane_ports.first;
  options.last_tls_port = config.tls_lane_ports.second;
  options.congestion_controls = config.lane_congestion_controls;
  warn_of_forbidden(config.lane_congestion_controls);
  auto engine = engine::make_libtorrent_engine(options, parts.events);
  if (!engine && engine.error().code == Code::kConflict && config.usual_ports) {
    // Another node of this host has them; nobody asked for these very ports.
    logging::warning(engine.error().message + "; taking free ports, which a firewall may not let through");
    options.first_lane_port = options.last_lane_port = 0;
    options.first_tls_port = options.last_tls_port = 0;
    engine = engine::make_libtorrent_engine(options, parts.events);
  }
  if (!engine) return engine.error();
  parts.engine = std::move(*engine);
  return {};
}

Status make_node(const Config& config, const NodeIdentity& identity, Parts& parts) {
  NodeOptions options;
  options.node = identity.node;
  options.owner_id = identity.owner_id;
  options.node_name = identity.node_name;
  options.owner = identity.owner;
  options.server = identity.server;
  options.data_dir = config.data_dir;
  options.addresses = config.addresses;
  options.settings = {config.share_roots, config.download_roots, config.max_fetching, config.limits};
  options.credential_expires = identity.expires;
  options.tuning = config.tuning;
  options.list_lifetime = config.list_lifetime;
  options.host = {engine::receive_bytes_of_lane(kMaxLanesPerPeer, engine::receive_limits()),
                  engine::tcp_memory_pressure()};
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

Status start(Config& config, const options::Parsed& parsed, Parts& parts) {
  GT_ASSIGN(const ServerCa ca, read_server_ca(config.ca_file, config.data_dir));
  config.ca_pem = ca.pem;
  GT_ASSIGN(const NodeIdentity identity, identify(config, parsed, ca.file, parts));
  GT_ASSIGN(parts.store, store::SqliteStore::open({config.data_dir, disk_lost}));
  GT_ASSIGN(parts.papers, security::open_lane_certificates(config.data_dir));
  parts.files = files::make_file_work();
  parts.ca = std::make_unique<ServerCaKeeper>(config.data_dir);
  GT_TRY(parts.ca->use(ca));
  GT_TRY(make_link(config, identity, ca.file, parts));
  GT_TRY(make_engine(config, identity, parts));
  GT_TRY(make_node(config, identity, parts));

  control::ControlOptions control;
  control.socket_path = config.socket;
  control.hash_backend = std::string(crypto::ManyHasher().backend());
  control.clock = &parts.clock;
  GT_ASSIGN(parts.control, control::ControlServer::start(std::move(control), *parts.node));

  ReadyInfo ready;
  if (!config.metrics_listen.empty()) {
    register_node_metrics(parts.metrics, *parts.node);
    GT_ASSIGN(const int port, parts.metrics.expose(config.metrics_listen));
    const auto host = config.metrics_listen.substr(0, config.metrics_listen.rfind(':'));
    ready.metrics_address = host + ":" + std::to_string(port);
  }
  ready.node = identity.node;
  ready.node_name = identity.node_name;
  ready.owner = identity.owner;
  ready.server = identity.server;
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
Result<ConfigChanges> reload(const options::Parsed& parsed, Config& config, Parts& parts) {
  GT_ASSIGN(const options::Parsed again, options::reload(program(), parsed));
  GT_ASSIGN(Config now, read_config(again));
  GT_ASSIGN(const ServerCa ca, read_server_ca(now.ca_file, config.data_dir));
  now.ca_pem = ca.pem;
  if (now.ca_pem != config.ca_pem) {
    GT_TRY(parts.link->use_ca(ca.file));
    GT_TRY(parts.ca->use(ca));
  }
  GT_TRY(logging::configure(now.log_format, now.log_level));
  parts.node->reconfigure({now.share_roots, now.download_roots, now.max_fetching, now.limits});
  const auto changes = compare(config, now);
  // What needs a restart goes on as it was, and is named again the next time.
  config.log_format = now.log_format;
  config.log_level = now.log_level;
  config.ca_pem = now.ca_pem;
  config.share_roots = now.share_roots;
  config.download_roots = now.download_roots;
  config.max_fetching = now.max_fetching;
  config.limits = now.limits;
  return changes;
}

void on_reload(const options::Parsed& parsed, Config& config, Parts& parts) {
  const auto changes = reload(parsed, config, parts);
  if (changes) {
    logging::info(describe(*changes));
  } else {
    logging::error("the configuration stays as it was: " + changes.error().message);
  }
}

int report(const Error& error) {
  std::fprintf(stderr, "gridtorrentd: %s\n", error.message.c_str());
  return static_cast<int>(exit_code(error.code));
}

}  // namespace

int run_daemon(const options::Parsed& parsed) {
  auto config = read_config(parsed);
  if (!config) return report(config.error());
  if (const auto set = logging::configure(config->log_format, config->log_level); !set) return report(set.error());
  const auto data_dir = DataDir::open(config->data_dir);
  if (!data_dir) return report(data_dir.error());

  Parts parts;
  if (const auto started = start(*config, parsed, parts); !started) {
    end(parts);
    return report(started.error());
  }
  while (true) {
    const auto signal = wait_for_signal(kLookAtAddresses);
    if (!signal) follow_addresses(*config, parts);
    if (signal == Signal::kReload) on_reload(parsed, *config, parts);
    if (signal == Signal::kEnd) break;
  }
  logging::info("ending: writing down what was fetched");
  drain(parts);
  if (!config->ready_file.empty()) ::unlink(config->ready_file.c_str());
  logging::info("ended");
  return 0;
}

}  // namespace gridtorrent::client::app
