#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/core/engine.h"
#include "client/core/file_work.h"
#include "client/core/node.h"
#include "client/core/node_store.h"
#include "metainfo/metadata.h"

/// The decisions about a transfer: pure functions of values, no I/O, no clock.
namespace gridtorrent::client {

/// What people see of a step. `active`: it is among those that may fetch now, or is being published; `held_back`: it
/// waits for disk space. One whose right was taken away waits for its return.
TransferState visible_state(const TransferRow& row, bool active, bool held_back, bool seeds);

/// Not yet done, not given up: a second get of the same content has to deal with it.
bool in_progress(TransferStep step);
/// In these it can be held back until its disk is there.
bool waits_for_a_disk(TransferStep step);

/// Which entries `get --file PATTERN...` means: matched files, all below a matched folder, and the folders above them.
/// A pattern that is the path of an entry, as it is or as it is shown (escaped, with BASE or without), means that one
/// alone; any other is a glob. Empty: all, as an empty vector. kNotFound names the first that matches nothing.
Result<std::vector<bool>> wanted_entries(const metainfo::Manifest& manifest, const std::vector<std::string>& globs);

/// The same of a request: patterns that match nothing are set aside as long as another does.
struct ChosenFiles {
  std::vector<bool> wanted;
  std::vector<std::string> globs;  ///< that match; none for a single file, which is all there is
  std::vector<std::string> unmatched;
};
/// kNotFound names the first pattern where none matches.
Result<ChosenFiles> choose_files(const metainfo::Manifest& manifest, const std::vector<std::string>& globs);

/// The patterns that mean exactly the entries at these places in a manifest, and all below those that are folders.
/// Whole folders become one pattern; none: all. kInvalid for a place that is not there, and where none is given.
Result<std::vector<std::string>> patterns_of(const metainfo::Manifest& manifest, std::span<const std::uint32_t> places);

/// What a transfer that is done has: what its globs mean, less what was lost since.
Result<std::vector<bool>> held_entries(const metainfo::Manifest& manifest, const std::vector<std::string>& globs,
                                       const std::vector<bool>& lost);
/// What a get has to bring: all that its globs mean, or, where it adds to what an earlier one brought to the same
/// place, folders, and the files and links that are not there.
Result<std::vector<bool>> entries_to_fetch(const metainfo::Manifest& manifest, const TransferRow& row);
/// Of what `globs` mean, that which is in neither of two selections (each empty: all). Empty: nothing.
Result<std::vector<bool>> entries_beyond(const metainfo::Manifest& manifest, const std::vector<std::string>& globs,
                                         const std::vector<bool>& one, const std::vector<bool>& other);
/// It adds to folders that held nothing of what its globs mean: there is nothing for an earlier transfer to hold.
bool fills_empty_folders(const metainfo::Manifest& manifest, const TransferRow& row);
/// The globs of both, each once; either empty: all.
std::vector<std::string> joined_globs(const std::vector<std::string>& one, const std::vector<std::string>& other);

/// Bytes of the wanted files.
std::uint64_t wanted_bytes(const metainfo::Manifest& manifest, const std::vector<bool>& wanted);

/// Of each wanted file with a byte in it, rising.
std::vector<std::uint64_t> wanted_file_sizes(const metainfo::Manifest& manifest, const std::vector<bool>& wanted);

/// For the engine: the files with a byte in them, in order, and which of them are wanted (empty: all).
std::vector<std::string> torrent_files(const metainfo::Manifest& manifest);
std::vector<bool> torrent_wanted(const metainfo::Manifest& manifest, const std::vector<bool>& wanted);

/// Whether what one selection brought satisfies another.
bool covers(const std::vector<bool>& had, const std::vector<bool>& wanted);

/// Whether what a get brings, with what it adds to, satisfies a selection.
bool brings(const metainfo::Manifest& manifest, const TransferRow& row, const std::vector<bool>& wanted);

struct QueueEntry {
  TransferId id;
  int priority = 0;
  WallTime created;
  bool stalled = false;  ///< fetching, but no peer has anything: takes no slot
};
/// Those that may fetch now: at most `slots`, higher priority first, then the older. Stalled ones go on beside them.
std::vector<TransferId> choose_active(std::vector<QueueEntry> entries, std::size_t slots);
/// Why one that is not among them waits, and which rate its deadline takes from now on (to two digits, so that the text
/// seldom changes).
std::string turn_text(const TransferRow& row, std::size_t slots, WallTime now);

enum class DiskVerdict : std::uint8_t { kEnough, kWait, kNever };
/// Free space against what is still to come, with a reserve of 16 MiB; kNever where the whole disk is too small.
DiskVerdict judge_space(const DiskSpace& space, std::uint64_t needed_bytes);
/// What a transfer still needs of its disk. Where the engine knows nothing yet (`engine_verified` 0), what lies in
/// staging counts, and with it what was known before: a compressing filesystem shows less.
std::uint64_t bytes_to_come(std::uint64_t wanted, std::uint64_t engine_verified, std::uint64_t staged,
                            std::uint64_t verified_before);
/// "disk full at T: 3 MB free, 20 MB more needed; goes on by itself when there is room"
Error space_error(const std::string& folder, const DiskSpace& space, std::uint64_t needed_bytes, bool never);

/// What a disk refused for good, with the way out.
Error mend_the_disk(const TransferId& id, const Error& error);

/// Pieces are counted by the engine, files by people: verified bytes of the wanted files.
std::uint64_t verified_of_wanted(const TorrentSnapshot& snapshot, std::uint64_t wanted_bytes);

/// How a torrent that was being fetched is taken up again. After an unclean end small ones are hashed afresh, which
/// costs less than fetching again what came after the last resume data; large ones trust it, since what it names was
/// synced.
DiskTrust trust_after_restart(const TransferRow& row, bool has_resume_data);

/// Whether this is where its files are, or will be.
bool lies_at(const TransferRow& row, const std::string& target, const std::string& base_name);

/// "x_… (owner/name)" as errors name a transfer, and owner/name.
std::string display_name(const TransferRow& row);

/// The first faults of a report in one line.
std::string describe_faults(const VerifyReport& report);

/// Path helpers on bytes: the parts of an absolute path without a trailing slash.
std::string parent_folder(const std::string& path);
std::string last_component(const std::string& path);
std::string join_path(const std::string& folder, const std::string& name);

}  // namespace gridtorrent::client
