#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sql/transaction.h"
#include "client/core/rate_history.h"

namespace gridtorrent::client::store {

// What transfers received and sent over time, in the node's database: a row a block.

/// In place of blocks of the same name; those of transfers that are not there are passed over. Drops what is too old at
/// `now`, and the oldest beyond kRateBlocks of a kind.
Status put_rates(sql::Transaction& tx, std::span<const RateBlock> blocks, WallTime now);
/// Blocks with something that ended after `from`.
Result<std::vector<RateBlock>> rates_of(sql::Transaction& tx, const TransferId& id, WallTime from);

/// As kept in the database. kCorrupt where bytes are not what `encode_points` made.
std::string encode_points(std::span<const RatePoint> points);
Result<std::vector<RatePoint>> decode_points(std::string_view bytes);

}  // namespace gridtorrent::client::store
