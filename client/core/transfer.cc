#include "client/core/transfer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/text.h"
#include "common/units.h"
#include "metainfo/glob.h"

namespace gridtorrent::client {
namespace {

constexpr std::uint64_t kSpaceReserve = std::uint64_t{16} << 20;
constexpr std::uint64_t kRecheckLimit = std::uint64_t{4} << 30;

bool below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder && path[folder.size()] == '/';
}

/// Everything below the folder at `index`: sorted by path bytes, it follows, though names such as "a-b" may stand
/// between.
void mark_below(const metainfo::Manifest& manifest, std::size_t index, std::vector<bool>& wanted) {
  const std::string& folder = manifest.entries[index].path;
  if (folder.empty()) return wanted.assign(manifest.entries.size(), true);
  for (std::size_t i = index + 1; i < manifest.entries.size(); ++i) {
    if (manifest.entries[i].path.compare(0, folder.size(), folder) != 0) break;
    if (below(manifest.entries[i].path, folder)) wanted[i] = true;
  }
}

/// Folders above what is wanted, BASE among them.
void mark_parents(const metainfo::Manifest& manifest, std::vector<bool>& wanted) {
  std::set<std::string_view> parents;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (!wanted[i]) continue;
    std::string_view path = manifest.entries[i].path;
    while (!path.empty()) {
      const auto slash = path.rfind('/');
      path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
      if (!parents.insert(path).second) break;
    }
  }
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (parents.contains(manifest.entries[i].path)) wanted[i] = true;
  }
}

/// Entries are sorted by path bytes.
std::optional<std::size_t> entry_with(const metainfo::Manifest& manifest, std::string_view path) {
  const auto& entries = manifest.entries;
  const auto found =
      std::ranges::lower_bound(entries, path, {}, [](const auto& entry) -> std::string_view { return entry.path; });
  if (found == entries.end() || found->path != path) return std::nullopt;
  return static_cast<std::size_t>(found - entries.begin());
}

/// The entry with this path below BASE, else with BASE before it: as bytes, else as it is shown to people.
std::optional<std::size_t> entry_at(const metainfo::Manifest& manifest, std::string_view text) {
  if (text.starts_with('/')) text.remove_prefix(1);  // as the window writes paths: from the top
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  const std::string& base = manifest.base_name;
  if (!text.empty()) {
    if (const auto found = entry_with(manifest, text)) return found;
  }
  if (text == base) return entry_with(manifest, "");
  if (below(text, base)) {
    if (const auto found = entry_with(manifest, text.substr(base.size() + 1))) return found;
  }
  if (text.find('\\') == std::string_view::npos) return std::nullopt;  // whatever is escaped has a backslash
  const auto& entries = manifest.entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].path.empty() && text == escape_for_display(entries[i].path)) return i;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (text == escape_for_display(metainfo::full_path(manifest, entries[i]))) return i;
  }
  return std::nullopt;
}

/// The folders above an entry, the nearest first; BASE, which has an empty path, is the last.
template <class F>
void for_each_parent(std::string_view path, F&& take) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
    take(path);
  }
}

/// Which entries these places mean: a folder, all below it.
Result<std::vector<bool>> marked_at(const metainfo::Manifest& manifest, std::span<const std::uint32_t> places) {
  std::vector<bool> wanted(manifest.entries.size(), false);
  for (const std::uint32_t place : places) {
    if (place >= wanted.size()) {
      return Error{Code::kInvalid, "there is no entry " + std::to_string(place) + ": the content has " +
                                       std::to_string(wanted.size()) + ", counted from 0"};
    }
    wanted[place] = true;
    if (manifest.entries[place].kind == metainfo::EntryKind::kFolder) mark_below(manifest, place, wanted);
  }
  return wanted;
}

/// False where the pattern means nothing.
bool mark_meant(const metainfo::Manifest& manifest, const std::string& pattern, std::vector<bool>& wanted) {
  if (const auto named = entry_at(manifest, pattern)) {
    wanted[*named] = true;
    if (manifest.entries[*named].kind == metainfo::EntryKind::kFolder) mark_below(manifest, *named, wanted);
    return true;
  }
  const metainfo::Glob glob(pattern);
  bool matched = false;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const std::string& path = manifest.entries[i].path;
    if (path.empty() && !manifest.is_single_file()) continue;
    if (!glob.matches(path.empty() ? manifest.base_name : path)) continue;
    matched = wanted[i] = true;  // what is below a folder that matches, matches by itself
  }
  return matched;
}

