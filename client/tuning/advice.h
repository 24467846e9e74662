#pragma once

#include "client/plan/findings.h"
#include "client/tuning/diagnosis.h"

/// What a person is told beside the word: the figures behind it, and what can be done. Pure.
namespace gridtorrent::client::tuning {

/// Where this node itself is what limits: `findings.limit` is kTarget, kReceiverCpu or kDisk, or kCap by a limit.
void explain_here(Findings& findings, const DiagnosedTransfer& transfer);

/// Where its sources are. `behind`: what holds `source`, the one that brings most; it differs from `findings.limit`
/// where that is kCap.
void explain_source(Findings& findings, Limit behind, const DiagnosedSource& source, const DiagnosedTransfer& transfer);

}  // namespace gridtorrent::client::tuning
