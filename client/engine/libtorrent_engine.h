#pragma once

#include <chrono>
#include <memory>

#include "client/core/engine.h"
#include "common/result.h"

namespace gridtorrent::client::engine {

/// An Engine that has its ports before its node is enrolled.
class LaneEngine : public Engine {
 public:
  /// Who this node is, where the options did not say (nil); before the first torrent is added.
  virtual void set_node(const NodeId& node) = 0;
};

/// The Engine on libtorrent 2.0. Opens the lane ports, TLS ones where asked, and starts two kinds of
/// threads: libtorrent's own, and "gt-engine", on which `listener` is called. `listener` must outlive the engine's
/// `stop`. A port in use is waited for as long as `port_patience`, since another program may hold it for a moment;
/// after that, and for addresses that cannot be listened on, one line says which and what to do.
Result<std::unique_ptr<LaneEngine>> make_libtorrent_engine(
    const EngineOptions& options, EngineListener& listener,
    std::chrono::milliseconds port_patience = std::chrono::seconds(10));

}  // namespace gridtorrent::client::engine