Error matches_nothing(const std::string& pattern) {
  return {Code::kNotFound, "no file matches '" + escape_for_display(pattern) + "'; `show CONTENT --files` lists them"};
}

}  // namespace

std::string_view transfer_state_name(TransferState state) {
  switch (state) {
    case TransferState::kQueued:
      return "queued";
    case TransferState::kHashing:
      return "hashing";
    case TransferState::kFetching:
      return "fetching";
    case TransferState::kVerifying:
      return "verifying";
    case TransferState::kPaused:
      return "paused";
    case TransferState::kSeeding:
      return "seeding";
    case TransferState::kComplete:
      return "complete";
    case TransferState::kFailed:
      return "failed";
    case TransferState::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view publish_phase_name(PublishPhase phase) {
  switch (phase) {
    case PublishPhase::kWait:
      return "wait";
    case PublishPhase::kScan:
      return "scan";
    case PublishPhase::kHash:
      return "hash";
    case PublishPhase::kUpload:
      return "upload";
  }
  return "unknown";
}

TransferState visible_state(const TransferRow& row, bool active, bool held_back, bool seeds) {
  switch (row.step) {
    case TransferStep::kFailed:
      return TransferState::kFailed;
    case TransferStep::kCancel:
    case TransferStep::kForgotten:
      return row.error ? TransferState::kFailed : TransferState::kCancelled;  // refused: whoever waits learns why
    default:
      break;
  }
  if (row.paused || held_back) return TransferState::kPaused;
  switch (row.step) {
    case TransferStep::kCheckLocal:
    case TransferStep::kAttach:
    case TransferStep::kVerify:
    case TransferStep::kCommit:
      return TransferState::kVerifying;
    case TransferStep::kHash:
      return active ? TransferState::kHashing : TransferState::kQueued;
    case TransferStep::kFetch:
      return active && !row.refused ? TransferState::kFetching : TransferState::kQueued;
    case TransferStep::kHold:
      return seeds ? TransferState::kSeeding : TransferState::kComplete;
    default:
      return TransferState::kQueued;
  }
}

bool in_progress(TransferStep step) {
  switch (step) {
    case TransferStep::kCheckLocal:
    case TransferStep::kPrepare:
    case TransferStep::kFetch:
    case TransferStep::kVerify:
    case TransferStep::kCommit:
    case TransferStep::kAttach:
      return true;
    default:
      return false;
  }
}

bool waits_for_a_disk(TransferStep step) {
  return step == TransferStep::kCheckLocal || step == TransferStep::kFetch || step == TransferStep::kVerify ||
         step == TransferStep::kCommit;
}

Result<std::vector<bool>> wanted_entries(const metainfo::Manifest& manifest, const std::vector<std::string>& globs) {
  std::vector<bool> wanted;
  if (globs.empty()) return wanted;
  wanted.assign(manifest.entries.size(), false);
  for (const auto& glob : globs) {
    if (!mark_meant(manifest, glob, wanted)) return matches_nothing(glob);
  }
  mark_parents(manifest, wanted);
  return wanted;
}

Result<ChosenFiles> choose_files(const metainfo::Manifest& manifest, const std::vector<std::string>& globs) {
  ChosenFiles chosen;
  std::vector<bool> wanted(manifest.entries.size(), false);
  for (const auto& glob : globs) {
    (mark_meant(manifest, glob, wanted) ? chosen.globs : chosen.unmatched).push_back(glob);
  }
  if (chosen.globs.empty() && !globs.empty()) return matches_nothing(globs.front());
  if (manifest.is_single_file()) chosen.globs.clear();
  GT_ASSIGN(chosen.wanted, wanted_entries(manifest, chosen.globs));
  return chosen;
}

Result<std::vector<std::string>> patterns_of(const metainfo::Manifest& manifest,
                                             std::span<const std::uint32_t> places) {
  if (places.empty()) return Error{Code::kInvalid, "no file is chosen"};
  GT_ASSIGN(const std::vector<bool> wanted, marked_at(manifest, places));
  struct Inside {
    std::size_t all = 0, wanted = 0;
  };
  std::map<std::string_view, Inside> folders;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (manifest.entries[i].kind == metainfo::EntryKind::kFolder) continue;
    for_each_parent(manifest.entries[i].path, [&](std::string_view folder) {
      Inside& inside = folders[folder];
      ++inside.all;
      if (wanted[i]) ++inside.wanted;
    });
  }
  std::set<std::string_view> whole;
  std::vector<std::string> patterns;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = manifest.entries[i];
    bool covered = false;
    for_each_parent(entry.path, [&](std::string_view folder) { covered = covered || whole.contains(folder); });
    if (covered) continue;
    if (entry.kind == metainfo::EntryKind::kFolder) {
      const Inside inside = folders[entry.path];
      if (inside.all > 0 ? inside.wanted < inside.all : !wanted[i]) continue;
      if (entry.path.empty()) return std::vector<std::string>();
      whole.insert(entry.path);
    } else if (!wanted[i]) {
      continue;
    }
    patterns.push_back(is_valid_utf8(entry.path) ? entry.path : escape_for_display(entry.path));
  }
  if (manifest.is_single_file()) patterns.clear();
  return patterns;
}

