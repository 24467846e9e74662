#pragma once

#include "client/files/file_work.h"
#include "client/files/progress_meter.h"

namespace gridtorrent::client::files {

/// FileWork::copy_into_staging: reflinks where the filesystem can (FICLONE), else copies within the kernel
/// (copy_file_range), else through a buffer. The staging folder must be prepared.
Status copy_to_staging(const Place& parent, const StagingPlan& plan, const metainfo::Manifest& manifest,
                       const ProgressFn& progress, std::stop_token stop);

/// The first `size` bytes of one open file into another, which is empty: a reflink, which takes all of it, or a copy of
/// these as above. `shown`: the source, for messages.
Status copy_bytes(int from, int to, std::uint64_t size, const std::string& shown, ProgressMeter& meter,
                  std::stop_token stop);

}  // namespace gridtorrent::client::files
