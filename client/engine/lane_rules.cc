#include "client/engine/lane_rules.h"

#include <algorithm>
#include <tuple>

namespace gridtorrent::client::engine {

int outgoing_target(const DialState& s) {
  if (!s.planned || (s.we_are_complete && s.peer_is_complete)) return 0;
  int wish = s.plan_lanes;
  if (s.peer_wants) {
    const int wanted = std::min(*s.peer_wants, s.own_grant);
    wish = s.we_are_complete ? wanted : std::max(wish, wanted);
  }
  wish = std::clamp(wish, 0, kMaxLanes);
  const int lacking = std::max(0, wish - s.inbound_open);
  const int target = s.gives_way ? lacking : std::max(lacking, std::min(s.outgoing, wish));
  const bool may_dial = s.plan_dials && !s.held_back;
  if (!s.has_endpoint) return 0;
  return std::min(may_dial ? target : std::min(target, s.outgoing), s.peer_grant);
}

std::chrono::seconds give_way_after(bool rule_names_us, bool we_have_lower_id) {
  // On a busy machine one side may see the other's lanes seconds after the other saw its own.
  constexpr std::chrono::seconds kApart{5};
  return kApart * ((rule_names_us ? 2 : 0) + (we_have_lower_id ? 1 : 0));
}

Admission admit(const std::optional<TlsProof>& proof, const Audience* audience, WallTime now) {
  if (!proof) return {{}, "it showed no certificate"};
  if (!proof->is_1_3) return {{}, "it speaks an older TLS than 1.3"};
  if (now < proof->not_before) return {{}, "its certificate is not valid yet: one of the two clocks is wrong"};
  if (now >= proof->not_after) return {{}, "its certificate has expired"};
  if (audience == nullptr) return {{}, "the server has not confirmed of late who may have this content"};
  const auto found = audience->find(proof->key);
  if (found == audience->end()) return {{}, "it is not among those who may have this content"};
  return {found->second, ""};
}

int lanes_to_ask(bool planned, bool plan_asks, int plan_lanes, bool we_are_complete) {
  return planned && plan_asks && !we_are_complete ? std::clamp(plan_lanes, 0, kMaxLanes) : 0;
}

std::vector<std::size_t> choose_endpoints(std::span<const DialCandidate> candidates, int count) {
  const auto answers = [](const DialCandidate& one) { return one.lanes > 0 && one.failures == 0; };
  const bool any_answers = std::ranges::any_of(candidates, answers);
  const auto is_worth_it = [&](const DialCandidate& one) {
    if (one.is_dialled || one.waiting) return false;
    const auto has = [&](auto what) {
      return std::ranges::any_of(candidates,
                                 [&](const DialCandidate& c) { return c.address == one.address && what(c); });
    };
    if (any_answers && !has(answers)) return false;
    return one.failures == 0 ||
           !has([&](const DialCandidate& c) { return answers(c) || (c.failures == 0 && c.is_dialled); });
  };
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (is_worth_it(candidates[i])) chosen.push_back(i);
  }
  std::ranges::stable_sort(chosen, {}, [&](std::size_t i) {
    const DialCandidate& one = candidates[i];
    return std::tuple(any_answers ? 0 : one.address_failures, one.failures, one.address, one.lanes);
  });
  if (chosen.size() > static_cast<std::size_t>(std::max(count, 0)))
    chosen.resize(static_cast<std::size_t>(std::max(count, 0)));
  return chosen;
}

std::uint16_t free_listing(const std::bitset<kListingPorts>& taken, std::uint16_t from) {
  for (std::size_t i = 0; i < kListingPorts; ++i) {
    const std::size_t port = (from + i) % kListingPorts;
    if (port != 0 && !taken.test(port)) return static_cast<std::uint16_t>(port);
  }
  return 0;
}

std::vector<std::size_t> peers_to_forget(std::span<const RememberedPeer> peers, std::size_t limit) {
  std::vector<std::size_t> chosen;
  if (peers.size() <= limit) return chosen;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!peers[i].needed) chosen.push_back(i);
  }
  std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return peers[i].bytes; });
  if (chosen.size() > peers.size() - limit) chosen.resize(peers.size() - limit);
  return chosen;
}

std::chrono::milliseconds redial_pause(int failures) {
  using std::chrono::milliseconds;
  if (failures <= 0) return milliseconds(0);
  return std::min(milliseconds(900) * (1 << std::min(failures - 1, 4)), milliseconds(4000));
}

std::chrono::milliseconds bad_data_pause(int count) {
  using std::chrono::milliseconds;
  if (count <= 0) return milliseconds(0);
  return std::min(milliseconds(2000) * (1 << std::min(count - 1, 5)), milliseconds(60'000));
}

}  // namespace gridtorrent::client::engine