Result<std::vector<bool>> held_entries(const metainfo::Manifest& manifest, const std::vector<std::string>& globs,
                                       const std::vector<bool>& lost) {
  GT_ASSIGN(std::vector<bool> held, wanted_entries(manifest, globs));
  if (lost.empty()) return held;
  if (held.empty()) held.assign(manifest.entries.size(), true);
  for (std::size_t i = 0; i < held.size() && i < lost.size(); ++i) held[i] = held[i] && !lost[i];
  return held;
}

Result<std::vector<bool>> entries_to_fetch(const metainfo::Manifest& manifest, const TransferRow& row) {
  GT_ASSIGN(std::vector<bool> wanted, wanted_entries(manifest, row.globs));
  if (!row.adds()) return wanted;
  GT_ASSIGN(const std::vector<bool> kept, held_entries(manifest, row.kept_globs, row.kept_lost));
  if (wanted.empty()) wanted.assign(manifest.entries.size(), true);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (kept[i] && manifest.entries[i].kind != metainfo::EntryKind::kFolder) wanted[i] = false;
  }
  return wanted;
}

Result<std::vector<bool>> entries_beyond(const metainfo::Manifest& manifest, const std::vector<std::string>& globs,
                                         const std::vector<bool>& one, const std::vector<bool>& other) {
  GT_ASSIGN(std::vector<bool> beyond, wanted_entries(manifest, globs));
  if (one.empty() || other.empty()) return std::vector<bool>();
  if (beyond.empty()) beyond.assign(manifest.entries.size(), true);
  bool any = false;
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    beyond[i] = beyond[i] && !one[i] && !other[i];
    any = any || beyond[i];
  }
  return any ? beyond : std::vector<bool>();
}

bool fills_empty_folders(const metainfo::Manifest& manifest, const TransferRow& row) {
  if (!row.adds()) return false;
  const auto kept = held_entries(manifest, row.kept_globs, row.kept_lost);
  if (!kept || kept->empty()) return false;
  for (std::size_t i = 0; i < kept->size(); ++i) {
    if ((*kept)[i] && manifest.entries[i].kind != metainfo::EntryKind::kFolder) return false;
  }
  return true;
}

std::vector<std::string> joined_globs(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  if (one.empty() || other.empty()) return {};
  std::vector<std::string> all = one;
  const std::set<std::string_view> known(one.begin(), one.end());
  for (const auto& glob : other) {
    if (!known.contains(glob)) all.push_back(glob);
  }
  return all;
}

std::uint64_t wanted_bytes(const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (wanted.empty() || wanted[i]) bytes += manifest.entries[i].size;
  }
  return bytes;
}

std::vector<std::uint64_t> wanted_file_sizes(const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const std::uint64_t size = manifest.entries[i].size;
    if (size > 0 && (wanted.empty() || wanted[i])) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<std::string> torrent_files(const metainfo::Manifest& manifest) {
  std::vector<std::string> files;
  for (const auto& entry : manifest.entries) {
    if (entry.size > 0) files.push_back(metainfo::full_path(manifest, entry));
  }
  return files;
}

std::vector<bool> torrent_wanted(const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
  std::vector<bool> files;
  if (wanted.empty()) return files;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (manifest.entries[i].size > 0) files.push_back(wanted[i]);
  }
  return files;
}

bool covers(const std::vector<bool>& had, const std::vector<bool>& wanted) {
  if (had.empty()) return true;
  if (wanted.empty()) return std::all_of(had.begin(), had.end(), [](bool one) { return one; });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] && !had[i]) return false;
  }
  return true;
}

bool brings(const metainfo::Manifest& manifest, const TransferRow& row, const std::vector<bool>& wanted) {
  auto brought = held_entries(manifest, row.globs, row.lost);
  if (!brought) return false;
  if (row.adds() && !brought->empty()) {
    const auto kept = held_entries(manifest, row.kept_globs, row.kept_lost);
    if (!kept) return false;
    for (std::size_t i = 0; i < brought->size(); ++i) (*brought)[i] = (*brought)[i] || kept->empty() || (*kept)[i];
  }
  return covers(*brought, wanted);
}

