#pragma once

#include "client/files/file_work.h"

namespace gridtorrent::client::files {

/// FileWork::copy_into_staging: reflinks where the filesystem can (FICLONE), else copies within the kernel
/// (copy_file_range), else through a buffer. The staging folder must be prepared.
Status copy_to_staging(const Place& parent, const StagingPlan& plan, const metainfo::Manifest& manifest,
                       const ProgressFn& progress, std::stop_token stop);

}  // namespace gridtorrent::client::files
