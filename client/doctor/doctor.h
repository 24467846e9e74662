#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "gridtorrent/v1/control.pb.h"

/// The doctor's judgement: facts about machine, server and node come in, findings go out. Pure functions, callable from
/// any thread. Who asks gathers the facts: that takes files, the network and the caller's patience.
namespace gridtorrent::client {

/// What the kernel allows, as read from /proc/sys and getrlimit(2). Missing values could not be read.
struct KernelFacts {
  std::optional<std::uint64_t> rmem_max, wmem_max, somaxconn;
  std::optional<std::uint64_t> open_files;                         ///< soft limit of the asking process
  std::optional<std::array<std::uint64_t, 3>> tcp_rmem, tcp_wmem;  ///< least, default, most; bytes a socket
  std::string congestion_control, available_congestion_controls, allowed_congestion_controls;
  std::string reserved_ports;  ///< as in "50000-50031,8080"
  std::optional<std::pair<int, int>> ephemeral_ports;
};

struct DiskFacts {
  std::string what;  ///< "data folder", "root scratch"
  std::string path;
  std::optional<std::uint64_t> free_bytes;  ///< missing: the folder is not there
  bool writable = true;
};

struct ServerFacts {
  std::string address;
  std::optional<Error> error;  ///< the server could not be asked; the fields below say nothing then
  std::string user;
  std::chrono::milliseconds clock_offset{0};  ///< server minus here
  std::int64_t token_expires_ms = 0;          ///< since the epoch; 0: never
  std::optional<WallTime> certificate_end;    ///< missing: could not be read
};

/// One thing that was looked at.
struct Finding {
  std::string check;  ///< "server", "tcp_rmem"; stable, for scripts
  bool ok = true;
  std::string message;  ///< one line for people
  std::string fix;      ///< the line to run; empty where none helps
};

std::vector<Finding> judge_kernel(const KernelFacts& facts, const std::vector<std::pair<int, int>>& lane_ports);
std::vector<Finding> judge_server(const ServerFacts& facts, WallTime now);
std::vector<Finding> judge_node(const v1::StatusReply& node, WallTime now);
std::vector<Finding> judge_disks(const std::vector<DiskFacts>& disks);

/// The ports that the node's lanes listen on, as ranges; the default ones where it has none, nothing where it took free
/// ones.
std::vector<std::pair<int, int>> lane_port_ranges(const v1::StatusReply* node);
/// "TCP ports 50000-50031", or what else there is to say of where the node's lanes listen.
std::string lane_ports_text(const v1::StatusReply& node);
/// It listens, and on ports that the kernel chose.
bool has_free_lane_ports(const v1::StatusReply& node);
/// "50000-50031,8080" holds every port of the range.
bool ports_are_reserved(const std::string& reserved, std::pair<int, int> range);
/// "upload 50 Mbit/s (by hours 08:00-18:00 mon-fri), download unlimited, until 2026-11-25 18:00 CET".
std::string limits_text(const v1::NodeLimits& limits);

}  // namespace gridtorrent::client
