#pragma once

#include <string>
#include <vector>

#include "client/cli/json.h"

/// How `tune` shows what a tuner decided. Pure functions.
namespace gridtorrent::client::cli {

/// Head, limit with advice, sources, rate by lanes, decisions. `-` stands for a figure that is not known.
std::string tuning_text(const v1::Tuning& tuning);
/// A decision in a line: its number, when, what and why as the node's log has it, and what it brought where that is
/// known.
std::string decision_line(const v1::TuningDecision& decision);
/// "limited by loss: …", empty where nothing limits that is known.
std::string limit_line(const v1::Tuning& tuning);
std::string tunings_table(const v1::ListTuningsReply& reply);

/// What is remembered of paths. `now`: how long ago that was.
std::string history_table(const v1::History& history, WallTime now);

Json to_json(const v1::Tuning& tuning);
Json to_json(const v1::History& history);
Json to_json(const v1::EstimateResult& result);
Json to_json(const v1::ListTuningsReply& reply);
std::string tuners_text(const v1::ListTunersReply& reply);
Json to_json(const v1::ListTunersReply& reply);

}  // namespace gridtorrent::client::cli
