#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "client/cli/doctor.h"

namespace gridtorrent::client::cli {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

template <class Number, std::size_t N>
std::optional<std::array<Number, N>> numbers(const std::string& path) {
  std::istringstream line(first_line(path));
  std::array<Number, N> values{};
  for (Number& value : values)
    if (!(line >> value)) return std::nullopt;
  return values;
}

std::optional<std::uint64_t> number(const std::string& path) {
  const auto values = numbers<std::uint64_t, 1>(path);
  if (!values) return std::nullopt;
  return (*values)[0];
}

DiskFacts disk_facts(std::string what, const std::string& path, bool must_be_writable) {
  DiskFacts facts{std::move(what), path, std::nullopt, true};
  struct statvfs status{};
  if (::statvfs(path.c_str(), &status) == 0) facts.free_bytes = status.f_bavail * status.f_frsize;
  facts.writable = !must_be_writable || ::access(path.c_str(), W_OK) == 0;
  return facts;
}

}  // namespace

KernelFacts read_kernel_facts() {
  const std::string core = "/proc/sys/net/core/";
  const std::string ipv4 = "/proc/sys/net/ipv4/";
  KernelFacts facts;
  facts.rmem_max = number(core + "rmem_max");
  facts.wmem_max = number(core + "wmem_max");
  facts.somaxconn = number(core + "somaxconn");
  facts.tcp_rmem = numbers<std::uint64_t, 3>(ipv4 + "tcp_rmem");
  facts.tcp_wmem = numbers<std::uint64_t, 3>(ipv4 + "tcp_wmem");
  facts.congestion_control = first_line(ipv4 + "tcp_congestion_control");
  facts.available_congestion_controls = first_line(ipv4 + "tcp_available_congestion_control");
  facts.allowed_congestion_controls = first_line(ipv4 + "tcp_allowed_congestion_control");
  facts.reserved_ports = first_line(ipv4 + "ip_local_reserved_ports");
  if (const auto range = numbers<int, 2>(ipv4 + "ip_local_port_range"))
    facts.ephemeral_ports = std::pair((*range)[0], (*range)[1]);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) facts.open_files = limit.rlim_cur;
  return facts;
}

std::vector<DiskFacts> read_disk_facts(const v1::StatusReply& node) {
  std::vector<DiskFacts> disks;
  if (!node.data_dir().empty()) disks.push_back(disk_facts("data folder", node.data_dir(), true));
  for (const v1::Root& root : node.share_roots())
    disks.push_back(disk_facts("share root " + root.name(), root.path(), false));
  for (const v1::Root& root : node.download_roots())
    disks.push_back(disk_facts("download root " + root.name(), root.path(), true));
  return disks;
}

ServerFacts ask_server(Context& context) {
  ServerFacts facts;
  const auto server = context.server();
  if (!server) {
    facts.error = server.error();
    return facts;
  }
  facts.address = (*server)->address();
  const WallTime before = context.clock.wall();
  const auto who = (*server)->accounts().who_am_i();
  const WallTime after = context.clock.wall();
  if (!who) {
    facts.error = who.error();
    return facts;
  }
  facts.user = who->user();
  facts.token_expires_ms = who->token_expires_ms();
  if (who->hello().time_ms() != 0)
    facts.clock_offset = std::chrono::milliseconds(who->hello().time_ms() - (before.ms + after.ms) / 2);
  if (const auto end = (*server)->certificate_end()) facts.certificate_end = *end;
  return facts;
}

}  // namespace gridtorrent::client::cli
