#include "client/control/convert.h"
#include "common/text.h"

namespace gridtorrent::client::control {
namespace {

std::string word(Limit limit) {
  return std::string(limit_word(limit));
}

void fill(v1::TuningSource& out, const SourceFindings& source) {
  out.set_node_id(source.node.str());
  out.set_lanes(static_cast<std::uint32_t>(source.lanes));
  out.set_rtt_us(static_cast<std::uint64_t>(source.round_trip.count()));
  out.set_least_rtt_us(static_cast<std::uint64_t>(source.least_round_trip.count()));
  out.set_bits_per_s(source.bits_per_s);
  out.set_long_run_lane_bits_per_s(source.long_run_lane_bits_per_s);
  out.set_loss_events_per_segment(source.loss_events_per_segment);
  out.set_window_limited(source.window_limited);
  out.set_buffer_limited(source.buffer_limited);
  out.set_paced_bits_per_s(source.paced_bits_per_s);
  out.set_congestion_control(escape_for_display(source.congestion_control));  // as another node says
  out.set_held_by(word(source.held_by));
}

void fill(v1::TuningSample& out, const TuningSample& sample) {
  out.set_at_ms(static_cast<std::uint64_t>(sample.at.count()));
  out.set_bits_per_s(sample.bits_per_s);
  out.set_lanes(static_cast<std::uint32_t>(sample.lanes));
  out.set_sources(static_cast<std::uint32_t>(sample.sources));
  out.set_limit_word(word(sample.limit));
  out.set_limit_bits_per_s(sample.limit_bits_per_s);
  out.set_target_bits_per_s(sample.target_bits_per_s);
}

void fill(v1::TuningDecision& out, const TuningDecision& decision) {
  out.set_number(static_cast<std::uint32_t>(decision.number));
  out.set_at_ms(static_cast<std::uint64_t>(decision.at.count()));
  out.set_lanes_before(static_cast<std::uint32_t>(decision.lanes_before));
  out.set_lanes(static_cast<std::uint32_t>(decision.lanes));
  out.set_bits_per_s(decision.bits_per_s);
  out.set_reason(decision.reason);
  out.set_limit_word(word(decision.limit));
  if (decision.brought_bits_per_s) out.set_brought_bits_per_s(*decision.brought_bits_per_s);
  out.set_text(decision_text(decision));
}

void fill(v1::LanesPoint& out, const LanesPoint& point) {
  out.set_lanes(static_cast<std::uint32_t>(point.lanes));
  out.set_seconds(static_cast<std::uint32_t>(point.seconds));
  out.set_least_bits_per_s(point.least_bits_per_s);
  out.set_median_bits_per_s(point.median_bits_per_s);
  out.set_most_bits_per_s(point.most_bits_per_s);
}

}  // namespace

v1::Tuning to_message(const TuningRecord& record, std::uint64_t since) {
  const Findings& findings = record.findings;
  v1::Tuning out;
  out.set_transfer_id(record.transfer.str());
  out.set_name(record.name);
  out.set_tuner(record.tuner);
  if (record.mode) out.set_mode(std::string(mode_name(*record.mode)));
  out.set_running(record.running);
  out.set_elapsed_ms(static_cast<std::uint64_t>(record.elapsed.count()));
  out.set_limit_word(word(findings.limit));
  out.set_limit_detail(findings.detail);
  out.set_advice(findings.advice.text);
  out.set_advice_command(findings.advice.command);
  out.set_bits_per_s(findings.bits_per_s);
  out.set_best_bits_per_s(findings.best_bits_per_s);
  if (findings.target) *out.mutable_target() = to_message(*findings.target);
  for (const auto& source : findings.sources) fill(*out.add_sources(), source);
  for (const auto& sample : record.samples) {
    if (sample.revision > since) fill(*out.add_samples(), sample);
  }
  for (const auto& decision : record.decisions) {
    if (decision.revision > since) fill(*out.add_decisions(), decision);
  }
  for (const auto& point : rate_by_lanes(record.samples)) fill(*out.add_curve(), point);
  return out;
}

v1::RateHistoryReply to_message(const RateHistory& history) {
  v1::RateHistoryReply out;
  for (const RatePoint& point : history.points) {
    v1::RatePoint& message = *out.add_points();
    message.set_at_ms(point.at.ms);
    message.set_span_ms(static_cast<std::uint32_t>(point.span.count()));
    message.set_down_bits_per_s(point.down_bits_per_s);
    message.set_up_bits_per_s(point.up_bits_per_s);
    message.set_lanes(static_cast<std::uint32_t>(point.lanes));
    message.set_sources(static_cast<std::uint32_t>(point.sources));
  }
  for (const auto& decision : history.decisions) fill(*out.add_decisions(), decision);
  out.set_decisions_from_ms(history.decisions_from.ms);
  return out;
}

v1::EstimateResult to_message(const EstimateOutcome& outcome) {
  v1::EstimateResult out;
  out.set_content_id(outcome.content.id.str());
  out.set_name(outcome.content.owner + "/" + outcome.content.name);
  out.set_basis(std::string(basis_name(outcome.basis)));
  out.set_bytes(outcome.bytes);
  out.set_seeders(static_cast<std::uint32_t>(outcome.seeders));
  out.set_known_seeders(static_cast<std::uint32_t>(outcome.known_seeders));
  out.set_likely_ms(static_cast<std::uint64_t>(outcome.likely.count()));
  out.set_least_ms(static_cast<std::uint64_t>(outcome.least.count()));
  out.set_most_ms(static_cast<std::uint64_t>(outcome.most.count()));
  out.set_bits_per_s(outcome.bits_per_s);
  out.set_limit_word(word(outcome.limit));
  out.set_transfers(static_cast<std::uint32_t>(outcome.transfers));
  out.set_age_ms(static_cast<std::uint64_t>(outcome.age.count()));
  if (!outcome.transfer.is_nil()) out.set_transfer_id(outcome.transfer.str());
  out.set_probed_ms(static_cast<std::uint64_t>(outcome.probed.count()));
  out.set_kept_bytes(outcome.kept_bytes);
  out.set_path(outcome.path);
  out.set_text(estimate_text(outcome));
  for (const std::string& glob : outcome.unmatched) out.add_unmatched(glob);
  return out;
}

v1::History to_message(const std::vector<PathRecord>& records) {
  v1::History out;
  for (const auto& record : records) {
    const PathFacts& facts = record.facts;
    v1::RememberedPath& path = *out.add_paths();
    path.set_node_id(facts.node.str());
    path.set_network(facts.network);
    path.set_rtt_us(static_cast<std::uint64_t>(facts.round_trip.count()));
    path.set_loss_events_per_segment(facts.loss_events_per_segment);
    path.set_congestion_control(escape_for_display(facts.congestion_control));  // as another node says
    path.set_long_transfer(facts.long_transfer);
    path.set_lanes(static_cast<std::uint32_t>(facts.lanes));
    path.set_sources(static_cast<std::uint32_t>(facts.sources));
    path.set_bits_per_s(facts.bits_per_s);
    path.set_total_bits_per_s(facts.total_bits_per_s);
    path.set_best_bits_per_s(facts.best_bits_per_s);
    path.set_long_run_lane_bits_per_s(facts.lane_bits_per_s);
    path.set_limit_word(word(facts.limit));
    path.set_transfers(static_cast<std::uint32_t>(record.transfers));
    path.set_last_ms(record.last.ms);
  }
  return out;
}

}  // namespace gridtorrent::client::control
