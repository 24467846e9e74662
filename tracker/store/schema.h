#pragma once

#include <span>

#include "base/sql/database.h"

namespace gridtorrent::tracker::store {

/// "GTsv": the server's database.
inline constexpr std::uint32_t kApplicationId = 0x47547376;

/// Every step, oldest first. A released one never changes.
std::span<const sql::Migration> migrations();

}  // namespace gridtorrent::tracker::store
