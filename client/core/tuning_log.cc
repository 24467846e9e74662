#include "client/core/tuning_log.h"

#include <algorithm>

#include "client/plan/tuners.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSampleEvery{950};  // looks are about a second apart, or follow an event at once
constexpr milliseconds kBefore{3000};
constexpr milliseconds kSettled{2000}, kBrought{5000};  // new lanes are dialled, and slow start is over
constexpr milliseconds kSaveEvery{
    5000};  // what a kill loses of a transfer that runs; a write has 20 kB at most as a rule

milliseconds since(MonoTime then, MonoTime now) {
  return std::chrono::duration_cast<milliseconds>(now - then);
}

/// Of the samples after `from` up to `to`; nothing where there are none.
std::optional<std::uint64_t> mean_rate(const std::deque<TuningSample>& samples, milliseconds from, milliseconds to) {
  std::uint64_t sum = 0, count = 0;
  for (const auto& sample : samples) {
    if (sample.at <= from || sample.at > to) continue;
    sum += sample.bits_per_s;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

int lanes_of(const Plan& plan) {
  int lanes = 0;
  for (const auto& peer : plan.peers) lanes += peer.lanes;
  return lanes;
}

std::string tuner_of(const Reason& reason) {
  return reason.text.substr(0, reason.text.find(':'));
}

/// Of a tuner that heeds none it would explain nothing.
std::optional<TuningMode> mode_heeded(const std::string& tuner, TuningMode asked) {
  const TunerChoice* choice = find_tuner(tuner);
  if (choice == nullptr || !choice->heeds.mode) return std::nullopt;
  return asked;
}

std::uint64_t lower(std::uint64_t one, std::uint64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

template <class T>
void keep_last(std::deque<T>& all, std::size_t most) {
  while (all.size() > most) all.pop_front();
}

}  // namespace

std::vector<LanesPoint> rate_by_lanes(const std::deque<TuningSample>& samples) {
  std::map<int, std::vector<std::uint64_t>> rates;
  for (const auto& sample : samples) {
    if (sample.lanes > 0) rates[sample.lanes].push_back(sample.bits_per_s);
  }
  std::vector<LanesPoint> points;
  for (auto& [lanes, seen] : rates) {
    std::ranges::sort(seen);
    points.push_back({lanes, static_cast<int>(seen.size()), seen.front(), seen[seen.size() / 2], seen.back()});
  }
  return points;
}

std::string decision_text(const TuningDecision& decision) {
  const std::string lanes = std::to_string(decision.lanes);
  const std::string change =
      decision.lanes == decision.lanes_before ? lanes : std::to_string(decision.lanes_before) + " → " + lanes;
  std::string text = "lanes " + change;
  if (decision.lanes_before > 0) text += " at " + format_bits_per_s(decision.bits_per_s);
  if (decision.limit != Limit::kUnknown) text += ", limited by " + std::string(limit_word(decision.limit));
  return text + ": " + decision.reason;
}

void TuningLog::add_sample(TuningRecord& record, const ControllerInput& input, const Plan& plan, Limit limit) {
  if (!record.samples.empty() && record.elapsed - record.samples.back().at < kSampleEvery) return;
  TuningSample sample;
  sample.at = record.elapsed;
  sample.limit = limit;
  sample.revision = record.revision;
  sample.limit_bits_per_s = lower(input.limit_bits_per_s, plan.limit_bits_per_s);
  sample.target_bits_per_s = input.target_bits_per_s;
  for (const auto& peer : input.peers) {
    sample.bits_per_s += peer.receive_bits_per_s;
    sample.lanes += static_cast<int>(peer.lanes.size());
    sample.sources += peer.lanes.empty() ? 0 : 1;
  }
  record.samples.push_back(sample);
  keep_last(record.samples, TuningRecord::kSamples);
}

/// What came after the next decision is that one's.
void TuningLog::note_what_decisions_brought(TuningRecord& record) {
  if (record.decisions.empty()) return;
  auto& last = record.decisions.back();
  if (last.brought_bits_per_s || record.elapsed < last.at + kBrought) return;
  last.brought_bits_per_s = mean_rate(record.samples, last.at + kSettled, last.at + kBrought);
  if (last.brought_bits_per_s) last.revision = record.revision;
}

const TuningDecision* TuningLog::add_decision(Kept& kept, const Plan& plan, Limit limit, WallTime now) {
  auto& record = kept.record;
  const bool none = record.decisions.empty(), first_here = !kept.reason;
  const int lanes = lanes_of(plan), before = none ? 0 : record.decisions.back().lanes;
  if (!first_here && plan.reason == *kept.reason && lanes == before) return nullptr;
  kept.reason = plan.reason;
  record.tuner = tuner_of(plan.reason);
  if (first_here || record.elapsed - record.decisions.back().at >= kSampleEvery) {
    TuningDecision decision;
    decision.number = none ? 1 : record.decisions.back().number + 1;
    decision.at = record.elapsed;
    decision.decided = now;
    decision.lanes_before = before;
    decision.bits_per_s = mean_rate(record.samples, record.elapsed - kBefore, record.elapsed).value_or(0);
    record.decisions.push_back(decision);
    keep_last(record.decisions, TuningRecord::kDecisions);
  }
  auto& decision = record.decisions.back();
  decision.lanes = lanes;
  decision.reason = plan.reason.text;
  decision.limit = limit;
  decision.revision = record.revision;
  return &decision;
}

const TuningDecision* TuningLog::look(const std::string& name, const ControllerInput& input, const Plan& plan,
                                      const Findings& findings, WallTime now) {
  const auto [found, is_new] = transfers_.try_emplace(input.transfer);
  auto& kept = found->second;
  auto& record = kept.record;
  if (!kept.begun) kept.begun = input.now - record.elapsed;
  if (is_new || !record.running) record.sequence = ++sequence_;
  record.running = true;
  record.transfer = input.transfer;
  record.name = name;
  record.elapsed = since(*kept.begun, input.now);
  record.findings = findings;
  ++record.revision;
  record.mode = mode_heeded(tuner_of(plan.reason), input.mode);
  add_sample(record, input, plan, findings.limit);
  note_what_decisions_brought(record);
  return add_decision(kept, plan, findings.limit, now);
}

void TuningLog::end(Kept& kept) {
  kept.record.running = false;
  ++kept.record.revision;
  kept.record.sequence = ++sequence_;
}

void TuningLog::ended(const TransferId& transfer) {
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end() || !found->second.record.running) return;
  end(found->second);
  drop_oldest();
}

/// Of those that ended, while there are too many.
void TuningLog::drop_oldest() {
  std::map<std::uint64_t, TransferId> ended;
  for (const auto& [id, kept] : transfers_) {
    if (!kept.record.running) ended[kept.record.sequence] = id;
  }
  while (ended.size() > kEndedTunings) {
    transfers_.erase(ended.begin()->second);
    ended.erase(ended.begin());
  }
}

void TuningLog::restore(std::vector<TuningRecord> records, const std::function<bool(const TransferId&)>& fetches) {
  std::ranges::sort(records, {}, &TuningRecord::sequence);
  for (auto& record : records) {
    sequence_ = std::max(sequence_, record.sequence);
    record.revision = 1;
    for (auto& sample : record.samples) sample.revision = 1;
    for (auto& decision : record.decisions) decision.revision = 1;
    auto& kept = transfers_[record.transfer];
    kept.saved_revision = 1;
    kept.record = std::move(record);
  }
  for (auto& [id, kept] : transfers_) {
    if (kept.record.running && !fetches(id)) end(kept);
  }
  drop_oldest();
}

std::vector<TuningRecord> TuningLog::unsaved(MonoTime now, bool all) const {
  std::vector<TuningRecord> records;
  for (const auto& [id, kept] : transfers_) {
    const bool due = all || !kept.record.running || now - kept.saved_at >= kSaveEvery;
    if (due && kept.record.revision != kept.saved_revision) records.push_back(kept.record);
  }
  return records;
}

void TuningLog::saved(const TuningRecord& record, MonoTime at) {
  const auto found = transfers_.find(record.transfer);
  if (found == transfers_.end()) return;
  found->second.saved_revision = record.revision;
  found->second.saved_at = at;
}

Result<TuningRecord> TuningLog::find(const TransferId& transfer) const {
  const auto found = transfers_.find(transfer);
  if (found != transfers_.end()) return found->second.record;
  return Error{Code::kNotFound, "nothing is known of how transfer " + transfer.str() +
                                    " was tuned; 'gridtorrent tune list' lists those that fetch and the last that did"};
}

std::vector<TuningRecord> TuningLog::list() const {
  std::vector<const Kept*> order;
  for (const auto& [id, kept] : transfers_) order.push_back(&kept);
  std::ranges::sort(order, [](const Kept* one, const Kept* other) {
    if (one->record.running != other->record.running) return one->record.running;
    return one->record.sequence > other->record.sequence;
  });
  std::vector<TuningRecord> records;
  for (const Kept* kept : order) {
    const auto& full = kept->record;
    TuningRecord& record = records.emplace_back();
    record.transfer = full.transfer;
    record.name = full.name;
    record.tuner = full.tuner;
    record.mode = full.mode;
    record.running = full.running;
    record.elapsed = full.elapsed;
    record.findings = full.findings;
    record.revision = full.revision;
    record.sequence = full.sequence;
    if (!full.samples.empty()) record.samples.push_back(full.samples.back());
    if (!full.decisions.empty()) record.decisions.push_back(full.decisions.back());
  }
  return records;
}

}  // namespace gridtorrent::client
