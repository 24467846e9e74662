// Other files of a get that is under way.
#include <algorithm>

#include "client/core/get_job.h"
#include "client/core/node_steps.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

using metainfo::EntryKind;

/// A job of its own, such as making the staging folder, ends before; after so long it is said to be busy.
constexpr std::chrono::seconds kLongestJob{20};
constexpr std::chrono::milliseconds kJobLook{200};  ///< between looks, unless it changes

std::size_t wanted_files(const metainfo::Manifest& manifest, const std::vector<bool>& wanted) {
  std::size_t files = 0;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    if (manifest.entries[i].kind != EntryKind::kFolder && (wanted.empty() || wanted[i])) ++files;
  }
  return files;
}

Result<std::vector<std::string>> globs_of(const metainfo::Manifest& manifest, const FileChoice& wish) {
  if (!wish.globs.empty() && !wish.entries.empty())
    return Error{Code::kInvalid, "files are chosen by patterns or by their places in the manifest, not by both"};
  if (!wish.entries.empty()) return patterns_of(manifest, wish.entries);
  return manifest.is_single_file() ? std::vector<std::string>() : wish.globs;
}

}  // namespace

Result<TransferRow> GetFlow::row_of(const TransferId& id) {
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer == nullptr || is_gone(*transfer)) return unknown_transfer(id);
  return transfer->row;
}

Result<std::vector<std::uint32_t>> GetFlow::chosen(const TransferId& id) {
  GT_ASSIGN(const TransferRow row, row_of(id));
  if (row.unpublished)
    return Error{Code::kConflict,
                 "transfer " + id.str() + " is being published: its files are listed once that is done"};
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(row));
  const auto& manifest = metadata->manifest;
  const bool held = row.step == TransferStep::kHold;
  GT_ASSIGN(const std::vector<bool> wanted,
            held ? held_entries(manifest, row.globs, row.lost) : wanted_entries(manifest, row.globs));
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < manifest.entries.size(); ++i) {
    if (manifest.entries[i].kind != EntryKind::kFolder && (wanted.empty() || wanted[i])) places.push_back(i);
  }
  return places;
}

Result<GetFlow::Choice> GetFlow::choice_of(const TransferRow& row, const FileChoice& wish) {
  Choice choice;
  GT_ASSIGN(choice.metadata, c_.metadata(row));
  const auto& manifest = choice.metadata->manifest;
  const auto away = row.step == TransferStep::kFetch ? staging_away(row) : std::nullopt;
  if (away) return *away;
  if (c_.ports.files.commit_begun(staging_of(row, {}), manifest)) {
    return Error{Code::kConflict,
                 "transfer " + row.id.str() + " is being put in its place: choose files once that is done"};
  }
  GT_ASSIGN(choice.globs, globs_of(manifest, wish));
  TransferRow after = row;
  after.globs = choice.globs;
  GT_ASSIGN(choice.wanted, entries_to_fetch(manifest, after));
  choice.bytes = wanted_bytes(manifest, choice.wanted);
  if (row.adds() && wanted_files(manifest, choice.wanted) == 0) {
    return Error{Code::kConflict,
                 "all of these files are there already, from an earlier get; `gridtorrent transfer "
                 "cancel " +
                     row.id.str() + "` ends the transfer and leaves them"};
  }
  const auto space = c_.ports.files.disk_space(row.target);
  if (space && judge_space(*space, choice.bytes) == DiskVerdict::kNever)
    return space_error(row.target, *space, choice.bytes, /*never=*/true);
  return choice;
}

Result<TransferView> GetFlow::choose(const TransferId& id, const FileChoice& asked, bool further) {
  Status taken;
  for (bool done = false; !done;) {  // anew where somebody else chose meanwhile
    GT_ASSIGN(const TransferRow row, row_of(id));
    GT_TRY(may_choose(row));
    const FileChoice wish = further ? FileChoice{.globs = joined_globs(row.globs, asked.globs)} : asked;
    GT_ASSIGN(const Choice choice, choice_of(row, wish));
    GT_ASSIGN(const std::vector<bool> before, entries_to_fetch(choice.metadata->manifest, row));
    if (before == choice.wanted) break;
    GT_ASSIGN(done, claim(id, row));
    if (done) taken = take_choice(id, choice);
  }
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return unknown_transfer(id);
  GT_TRY(taken);
  return make_view(*transfer);
}

