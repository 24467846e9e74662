#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/wan/packet.h"
#include "bench/wan/scenario.h"
#include "bench/wan/shaper.h"

namespace gridtorrent::wan {

/// What happened on one address so far, in packets on the wire and their bytes.
struct LinkCounters {
  std::uint64_t up_packets = 0, up_bytes = 0, down_packets = 0, down_bytes = 0;
  std::uint64_t queue_drops = 0, losses = 0;
};

/// A packet that was dropped at one address' link.
struct Drop {
  Nanos at = 0;
  std::uint32_t ip = 0;     ///< whose link it was
  bool up = false;          ///< on its way from there; else towards it
  bool by_queue = false;    ///< which was full; else at random
  std::uint64_t flow = 0;   ///< SuperPacket::flow
  std::uint32_t bytes = 0;  ///< on the wire
  friend bool operator==(const Drop&, const Drop&) = default;
};

/// The wide area between the hosts, without any I/O: packets go in with a time, and come out when theirs has come. A
/// segment passes its flow's cap, its sender's uplink, both delays, and its receiver's downlink, each a Shaper that
/// sees arrivals in the order of time. Not thread-safe.
class Network {
 public:
  explicit Network(const Scenario& scenario);

  /// A packet that host `from` sent. One for an address that nobody has, or with a source that is not the host's, is
  /// dropped and counted.
  void send(Nanos now, std::size_t from, const std::shared_ptr<const SuperPacket>& packet);

  /// A run of neighbouring segments of one packet that are due at one host.
  struct Delivery {
    std::size_t host = 0;
    std::shared_ptr<const SuperPacket> packet;
    std::uint32_t first = 0, last = 0;
    Nanos due = 0;  ///< of the first
  };
  /// Everything due until `now`, neighbours merged, each flow in order.
  std::vector<Delivery> due(Nanos now);
  /// When something happens next.
  std::optional<Nanos> next() const;

  void apply(const Change& change);
  /// All links have the values again that this scenario, the one it was made of, gives them; losses and queues go on.
  void reset(const Scenario& scenario);
  /// All links lose packets from now on as this seed says: what is sent next meets the same losses whatever was before.
  void reseed(std::uint64_t seed);
  const LinkCounters& counters(std::uint32_t ip) const { return links_.at(index_.at(ip)).counters; }
  std::uint64_t unroutable() const { return unroutable_; }
  /// What was dropped since the last call, at most the first hundred thousand of them.
  std::vector<Drop> take_drops() { return std::exchange(drops_, {}); }

 private:
  enum class Stage : std::uint8_t { kUp, kDown, kDeliver };
  struct Event {
    Nanos at;
    std::shared_ptr<const SuperPacket> packet;
    std::uint32_t segment;
    std::uint32_t from, to;  ///< links
  };
  /// What waits for the same thing: a flow for the uplink, one link's packets on their way to another, a host's last
  /// stretch. Nobody overtakes in it, so only its head stands in `heads_`, which stays small.
  struct Lane {
    Stage stage;
    std::deque<Event> events;
  };
  struct Head {
    Nanos at;
    std::uint64_t order;  ///< of equal times: first come, first served
    Lane* lane;
    bool operator>(const Head& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  struct Flow {
    Shaper shaper;
    Lane lane{Stage::kUp, {}};
  };
  struct Link {
    std::size_t host = 0;
    LinkSpec spec;
    Shaper up, down;
    Losses up_losses, down_losses;
    std::unordered_map<std::uint64_t, Flow> flows;
    Lane last_stretch{Stage::kDeliver, {}};
    LinkCounters counters;
    void configure(std::uint64_t seed);
    void reseed(std::uint64_t seed);
  };
  /// Another one for each link and seed.
  std::uint64_t seed_of(std::uint32_t ip) const { return seed_ << 32U | ip; }
  void offer(Event event);
  void leave(Event event);
  void arrive(Event event);
  void drop(const Event& event, Link& link, bool up, bool by_queue);
  static void deliver(const Event& event, std::size_t host, std::vector<Delivery>& deliveries);
  void push(Lane& lane, Event event, Nanos at);
  Lane& way(std::uint32_t from, std::uint32_t to);
  void forget_idle_flows(Link& link, Nanos now);

  std::uint64_t seed_;
  std::deque<Link> links_;
  std::vector<std::string> hosts_;
  std::unordered_map<std::uint32_t, std::size_t> index_;  ///< link by address
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lane> ways_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::uint64_t order_ = 0, unroutable_ = 0;
  std::vector<Drop> drops_;
};

}  // namespace gridtorrent::wan
