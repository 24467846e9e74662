#pragma once

namespace gridtorrent::client::api {

/// From now on the calling thread must not wait: a window stands still while its thread does. In a debug build a
/// blocking call there ends the program.
void forbid_waiting();
bool may_wait();

}  // namespace gridtorrent::client::api
