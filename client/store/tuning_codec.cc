#include "client/store/tuning_codec.h"

#include <nlohmann/json.hpp>

namespace gridtorrent::client::store {
namespace {

using Json = nlohmann::json;
using std::chrono::microseconds;
using std::chrono::milliseconds;

Error corrupt() {
  return {Code::kCorrupt, "the node's database holds a damaged record of how a transfer was tuned; restore a backup"};
}

Json of(const SourceFindings& source) {
  return {
      source.node.str(),         source.lanes,          source.round_trip.count(),      source.least_round_trip.count(),
      source.congestion_control, source.bits_per_s,     source.loss_events_per_segment, source.long_run_lane_bits_per_s,
      source.window_limited,     source.buffer_limited, source.paced_bits_per_s,        limit_word(source.held_by)};
}

Json of(const std::optional<TargetState>& target) {
  if (!target) return nullptr;
  return {target_kind_name(target->kind), target->held, target->wanted_bits_per_s, target->shortfall, target->text};
}

Json of(const TuningSample& sample) {
  return {sample.at.count(),       sample.bits_per_s,       sample.lanes, sample.sources, limit_word(sample.limit),
          sample.limit_bits_per_s, sample.target_bits_per_s};
}

Json of(const TuningDecision& decision) {
  return {decision.number,
          decision.at.count(),
          decision.lanes_before,
          decision.lanes,
          decision.bits_per_s,
          decision.reason,
          limit_word(decision.limit),
          decision.brought_bits_per_s ? Json(*decision.brought_bits_per_s) : Json(),
          decision.decided.ms};
}

Result<Limit> limit_at(const Json& json) {
  const auto& word = json.get_ref<const std::string&>();
  for (int i = 0; i <= static_cast<int>(Limit::kCap); ++i) {
    if (const auto limit = static_cast<Limit>(i); limit_word(limit) == word) return limit;
  }
  return corrupt();
}

Status read(const Json& json, std::optional<TargetState>& target) {
  if (json.is_null()) return {};
  TargetState& state = target.emplace();
  const auto& name = json.at(0).get_ref<const std::string&>();
  while (target_kind_name(state.kind) != name) {
    if (state.kind == TargetState::Kind::kDeadline) return corrupt();
    state.kind = static_cast<TargetState::Kind>(static_cast<int>(state.kind) + 1);
  }
  state.held = json.at(1);
  state.wanted_bits_per_s = json.at(2);
  state.shortfall = json.at(3);
  state.text = json.at(4);
  return {};
}

Status read(const Json& json, SourceFindings& source) {
  GT_ASSIGN(source.node, NodeId::parse(json.at(0).get<std::string>()));
  source.lanes = json.at(1);
  source.round_trip = microseconds(json.at(2).get<std::int64_t>());
  source.least_round_trip = microseconds(json.at(3).get<std::int64_t>());
  source.congestion_control = json.at(4);
  source.bits_per_s = json.at(5);
  source.loss_events_per_segment = json.at(6);
  source.long_run_lane_bits_per_s = json.at(7);
  source.window_limited = json.at(8);
  source.buffer_limited = json.at(9);
  source.paced_bits_per_s = json.at(10);
  GT_ASSIGN(source.held_by, limit_at(json.at(11)));
  return {};
}

Status read(const Json& json, TuningSample& sample) {
  sample.at = milliseconds(json.at(0).get<std::int64_t>());
  sample.bits_per_s = json.at(1);
  sample.lanes = json.at(2);
  sample.sources = json.at(3);
  GT_ASSIGN(sample.limit, limit_at(json.at(4)));
  sample.limit_bits_per_s = json.at(5);
  sample.target_bits_per_s = json.at(6);
  return {};
}

Status read(const Json& json, TuningDecision& decision) {
  decision.number = json.at(0);
  decision.at = milliseconds(json.at(1).get<std::int64_t>());
  decision.lanes_before = json.at(2);
  decision.lanes = json.at(3);
  decision.bits_per_s = json.at(4);
  decision.reason = json.at(5);
  GT_ASSIGN(decision.limit, limit_at(json.at(6)));
  if (!json.at(7).is_null()) decision.brought_bits_per_s = json.at(7).get<std::uint64_t>();
  if (json.size() > 8) decision.decided = WallTime{json.at(8).get<std::int64_t>()};
  return {};
}

template <class List>
Json list_of(const List& values) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(of(value));
  return list;
}

template <class List>
Status read_list(const Json& json, List& values) {
  for (const auto& one : json) GT_TRY(read(one, values.emplace_back()));
  return {};
}

Result<TuningRecord> record_of(const Json& json) {
  TuningRecord record;
  record.name = json.at("name");
  record.tuner = json.at("tuner");
  if (json.contains("mode")) record.mode = mode_of(json.at("mode").get<std::string>());
  record.elapsed = milliseconds(json.at("elapsed_ms").get<std::int64_t>());
  Findings& findings = record.findings;
  findings.bits_per_s = json.at("bits_per_s");
  findings.best_bits_per_s = json.at("best_bits_per_s");
  GT_ASSIGN(findings.limit, limit_at(json.at("limit")));
  findings.detail = json.at("detail");
  findings.advice = {json.at("advice"), json.at("command")};
  GT_TRY(read(json.at("target"), findings.target));
  GT_TRY(read_list(json.at("sources"), findings.sources));
  GT_TRY(read_list(json.at("samples"), record.samples));
  GT_TRY(read_list(json.at("decisions"), record.decisions));
  return record;
}

}  // namespace

std::string encode_tuning(const TuningRecord& record) {
  const Findings& findings = record.findings;
  Json json{{"name", record.name},
            {"tuner", record.tuner},
            {"elapsed_ms", record.elapsed.count()},
            {"bits_per_s", findings.bits_per_s},
            {"best_bits_per_s", findings.best_bits_per_s},
            {"limit", limit_word(findings.limit)},
            {"detail", findings.detail},
            {"advice", findings.advice.text},
            {"command", findings.advice.command},
            {"target", of(findings.target)},
            {"sources", list_of(findings.sources)},
            {"samples", list_of(record.samples)},
            {"decisions", list_of(record.decisions)}};
  if (record.mode) json["mode"] = mode_name(*record.mode);
  std::string bytes;
  Json::to_cbor(json, bytes);
  return bytes;
}

Result<TuningRecord> decode_tuning(std::string_view bytes) {
  try {
    return record_of(Json::from_cbor(bytes));
  } catch (const Json::exception&) {
    return corrupt();
  }
}

}  // namespace gridtorrent::client::store
