#include "bench/wan/network.h"

#include <algorithm>
#include <utility>

namespace gridtorrent::wan {
namespace {

/// Beyond so many flows those that are idle are forgotten.
constexpr std::size_t kRememberedFlows = 4096;
constexpr std::size_t kRememberedDrops = 100'000;

std::uint64_t queue_of(const LinkSpec& spec, std::uint64_t bits_per_s) {
  return spec.queue_bytes.value_or(bits_per_s / 8 / 10);
}

}  // namespace

void Network::Link::configure(std::uint64_t seed) {
  up.set(spec.up_bits_per_s, queue_of(spec, spec.up_bits_per_s));
  down.set(spec.down_bits_per_s, queue_of(spec, spec.down_bits_per_s));
  for (auto& [key, flow] : flows) flow.shaper.set(spec.flow_bits_per_s, queue_of(spec, spec.flow_bits_per_s));
  up_losses.set(spec.loss, seed * 2);
  down_losses.set(spec.loss, seed * 2 + 1);
}

void Network::Link::reseed(std::uint64_t seed) {
  up_losses.reseed(seed * 2);
  down_losses.reseed(seed * 2 + 1);
}

Network::Network(const Scenario& scenario) : seed_(scenario.seed) {
  for (std::size_t host = 0; host < scenario.hosts.size(); ++host) {
    hosts_.push_back(scenario.hosts[host].name);
    for (const auto& address : scenario.hosts[host].addresses) {
      index_[address.ip] = links_.size();
      Link& link = links_.emplace_back();  // a deque: what waits in it is pointed to
      link.host = host;
      link.spec = address.link;
      link.configure(seed_of(address.ip));
    }
  }
}

void Network::apply(const Change& change) {
  for (auto& [ip, index] : index_) {
    Link& link = links_[index];
    if (hosts_[link.host] != change.host || (change.ip != 0 && change.ip != ip)) continue;
    link.spec = changed(link.spec, change);
    link.configure(seed_of(ip));
  }
}

void Network::reset(const Scenario& scenario) {
  for (const auto& host : scenario.hosts) {
    for (const auto& address : host.addresses) {
      Link& link = links_[index_.at(address.ip)];
      link.spec = address.link;
      link.configure(seed_of(address.ip));
    }
  }
}

void Network::reseed(std::uint64_t seed) {
  seed_ = seed;
  for (auto& [ip, index] : index_) links_[index].reseed(seed_of(ip));
}

void Network::send(Nanos now, std::size_t from, const std::shared_ptr<const SuperPacket>& packet) {
  const auto source = index_.find(packet->source()), destination = index_.find(packet->destination());
  if (source == index_.end() || destination == index_.end() || links_[source->second].host != from) {
    ++unroutable_;
    return;
  }
  for (std::uint32_t segment = 0; segment < packet->segments(); ++segment) {
    offer({now, packet, segment, static_cast<std::uint32_t>(source->second),
           static_cast<std::uint32_t>(destination->second)});
  }
}

std::optional<Nanos> Network::next() const {
  return heads_.empty() ? std::nullopt : std::optional(heads_.top().at);
}

std::vector<Network::Delivery> Network::due(Nanos now) {
  std::vector<Delivery> deliveries;
  while (!heads_.empty() && heads_.top().at <= now) {
    Lane& lane = *heads_.top().lane;
    heads_.pop();
    Event event = std::move(lane.events.front());
    lane.events.pop_front();
    if (!lane.events.empty()) heads_.push({lane.events.front().at, order_++, &lane});
    switch (lane.stage) {
      case Stage::kUp:
        leave(std::move(event));
        break;
      case Stage::kDown:
        arrive(std::move(event));
        break;
      case Stage::kDeliver:
        deliver(event, links_[event.to].host, deliveries);
    }
  }
  return deliveries;
}

/// To the flow's cap, where there is one.
void Network::offer(Event event) {
  Link& from = links_[event.from];
  if (from.spec.flow_bits_per_s == 0) return leave(std::move(event));
  forget_idle_flows(from, event.at);
  const auto [found, is_new] = from.flows.try_emplace(event.packet->flow());
  Flow& flow = found->second;
  if (is_new) flow.shaper.set(from.spec.flow_bits_per_s, queue_of(from.spec, from.spec.flow_bits_per_s));
  const Nanos left = flow.shaper.admit(event.at, event.packet->wire_bytes(event.segment));
  if (left < 0) return drop(event, from, true, true);
  push(flow.lane, std::move(event), left);
}

/// Through the sender's uplink and on its way.
void Network::leave(Event event) {
  Link& from = links_[event.from];
  const std::uint32_t bytes = event.packet->wire_bytes(event.segment);
  const Nanos left = from.up.admit(event.at, bytes);
  if (left < 0) return drop(event, from, true, true);
  ++from.counters.up_packets;
  from.counters.up_bytes += bytes;
  if (from.up_losses.next()) return drop(event, from, true, false);
  const auto delay = static_cast<Nanos>((from.spec.delay_ms + links_[event.to].spec.delay_ms) * 1e6);
  push(way(event.from, event.to), std::move(event), left + delay);
}

/// Through the receiver's downlink.
void Network::arrive(Event event) {
  Link& to = links_[event.to];
  const std::uint32_t bytes = event.packet->wire_bytes(event.segment);
  const Nanos left = to.down.admit(event.at, bytes);
  if (left < 0) return drop(event, to, false, true);
  ++to.counters.down_packets;
  to.counters.down_bytes += bytes;
  if (to.down_losses.next()) return drop(event, to, false, false);
  push(to.last_stretch, std::move(event), left);
}

void Network::drop(const Event& event, Link& link, bool up, bool by_queue) {
  ++(by_queue ? link.counters.queue_drops : link.counters.losses);
  if (drops_.size() >= kRememberedDrops) return;
  const std::uint32_t ip = up ? event.packet->source() : event.packet->destination();
  drops_.push_back({event.at, ip, up, by_queue, event.packet->flow(), event.packet->wire_bytes(event.segment)});
}

void Network::deliver(const Event& event, std::size_t host, std::vector<Delivery>& deliveries) {
  // Among the last few runs of this round: flows that share a link alternate packet by packet.
  const auto back = static_cast<std::ptrdiff_t>(std::min<std::size_t>(deliveries.size(), 32));
  for (auto it = deliveries.rbegin(); it != deliveries.rbegin() + back; ++it) {
    if (it->packet == event.packet && it->last + 1 == event.segment) return void(it->last = event.segment);
  }
  deliveries.push_back({host, event.packet, event.segment, event.segment, event.at});
}

void Network::push(Lane& lane, Event event, Nanos at) {
  event.at = lane.events.empty() ? at : std::max(at, lane.events.back().at);
  lane.events.push_back(std::move(event));
  if (lane.events.size() == 1) heads_.push({lane.events.back().at, order_++, &lane});
}

Network::Lane& Network::way(std::uint32_t from, std::uint32_t to) {
  return ways_.try_emplace({from, to}, Lane{Stage::kDown, {}}).first->second;
}

void Network::forget_idle_flows(Link& link, Nanos now) {
  if (link.flows.size() <= kRememberedFlows) return;
  std::erase_if(link.flows, [&](const auto& f) { return f.second.lane.events.empty() && f.second.shaper.idle(now); });
}

}  // namespace gridtorrent::wan
