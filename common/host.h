#pragma once

#include <string>

#include "common/result.h"

namespace gridtorrent {

/// This host's name as its kernel has it (systemd's %H); "here" where that could not name a file, too.
std::string host_name();

/// Refuses network and cluster file systems (NFS, Lustre, GPFS, BeeGFS, CIFS, …): SQLite's WAL needs shared memory
/// that works, and their hosts would share what is one program's. kUnsupported, naming folder, file system and
/// `way_out`; kDisk: it cannot be looked at.
Status require_local_disk(const std::string& folder, const std::string& way_out);

}  // namespace gridtorrent
