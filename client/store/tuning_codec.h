#pragma once

#include <string>
#include <string_view>

#include "client/core/tuning_record.h"
#include "common/result.h"

/// A TuningRecord as CBOR: some 20 bytes a sample. Its transfer, sequence and state are columns; revisions and
/// Findings::at are of one process and not kept.
namespace gridtorrent::client::store {

std::string encode_tuning(const TuningRecord& record);
/// kCorrupt for what the encoder does not write.
Result<TuningRecord> decode_tuning(std::string_view bytes);

}  // namespace gridtorrent::client::store
