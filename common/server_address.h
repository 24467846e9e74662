#pragma once

#include <string_view>

namespace gridtorrent {

/// Whether it is HOST:PORT of a server as other machines dial it, and as it can stand in a link: a port from 1 on, and
/// a host of letters, digits, '.', '-' and '_' (some name their machines so), or an IPv6 address in brackets. Pure.
bool is_server_address(std::string_view text);

}  // namespace gridtorrent
