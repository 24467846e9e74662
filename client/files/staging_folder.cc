#include "client/files/staging_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "client/files/file_system.h"
#include "common/shell_words.h"

namespace gridtorrent::client::files {
namespace {

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string done_name(const StagingPlan& plan) {
  return staging_name(plan) + ".done";
}

UniqueFd open_real_folder(int parent, const std::string& name) {
  return UniqueFd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

Error disk_error(int error_number, const std::string& path, std::string_view action) {
  return {Code::kDisk, errno_error(error_number, path, action).message};
}

Error not_marked(const std::string& shown) {
  return {Code::kConflict, quoted(shown) +
                               " bears no mark of this transfer, or others may write in it, so it is left alone; move "
                               "it away, or forbid them with chmod go-w"};
}

/// Of a folder that is to be gone on with.
Error not_marked(int folder, const StagingPlan& plan) {
  struct stat in{};
  if (::fstat(folder, &in) != 0 || (in.st_mode & kOthersWrite) != 0) return not_marked(plan.staging());
  return {Code::kConflict, quoted(plan.staging()) +
                               " bears no mark of this transfer, so it is left alone: where a purge of old files took "
                               "the mark, make it anew with `touch " +
                               shell_word(plan.staging() + "/" + staging_name(plan)) +
                               "` and run the command again; else move the folder away"};
}

/// `name`: of the folder, and so of its mark. Both are ours, and nobody else can have put the mark there.
bool is_marked(int folder, const std::string& name) {
  const UniqueFd mark(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat in{}, own{};
  if (!mark || ::fstat(folder, &in) != 0 || ::fstat(mark.get(), &own) != 0) return false;
  if (in.st_uid != ::geteuid() || own.st_uid != ::geteuid() || !S_ISREG(own.st_mode)) return false;
  if ((in.st_mode & kOthersWrite) == 0) return true;
  // A filesystem without modes shows those that it was mounted with, whatever it is asked for.
  (void)::fchmod(mark.get(), 0600);
  return ::fstat(mark.get(), &own) == 0 && (own.st_mode & 07777) != 0600;
}

/// Of a transfer that began before there were marks, the folder is taken for its own as it was then.
bool is_marked(int folder, const StagingPlan& plan) {
  const std::string name = staging_name(plan);
  return is_marked(folder, name) ||
         (plan.unmarked && make_empty_file(folder, name, plan.staging()) && is_marked(folder, name));
}

/// "….done" gets its mark as another name of the first one: that takes no inode, of which there may be none left.
Status mark_done(int staging, const StagingPlan& plan) {
  const std::string done = done_name(plan);
  const bool linked = ::linkat(staging, staging_name(plan).c_str(), staging, done.c_str(), 0) == 0 || errno == EEXIST;
  return linked ? Status() : make_empty_file(staging, done, plan.staging() + "/" + done);
}

/// By its name, whatever that stands for by now: nothing goes that holds anything.
Status remove_empty(int parent, const std::string& name, const std::string& shown) {
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  if (errno == ENOTEMPTY || errno == EEXIST) return not_marked(shown);
  if (errno == ENOTDIR) return Error{Code::kConflict, quoted(shown) + " is no folder; it is left alone"};
  return errno_error(errno, shown, "cannot be removed");
}

Status remove_marked(int parent, const std::string& name, const std::string& shown) {
  const UniqueFd folder = open_real_folder(parent, name);
  if (folder && is_marked(folder.get(), name)) {
    GT_TRY(empty_folder(folder.get(), name, shown));
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) return errno_error(errno, shown, "cannot be removed");
  }
  return remove_empty(parent, name, shown);
}

/// Onto nothing; where no rename refuses to replace (NFS, some FUSE), a folder takes the place of an empty one at most.
bool rename_folder(int parent, const std::string& from, const std::string& to) {
  if (::renameat2(parent, from.c_str(), parent, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  return (errno == EINVAL || errno == ENOSYS) && ::renameat(parent, from.c_str(), parent, to.c_str()) == 0;
}

}  // namespace

std::string staging_name(const StagingPlan& plan) {
  return ".gridtorrent-" + plan.id.str();
}

Result<UniqueFd> make_staging(int target, const StagingPlan& plan) {
  const std::string name = staging_name(plan);
  if (::mkdirat(target, name.c_str(), 0700) != 0 && errno != EEXIST)
    return disk_error(errno, plan.target, "cannot be written");
  const UniqueFd staging = open_real_folder(target, name);
  if (!staging) return disk_error(errno, plan.staging(), "cannot be opened");
  // A new one, or one that a crash left so. What holds something may be anything of its owner's.
  GT_ASSIGN(const std::vector<Listed> names, list_folder(staging.get(), plan.staging()));
  if (names.empty()) {
    // Where the folder above says what a new one's mode is. Its set-group-id bit goes on to what is staged.
    struct stat made{};
    if (::fstat(staging.get(), &made) == 0) (void)::fchmod(staging.get(), 0700 | (made.st_mode & S_ISGID));
    GT_TRY(make_empty_file(staging.get(), name, plan.staging() + "/" + name));
  }
  return open_staging(target, plan);
}

Result<UniqueFd> open_staging(int target, const StagingPlan& plan) {
  UniqueFd staging = open_real_folder(target, staging_name(plan));
  if (!staging) return disk_error(errno, plan.staging(), "cannot be opened");
  if (!is_marked(staging.get(), plan)) return not_marked(staging.get(), plan);
  return staging;
}

Result<UniqueFd> open_staging(const StagingPlan& plan) {
  GT_ASSIGN(const UniqueFd target, open_folder(plan.folder()));
  return open_staging(target.get(), plan);
}

void touch_staging_mark(const StagingPlan& plan) {
  if (const auto staging = open_staging(plan); staging)
    (void)::utimensat(staging->get(), staging_name(plan).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

Status remove_staging(int target, const StagingPlan& plan) {
  const std::string name = staging_name(plan), done = done_name(plan), shown = plan.target + "/" + done;
  GT_TRY(remove_marked(target, done, shown));
  const UniqueFd staging = open_real_folder(target, name);
  if (!staging || !is_marked(staging.get(), plan)) return remove_empty(target, name, plan.staging());
  GT_TRY(mark_done(staging.get(), plan));
  if (!rename_folder(target, name, done)) return disk_error(errno, plan.staging(), "cannot be removed");
  return remove_marked(target, done, shown);
}

}  // namespace gridtorrent::client::files