/// Waits until nobody works on it; then nobody begins to.
Result<bool> GetFlow::claim(const TransferId& id, const TransferRow& seen) {
  const auto until = std::chrono::steady_clock::now() + kLongestJob;
  auto lock = c_.book.lock();
  while (std::chrono::steady_clock::now() < until) {
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr) return unknown_transfer(id);
    const auto& row = transfer->row;
    GT_TRY(may_choose(row));
    if (row.globs != seen.globs || row.kept_globs != seen.kept_globs || row.kept_lost != seen.kept_lost) return false;
    if (!transfer->job_running && !transfer->saving) {
      transfer->job_running = transfer->saving = true;
      return true;
    }
    c_.book.wait_for_change(lock, id, transfer->revision, kJobLook);
  }
  return Error{Code::kConflict, "transfer " + id.str() + " is busy with its disk; try again in a while"};
}

/// Of a claimed transfer. First what is on disk is written down as it can be relied on afterwards, then the choice: a
/// crash in between costs some pieces. The next rounds make the staging folder anew and go on.
Status GetFlow::take_choice(const TransferId& id, const Choice& choice) {
  const auto recheck = keep_for(id, choice);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return unknown_transfer(id);
  transfer->job_running = transfer->saving = false;
  Status taken = recheck ? may_choose(transfer->row) : Status(recheck.error());
  if (taken) {
    c_.take_out_of_engine(*transfer);
    const TransferRow before = transfer->row;
    auto& row = transfer->row;
    row.globs = choice.globs;
    row.wanted_bytes = choice.bytes;
    row.verified_bytes = 0;  // known again once the engine has it
    row.clean = !*recheck;
    row.step = TransferStep::kPrepare;
    row.error.reset();
    taken = c_.book.save(*transfer);
    if (!taken) row = before;
  } else if (transfer->in_engine && !transfer->engine_paused) {
    c_.ports.engine.resume(id);
  }
  if (taken) {
    transfer->metadata = choice.metadata;
    transfer->wanted = choice.wanted;
    transfer->file_sizes.reset();
    transfer->snapshot.reset();
    transfer->recheck = transfer->recheck || *recheck;
    transfer->held_back = transfer->away = transfer->anew = false;
    transfer->stalled = transfer->engine_paused = false;
    transfer->disk_retry = {};
    transfer->announce.soon(c_.ports.clock.mono());
    c_.log(NodeLogLevel::kInfo, display_name(transfer->row) + ": other files are fetched from now on, " +
                                    std::to_string(wanted_files(choice.metadata->manifest, choice.wanted)) + " with " +
                                    format_bytes(choice.bytes));
  }
  transfer->snapshot_due = transfer->plan_due = true;
  c_.book.touch(*transfer);
  c_.wake();
  return taken;
}

/// Writes down which pieces hold for these files, too. True: that could not be told, and all is to be hashed.
Result<bool> GetFlow::keep_for(const TransferId& id, const Choice& choice) {
  bool in_engine = false, fresh = false;
  {
    const auto lock = c_.book.lock();
    const auto* transfer = c_.book.find(id);
    if (transfer == nullptr) return unknown_transfer(id);
    in_engine = transfer->in_engine;
    fresh = transfer->fresh;
  }
  if (!in_engine && fresh) return false;
  auto data = Result<std::string>(std::string());
  if (in_engine) {
    c_.ports.engine.pause(id);
    data = c_.ports.engine.resume_data_for(id, torrent_wanted(choice.metadata->manifest, choice.wanted));
    // While it is being checked it has no data yet.
    if (!data && data.error().code == Code::kConflict) data = std::string();
  }
  if (!data && data.error().code == Code::kDisk) note_lost_writes(id);
  GT_TRY(data);
  GT_TRY(c_.ports.store.save_resume(id, *data));
  return data->empty();
}

/// Further files of what is being fetched to the same place come with it.
Status GetFlow::widen(const Request& request) {
  if (!request.job.may_widen) return {};
  std::optional<TransferRow> under_way;
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, transfer] : c_.book.all()) {
      const auto& row = transfer->row;
      const bool same = row.content.id == request.content.id && row.content.version == request.content.version &&
                        lies_at(row, request.job.target, request.base_name());
      if (same && may_choose(row)) under_way = row;
    }
  }
  if (!under_way) return {};
  const auto& manifest = request.metadata->manifest;
  if (brings(manifest, *under_way, request.wanted)) return {};
  GT_TRY(check_seeded(request.content, request.job));
  GT_TRY(choose(under_way->id, {.globs = request.job.globs}, /*further=*/true));
  return {};
}

}  // namespace gridtorrent::client
