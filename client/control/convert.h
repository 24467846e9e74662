#pragma once

#include "client/control/settings.h"
#include "client/core/node.h"
#include "gridtorrent/v1/control.pb.h"

namespace gridtorrent::client::control {

// Between the node's values and the messages of the control API. Pure functions; those from messages refuse what is out
// of range with kInvalid and the field's name as people know it.

v1::Transfer to_message(const TransferView& view);
/// Samples and decisions that were added or changed after `since`, a revision of the record; 0: all.
v1::Tuning to_message(const TuningRecord& record, std::uint64_t since = 0);
v1::RateHistoryReply to_message(const RateHistory& history);
v1::EstimateResult to_message(const EstimateOutcome& outcome);
v1::History to_message(const std::vector<PathRecord>& records);
v1::NodeLimits to_message(const NodeLimits& limits, const LimitsWhy& why = {});
void fill(v1::StatusReply& reply, const NodeStatus& status);
v1::Settings to_message(const std::vector<Setting>& settings);
std::vector<SettingChange> to_changes(const v1::SetSettingsRequest& request);
v1::ScannedFiles to_message(const ScanFigures& figures);
v1::ScannedFiles to_message(const ScannedTree& tree);
/// The first hundred failures, and how many there are.
v1::ChangeTransfersReply to_message(const ChangeOutcome& outcome);
v1::RemoveFilesReply to_message(const RemovedFiles& removed);
v1::Published to_message(const PublishOutcome& outcome);
/// Faults, digests and totals.
v1::VerifyResult to_message(const VerifyOutcome& outcome);

Result<PublishJob> to_job(const v1::PublishRequest& request);
Result<WalkRules> to_rules(const v1::PublishRules& rules);
/// A deadline lies ahead of `now`, by the wall clock.
Result<GetJob> to_job(const v1::GetRequest& request, WallTime now);
Result<EstimateJob> to_job(const v1::EstimateRequest& request);
Result<std::vector<TransferId>> to_ids(const v1::ChangeTransfersRequest& request);
/// Without the transfers.
Result<TransferChange> to_change(const v1::ChangeTransfersRequest& request, WallTime now);
FileChoice to_choice(const v1::ChooseFilesRequest& request);
Result<TransferSettings> to_settings(const v1::SetTransferRequest& request, WallTime now);
/// All tuners and modes, and what the node uses where nobody asks.
v1::ListTunersReply to_message(const TuningDefaults& tuning);
/// Of Transfer and Tuning.
v1::TargetState to_message(const TargetState& state);

/// Paths on the control API are absolute (the caller resolved them against its working directory) and hold no NUL;
/// `what` opens the error.
Status check_absolute(std::string_view what, std::string_view path);

/// True where a watch may end: nothing more will happen by itself.
bool is_final(TransferState state);

}  // namespace gridtorrent::client::control
