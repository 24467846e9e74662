#pragma once

#include <string>

#include "client/core/file_work.h"
#include "common/result.h"
#include "common/unique_fd.h"

/// The staging folder of a transfer. Where others may write in the folder that holds it, they can rename what lies
/// there: put it away, and another folder of the same owner under its name. So it bears a mark, an empty file with the
/// folder's own name, which only its owner can make in a folder of mode 0700. Without it nothing in it is touched, but
/// where StagingPlan::unmarked.
namespace gridtorrent::client::files {

std::string staging_name(const StagingPlan& plan);

/// Makes it in an open folder, or finds that of an earlier attempt. kDisk; kConflict where what is there bears no mark.
Result<UniqueFd> make_staging(int target, const StagingPlan& plan);

/// kDisk where nothing is there, kConflict where what is there bears no mark.
Result<UniqueFd> open_staging(int target, const StagingPlan& plan);
Result<UniqueFd> open_staging(const StagingPlan& plan);

/// FileWork::touch_mark; nothing where there is none.
void touch_staging_mark(const StagingPlan& plan);

/// Renames it to "….done" and removes that: out of sight in one step, since half of a version that gave way could pass
/// for one that somebody changed. "….done" has to bear a mark with that name, which is made for this alone, and goes
/// last, through the descriptor that was looked at; what has none stays (kConflict), but where it is empty. Missing:
/// nothing to do. Can be done again after a crash at any point.
Status remove_staging(int target, const StagingPlan& plan);

}  // namespace gridtorrent::client::files
