#pragma once

#include <string>

#include "client/cli/json.h"

/// How `tune` shows what a tuner decided. Pure functions.
namespace gridtorrent::client::cli {

/// Head, limit with advice, sources, decisions. `-` stands for a figure that is not known.
std::string tuning_text(const v1::Tuning& tuning);
/// A decision in a line: when, what and why as the node's log has it, and what it brought where that is known.
std::string decision_line(const v1::TuningDecision& decision);
/// "limited by loss: …", empty where nothing limits that is known.
std::string limit_line(const v1::Tuning& tuning);
std::string tunings_table(const v1::ListTuningsReply& reply);

Json to_json(const v1::Tuning& tuning);
Json to_json(const v1::ListTuningsReply& reply);

}  // namespace gridtorrent::client::cli
