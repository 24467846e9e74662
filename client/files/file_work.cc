#include "client/files/file_work.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "client/files/copy_files.h"
#include "client/files/drop_cached.h"
#include "client/files/file_system.h"
#include "client/files/flat_sums.h"
#include "client/files/local_sources.h"
#include "client/files/publish_hash.h"
#include "client/files/remove_placed.h"
#include "client/files/root_verifier.h"
#include "client/files/staging.h"
#include "client/files/staging_folder.h"
#include "client/files/verify.h"
#include "common/units.h"

namespace gridtorrent::client::files {

namespace {

unsigned cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

FileWorkOptions with_defaults(FileWorkOptions options) {
  if (options.hash_threads == 0) options.hash_threads = cores();
  if (options.verifier_threads == 0) options.verifier_threads = std::max(1U, cores() / 4);
  return options;
}

/// No state but options that never change, so every method may run on any thread.
class LocalFileWork final : public FileWork {
 public:
  explicit LocalFileWork(FileWorkOptions options) : options_(with_defaults(options)) {}

  Result<HashedTree> hash_tree(const HashRequest& request, const ProgressFn& progress, std::stop_token stop) override {
    return hash_for_publishing(request, options_.hash_threads, options_.hash_memory_bytes, progress, std::move(stop));
  }

  void forget_hashed(const std::string& checkpoint_file) override { ::unlink(checkpoint_file.c_str()); }

  Result<ScannedTree> scan_tree(const Place& path, const WalkRules& rules, const ScanFn& counting,
                                std::stop_token stop) override {
    return scan_for_publishing(path, rules, counting, std::move(stop));
  }

  Result<VerifyReport> verify(const Place& parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted,
                              const ProgressFn& progress, std::stop_token stop) override {
    return verify_tree(parent, manifest, wanted, options_.hash_threads, options_.hash_memory_bytes, progress,
                       std::move(stop));
  }

  Result<PlaceReport> look_at(const Place& parent, const metainfo::Manifest& manifest,
                              const std::vector<bool>& wanted) override {
    return look_at_tree(parent, manifest, wanted);
  }

  void drop_cached(const Place& parent, const metainfo::Manifest& manifest, const std::vector<bool>& wanted) override {
    drop_cached_pages(parent, manifest, wanted);
  }

  std::uint64_t staged_bytes(const StagingPlan& plan) override { return staging_usage(plan); }

  Status prepare(const StagingPlan& plan, const metainfo::Manifest& manifest) override {
    return prepare_staging(plan, manifest);
  }

  Status commit(const StagingPlan& plan, const metainfo::Manifest& manifest) override {
    return commit_staging(plan, manifest, options_.durable);
  }

  bool has_replaced(const StagingPlan& plan, const metainfo::Manifest& manifest) override {
    return staging_has_replaced(plan, manifest);
  }

  Status put_back(const StagingPlan& plan, const metainfo::Manifest& manifest) override {
    return put_back_replaced(plan, manifest, options_.durable);
  }

  Result<std::uint64_t> stage_local(const LocalTree& earlier, const StagingPlan& plan, const metainfo::Manifest& next,
                                    const ProgressFn& progress, std::stop_token stop) override {
    return stage_local_sources(earlier, plan, next, progress, std::move(stop));
  }

  Result<std::string> foreign_path(const LocalTree& tree, bool all) override { return find_foreign_path(tree, all); }

  bool is_own_folder(const Place& parent, const std::string& base_name) override {
    return files::is_own_folder(below(parent, base_name));
  }

  bool commit_begun(const StagingPlan& plan, const metainfo::Manifest& manifest) override {
    return is_commit_begun(plan, manifest);
  }

  Result<RemovedFiles> remove_placed(const Place& parent, const metainfo::Manifest& manifest,
                                     const std::vector<bool>& wanted, bool look_only) override {
    return remove_placed_files(parent, manifest, wanted, look_only);
  }

  Status discard(const StagingPlan& plan) override { return discard_staging(plan); }

  void touch_mark(const StagingPlan& plan) override { touch_staging_mark(plan); }

  Status copy_into_staging(const Place& parent, const StagingPlan& plan, const metainfo::Manifest& manifest,
                           const ProgressFn& progress, std::stop_token stop) override {
    return copy_to_staging(parent, plan, manifest, progress, std::move(stop));
  }

  std::unique_ptr<RootVerifier> make_root_verifier(Place root_folder, const metainfo::VersionMetadata& metadata,
                                                   std::vector<bool> wanted) override {
    return std::make_unique<PageCacheVerifier>(std::move(root_folder), metadata, std::move(wanted),
                                               PageCacheVerifier::Options{.threads = options_.verifier_threads,
                                                                          .finish_threads = options_.hash_threads,
                                                                          .start_write_back = options_.durable});
  }

  Result<std::vector<std::optional<crypto::Sha256Digest>>> flat_sha256(const Place& parent,
                                                                       const metainfo::Manifest& manifest,
                                                                       const std::string& known,
                                                                       const ProgressFn& progress,
                                                                       std::stop_token stop) override {
    return flat_sums(parent, manifest, known, progress, std::move(stop));
  }

  Result<DiskSpace> disk_space(const std::string& folder) override {
    // A target that is still to be made: its nearest existing folder tells.
    std::string path = folder;
    struct statvfs info{};
    while (::statvfs(path.c_str(), &info) != 0) {
      if (errno == EINTR) continue;
      if (errno != ENOENT || path.size() <= 1) return errno_error(errno, path, "cannot be examined");
      const std::size_t slash = path.rfind('/');
      path = slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
    }
    const std::uint64_t block = info.f_frsize;
    return DiskSpace{info.f_bavail * block, info.f_blocks * block};
  }

 private:
  const FileWorkOptions options_;
};

}  // namespace

std::unique_ptr<FileWork> make_file_work(FileWorkOptions options) {
  return std::make_unique<LocalFileWork>(options);
}

Status check_free_space(const DiskSpace& space, std::uint64_t needed_bytes, std::string_view folder) {
  if (needed_bytes <= space.free_bytes) return {};
  return Error{Code::kDisk, quoted(folder) + " has " + format_bytes(space.free_bytes) + " (" +
                                std::to_string(space.free_bytes) + " bytes) free and " + format_bytes(needed_bytes) +
                                " (" + std::to_string(needed_bytes) +
                                " bytes) are needed; free some space or choose another folder"};
}

}  // namespace gridtorrent::client::files
