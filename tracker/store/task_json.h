#pragma once

#include <string>

#include "common/result.h"
#include "tracker/core/task.h"

namespace gridtorrent::tracker::store {

/// A task's work as it stands in the database: {"kind":"get",...}. Fields that are unknown are passed over, missing
/// ones have their default, so that old rows can be read. kCorrupt: no such text.
std::string work_to_json(const TaskWork& work);
Result<TaskWork> work_from_json(const std::string& text);

}  // namespace gridtorrent::tracker::store
