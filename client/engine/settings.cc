#include "client/engine/settings.h"

#include <unistd.h>

#include <algorithm>
#include <libtorrent/alert.hpp>
#include <limits>
#include <thread>

namespace gridtorrent::client::engine {
namespace {

using Pack = lt::settings_pack;
constexpr int kKiB = 1024, kMiB = 1024 * 1024;

void set_isolation(Pack& p) {
  for (const int off : {Pack::enable_dht, Pack::enable_lsd, Pack::enable_upnp, Pack::enable_natpmp,
                        Pack::enable_incoming_utp, Pack::enable_outgoing_utp, Pack::support_share_mode,
                        Pack::announce_crypto_support, Pack::apply_ip_filter_to_trackers}) {
    p.set_bool(off, false);
  }
  p.set_str(Pack::dht_bootstrap_nodes, "");
  p.set_int(Pack::out_enc_policy, Pack::pe_disabled);
  p.set_int(Pack::in_enc_policy, Pack::pe_disabled);
  p.set_int(Pack::allowed_enc_level, Pack::pe_plaintext);
  p.set_str(Pack::user_agent, "GridTorrent");
  p.set_str(Pack::handshake_client_version, "GridTorrent");
  p.set_str(Pack::peer_fingerprint, "-GT0100-");
  p.set_int(Pack::alert_mask, lt::alert_category::error | lt::alert_category::status | lt::alert_category::storage |
                                  lt::alert_category::piece_progress | lt::alert_category::peer);
  p.set_int(Pack::alert_queue_size, 200'000);
}

void set_connections(Pack& p) {
  p.set_bool(Pack::allow_multiple_connections_per_ip, true);
  p.set_bool(Pack::seeding_outgoing_connections, true);
  p.set_bool(Pack::listen_system_port_fallback, false);
  p.set_bool(Pack::smooth_connects, false);
  p.set_bool(Pack::rate_limit_ip_overhead, false);
  p.set_int(Pack::max_retry_port_bind, 0);
  p.set_int(Pack::connections_limit, 4000);
  p.set_int(Pack::listen_queue_size, 512);
  p.set_int(Pack::connection_speed, 200);
  p.set_int(Pack::torrent_connect_boost, 255);
  p.set_int(Pack::unchoke_slots_limit, -1);
  p.set_int(Pack::peer_turnover, 0);
  p.set_int(Pack::peer_turnover_cutoff, 100);
  p.set_int(Pack::min_reconnect_time, 0);
  p.set_int(Pack::max_failcount, 31);
  p.set_int(Pack::peer_connect_timeout, 12);  // beyond those of LaneMover, which ends dials before
  p.set_int(Pack::handshake_timeout, 10);
  p.set_int(Pack::mixed_mode_algorithm, Pack::prefer_tcp);
  p.set_int(Pack::peer_dscp, 0);
  p.set_int(Pack::allowed_fast_set_size, 0);
  p.set_int(Pack::suggest_mode, Pack::no_piece_suggestions);
  // Nothing is auto-managed; these keep libtorrent from queueing all the same.
  for (const int unlimited : {Pack::active_downloads, Pack::active_seeds, Pack::active_limit, Pack::active_checking}) {
    p.set_int(unlimited, -1);
  }
}

}  // namespace

MachineSize this_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  MachineSize size;
  size.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (pages > 0 && page_bytes > 0) {
    size.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  return size;
}

lt::settings_pack make_settings(const MachineSize& machine, const std::string& listen_interfaces) {
  Pack p;
  set_isolation(p);
  set_connections(p);
  p.set_str(Pack::listen_interfaces, listen_interfaces);

  // Pipelining. How much is outstanding is ours to say (request_depth.h); these are the most that others may ask of us,
  // and we of those who say nothing. Neither by whole pieces nor by a queue time does libtorrent add to that: it
  // reckons anew each second, and had each lane ask for a second's worth just before the end.
  p.set_int(Pack::max_allowed_in_request_queue, 2000);
  p.set_int(Pack::max_out_request_queue, 500);
  p.set_int(Pack::request_queue_time, 0);
  p.set_int(Pack::whole_pieces_threshold, 0);
  // Who has a piece is not told that others have it too: with 16 lanes and pieces of 16 KiB that was 1 % of the data.
  // When all are there, Swarm::tell_of_completion says so.
  p.set_bool(Pack::send_redundant_have, false);
  p.set_int(Pack::send_buffer_low_watermark, kMiB);
  p.set_int(Pack::send_buffer_watermark, 2 * kMiB);
  p.set_int(Pack::send_buffer_watermark_factor, 100);
  p.set_int(Pack::send_not_sent_low_watermark, kMiB);
  p.set_int(Pack::max_peer_recv_buffer_size, kMiB);

  // Disk. The queue counts blocks to be written and blocks read for sending; reception stops when it is three quarters
  // full.
  const std::uint64_t queue = std::clamp<std::uint64_t>(machine.memory_bytes / 256, 16U * kMiB, 32U * kMiB);
  p.set_int(Pack::max_queued_disk_bytes, static_cast<int>(queue));
  p.set_int(Pack::aio_threads, std::clamp(machine.cores, 2, 16));
  p.set_int(Pack::hashing_threads, std::clamp(machine.cores, 1, 16));
  p.set_int(Pack::checking_mem_usage, std::clamp(256 * machine.cores, 512, 4096));
  p.set_int(Pack::mmap_file_size_cutoff, std::numeric_limits<int>::max());
  p.set_int(Pack::disk_write_mode, Pack::always_pwrite);
  p.set_int(Pack::file_pool_size, 500);
  return p;
}

std::size_t piece_memory_bytes(const MachineSize& machine) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(machine.memory_bytes / 128, 32U * kMiB, 96U * kMiB));
}

}  // namespace gridtorrent::client::engine
