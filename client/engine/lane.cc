#include "client/engine/lane.h"

#include "client/engine/internals.h"
#include "client/engine/tcp_info.h"

namespace gridtorrent::client::engine {

void Lane::read_tcp() {
  own = read_tcp_figures(socket_of(peer));
  if (!own) return;
  round_trip_us = own->srtt_us;
  least_round_trip_us = own->min_rtt_us;
}

void Lane::hurry(MonoTime now) {
  if (nagle.hurries(now)) set_no_delay(socket_of(peer), true);
}

void Lane::told_of_piece(MonoTime now) {
  if (nagle.tells(now)) set_no_delay(socket_of(peer), false);
}

std::string show(const lt::tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace gridtorrent::client::engine
