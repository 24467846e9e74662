#pragma once

#include "base/options/options.h"

namespace gridtorrent::tracker::app {

/// The option table of gridtorrent-server.
const options::Program& program();

}  // namespace gridtorrent::tracker::app
