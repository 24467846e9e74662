#pragma once

#include "client/core/node_ports.h"

namespace gridtorrent::client::app {

/// The core's lines go to the program's log.
NodeLogFn make_log();

}  // namespace gridtorrent::client::app
