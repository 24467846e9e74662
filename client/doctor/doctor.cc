#include "client/doctor/doctor.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "common/local_time.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {

namespace {

// One lane with so large a window carries 1.3 Gbit/s over 100 ms; the kernel's own 4 to 6 MiB carry a third of that.
constexpr std::uint64_t kGoodBuffer = 16U << 20U;
constexpr std::uint64_t kGoodBacklog = 1024;
constexpr std::uint64_t kGoodOpenFiles = 4096;
constexpr std::uint64_t kLittleSpace = 1'000'000'000;
constexpr std::chrono::milliseconds kBadClock{5'000};
constexpr std::int64_t kSoonMs = 48LL * 3600 * 1000;
constexpr std::chrono::hours kCertificateSoon{30 * 24};
constexpr std::pair<int, int> kDefaultPorts{50000, 50031};
// More pieces than these are free ports that the kernel chose.
constexpr std::size_t kMostRanges = 4;

Finding good(std::string check, std::string message) {
  return {std::move(check), true, std::move(message), ""};
}
Finding bad(std::string check, std::string message, std::string fix) {
  return {std::move(check), false, std::move(message), std::move(fix)};
}

Finding unread(std::string check) {
  return bad(std::move(check), "could not be read from /proc/sys", "");
}

Finding at_least(const std::string& name, std::optional<std::uint64_t> value, std::uint64_t wanted, bool is_bytes) {
  if (!value) return unread(name);
  const std::string shown = is_bytes ? format_bytes(*value) : std::to_string(*value);
  if (*value >= wanted) return good(name, shown);
  return bad(name, shown + " is little", "sysctl -w net.core." + name + "=" + std::to_string(wanted));
}

Finding window(const std::string& name, const std::optional<std::array<std::uint64_t, 3>>& value) {
  if (!value) return unread(name);
  const std::uint64_t most = (*value)[2];
  if (most >= kGoodBuffer) return good(name, "up to " + format_bytes(most) + " a lane");
  return bad(name, "up to " + format_bytes(most) + " a lane: on a long path one lane stays slow",
             "sysctl -w net.ipv4." + name + "=\"" + std::to_string((*value)[0]) + " " + std::to_string((*value)[1]) +
                 " " + std::to_string(kGoodBuffer) + "\"");
}

bool has_word(const std::string& words, std::string_view wanted) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;)
    if (word == wanted) return true;
  return false;
}

Finding congestion(const KernelFacts& facts) {
  const std::string name = "tcp_congestion_control";
  if (facts.congestion_control.empty()) return unread(name);
  const std::string shown = facts.congestion_control + " (allowed: " + facts.allowed_congestion_controls + ")";
  if (facts.congestion_control == "bbr" || has_word(facts.allowed_congestion_controls, "bbr")) return good(name, shown);
  const std::string load = has_word(facts.available_congestion_controls, "bbr") ? "" : "modprobe tcp_bbr && ";
  return bad(
      name, shown + ": with bbr one lane does what several do with " + facts.congestion_control,
      load + "sysctl -w net.ipv4.tcp_allowed_congestion_control=\"" + facts.allowed_congestion_controls + " bbr\"");
}

std::string range_text(std::pair<int, int> range) {
  if (range.first == range.second) return std::to_string(range.first);
  return std::to_string(range.first) + "-" + std::to_string(range.second);
}

Finding reserved(const KernelFacts& facts, const std::vector<std::pair<int, int>>& lane_ports) {
  const std::string name = "ip_local_reserved_ports";
  if (!facts.ephemeral_ports) return unread(name);
  std::string missing = facts.reserved_ports;
  bool all_good = true;
  for (const auto& range : lane_ports) {
    const bool apart = range.second < facts.ephemeral_ports->first || range.first > facts.ephemeral_ports->second;
    if (apart || ports_are_reserved(facts.reserved_ports, range)) continue;
    all_good = false;
    missing += (missing.empty() ? "" : ",") + range_text(range);
  }
  if (all_good) return good(name, "no outgoing connection can take a lane's port");
  return bad(name, "an outgoing connection can take a lane's port before the node does",
             "sysctl -w net.ipv4.ip_local_reserved_ports=" + missing);
}

std::string days_text(std::chrono::milliseconds offset) {
  return format_duration(offset < std::chrono::milliseconds(0) ? -offset : offset);
}

Finding clock_finding(const std::string& check, std::chrono::milliseconds offset) {
  if (offset < kBadClock && offset > -kBadClock) return good(check, "in step with the server's");
  return bad(check, "the server's clock is " + days_text(offset) + (offset.count() > 0 ? " ahead" : " behind"),
             "timedatectl set-ntp true");
}

Finding certificate_finding(const std::optional<WallTime>& end, WallTime now) {
  const std::string name = "certificate";
  if (!end) return bad(name, "the server's certificate could not be read", "");
  const std::string day = local_time_text(*end);
  if (*end >= now + kCertificateSoon) return good(name, "the server's is good until " + day);
  return bad(name, "the server's ends on " + day + ", though it renews it by itself long before: see its log",
             "kill -HUP $(pidof gridtorrent-server)  # on the server");
}

