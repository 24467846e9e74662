#pragma once

#include <memory>

#include "client/core/engine.h"
#include "common/result.h"

namespace gridtorrent::client::engine {

/// The Engine on libtorrent 2.0. Opens the lane ports, TLS ones where asked, and starts two kinds of
/// threads: libtorrent's own, and "gt-engine", on which `listener` is called. `listener` must outlive the engine's
/// `stop`. A port in use is waited for, 10 s at most; after that, and for addresses that cannot be listened on, one
/// line says which and what to do.
Result<std::unique_ptr<Engine>> make_libtorrent_engine(const EngineOptions& options, EngineListener& listener);

}  // namespace gridtorrent::client::engine
