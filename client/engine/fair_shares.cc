#include "client/engine/fair_shares.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace gridtorrent::client::engine {
namespace {

constexpr std::size_t kRemembered = 3;
/// Over this part of its share, a node takes it up.
constexpr double kFull = 0.85;
/// With more than this in two rounds, it is still growing.
constexpr double kGrowth = 1.1;
/// So far from an even share, until so many seconds of it are missed, somebody is at a disadvantage and somebody else
/// has an advantage. In a swarm of eight alike, it came to 0.8 s.
constexpr double kLittle = 0.7, kMuch = 1.3, kMissesMuch = 1.5;
constexpr double kSmoothing = 0.4;
/// What the uplink carries may have become less unseen, or more: each round a little is taken off, and in one of three
/// a little more is tried.
constexpr double kDoubt = 0.99, kTry = 1.05;
constexpr int kTryEvery = 3;
/// So many seconds in a row in which nobody came up to its share; one alone may be a lost segment's.
constexpr int kIsLess = 3;
constexpr auto kPatience = std::chrono::seconds(5), kFirstPause = std::chrono::seconds(10),
               kLongestPause = std::chrono::seconds(320);
constexpr double kRoomToGrow = 1.2, kDrained = 0.95;
/// In seconds of its share.
constexpr double kMostCredit = 2;
constexpr double kFullUplink = 0.97;
/// What was written before a lane was paced goes out first.
constexpr int kUntilItShows = 2;
/// Looked at once a second, a node that is served promptly may seem to want nothing.
constexpr auto kStillWants = std::chrono::seconds(3);

}  // namespace

std::vector<double> max_min_shares(double capacity, const std::vector<double>& demands) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return demands[i]; });
  std::vector<double> shares(demands.size());
  double left = capacity;
  for (std::size_t k = 0; k < order.size(); ++k) {
    shares[order[k]] = std::min(demands[order[k]], left / static_cast<double>(order.size() - k));
    left -= shares[order[k]];
  }
  return shares;
}

void FairShares::note(MonoTime now, const std::map<PeerKey, Sending>& nodes) {
  std::erase_if(nodes_, [&](const auto& entry) { return !nodes.contains(entry.first); });
  for (const auto& [key, sending] : nodes) {
    const auto [found, is_new] = nodes_.try_emplace(key);
    Node& node = found->second;
    node.rate = sending.bytes_per_s;
    node.usual = is_new ? node.rate : node.usual + kSmoothing * (node.rate - node.usual);
    if (is_new) node.pause = kFirstPause;
    if (is_new || node.usual > kGrowth * node.low) {
      node.low = node.usual;
      node.patient_from = now;
    }
    node.low = std::min(node.low, node.usual);
    if (sending.wants_more) node.last_wanted = now;
  }
}

void FairShares::estimate_capacity(double total) {
  usual_total_ = totals_.empty() ? total : usual_total_ + kSmoothing * (total - usual_total_);
  totals_.push_front(total);
  if (totals_.size() > kRemembered) totals_.pop_back();
  if (!sharing_) {
    for (auto& [key, node] : nodes_) node.credit = 0;
    short_ = 0;
    capacity_ =
        std::max(usual_total_, std::min(totals_.front(), totals_[std::min<std::size_t>(1, totals_.size() - 1)]));
    return;
  }
  // What we hold back says nothing of what the uplink would carry; where nobody comes up to its share, it is less.
  const bool somebody_is = std::ranges::any_of(nodes_, [](const auto& entry) {
    const Node& node = entry.second;
    return node.wants_more && node.rate > kFull * node.share;
  });
  short_ = somebody_is ? 0 : short_ + 1;
  const bool held_back = short_ < kIsLess;
  keep_credits(total, held_back);
  const double doubt = drained_ ? 1 : kDoubt;
  capacity_ = std::max({usual_total_, held_back ? doubt * capacity_ : 0, tried_ ? total : 0});
}

/// Where the uplink was full, nobody left anything; where it carries less than was thought, there was nothing to leave.
void FairShares::keep_credits(double total, bool capacity_is_right) {
  const bool full = total > kFullUplink * capacity_;
  for (auto& [key, node] : nodes_) {
    const double left = node.share - node.rate;
    const double credit = node.credit + (full ? std::min(left, 0.0) : left);
    node.credit = capacity_is_right ? std::clamp(credit, 0.0, kMostCredit * node.share) : 0;
  }
}

