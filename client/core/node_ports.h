#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/core/disk_guard.h"
#include "client/core/engine.h"
#include "client/core/file_work.h"
#include "client/core/lane_papers.h"
#include "client/core/limit_hours.h"
#include "client/core/node.h"
#include "client/core/node_store.h"
#include "client/core/server_link.h"
#include "client/plan/controller.h"
#include "client/plan/watcher.h"
#include "common/clock.h"
#include "common/rng.h"

namespace gridtorrent::client {

enum class NodeLogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };
/// Where the core's lines go; thread-safe.
using NodeLogFn = std::function<void(NodeLogLevel, const std::string&)>;

/// What the core stands on. All outlive the NodeCore.
struct NodePorts {
  Engine& engine;
  FileWork& files;
  ServerLink& link;
  NodeStore& store;
  DiskGuard& guard;
  TransferController& controller;
  TransferWatcher& watcher;
  LanePapers& papers;
  Clock& clock;
  Rng& rng;
  NodeLogFn log;
};

/// What may change while the node runs.
struct NodeSettings {
  std::vector<NamedRoot> share_roots, download_roots;
  std::size_t max_fetching = 4;
  NodeLimits limits = {};              ///< checked; of all hours
  std::vector<LimitHours> hours = {};  ///< limits of some hours
};

struct NodeOptions {
  NodeId node;
  UserId owner_id;
  std::string node_name, owner, server;
  std::string data_dir;
  std::vector<std::string> addresses;  ///< declared with --address; empty: as the server sees this node
  NodeSettings settings;               ///< at the start
  WallTime credential_expires;
  std::uint32_t umask = 077;  ///< that the process was started with, for gets of which no other is known
  TuningDefaults tuning = {};
  /// So many of the contents that nobody wants at the moment stay in the engine, where a TLS edition costs 40 kB and 2
  /// to 4 ms of its one thread at a start; the others join when somebody comes.
  std::size_t most_idle_torrents = 2000;
  std::chrono::milliseconds list_lifetime = std::chrono::hours(24);              ///< how long lists count unconfirmed
  HostFacts host = {};                                                           ///< for the controller
  std::function<HostLoad(MonoTime)> load = [](MonoTime) { return HostLoad{}; };  ///< on the transfers' thread alone
};

}  // namespace gridtorrent::client