std::string listener_text(const v1::Endpoint& endpoint) {
  const std::string host =
      endpoint.address().find(':') == std::string::npos ? endpoint.address() : "[" + endpoint.address() + "]";
  return host + ":" + std::to_string(endpoint.port()) + (endpoint.tls() ? " (TLS)" : "");
}

struct ListenerCounts {
  int reached = 0, refused = 0, untried = 0;

  void add(v1::Reachability reachability) {
    ++(reachability == v1::REACHABLE ? reached : reachability == v1::UNREACHABLE ? refused : untried);
  }
  std::string text() const {
    std::string text;
    const auto say = [&](int count, const char* state) {
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + state;
    };
    say(reached, " reached");
    say(refused, " not reached");
    say(untried, " not tried");
    return text;
  }
};

/// "198.18.0.1: 32 reached; 10.0.0.1: 32 not tried": each address, in their order.
std::string address_states(const v1::StatusReply& node) {
  std::map<std::string, ListenerCounts> by_address;
  for (const v1::NodeListener& listener : node.listeners()) {
    by_address[listener.endpoint().address()].add(listener.reachability());
  }
  std::string text;
  for (const auto& [address, counts] : by_address) {
    text +=
        (text.empty() ? "" : "; ") + (address.empty() ? "as the server sees the node" : address) + ": " + counts.text();
  }
  return text;
}

std::vector<std::pair<int, int>> ranges_of(const std::set<int>& ports) {
  std::vector<std::pair<int, int>> ranges;
  for (const int port : ports) {
    if (!ranges.empty() && ranges.back().second == port - 1) {
      ranges.back().second = port;
    } else {
      ranges.emplace_back(port, port);
    }
  }
  return ranges;
}

/// What opens these ports; free ones are others after the next start.
std::string way_to_open(const v1::StatusReply& node, const std::set<int>& ports) {
  if (has_free_lane_ports(node)) {
    return "set lane-ports and tls-lane-ports in ~/.config/gridtorrent/gridtorrentd.toml, start the node again, and "
           "open those ports";
  }
  std::string text;
  for (const auto& [first, last] : ranges_of(ports)) {
    text += (text.empty() ? "ufw allow " : " && ufw allow ") + std::to_string(first) +
            (last > first ? ":" + std::to_string(last) : "") + "/tcp";
  }
  return text;
}

/// "a:1, a:2, a:3 and 29 more".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() <= kShown ? text : text + " and " + std::to_string(names.size() - kShown) + " more";
}

std::vector<Finding> judge_listeners(const v1::StatusReply& node) {
  if (node.listeners_size() == 0) return {bad("lanes", "the node listens on no lane", "see the node's log for why")};
  std::vector<std::string> unreachable;
  std::set<int> closed;
  ListenerCounts all;
  for (const v1::NodeListener& listener : node.listeners()) {
    all.add(listener.reachability());
    if (listener.reachability() != v1::UNREACHABLE) continue;
    unreachable.push_back(listener_text(listener.endpoint()));
    closed.insert(static_cast<int>(listener.endpoint().port()));
  }
  const std::string states = " (by the server's dial-back; " + address_states(node) + ")";
  if (!unreachable.empty()) {
    return {bad("lanes",
                "the server cannot reach " + some_of(unreachable) +
                    ": others cannot dial this node, it must dial them" + states,
                way_to_open(node, closed))};
  }
  const std::string count = std::to_string(node.listeners_size()) + " listeners" + states;
  if (all.untried == 0) return {good("lanes", count)};
  return {good("lanes", count +
                            "; those not tried count as reachable: the server tries only the network that it sees the "
                            "node in, and what its --dial-back-allow names")};
}

}  // namespace

std::string limits_text(const v1::NodeLimits& limits) {
  const auto text = [](std::uint64_t rate) { return rate == 0 ? std::string("unlimited") : format_bits_per_s(rate); };
  const auto why = [](const std::string& held_by) {
    return held_by.empty() || held_by == "configuration" ? "" : " (by " + escape_for_display(held_by) + ")";
  };
  return "upload " + text(limits.upload_bits_per_s()) + why(limits.upload_held_by()) + ", download " +
         text(limits.download_bits_per_s()) + why(limits.download_held_by()) +
         (limits.until_ms() == 0 ? "" : ", until " + local_time_text({limits.until_ms()}));
}

bool ports_are_reserved(const std::string& reserved, std::pair<int, int> range) {
  std::map<int, int> ranges;
  std::istringstream parts(reserved);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream stream(part);
    int first = 0, last = 0;
    char dash = 0;
    if (!(stream >> first)) continue;
    if (!(stream >> dash >> last)) last = first;
    ranges[first] = std::max(ranges[first], last);
  }
  int next = range.first;
  for (const auto& [first, last] : ranges)
    if (first <= next && last >= next) next = last + 1;
  return next > range.second;
}

