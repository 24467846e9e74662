#include "client/files/replace_base.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/logging/logging.h"
#include "client/files/file_system.h"

namespace gridtorrent::client::files {
namespace {

constexpr unsigned kModeBits = 07777;

Error disk_error(int error_number, const std::string& path, std::string_view action) {
  return {Code::kDisk, errno_error(error_number, path, action).message};
}

struct Note {
  std::uint64_t inode = 0;  ///< of the staged BASE
  unsigned mode = 0;        ///< of the one that it replaces
};

std::optional<struct stat> look(int folder, const std::string& name) {
  struct stat info{};
  if (::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return info;
}

/// Nothing where there is none, or a crash cut it off: then nothing was exchanged.
std::optional<Note> read_note(const Replacement& r) {
  const UniqueFd fd(::openat(r.staging, r.note.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  char text[64];
  const ssize_t got = fd ? ::read(fd.get(), text, sizeof text) : -1;
  if (got <= 0 || text[got - 1] != '\n') return std::nullopt;
  Note note;
  const auto inode = std::from_chars(text, text + got, note.inode);
  if (inode.ec != std::errc() || *inode.ptr != ' ') return std::nullopt;
  const auto mode = std::from_chars(inode.ptr + 1, text + got, note.mode);
  if (mode.ec != std::errc() || *mode.ptr != '\n') return std::nullopt;
  return note;
}

Status write_note(const Replacement& r, const Note& note) {
  const std::string path = r.staging_path + "/" + r.note;
  const std::string text = std::to_string(note.inode) + " " + std::to_string(note.mode) + "\n";
  const UniqueFd fd(::openat(r.staging, r.note.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return disk_error(errno, path, "cannot be made");
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return disk_error(errno, path, "cannot be written");
  if (!r.durable) return {};
  if (::fdatasync(fd.get()) != 0) return disk_error(errno, path, "cannot be written to the disk");
  return sync_folder(r.staging, r.staging_path);
}

Status exchange(const Replacement& r) {
  const char* name = r.base_name.c_str();
  if (::renameat2(r.staging, name, r.target, name, RENAME_EXCHANGE) == 0) return {};
  return disk_error(errno, r.target_path + "/" + r.base_name, "cannot be replaced");
}

/// A folder that may not be written to cannot be moved to another one.
Status unlock(const Replacement& r) {
  if (chmod_entry(r.target, r.base_name, {.add = 0700})) return {};
  return disk_error(errno, r.target_path + "/" + r.base_name, "cannot be replaced");
}

/// Which unlock() has added to.
void restore_mode(const Replacement& r, unsigned mode) {
  if (chmod_entry(r.target, r.base_name, {.keep = mode})) return;
  logging::warning(errno_error(errno, r.target_path + "/" + r.base_name, "does not get its mode back").message);
}

Status sync_both(const Replacement& r) {
  if (!r.durable) return {};
  GT_TRY(sync_folder(r.staging, r.staging_path));
  return sync_folder(r.target, r.target_path);
}

}  // namespace

Status check_can_exchange(int folder, const std::string& shown_path) {
  const char* const names[] = {".exchange-a", ".exchange-b"};
  for (const char* name : names) {
    const UniqueFd fd(::openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd) return disk_error(errno, shown_path, "cannot be written");
  }
  const bool can = ::renameat2(folder, names[0], folder, names[1], RENAME_EXCHANGE) == 0;
  const int reason = errno;
  for (const char* name : names) ::unlinkat(folder, name, 0);
  if (can) return {};
  if (reason != EINVAL && reason != ENOSYS) return disk_error(reason, shown_path, "cannot be written");
  return Error{Code::kUnsupported, "the filesystem of " + quoted(shown_path) +
                                       " cannot exchange two folders in one step; get the new version to another "
                                       "folder with --to, without --update"};
}

bool is_replaced(const Replacement& r) {
  const auto note = read_note(r);
  const auto placed = note ? look(r.target, r.base_name) : std::nullopt;
  return placed && placed->st_ino == note->inode;
}

Status replace_base(const Replacement& r) {
  if (is_replaced(r)) return {};
  const auto staged = look(r.staging, r.base_name);
  if (!staged)
    return Error{Code::kDisk, quoted(r.staging_path + "/" + r.base_name) + " vanished; fetch the content again"};
  const auto placed = look(r.target, r.base_name);
  if (!placed)
    return Error{Code::kConflict, quoted(r.target_path + "/" + r.base_name) +
                                      " is gone, so there is nothing to replace; get the content without --update"};
  if (S_ISDIR(placed->st_mode) != S_ISDIR(staged->st_mode))
    return Error{Code::kConflict, quoted(r.target_path + "/" + r.base_name) + " is of another kind by now"};
  const auto begun = read_note(r);  // by an attempt that may have changed the mode
  const bool again = begun && begun->inode == staged->st_ino;
  GT_TRY(write_note(r, {staged->st_ino, again ? begun->mode : placed->st_mode & kModeBits}));
  // Before it stands where others may put another folder under its name.
  const mode_t opened = S_ISDIR(staged->st_mode) ? 0700 : 0;
  if (!chmod_entry(r.staging, r.base_name, to_mode(mode_at_place(r) | opened)))
    return disk_error(errno, r.staging_path + "/" + r.base_name, "cannot be given its mode");
  if (S_ISDIR(placed->st_mode)) GT_TRY(unlock(r));
  if (const Status done = exchange(r); !done) {
    restore_mode(r, placed->st_mode & kModeBits);
    return done;
  }
  return sync_both(r);
}

unsigned mode_at_place(const Replacement& r) {
  const auto note = read_note(r);
  return note && (note->mode & 0777) != r.replaced_mode ? r.mode & (note->mode | 0700) : r.mode;
}

Status put_back_base(const Replacement& r) {
  const auto note = read_note(r);
  if (!note || !is_replaced(r)) return {};
  const auto placed = look(r.target, r.base_name);
  if (placed && S_ISDIR(placed->st_mode)) GT_TRY(unlock(r));
  GT_TRY(exchange(r));
  restore_mode(r, note->mode);
  return sync_both(r);
}

}  // namespace gridtorrent::client::files
