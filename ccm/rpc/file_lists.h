#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/rpc/limits.h"
#include "ccm/domain/content_service.h"
#include "ccm/domain/ports.h"
#include "common/clock.h"
#include "common/ids.h"
#include "gridtorrent/v1/ccm.pb.h"
#include "metainfo/file_tree.h"

namespace gridtorrent::ccm::rpc {

/// ListFiles: pages of a version's files. Keeps those that were asked for last, since whoever asks for one page asks
/// for the next. Of large metadata documents it reads one at a time, however many ask: one takes up to half a gigabyte
/// meanwhile. Each caller has a rate for asking for another large one than before, so that nobody who alternates
/// between such keeps others from them. Thread-safe; blocks on the disk.
class FileLists {
 public:
  /// Memory that what is kept takes at most, but for the last one, which is kept however large. A list of 300,000
  /// files takes some 50 MB.
  static constexpr std::size_t kMostBytes = std::size_t{128} << 20;
  /// Documents up to this size are read side by side.
  static constexpr std::uint64_t kSmallBytes = std::uint64_t{4} << 20;
  /// So long a call waits for its turn to read a large one; it holds one of few threads meanwhile.
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// How often a caller may have another large one read; a page of the same list costs nothing.
  static constexpr gridtorrent::rpc::Rate kAnotherList{.per_s = 0.1, .burst = 20};

  struct Limits {
    std::size_t most_bytes = kMostBytes;
    std::uint64_t small_bytes = kSmallBytes;
  };
  FileLists(MetadataFiles& files, const Clock& clock) : FileLists(files, clock, Limits{}) {}
  FileLists(MetadataFiles& files, const Clock& clock, Limits limits) : files_(files), clock_(clock), limits_(limits) {}

  /// Of a version that the caller may read. kNotFound: it has no such path; kInvalid: `page` is no number;
  /// kBusy: another large list is being read, or the caller alternates between such.
  Status list(const UserId& caller, const Content& content, const v1::ListFilesRequest& request,
              v1::ListFilesReply& reply);

 private:
  using Tree = std::shared_ptr<const metainfo::FileTree>;
  struct Kept {
    std::string sha256_hex;
    Tree tree;
  };
  Result<Tree> tree_of(const UserId& caller, const std::string& sha256_hex);
  Status take_turn(const UserId& caller, const std::string& sha256_hex);
  Result<Tree> read(const std::string& sha256_hex);
  Tree kept(const std::string& sha256_hex);
  void keep(const std::string& sha256_hex, const Tree& tree);

  MetadataFiles& files_;
  const Clock& clock_;
  const Limits limits_;
  gridtorrent::rpc::RateLimiter turns_{{.rate_per_s = kAnotherList.per_s, .burst = kAnotherList.burst}};
  std::timed_mutex reading_;  ///< held while a document is read; taken before `mutex_`
  std::mutex mutex_;          ///< guards the rest
  std::list<Kept> kept_;      ///< the last one asked for first
  std::size_t bytes_ = 0;
  std::map<UserId, std::string> last_large_;  ///< that each caller had read
};

}  // namespace gridtorrent::ccm::rpc
