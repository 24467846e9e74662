#pragma once

#include <string_view>

namespace gridtorrent::tracker::app {

/// Tells systemd ("READY=1", "STOPPING=1", …) where it listens (NOTIFY_SOCKET); nothing otherwise. Failures are logged:
/// the service goes on without its supervisor knowing. Protocol: sd_notify(3).
void notify_supervisor(std::string_view state);

}  // namespace gridtorrent::tracker::app
