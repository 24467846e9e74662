#pragma once

#include "base/options/options.h"

namespace gridtorrent::client::app {

/// The whole life of the daemon: lock, enrol, wire the rooms, serve until a signal, drain. Returns the exit code; says
/// in one line on stderr what is wrong. Signals are blocked already.
int run_daemon(const options::Parsed& parsed);

}  // namespace gridtorrent::client::app
