#pragma once

#include "client/core/disk_guard.h"

namespace gridtorrent::client::security {

/// DiskGuard over openat2(2): the kernel itself keeps a lookup below its root (RESOLVE_BENEATH), so that neither ".."
/// nor a symbolic link planted meanwhile leads out. Stateless, thread-safe.
class RootedDisk final : public DiskGuard {
 public:
  Result<std::string> resolve_below(const std::string& root, const std::string& relative, bool must_exist) override;
  Result<std::vector<FolderEntry>> list(const std::string& folder) override;
  bool exists(const std::string& path) override;
  Result<std::string> stamp(const std::string& parent, const metainfo::Manifest& manifest,
                            const std::vector<bool>& wanted) override;
};

}  // namespace gridtorrent::client::security
