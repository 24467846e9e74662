#pragma once

#include <chrono>
#include <optional>

namespace gridtorrent::client::app {

enum class Signal { kEnd, kReload };

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all made later, and ignores SIGPIPE. First thing in main().
void block_signals();
/// Waits for the next of them; nothing after `timeout`. Negative: no timeout.
std::optional<Signal> wait_for_signal(std::chrono::milliseconds timeout);

}  // namespace gridtorrent::client::app