bool FairShares::somebody_is_at_a_disadvantage(const std::vector<Node*>& wanting, double even) {
  bool stays_behind = false;
  for (Node* node : wanting) {
    node->missed = node->usual < kLittle * even ? node->missed + 1 - node->usual / even : 0;
    stays_behind = stays_behind || node->missed >= kMissesMuch;
  }
  const bool full = totals_.size() == kRemembered && totals_.front() <= kGrowth * totals_.back();
  return full && stays_behind &&
         std::ranges::any_of(wanting, [&](const Node* node) { return node->usual > kMuch * even; });
}

void FairShares::be_patient(Node& node, bool lags, MonoTime now) const {
  if (!lags) node.pause = kFirstPause;
  if (lags && now - node.patient_from < kPatience + node.pause) return;
  if (lags) node.pause = std::min(2 * node.pause, kLongestPause);
  node.patient_from = now;
}

double FairShares::demand_of(const Node& node, MonoTime now) const {
  return now - node.patient_from < kPatience ? std::numeric_limits<double>::infinity()
                                             : std::max(node.rate, node.usual);
}

std::map<PeerKey, Allowance> FairShares::decide(MonoTime now, const std::map<PeerKey, Sending>& nodes) {
  note(now, nodes);
  double total = 0, others = 0;
  std::vector<Node*> wanting;
  for (auto& [key, node] : nodes_) {
    total += node.rate;
    const bool wants = node.last_wanted != MonoTime{} && now - node.last_wanted < kStillWants;
    if (!wants) node.missed = 0;
    if (wants && node.rate > 0) {
      wanting.push_back(&node);
    } else {
      others += node.rate;
    }
  }
  estimate_capacity(total);
  const double to_share = std::max(0.0, capacity_ - others);
  const double even = wanting.empty() ? 0 : to_share / static_cast<double>(wanting.size());
  const bool begins = !sharing_ && somebody_is_at_a_disadvantage(wanting, even);
  sharing_ = wanting.size() > 1 && (sharing_ || begins);
  for (auto& [key, node] : nodes_) {
    node.share = 0;
    node.wants_more = false;
    if (sharing_) node.missed = 0;
  }
  if (sharing_) share_out(wanting, to_share, begins, now);
  std::map<PeerKey, Allowance> named;
  for (const auto& [key, node] : nodes_) {
    // What is left free for somebody to catch up is free of credits, too.
    if (node.share > 0) named[key] = {node.share, drained_ ? 0 : node.credit};
  }
  return named;
}

void FairShares::share_out(const std::vector<Node*>& wanting, double to_share, bool begins, MonoTime now) {
  const double even = to_share / static_cast<double>(wanting.size());
  std::vector<double> demands;
  bool somebody_catches_up = false;
  for (Node* node : wanting) {
    const bool lags = node->rate < kFull * even;
    be_patient(*node, lags && !begins, now);
    demands.push_back(demand_of(*node, now));
    somebody_catches_up = somebody_catches_up || (lags && std::isinf(demands.back()));
  }
  tried_ = !somebody_catches_up && ++rounds_ % kTryEvery == 0;
  drained_ = somebody_catches_up;
  const double part = drained_ ? kDrained : tried_ ? kTry : 1;
  const std::vector<double> shares = max_min_shares(part * to_share, demands);
  for (std::size_t i = 0; i < wanting.size(); ++i) {
    // Room to grow is nobody's loss before it is used: taken off the others' shares, it would draw them down with it.
    wanting[i]->wants_more = shares[i] < demands[i];
    wanting[i]->share = wanting[i]->wants_more ? shares[i] : kRoomToGrow * shares[i];
  }
}

double LanePace::next(const Allowance& allowed, double sent, std::size_t lanes) {
  const double number = static_cast<double>(std::max<std::size_t>(lanes, 1));
  if (++rounds_ > kUntilItShows && sent > 0) {
    // Down at once: a lane that could not use its pace may find its path free the next second.
    const double due = std::clamp(sent, previous_.share, previous_.share + previous_.credit);
    factor_ = std::clamp(factor_ * std::clamp(due / sent, 0.5, 1.2), 0.5, std::max(1.2, number));
  }
  previous_ = allowed;
  return (factor_ * allowed.share + allowed.credit) / number;
}

}  // namespace gridtorrent::client::engine
