#pragma once

#include "client/files/file_work.h"

namespace gridtorrent::client::files {

/// FileWork::prepare, commit, discard. Steps of a commit, each of which can be the last before a crash:
///   1. data and folders to the disk   2. a marker in the staging folder   3. modes and times   4. BASE moved with
///   no-replace   5. BASE's own mode and time   6. the target folder to the disk   7. the staging folder renamed to
///   "….done" and removed (staging_folder.h)
/// Beside what is there: 3. to 5. are each file's mode and time, and its own rename (merge_tree.h).
/// BASE gets its mode before it is moved, with all that its owner needs to move it. At its place, where others may have
/// put another folder of its owner's under its name, bits are only taken from it.
Status prepare_staging(const StagingPlan& plan, const metainfo::Manifest& manifest);
Status commit_staging(const StagingPlan& plan, const metainfo::Manifest& manifest, bool durable);
bool is_commit_begun(const StagingPlan& plan, const metainfo::Manifest& manifest);
/// FileWork::has_replaced and put_back.
bool staging_has_replaced(const StagingPlan& plan, const metainfo::Manifest& manifest);
Status put_back_replaced(const StagingPlan& plan, const metainfo::Manifest& manifest, bool durable);

Status discard_staging(const StagingPlan& plan);
/// Bytes of disk that the staging folder takes.
std::uint64_t staging_usage(const StagingPlan& plan);

}  // namespace gridtorrent::client::files
