#include "client/engine/lane.h"

#include <algorithm>

#include "client/engine/congestion_grants.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {
namespace {

/// So long after its last payload a lane counts as one that carries: a slow seeder's blocks may be that far apart.
constexpr std::chrono::seconds kCarries{5};

std::uint64_t permille(double share) {
  return static_cast<std::uint64_t>(std::clamp(share, 0.0, 1.0) * 1000);
}

}  // namespace

bool LaneMeter::look(MonoTime now, std::uint64_t received, std::uint64_t sent) {
  const double seconds = at == MonoTime{} ? 0 : std::chrono::duration<double>(now - at).count();
  const std::uint64_t came = received > received_bytes ? received - received_bytes : 0;
  const bool moved = came > 0 || sent > sent_bytes;
  if (seconds > 0) receive_bits_per_s = static_cast<std::uint64_t>(static_cast<double>(came) * 8 / seconds);
  at = now;
  received_bytes = received;
  sent_bytes = sent;
  return moved;
}

bool Lane::carries(MonoTime now) const {
  return carried != MonoTime{} && now - carried < kCarries;
}

LaneStanding Lane::standing(MonoTime now) const {
  LaneStanding standing;
  standing.outgoing = outgoing;
  standing.proven = proven;
  standing.open = state == LaneState::kOpen;
  standing.silent = silent();
  standing.bits_per_s = carries(now) ? std::max<std::uint64_t>(usual_bits_per_s, 1) : 0;
  standing.since = opened;
  return standing;
}

void Lane::read_tcp(const EngineLoad& node_load, MonoTime now) {
  if (const auto seen = socket->liveness()) liveness = *seen;
  own = socket->figures();
  if (!own) return;
  if (tcp_read != MonoTime{} && socket->unsent_bytes() == 0) {
    empty += std::chrono::duration_cast<std::chrono::microseconds>(now - tcp_read);
  }
  tcp_read = now;
  look_for_losses(now);
  own->loss_events = losses.count();
  own->loss_srtt_us = losses.srtt_us();
  own->empty_us = static_cast<std::uint64_t>(empty.count());
  own->paced_bytes_per_s = paced_bytes_per_s;
  own->thread_permille = permille(node_load.network_thread);
  own->disk_permille = permille(node_load.reads_disk);
  round_trip_us = own->srtt_us;
  least_round_trip_us = own->min_rtt_us;
}

void Lane::size_receive_buffer(int lanes) {
  const auto bytes = receive_buffer_for(lanes, receive_limits());
  if (!bytes) return;
  receive_buffer = *bytes;
  socket->set_receive_buffer(*bytes);
}

void Lane::grow_receive_buffer(int lanes) {
  const int bytes = largest_receive_buffer_for(lanes, receive_limits());
  if (receive_buffer == 0 || bytes <= receive_buffer || drains) return;
  receive_buffer = bytes;
  socket->set_receive_buffer(bytes);
}

void Lane::look_for_losses(MonoTime now) {
  if (looked != MonoTime{} && now - looked < look_every(round_trip_us)) return;
  looked = now;
  if (const auto facts = socket->loss_facts()) losses.look(now, *facts);
}

void Lane::hurry(MonoTime now) {
  if (nagle.hurries(now)) socket->set_no_delay(true);
}

void Lane::told_of_piece(MonoTime now) {
  if (nagle.tells(now)) socket->set_no_delay(false);
}

bool Lane::grant_congestion_control(const std::vector<std::string>& granted) {
  if (!own) return false;
  if (usual_congestion_control.empty()) usual_congestion_control = own->congestion_control;
  const auto next = congestion_change(congestion_wish, granted, congestion_control);
  if (!next) return false;
  congestion_control = *next;  // and is not tried again where the kernel refuses
  if (!socket->set_congestion_control(next->empty() ? usual_congestion_control : *next)) return false;
  if (const auto now = socket->figures()) own->congestion_control = now->congestion_control;
  return true;
}

std::string show(const lt::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace gridtorrent::client::engine
