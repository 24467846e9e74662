#pragma once

#include <cstdint>

#include "base/options/options.h"

namespace gridtorrent::client::app {

/// The whole life of the daemon: lock, enrol, wire the rooms, serve until a signal, drain. Returns the exit code; says
/// in one line on stderr what is wrong. Signals are blocked already. `umask`: that the process was started with.
int run_daemon(const options::Parsed& parsed, std::uint32_t umask);

}  // namespace gridtorrent::client::app
