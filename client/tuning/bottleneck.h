#pragma once

#include <string_view>

#include "client/plan/controller.h"
#include "client/plan/reason.h"
#include "client/tuning/path_meter.h"

/// What several laws ask of a path, a rate or this node: does it hold the transfer up? Pure.
namespace gridtorrent::client::tuning {

/// As the kernel names it; "bbr2" and later ones begin so, too.
inline constexpr char kBbrName[] = "bbr";

/// A node's thread that wants a core for more of the time than this is what limits; more lanes do not help it.
inline constexpr double kNeverRests = 0.9;
/// A disk that holds reception up does so nearly all of the time, for what sockets hold meanwhile fills its queue again
/// at once; bursts onto one that keeps up are short.
inline constexpr double kHeldByDisk = 0.5;
/// The same of its quota: what is stopped in most periods gets less than it wants.
inline constexpr double kHeldByQuota = 0.5;

/// What keeps a node from reading faster than it does: kReceiverCpu, kDisk, or kUnknown.
Limit reader_limit(const HostLoad& load);
/// A rate is what the transfer is held to, or nearly so. 0 is no limit.
bool is_reached(double limit_bits_per_s, double bits_per_s);
/// Its owner's shares are what it sends at.
bool is_paced(const PathFigures& path);
/// Its sender has BBR at the moment.
bool uses_bbr(const PathFigures& path);
bool is_bbr(std::string_view congestion_control);
/// Its owner lets it send with BBR where it is asked to.
bool grants_bbr(const PeerSample& peer);

}  // namespace gridtorrent::client::tuning