std::vector<TransferId> choose_active(std::vector<QueueEntry> entries, std::size_t slots) {
  std::sort(entries.begin(), entries.end(), [](const QueueEntry& a, const QueueEntry& b) {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.created != b.created) return a.created < b.created;
    return a.id < b.id;
  });
  std::vector<TransferId> active;
  for (const auto& entry : entries) {
    if (entry.stalled) {
      active.push_back(entry.id);
    } else if (slots > 0) {
      --slots;
      active.push_back(entry.id);
    }
  }
  return active;
}

std::string turn_text(const TransferRow& row, std::size_t slots, WallTime now) {
  const std::string text =
      "waits for its turn: max-fetching is " + std::to_string(slots) + ", and those of higher --priority go first";
  if (!row.wish.by) return text;
  if (*row.wish.by <= now) return text + "; the time that it was to be done by is past";
  const double bits = 8.0 * static_cast<double>(row.wanted_bytes - std::min(row.wanted_bytes, row.verified_bytes));
  const double rate = std::max(bits / std::chrono::duration<double>(*row.wish.by - now).count(), 1.0);
  const double digit = std::pow(10, std::floor(std::log10(rate)) - 1);
  const auto rounded = static_cast<std::uint64_t>(std::ceil(std::ceil(rate / digit) * digit));
  return text + "; " + format_bits_per_s(rounded) + " from now on would be in time";
}

DiskVerdict judge_space(const DiskSpace& space, std::uint64_t needed_bytes) {
  if (needed_bytes == 0) return DiskVerdict::kEnough;
  if (space.total_bytes > 0 && space.total_bytes < needed_bytes) return DiskVerdict::kNever;
  return space.free_bytes < needed_bytes + std::min(kSpaceReserve, needed_bytes / 16) ? DiskVerdict::kWait
                                                                                      : DiskVerdict::kEnough;
}

std::uint64_t bytes_to_come(std::uint64_t wanted, std::uint64_t engine_verified, std::uint64_t staged,
                            std::uint64_t verified_before) {
  std::uint64_t there = engine_verified;
  if (there == 0 && staged > 0) there = std::max(staged, verified_before);
  return wanted - std::min(wanted, there);
}

Error space_error(const std::string& folder, const DiskSpace& space, std::uint64_t needed_bytes, bool never) {
  std::string text = never ? "disk too small at " : "disk full at ";
  text += escape_for_display(folder) + ": " + std::to_string(space.free_bytes) + " bytes (" +
          format_bytes(space.free_bytes) + ") free, " + std::to_string(needed_bytes) + " bytes (" +
          format_bytes(needed_bytes) + ") needed; ";
  text += never ? "choose another place with --to" : "goes on by itself when there is room";
  return {Code::kDisk, text};
}

Error mend_the_disk(const TransferId& id, const Error& error) {
  return {error.code, error.message + "; mend the disk, then: gridtorrent transfer resume " + id.str()};
}

std::uint64_t verified_of_wanted(const TorrentSnapshot& snapshot, std::uint64_t wanted) {
  if (snapshot.state == TorrentState::kSeeding || snapshot.state == TorrentState::kComplete) return wanted;
  if (snapshot.wanted_bytes > 0 && snapshot.verified_bytes >= snapshot.wanted_bytes) return wanted;
  return std::min(snapshot.verified_bytes, wanted);
}

DiskTrust trust_after_restart(const TransferRow& row, bool has_resume_data) {
  if (!has_resume_data) return DiskTrust::kRecheck;
  if (row.clean || row.wanted_bytes > kRecheckLimit) return DiskTrust::kResumeData;
  return DiskTrust::kRecheck;
}

bool lies_at(const TransferRow& row, const std::string& target, const std::string& base_name) {
  return row.target == target && row.base_name == base_name;
}

std::string display_name(const TransferRow& row) {
  return row.content.owner + "/" + row.content.name;
}

std::string describe_faults(const VerifyReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.faults.size() && i < 3; ++i) {
    if (!text.empty()) text += "; ";
    text += escape_for_display(report.faults[i].path) + ": " + report.faults[i].reason;
  }
  if (report.fault_count > 3) text += "; and " + std::to_string(report.fault_count - 3) + " more";
  return text;
}

std::string parent_folder(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return "/";
  return path.substr(0, slash);
}

std::string last_component(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string join_path(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

}  // namespace gridtorrent::client
