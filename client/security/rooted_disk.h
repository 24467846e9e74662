#pragma once

#include "client/core/disk_guard.h"

namespace gridtorrent::client::security {

/// DiskGuard over open_place(): the kernel itself keeps a lookup below its root, so that neither ".." nor a symbolic
/// link planted meanwhile leads out. Stateless, thread-safe.
class RootedDisk final : public DiskGuard {
 public:
  Result<Place> resolve_below(const std::string& root, const std::string& relative, bool must_exist) override;
  Result<std::vector<FolderEntry>> list(const Place& folder) override;
  bool exists(const Place& place) override;
  Status find(const Place& place) override;
  Result<std::string> stamp(const Place& parent, const metainfo::Manifest& manifest,
                            const std::vector<bool>& wanted) override;
};

}  // namespace gridtorrent::client::security
