#include "client/engine/node_link.h"

#include <algorithm>

namespace gridtorrent::client::engine {
namespace {

/// For how long what we saw outweighs the server, who says that the node wants data: this word may be late.
constexpr std::chrono::seconds kCompleteFor{30};

}  // namespace

void NodeLink::set_plan(const PeerPlan& new_plan, MonoTime now, bool tls) {
  std::vector<DialTarget> next;
  for (const auto& endpoint : new_plan.endpoints) {
    if (endpoint.tls != tls || endpoint.port == 0) continue;
    if (std::ranges::any_of(next, [&](const DialTarget& t) {
          return t.endpoint.address == endpoint.address && t.endpoint.port == endpoint.port;
        })) {
      continue;
    }
    const DialTarget* known = find(endpoint.address, endpoint.port);
    next.push_back(known != nullptr ? *known : DialTarget{});
    next.back().endpoint = endpoint;
  }
  targets = std::move(next);
  if (was_planned && !plan) {
    seen_complete.reset();
    planned_again = now;
  }
  plan = new_plan;
}

void NodeLink::leave_plan() {
  was_planned = was_planned || plan;
  plan.reset();
  targets.clear();
}

void NodeLink::showed_all(MonoTime since, MonoTime now) {
  const bool is_old = planned_again && since < *planned_again && now - *planned_again < kCompleteFor;
  if (!is_old) seen_complete = now;
}

bool NodeLink::has_all(MonoTime now) const {
  return seen_complete && now - *seen_complete < kCompleteFor;
}

DialTarget* NodeLink::find(const std::string& address_text, std::uint16_t port) {
  const auto found = std::ranges::find_if(
      targets, [&](const DialTarget& t) { return t.endpoint.address == address_text && t.endpoint.port == port; });
  return found == targets.end() ? nullptr : &*found;
}

void NodeLink::dial_failed(DialTarget& target, const std::string& error, MonoTime now) {
  dial_unanswered(target, error, now);
  target.not_before = now + redial_pause(target.failures);
}

void NodeLink::dial_unanswered(DialTarget& target, const std::string& error, MonoTime now) {
  ++target.failures;
  target.failed = now;
  target.last_error = error;
}

void NodeLink::hold_address(const std::string& address_text, MonoTime until) {
  if (has_proven) return;
  for (DialTarget& target : targets) {
    if (target.endpoint.address == address_text) target.held_until = until;
  }
}

bool NodeLink::all_targets_held(MonoTime now) const {
  return !targets.empty() &&
         std::ranges::all_of(targets, [&](const DialTarget& target) { return now < target.held_until; });
}

void NodeLink::bad_piece(MonoTime now) {
  ++bad_pieces;
  // A quiet minute after the last pause resets the count.
  if (bad_in_a_row > 0 && now > held_until + std::chrono::minutes(1)) bad_in_a_row = 0;
  ++bad_in_a_row;
  held_until = now + bad_data_pause(bad_in_a_row);
}

bool NodeLink::gives_way(int outgoing, int inbound_open, bool we_have_lower_id, MonoTime now) {
  if (!plan || outgoing == 0 || inbound_open == 0) {
    both_since.reset();
    return false;
  }
  if (!both_since) both_since = now;
  return now - *both_since >= give_way_after(plan->by_rule, we_have_lower_id);
}

int NodeLink::address_failures(const std::string& address_text) const {
  int failures = 0;
  for (const auto& target : targets) {
    if (target.endpoint.address != address_text) continue;
    if (target.failures == 0 && target.dialled) return 0;
    failures += target.failures;
  }
  return failures;
}

bool NodeLink::has_another_address(const std::string& address_text) const {
  const auto was_mute = [&](const std::string& text) {
    return std::ranges::any_of(targets,
                               [&](const auto& target) { return target.endpoint.address == text && target.was_mute; });
  };
  return std::ranges::any_of(targets, [&](const auto& target) {
    return target.endpoint.address != address_text && !was_mute(target.endpoint.address);
  });
}

bool NodeLink::address_rests(const std::string& address_text, MonoTime now) const {
  bool paused = false;
  for (const auto& target : targets) {
    if (target.endpoint.address != address_text) continue;
    if (target.failures == 0) return false;
    paused = paused || now < target.not_before;
  }
  return paused;
}

std::optional<std::string> path_problem(const NodeId& node, const NodeLink& link, MonoTime now) {
  if (!link.plan || link.plan->lanes == 0 || !link.without_lane_since) return std::nullopt;
  if (now - *link.without_lane_since < std::chrono::seconds(2)) return std::nullopt;
  if (link.lanes_silent_for.count() > 0) {
    return node.str() + " has not answered for " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(link.lanes_silent_for).count()) +
           " s: the path to it is cut, or its host is down; a new connection is tried each second";
  }
  if (now < link.held_until || link.all_targets_held(now))
    return node.str() + " sent data that failed verification; it is left alone for a while";
  if (!link.plan->dial) return "no lane from " + node.str() + " yet: it is to dial us";
  if (link.targets.empty()) return "no lane to " + node.str() + ": it publishes no endpoint that can be dialled";
  for (const auto& target : link.targets) {
    if (target.failures == 0) continue;
    const bool v6 = target.endpoint.address.find(':') != std::string::npos;
    return "no lane to " + node.str() + ": " + (v6 ? "[" + target.endpoint.address + "]" : target.endpoint.address) +
           ":" + std::to_string(target.endpoint.port) + ": " + target.last_error;
  }
  return "no lane to " + node.str() + " yet: dialling";
}

}  // namespace gridtorrent::client::engine
