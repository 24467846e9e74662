#include "client/core/tuning_log.h"

#include <algorithm>

#include "common/units.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSampleEvery{950};  // looks are about a second apart
constexpr milliseconds kBefore{3000};
constexpr milliseconds kSettled{2000}, kBrought{5000};  // new lanes are dialled, and slow start is over

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
  std::string text = "lanes " + change + " at " + format_bits_per_s(decision.bits_per_s);
  if (decision.limit != Limit::kUnknown) text += ", limited by " + std::string(limit_word(decision.limit));
  return text + ": " + decision.reason;
}

void TuningLog::add_sample(Kept& kept, const ControllerInput& input, Limit limit) {
  auto& record = kept.record;
  if (!record.samples.empty() && record.elapsed - record.samples.back().at < kSampleEvery) return;
  TuningSample sample{record.elapsed, 0, 0, 0, limit, record.revision};
  for (const auto& peer : input.peers) {
    sample.bits_per_s += peer.receive_bits_per_s;
    sample.lanes += static_cast<int>(peer.lanes.size());
    sample.sources += peer.lanes.empty() ? 0 : 1;
  }
  record.samples.push_back(sample);
  keep_last(record.samples, kSamples);
}

/// What came after the next decision is that one's.
void TuningLog::note_what_decisions_brought(TuningRecord& record) {
  if (record.decisions.empty()) return;
  auto& last = record.decisions.back();
  if (last.brought_bits_per_s || record.elapsed < last.at + kBrought) return;
  last.brought_bits_per_s = mean_rate(record.samples, last.at + kSettled, last.at + kBrought);
  if (last.brought_bits_per_s) last.revision = record.revision;
}

const TuningDecision* TuningLog::look(const std::string& name, const ControllerInput& input, const Plan& plan,
                                      const Findings& findings) {
  const auto [found, is_new] = transfers_.try_emplace(input.transfer);
  auto& kept = found->second;
  auto& record = kept.record;
  if (is_new) kept.begun = input.now;
  if (is_new || !record.running) kept.order = ++order_;
  record.running = true;
  record.transfer = input.transfer;
  record.name = name;
  record.elapsed = since(kept.begun, input.now);
  record.findings = findings;
  ++record.revision;
  add_sample(kept, input, findings.limit);
  note_what_decisions_brought(record);

  const int lanes = lanes_of(plan), before = record.decisions.empty() ? 0 : record.decisions.back().lanes;
  if (kept.decided > 0 && plan.reason == kept.reason && lanes == before) return nullptr;
  kept.reason = plan.reason;
  record.tuner = tuner_of(plan.reason);
  const auto rate = mean_rate(record.samples, record.elapsed - kBefore, record.elapsed).value_or(0);
  record.decisions.push_back({++kept.decided, record.elapsed, before, lanes, rate, plan.reason.text, findings.limit,
                              std::nullopt, record.revision});
  keep_last(record.decisions, kDecisions);
  return &record.decisions.back();
}

void TuningLog::ended(const TransferId& transfer) {
  const auto found = transfers_.find(transfer);
  if (found == transfers_.end() || !found->second.record.running) return;
  found->second.record.running = false;
  ++found->second.record.revision;
  found->second.order = ++order_;
  auto oldest = transfers_.end();
  std::size_t ended = 0;
  for (auto one = transfers_.begin(); one != transfers_.end(); ++one) {
    if (one->second.record.running) continue;
    ++ended;
    if (oldest == transfers_.end() || one->second.order < oldest->second.order) oldest = one;
  }
  if (ended > kEnded) transfers_.erase(oldest);
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
    return one->order > other->order;
  });
  std::vector<TuningRecord> records;
  for (const Kept* kept : order) {
    const auto& full = kept->record;
    TuningRecord& record = records.emplace_back();
    record.transfer = full.transfer;
    record.name = full.name;
    record.tuner = full.tuner;
    record.running = full.running;
    record.elapsed = full.elapsed;
    record.findings = full.findings;
    record.revision = full.revision;
    if (!full.samples.empty()) record.samples.push_back(full.samples.back());
    if (!full.decisions.empty()) record.decisions.push_back(full.decisions.back());
  }
  return records;
}

}  // namespace gridtorrent::client