std::vector<std::pair<int, int>> lane_port_ranges(const v1::StatusReply* node) {
  std::set<int> ports;
  if (node != nullptr)
    for (const v1::NodeListener& listener : node->listeners())
      ports.insert(static_cast<int>(listener.endpoint().port()));
  if (ports.empty()) return {kDefaultPorts};
  std::vector<std::pair<int, int>> ranges = ranges_of(ports);
  if (ranges.size() > kMostRanges) ranges.clear();
  return ranges;
}

bool has_free_lane_ports(const v1::StatusReply& node) {
  return node.listeners_size() > 0 && lane_port_ranges(&node).empty();
}

std::string lane_ports_text(const v1::StatusReply& node) {
  if (node.listeners_size() == 0) return "no port; see the node's log for why";
  if (has_free_lane_ports(node)) return "free TCP ports";
  std::string text;
  for (const auto& range : lane_port_ranges(&node)) text += (text.empty() ? "TCP ports " : ", ") + range_text(range);
  return text;
}

std::vector<Finding> judge_kernel(const KernelFacts& facts, const std::vector<std::pair<int, int>>& lane_ports) {
  std::vector<Finding> findings{at_least("rmem_max", facts.rmem_max, kGoodBuffer, true),
                                at_least("wmem_max", facts.wmem_max, kGoodBuffer, true),
                                window("tcp_rmem", facts.tcp_rmem),
                                window("tcp_wmem", facts.tcp_wmem),
                                congestion(facts),
                                reserved(facts, lane_ports),
                                at_least("somaxconn", facts.somaxconn, kGoodBacklog, false)};
  if (!facts.open_files) {
    findings.push_back(bad("open_files", "the limit could not be read", ""));
  } else if (*facts.open_files >= kGoodOpenFiles) {
    findings.push_back(good("open_files", std::to_string(*facts.open_files)));
  } else {
    findings.push_back(bad("open_files",
                           std::to_string(*facts.open_files) + " are few for a node started from this shell",
                           "ulimit -n " + std::to_string(kGoodOpenFiles)));
  }
  return findings;
}

std::vector<Finding> judge_server(const ServerFacts& facts, WallTime now) {
  if (facts.error) return {bad("server", facts.error->message, "")};
  std::vector<Finding> findings{good("server", facts.address + " answers, its certificate is trusted; logged in as " +
                                                   escape_for_display(facts.user)),
                                certificate_finding(facts.certificate_end, now),
                                clock_finding("clock", facts.clock_offset)};
  if (facts.token_expires_ms != 0 && facts.token_expires_ms < now.ms + kSoonMs)
    findings.push_back(bad("login", "ends at " + local_time_text({facts.token_expires_ms}), "gridtorrent login"));
  return findings;
}

std::vector<Finding> judge_node(const v1::StatusReply& node, WallTime now) {
  std::vector<Finding> findings{good("node", escape_for_display(node.node_name()) + " (" + node.node_id() + ") of " +
                                                 escape_for_display(node.owner()) + " runs, version " +
                                                 escape_for_display(node.hello().program_version()))};
  if (node.server_connected()) {
    findings.push_back(good("node_server", "the node is connected to " + escape_for_display(node.server())));
    findings.push_back(clock_finding("node_clock", std::chrono::milliseconds(node.clock_offset_ms())));
  } else {
    findings.push_back(bad("node_server",
                           node.server_error().empty()
                               ? "the node is still connecting to " + escape_for_display(node.server())
                               : "the node is not connected to " + escape_for_display(node.server()) + ": " +
                                     escape_for_display(node.server_error()),
                           node.credential_refused() ? "gridtorrent node reenroll" : ""));
  }
  if (node.credential_expires_ms() != 0 && node.credential_expires_ms() < now.ms + kSoonMs)
    findings.push_back(bad(
        "node_credential",
        "ends at " + local_time_text({node.credential_expires_ms()}) + "; the node renews it while the server answers",
        ""));
  if (!node.hash_backend().empty())
    findings.push_back(good("hashing", "by " + escape_for_display(node.hash_backend())));
  if (node.limits().upload_bits_per_s() > 0 || node.limits().download_bits_per_s() > 0)
    findings.push_back(good("limits", limits_text(node.limits()) + "; change them with gridtorrent node limit"));
  for (Finding& finding : judge_listeners(node)) findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> judge_disks(const std::vector<DiskFacts>& disks) {
  std::vector<Finding> findings;
  for (const DiskFacts& disk : disks) {
    const std::string what = disk.what + " " + escape_for_display(disk.path);
    if (!disk.free_bytes) {
      findings.push_back(bad("disk", what + " is not there", ""));
    } else if (!disk.writable) {
      findings.push_back(bad("disk", what + " cannot be written", "chmod u+w on it, or mount it writable"));
    } else if (*disk.free_bytes < kLittleSpace) {
      findings.push_back(bad("disk", what + " has only " + format_bytes(*disk.free_bytes) + " left", ""));
    } else {
      findings.push_back(good("disk", what + " has " + format_bytes(*disk.free_bytes) + " free"));
    }
  }
  return findings;
}

}  // namespace gridtorrent::client
