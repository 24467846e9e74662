#include "client/tuning/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tuning/wording.h"
#include "common/units.h"

namespace gridtorrent::client::tuning {
namespace {

/// One-sided 95 % of a normal distribution, and the most events that go unseen with 5 % (−ln 0.05).
constexpr double kSigmas = 1.645, kUnseen = 3.0;

double mean(double before, double counted, double now) {
  return (before * counted + now) / (counted + 1);
}
std::uint64_t mean(std::uint64_t before, double counted, std::uint64_t now) {
  return static_cast<std::uint64_t>(mean(static_cast<double>(before), counted, static_cast<double>(now)));
}

bool fits(const PathKey& key, const PathQuery& query, int relaxed) {
  const bool network = query.network.empty() || key.network == query.network;
  return (relaxed >= 2 || network) && (relaxed >= 1 || key.long_transfer == query.long_transfer);
}

bool another_round_trip(std::chrono::microseconds remembered, std::chrono::microseconds seen) {
  if (remembered.count() == 0 || seen.count() == 0) return false;
  if (std::chrono::abs(seen - remembered) <= kNoQueue) return false;
  const double ratio = static_cast<double>(seen.count()) / static_cast<double>(remembered.count());
  return ratio > kRoundTripLonger || ratio < kRoundTripShorter;
}

bool other_losses(double remembered, const PathFigures& seen) {
  if (seen.segments <= 0) return false;
  const double half_decade = std::sqrt(10.0), most = seen.random_events + seen.doubtful_events;
  const double fewest = std::max(0.0, seen.random_events - kSigmas * std::sqrt(seen.random_events)) / seen.segments;
  const double highest = (most + kSigmas * std::sqrt(most) + kUnseen) / seen.segments;
  return fewest > half_decade * std::max(remembered, kRareLoss) || highest < remembered / half_decade;
}

}  // namespace

std::string age_text(std::chrono::milliseconds age) {
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(age).count();
  if (hours >= 48) return counted(hours / 24, "day");
  if (hours >= 1) return counted(hours, "hour");
  return counted(std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::minutes>(age).count(), 0), "minute");
}

PathKey key_of(const PathFacts& facts) {
  const auto round_trip = static_cast<double>(std::max<std::int64_t>(facts.round_trip.count(), 1));
  const double losses = std::clamp(facts.loss_events_per_segment, kRareLoss, 1.0);
  return {facts.node,
          facts.network,
          facts.congestion_control,
          static_cast<int>(std::lround(std::log2(round_trip))),
          static_cast<int>(std::lround(std::log10(losses))),
          facts.long_transfer};
}

double history_weight(WallTime last, WallTime now) {
  const double age = std::max<double>(0, static_cast<double>((now - last).count()));
  return std::exp(-age / static_cast<double>(std::chrono::milliseconds(kHistoryFades).count()));
}

PathRecord with_transfer(const std::optional<PathRecord>& before, const PathFacts& facts, WallTime now) {
  PathRecord record{key_of(facts), facts, 1, now};
  if (!before) return record;
  record.transfers = before->transfers + 1;
  const double counted = std::min<double>(before->transfers, kMostCounted) * history_weight(before->last, now);
  PathFacts& all = record.facts;
  all.loss_events_per_segment = mean(before->facts.loss_events_per_segment, counted, facts.loss_events_per_segment);
  all.bits_per_s = mean(before->facts.bits_per_s, counted, facts.bits_per_s);
  all.best_bits_per_s = mean(before->facts.best_bits_per_s, counted, facts.best_bits_per_s);
  all.total_bits_per_s = mean(before->facts.total_bits_per_s, counted, facts.total_bits_per_s);
  return record;
}

std::vector<PathKey> outdated(const PathRecords& records, WallTime now, std::size_t most) {
  std::vector<PathKey> gone;
  std::vector<const PathRecord*> kept;
  for (const auto& [key, record] : records) {
    if (now - record.last > kHistoryKept) {
      gone.push_back(key);
    } else {
      kept.push_back(&record);
    }
  }
  if (kept.size() <= most) return gone;
  std::ranges::sort(kept, {}, [](const PathRecord* record) { return record->last; });
  for (std::size_t i = 0; i + most < kept.size(); ++i) gone.push_back(kept[i]->key);
  return gone;
}

std::optional<PathMemory> recall(const PathRecords& records, const PathQuery& query, WallTime now) {
  constexpr int kFirst = std::numeric_limits<int>::min();
  const auto begin = records.lower_bound(PathKey{query.node, "", "", kFirst, kFirst, false});
  for (int relaxed = 0; relaxed <= 2; ++relaxed) {
    const PathRecord* newest = nullptr;
    for (auto one = begin; one != records.end() && one->first.node == query.node; ++one) {
      if (now - one->second.last > kHistoryKept || !fits(one->first, query, relaxed)) continue;
      if (newest == nullptr || newest->last < one->second.last) newest = &one->second;
    }
    if (newest != nullptr) {
      return PathMemory{newest->facts, newest->transfers, std::max(now - newest->last, std::chrono::milliseconds(0))};
    }
  }
  return std::nullopt;
}

std::string remembered_text(const PathMemory& memory) {
  std::string text = "as another transfer of this node found out";
  if (memory.transfers > 0) {
    const std::string times = memory.transfers == 1 ? "1 transfer" : std::to_string(memory.transfers) + " transfers";
    text = "as on " + times + " before, the last " + age_text(memory.age) + " ago";
  }
  text += ": " + format_bits_per_s(memory.facts.bits_per_s);
  if (memory.facts.limit != Limit::kUnknown) text += ", limited by " + std::string(limit_word(memory.facts.limit));
  return text;
}

bool contradicts(const PathFacts& remembered, const PathFigures& seen) {
  const bool other_sender = !remembered.asked && !remembered.congestion_control.empty() &&
                            !seen.congestion_control.empty() &&
                            remembered.congestion_control != seen.congestion_control;
  return other_sender || another_round_trip(remembered.round_trip, seen.least_round_trip) ||
         other_losses(remembered.loss_events_per_segment, seen);
}

}  // namespace gridtorrent::client::tuning
