#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// What the kernel allows, as read from /proc/sys and getrlimit(2). Missing values could not be read.
struct KernelFacts {
  std::optional<std::uint64_t> rmem_max, wmem_max, somaxconn;
  std::optional<std::uint64_t> open_files;                         ///< soft limit of this shell
  std::optional<std::array<std::uint64_t, 3>> tcp_rmem, tcp_wmem;  ///< least, default, most; bytes a socket
  std::string congestion_control, available_congestion_controls, allowed_congestion_controls;
  std::string reserved_ports;  ///< as in "50000-50031,8080"
  std::optional<std::pair<int, int>> ephemeral_ports;
};

struct DiskFacts {
  std::string what;  ///< "data folder", "root scratch"
  std::string path;
  std::optional<std::uint64_t> free_bytes;
  bool writable = true;
};

struct ServerFacts {
  std::string address;
  std::optional<Error> error;
  std::string user;
  std::chrono::milliseconds clock_offset{0};  ///< server minus here
  std::int64_t token_expires_ms = 0;
  std::optional<WallTime> certificate_end;  ///< missing: could not be read
};

/// One line of the doctor's.
struct Finding {
  std::string check;  ///< "server", "tcp_rmem"; stable, for scripts
  bool ok = true;
  std::string message;
  std::string fix;  ///< the line to run; empty where none helps
};

// Facts, gathered: reads /proc, asks node and server.
KernelFacts read_kernel_facts();
std::vector<DiskFacts> read_disk_facts(const v1::StatusReply& node);
ServerFacts ask_server(Context& context);

// Judgements: pure functions of facts.
std::vector<Finding> judge_kernel(const KernelFacts& facts, const std::vector<std::pair<int, int>>& lane_ports);
std::vector<Finding> judge_server(const ServerFacts& facts, WallTime now);
std::vector<Finding> judge_node(const v1::StatusReply& node, WallTime now);
std::vector<Finding> judge_disks(const std::vector<DiskFacts>& disks);
/// The ports that the node's lanes listen on, as ranges; the default ones where it has none, nothing where it took free
/// ones.
std::vector<std::pair<int, int>> lane_port_ranges(const v1::StatusReply* node);
/// "50000-50031,8080" holds every port of the range.
bool ports_are_reserved(const std::string& reserved, std::pair<int, int> range);

std::string findings_text(const std::vector<Finding>& findings);
Json findings_json(const std::vector<Finding>& findings);

/// The command.
Status doctor(Context& context);

}  // namespace gridtorrent::client::cli
