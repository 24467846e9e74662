#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which congestion control a lane's sender uses: the end that receives asks, the sender grants. Pure functions.
namespace gridtorrent::client::engine {

/// What a node grants: those that its owner named, as far as the kernel allows them to everybody.
/// `allowed`: sysctl net.ipv4.tcp_allowed_congestion_control, names with spaces between. Root could set any, but what
/// whoever runs the machine has not allowed is no choice for another node.
std::vector<std::string> granted_congestion_controls(const std::vector<std::string>& owners, std::string_view allowed);

/// What follows from a wish: at the receiver what it asks for next, at the sender what it changes to. A wish that is
/// not granted counts as none. Nothing: it stays at `last`; empty: the kernel's default.
std::optional<std::string> congestion_change(const std::string& wish, const std::vector<std::string>& granted,
                                             const std::string& last);

}  // namespace gridtorrent::client::engine
