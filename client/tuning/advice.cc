#include "client/tuning/advice.h"

#include <algorithm>

#include "client/tuning/bottleneck.h"
#include "client/tuning/lane_need.h"
#include "client/tuning/tcp_rate.h"
#include "client/tuning/wording.h"

namespace gridtorrent::client::tuning {
namespace {

/// From this share of the time on, a seeder's disk is named as what keeps it from sending.
constexpr double kReads = 0.7;

double milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

std::string command_for(const DiagnosedTransfer& transfer, const char* option) {
  return "gridtorrent transfer set " + transfer.transfer.str() + " " + option + " auto";
}

/// All lanes there may be to one seeder do not make up for them.
bool beyond_lanes(const DiagnosedSource& source) {
  return source.path.lanes >= kMaxLanesPerPeer && lanes_for_losses(source.path) > source.path.lanes;
}

std::string losses_text(const DiagnosedSource& source) {
  const PathFigures& path = source.path;
  const double part = path.segments > 0 ? std::min(path.random_events / path.segments, 1.0) : 0;
  const double lane = long_run_bits_per_s({path.least_round_trip, part, path.segment_bytes}, path.congestion_control);
  return formatted("%.3g %% of packets get lost between %s and here, so a lane comes to %.3g Mbit/s (RTT %.1f ms)",
                   100 * part, source.node.str().c_str(), mbit(lane), milliseconds(path.least_round_trip));
}

void explain_loss(Findings& findings, const DiagnosedSource& source) {
  findings.detail = losses_text(source);
  if (beyond_lanes(source)) findings.detail += formatted("; %d lanes are the most to one seeder", kMaxLanesPerPeer);
  if (source.grants_bbr) {
    findings.advice = {
        "the seeder may send with BBR, which does not slow down for such losses: the tuner auto asks for it, but for "
        "the mode background, and leaves it where a trial brought less"};
  } else {
    findings.advice = {
        "BBR at the seeder does not slow down for such losses: its owner can let this node ask for it, where the "
        "sysctl tcp_allowed_congestion_control there has bbr, by this line in the seeder's gridtorrentd.toml and a new "
        "start of its node",
        "lane-congestion-control = \"bbr\""};
  }
  if (beyond_lanes(source)) findings.advice.text += "; a second seeder helps as well";
}

void explain_window(Findings& findings, const DiagnosedSource& source, const HostFacts& host) {
  const PathFigures& path = source.path;
  const std::string node = source.node.str();
  if (path.buffer_limited > path.window_limited) {
    findings.detail = formatted("the send buffers of %s are full for %.0f %% of the time (RTT %.1f ms)", node.c_str(),
                                100 * path.buffer_limited, milliseconds(path.least_round_trip));
    findings.advice = {"allow larger send buffers on the seeder's machine, as root there",
                       "sysctl -w net.ipv4.tcp_wmem='4096 16384 67108864'"};
    return;
  }
  findings.detail = formatted("the lanes to %s wait for receive windows %.0f %% of the time (RTT %.1f ms)",
                              node.c_str(), 100 * path.window_limited, milliseconds(path.least_round_trip));
  if (host.lanes_share) {
    findings.advice = {
        "nothing to do: up to 16 lanes of a transfer share 64 MiB of receive buffers, and each further one has 4 MiB, "
        "less than this machine allows"};
    return;
  }
  findings.advice = {"allow larger receive buffers on this machine, as root, and start the node anew",
                     "sysctl -w net.ipv4.tcp_rmem='4096 131072 67108864'"};
}

void explain_seeder(Findings& findings, const DiagnosedSource& source) {
  const PathFigures& path = source.path;
  const std::string node = source.node.str();
  findings.advice = {"another seeder would help"};
  if (is_paced(path)) {
    findings.detail =
        formatted("%s shares its uplink and gives this node %.3g Mbit/s", node.c_str(), mbit(path.paced_bits_per_s));
  } else if (path.full()) {
    findings.detail =
        formatted("packets wait %.1f ms on the way from %s, longer than on the others: its uplink is full",
                  milliseconds(path.queue()), node.c_str());
  } else if (source.network_thread > kNeverRests) {
    findings.detail =
        formatted("the processor of %s has no time left: its network thread wants a core for %.0f %% of the time",
                  node.c_str(), 100 * source.network_thread);
  } else if (source.reads_disk > kReads) {
    findings.detail = formatted("%s waits for its disk: it reads for %.0f %% of the time, and sends %.3g Mbit/s",
                                node.c_str(), 100 * source.reads_disk, mbit(path.bits_per_s));
  } else {
    findings.detail = formatted("%s sends no more than %.3g Mbit/s", node.c_str(), mbit(path.bits_per_s));
  }
}

void explain_path(Findings& findings, const DiagnosedSource& source) {
  const PathFigures& path = source.path;
  const std::string node = source.node.str();
  if (path.full()) {
    findings.detail =
        formatted("the path from %s is full: packets wait %.1f ms on it", node.c_str(), milliseconds(path.queue()));
    const LaneNeed need = lane_need(path, 0);
    if (need.held_by == Limit::kLoss && need.least > kLeastLanes) {
      findings.detail += formatted("; %d lanes make up for its losses", path.lanes);
    }
  } else if (path.loss_events > 0) {
    findings.detail = formatted("the path from %s drops packets when it is full (RTT %.1f ms)", node.c_str(),
                                milliseconds(path.least_round_trip));
  } else {
    findings.detail = formatted("%s has more to send than the path takes, and nothing else holds it up (RTT %.1f ms)",
                                node.c_str(), milliseconds(path.least_round_trip));
  }
  findings.advice = {"nothing to do: the link carries no more, or others use it as well"};
}

void explain_cap(Findings& findings, Limit behind, const DiagnosedTransfer& transfer) {
  if (behind == Limit::kSeeder) {
    findings.detail =
        formatted("no more than %d of %d seeders were asked for; ", transfer.seeders_wish, transfer.nodes_with_data) +
        findings.detail;
    findings.advice = {"let the tuner choose the number of seeders", command_for(transfer, "--seeders")};
  } else {
    findings.detail =
        formatted("no more than %d lanes to each seeder were asked for; ", transfer.lanes_wish) + findings.detail;
    findings.advice = {"let the tuner choose the number of lanes", command_for(transfer, "--lanes")};
  }
}

std::string thread_text(const HostLoad& load) {
  return load.busiest_name.empty() ? "a thread of this node" : "the thread " + load.busiest_name + " of this node";
}

void explain_processor(Findings& findings, const HostLoad& load) {
  if (load.held_by_quota > kHeldByQuota) {
    findings.detail =
        formatted("this node was stopped in %.0f %% of the scheduler's periods: its quota of CPU was used up",
                  100 * load.held_by_quota);
    findings.advice = {
        "raise the quota of its cgroup (systemd: CPUQuota=; a container: --cpus; a batch job: its number of cores); "
        "more "
        "lanes do not help"};
    return;
  }
  findings.detail = thread_text(load) + formatted(" wants a core for %.0f %% of the time", 100 * load.busiest_thread);
  findings.advice = {"give the node more processor time; more lanes do not help"};
}

}  // namespace

void explain_here(Findings& findings, const DiagnosedTransfer& transfer) {
  if (findings.limit == Limit::kTarget) {
    findings.detail =
        is_reached(transfer.target_bits_per_s, transfer.bits_per_s)
            ? formatted("the rate that was asked for is reached: %.3g Mbit/s", mbit(transfer.target_bits_per_s))
            : formatted("%.3g Mbit/s are enough to be in time; the rest is left to others",
                        mbit(transfer.tuner_limit_bits_per_s));
  } else if (findings.limit == Limit::kCap) {
    findings.detail = is_reached(transfer.limit_bits_per_s, transfer.bits_per_s)
                          ? formatted("a limit of %.3g Mbit/s is reached, this transfer's own or the node's",
                                      mbit(transfer.limit_bits_per_s))
                          : formatted("this node's limit is shared: %.3g Mbit/s are left beside its other transfers",
                                      mbit(transfer.part_bits_per_s));
  } else if (findings.limit == Limit::kReceiverCpu) {
    explain_processor(findings, transfer.load);
  } else if (findings.limit == Limit::kDisk) {
    findings.detail = formatted(
        "for %.0f %% of the time this node reads nothing from the network, since its disk has too much to write",
        100 * transfer.load.held_by_disk);
    findings.advice = {"a faster disk for the download folder; more lanes do not help"};
  }
}

void explain_source(Findings& findings, Limit behind, const DiagnosedSource& source,
                    const DiagnosedTransfer& transfer) {
  switch (behind) {
    case Limit::kLoss:
      explain_loss(findings, source);
      break;
    case Limit::kWindow:
      explain_window(findings, source, transfer.host);
      break;
    case Limit::kSeeder:
      explain_seeder(findings, source);
      break;
    case Limit::kPath:
      explain_path(findings, source);
      break;
    default:
      return;
  }
  if (findings.limit == Limit::kCap) explain_cap(findings, behind, transfer);
}

}  // namespace gridtorrent::client::tuning
