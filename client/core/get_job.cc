#include "client/core/get_job.h"

#include "client/core/plan_input.h"
#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

/// Clusters delete files that nobody touched for some days at least.
constexpr std::chrono::hours kTouchEvery{12};

Error conflict_with(const Transfer& transfer) {
  return {Code::kConflict, display_name(transfer.row) + " is being fetched to " +
                               escape_for_display(transfer.row.target) + " by transfer " + transfer.row.id.str() +
                               ": wait for it, or cancel it with `gridtorrent transfer cancel " +
                               transfer.row.id.str() + "`"};
}

Error changed_there(const Transfer& transfer) {
  const auto base = join_path(transfer.row.target, transfer.row.base_name);
  return {Code::kConflict, escape_for_display(base) +
                               " was changed since it was fetched, so nothing is added to it: put it right, move it "
                               "away, or choose another place with --to; what differs says: gridtorrent verify " +
                               shell_arguments({base})};
}

void apply_wishes(TransferRow& row, const GetJob& job, const TuningWish& wish) {
  row.wish = wish;
  row.lanes_wish = job.lanes;
  row.seeders_wish = job.seeders;
  row.limit_bits_per_s = job.limit_bits_per_s;
  row.priority = job.priority;
}

bool fetches(const TransferRow& row) {
  return row.step == TransferStep::kPrepare || row.step == TransferStep::kFetch;
}

/// What the tuner of a transfer that is under way is asked for from now on.
Result<TuningWish> joined_wish(const TransferRow& row, const GetJob& job, std::string_view usual_tuner) {
  const bool limited_anew = job.limit_bits_per_s != 0 && fetches(row);
  return wish_from_now_on(row, job.wish, limited_anew ? job.limit_bits_per_s : row.limit_bits_per_s, usual_tuner);
}

/// Asked again for what is under way: what is given anew counts, what is left at its default says nothing.
void apply_given_wishes(TransferRow& row, const GetJob& job, const TuningWish& wish) {
  row.wish = wish;
  if (job.lanes != 0) row.lanes_wish = job.lanes;
  if (job.seeders != 0) row.seeders_wish = job.seeders;
  if (job.limit_bits_per_s != 0 && fetches(row)) row.limit_bits_per_s = job.limit_bits_per_s;
  if (job.priority != 0) row.priority = job.priority;
}

}  // namespace

Status check_seeded(const ContentInfo& content, const GetJob& job) {
  if (!job.if_seeded || content.seeders > 0) return {};
  return Error{Code::kUnreachable, "nobody serves " + content.owner + "/" + content.name +
                                       " now; try again later, or leave out --if-seeded: then it waits for a seeder"};
}

StagingPlan GetFlow::staging_of(const TransferRow& row, const std::vector<bool>& wanted) {
  return {.id = row.id,
          .target = row.target,
          .wanted = wanted,
          .beside = row.adds(),
          .root = row.root,
          .replaces = !row.replaces.is_nil(),
          .umask = row.umask,
          .unmarked = row.unmarked};
}

std::uint32_t GetFlow::umask_of(const GetJob& job) const {
  return job.folder_mode ? 0777U & ~*job.folder_mode : c_.options.umask;
}

Result<TransferView> GetFlow::get(const GetJob& job, bool& joined) {
  joined = false;
  GT_ASSIGN(Request request, make_request(job));
  if (!request.replaces.is_nil()) {
    GT_ASSIGN(TransferView view, decide_update(request, joined));
    c_.wake();
    view.unmatched = request.unmatched;
    return view;
  }
  GT_TRY(check_hidden(request));
  GT_TRY(widen(request));
  look_at_part(request);
  GT_TRY(look_for_others(request));
  if (request.wish.by && *request.wish.by <= c_.ports.clock.wall()) {
    c_.log(NodeLogLevel::kWarning, request.content.owner + "/" + request.content.name + " was to be done by " +
                                       to_rfc3339(*request.wish.by) + ", which is past: it is fetched all the same");
  }

  bool needs_prepare = false;
  TransferId id;
  GT_ASSIGN(TransferView view, decide(request, joined, needs_prepare, id));
  c_.wake();
  view.unmatched = request.unmatched;
  if (!needs_prepare) return view;

  const auto prepared = prepare(id, job.folder_mode);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return Error{Code::kCancelled, "transfer " + id.str() + " was cancelled"};
  transfer->job_running = false;
  if (!prepared) {
    refuse_locked(*transfer, prepared.error());
    return prepared.error();
  }
  if (transfer->row.step == TransferStep::kPrepare) {
    forget_superseded(*transfer);
    transfer->row.step = TransferStep::kFetch;
    GT_TRY(c_.book.save(*transfer));
  }
  c_.book.touch(*transfer);
  c_.wake();
  view = make_view(*transfer);
  view.unmatched = request.unmatched;
  return view;
}

/// What is fetched takes the place of what was held: that was missing, changed, elsewhere, or not wanted. What it is
/// added to rests meanwhile, since the engine knows a content once: it goes on should this one fail or be cancelled.
void GetFlow::forget_superseded(const Transfer& transfer) {
  std::vector<TransferId> old;
  for (const auto& [id, other] : c_.book.all()) {
    const auto& row = other->row;
    const bool same = row.content.id == transfer.row.content.id && row.content.version == transfer.row.content.version;
    if (!same || row.step != TransferStep::kHold || id == transfer.row.id) continue;
    const bool here = lies_at(row, transfer.row.target, transfer.row.base_name);
    if (other->look_again && !here) continue;  // its disk may come back
    if (transfer.row.adds() && here) {
      c_.take_out_of_engine(*other);
      c_.settle_hold(*other);
    } else {
      old.push_back(id);
    }
  }
  for (const auto& id : old) c_.forget(id);
}

Result<std::optional<TransferView>> GetFlow::join_or_refuse(const Request& request, bool& joined) {
  for (auto& [id, transfer] : c_.book.all()) {
    auto& row = transfer->row;
    if (row.content.id != request.content.id || row.content.version != request.content.version) continue;
    const bool here = lies_at(row, request.job.target, request.base_name());
    const bool same = here && row.globs == request.job.globs;
    const auto wish = joined_wish(row, request.job, c_.options.tuning.tuner);
    if (in_progress(row.step)) {
      if (!here || !brings(request.metadata->manifest, row, request.wanted)) return conflict_with(*transfer);
      GT_TRY(check_seeded(request.content, request.job));
      GT_TRY(wish);
      joined = true;
    } else if (row.step == TransferStep::kFailed && (row.kind == TransferKind::kGet || !row.stamp.empty()) && same &&
               !request.job.refetch) {
      GT_TRY(wish);
      const auto& manifest = request.metadata->manifest;
      const Transfer* part = held_beside(row);
      if (part != nullptr) {
        GT_ASSIGN(const auto had, held_entries(manifest, part->row.globs, part->row.lost));
        if (covers(had, request.wanted)) continue;  // it came with another get
      }
      if (part != nullptr && !request.part_is_gone) {
        row.kept_globs = part->row.globs;
        row.kept_lost = part->row.lost;
      } else if (request.part_is_gone || !fills_empty_folders(manifest, row)) {
        row.kept_globs.clear();
        row.kept_lost.clear();
      }
      GT_ASSIGN(transfer->wanted, entries_to_fetch(manifest, row));
      row.wanted_bytes = wanted_bytes(manifest, transfer->wanted);
      // It was whole once: most of it may still be.
      const bool was_whole = part == nullptr && !row.stamp.empty();
      row.content = request.content;  // who may have it may have changed
      const bool replaces = !row.replaces.is_nil();
      row.step = was_whole || replaces ? TransferStep::kCheckLocal : TransferStep::kPrepare;
      row.old_place = replaces ? row.replaces : was_whole ? id : TransferId();
      row.lost.clear();  // all that is asked for is looked for
      row.fetched = {};
      row.error.reset();
      transfer->metadata = request.metadata;
      transfer->verify_rounds = transfer->disk_errors = 0;
      transfer->fresh = false;
      transfer->recheck = transfer->asked = true;
      transfer->announce.soon(c_.ports.clock.mono());
    } else {
      continue;
    }
    row.paused = false;
    // Whoever of the two lets others in less; an update is as open as what it takes the place of.
    if (row.replaces.is_nil()) row.umask |= umask_of(request.job);
    apply_given_wishes(row, request.job, *wish);
    GT_TRY(c_.book.save(*transfer));
    if (transfer->in_engine && row.step == TransferStep::kFetch)
      c_.ports.engine.set_rate_limit(row.id, receive_limit(*transfer), 0);
    transfer->plan_due = true;
    c_.book.touch(*transfer);
    return std::optional(make_view(*transfer));
  }
  return std::optional<TransferView>();
}

TransferRow GetFlow::new_row(const Request& request) const {
  TransferRow row;
  row.created = c_.ports.clock.wall();
  row.id = TransferId::make(row.created, c_.ports.rng);
  row.content = request.content;
  row.base_name = request.base_name();
  row.target = request.job.target;
  row.root = request.job.root;
  row.globs = request.job.globs;
  row.umask = umask_of(request.job);
  row.wanted_bytes = wanted_bytes(request.metadata->manifest, request.wanted);
  apply_wishes(row, request.job, request.wish);
  return row;
}

Result<TransferView> GetFlow::decide(const Request& request, bool& joined, bool& needs_prepare, TransferId& id) {
  const auto lock = c_.book.lock();
  GT_ASSIGN(const std::optional<TransferView> existing, join_or_refuse(request, joined));
  if (existing) return *existing;

  Transfer* have = nullptr;
  const Transfer* part = nullptr;     ///< some of it is there, at the same place
  const Transfer* changed = nullptr;  ///< likewise, but it was found to be no longer whole
  for (auto& [held_id, held] : c_.book.all()) {
    if (held->row.content.id != request.content.id || held->row.content.version != request.content.version) continue;
    const bool here = lies_at(held->row, request.job.target, request.base_name());
    if (held->row.step == TransferStep::kFailed && !held->row.stamp.empty() && here) changed = held.get();
    if (held->row.step != TransferStep::kHold) continue;
    // Not `wanted`, which a transfer restored but not yet seeding lacks.
    const auto had = held_entries(request.metadata->manifest, held->row.globs, held->row.lost);
    if (held->look_again && !here) continue;  // nothing is there to be copied
    if (request.job.refetch || !had || !covers(*had, request.wanted)) {
      if (part == nullptr && here && !request.job.refetch) part = held.get();
    } else if (have == nullptr || here) {
      have = held.get();
    }
  }
  const bool adopts = request.found.has_value() && changed == nullptr;
  if (have == nullptr && !(adopts && request.found->missing == 0)) {
    GT_TRY(check_seeded(request.content, request.job));
    if (request.content.withdrawn) {
      return Error{Code::kNotFound, request.content.owner + "/" + request.content.name +
                                        " was withdrawn by its owner and is no longer handed out"};
    }
  }

  if (have != nullptr && lies_at(have->row, request.job.target, request.base_name())) {
    have->row.step = TransferStep::kCheckLocal;
    if (have->in_engine && have->engine_generation != request.content.generation) c_.take_out_of_engine(*have);
    const std::string audience = have->row.content.audience;
    have->row.content = request.content;  // who may have it may have changed
    if (have->in_engine) have->row.content.audience = audience;
    have->row.old_place = have->row.id;
    have->row.paused = false;
    have->row.wish = request.wish;
    have->row.fetched = {};
    have->asked = true;
    GT_TRY(c_.book.save(*have));
    c_.book.touch(*have);
    return make_view(*have);
  }
  if (changed != nullptr && part == nullptr && !request.part_is_gone) return changed_there(*changed);
  auto row = new_row(request);
  std::vector<bool> wanted = request.wanted;
  if (adopts) {
    row.kind = TransferKind::kAttach;
    row.step = TransferStep::kCheckLocal;
    row.old_place = row.id;
    row.source = "attached";
    if (request.found->missing == 0) row.umask = 0;  // it brings nothing, and modes stay as they are
  } else if (have != nullptr) {
    row.step = TransferStep::kCheckLocal;
    row.old_place = have->row.id;
  }
  // What is held there already is looked at with it.
  if (adopts && part != nullptr) {
    row.globs = joined_globs(part->row.globs, row.globs);
    GT_ASSIGN(wanted, wanted_entries(request.metadata->manifest, row.globs));
    row.wanted_bytes = wanted_bytes(request.metadata->manifest, wanted);
  }
  // What was moved away takes nothing along: then it is a get like any other.
  if (part != nullptr && !request.part_is_gone && !adopts) {
    if (part->row.id != request.part || !request.part_is_whole) return changed_there(*part);
    row.kept_globs = part->row.globs;
    row.kept_lost = part->row.lost;
    row.umask |= part->row.umask;
    GT_ASSIGN(wanted, entries_to_fetch(request.metadata->manifest, row));
    row.wanted_bytes = wanted_bytes(request.metadata->manifest, wanted);
  }
  id = row.id;
  auto& transfer = c_.book.insert(std::move(row));
  transfer.metadata = request.metadata;
  transfer.wanted = std::move(wanted);
  transfer.fresh = transfer.asked = true;
  if (const auto saved = c_.book.save(transfer); !saved) {
    c_.book.erase(id);
    return saved.error();
  }
  needs_prepare = !adopts;
  transfer.job_running = needs_prepare;
  return make_view(transfer);
}

std::optional<GetFlow::SpaceCheck> GetFlow::look_at_space(const TransferId& id) {
  TransferRow row;
  std::uint64_t verified = 0;
  {
    const auto lock = c_.book.lock();
    const auto* transfer = c_.book.find(id);
    if (transfer == nullptr) return std::nullopt;
    row = transfer->row;
    if (transfer->snapshot) verified = verified_of_wanted(*transfer->snapshot, row.wanted_bytes);
  }
  SpaceCheck waits;
  waits.verdict = DiskVerdict::kWait;
  if (row.step == TransferStep::kFetch) waits.away = staging_away(row);
  if (row.step == TransferStep::kCommit) waits.away = commit_away(row);
  if (row.step == TransferStep::kCheckLocal) {
    if (const auto copy = loaded(id)) waits.away = check_away(*copy);
  }
  if (waits.away) return waits;
  if (row.step == TransferStep::kCommit) return SpaceCheck();  // which writes no more data
  const auto space = c_.ports.files.disk_space(row.target);
  if (!space) return std::nullopt;
  const std::uint64_t staged = verified > 0 ? 0 : c_.ports.files.staged_bytes(staging_of(row, {}));
  SpaceCheck check{.target = row.target,
                   .space = *space,
                   .missing = bytes_to_come(row.wanted_bytes, verified, staged, row.verified_bytes),
                   .away = std::nullopt};
  check.staged = verified > 0 || staged > 0;
  check.verdict = judge_space(*space, check.missing);
  return check;
}

Status GetFlow::prepare(const TransferId& id, std::optional<std::uint32_t> folder_mode) {
  const auto copy = loaded(id);
  if (!copy) return Error{Code::kCancelled, "transfer " + id.str() + " was cancelled"};
  StagingPlan staging = staging_of(copy->row, copy->wanted);
  staging.folder_mode = folder_mode;
  GT_TRY(c_.ports.files.prepare(staging, copy->metadata->manifest));
  const auto check = look_at_space(id);
  if (!check || check->verdict == DiskVerdict::kEnough) return {};
  if (check->verdict == DiskVerdict::kNever) {
    if (!check->staged) GT_TRY(c_.ports.files.discard(staging));
    return check->error();
  }
  const auto lock = c_.book.lock();
  if (auto* transfer = c_.book.find(id); transfer != nullptr && transfer->row.step == TransferStep::kPrepare) {
    transfer->held_back = true;
    transfer->row.error = check->error();
  }
  return {};
}

void GetFlow::start_prepare(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) {
    const auto copy = loaded(id);
    if (!copy) return;
    const bool finish = c_.ports.files.commit_begun(staging_of(copy->row, copy->wanted), copy->metadata->manifest);
    if (!finish) {
      if (const auto prepared = prepare(id); !prepared) return fail(id, prepared.error());
    }
    const auto lock = c_.book.lock();
    auto* prepared_transfer = c_.book.find(id);
    if (prepared_transfer == nullptr || prepared_transfer->row.step != TransferStep::kPrepare) return;
    forget_superseded(*prepared_transfer);
    // Some of it may be in its place already; everything is verified there in the end.
    prepared_transfer->row.step = finish ? TransferStep::kCommit : TransferStep::kFetch;
    prepared_transfer->recheck = prepared_transfer->recheck || finish;
    c_.book.save_or_log(*prepared_transfer);
  });
}

void GetFlow::start_begin(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) { begin(id); });
}

void GetFlow::begin(const TransferId& id) {
  const auto copy = loaded(id);
  if (!copy) return;
  if (const auto away = staging_away(copy->row)) return hold_back(id, *away);
  auto resume = c_.ports.store.load_resume(id);
  if (!resume) return fail(id, resume.error());
  if (*resume && (*resume)->empty()) resume->reset();  // it holds for other files

  const auto staging = staging_of(copy->row, copy->wanted);
  auto spec = c_.torrent_spec(copy->row, *copy->metadata, copy->wanted);
  FileSizes sizes =
      std::make_shared<const std::vector<std::uint64_t>>(wanted_file_sizes(copy->metadata->manifest, copy->wanted));
  spec.save_path = staging.staging_folder();
  const bool recheck = copy->recheck || copy->lost_writes;
  spec.trust = recheck       ? DiskTrust::kRecheck
               : copy->fresh ? DiskTrust::kNothingThere
                             : trust_after_restart(copy->row, resume->has_value());
  if (spec.trust == DiskTrust::kResumeData) spec.resume_data = std::move(**resume);
  // What an update copied just now would only be read once more.
  const bool is_copied = copy->copied && !copy->lost_writes;
  if (spec.trust == DiskTrust::kRecheck && !is_copied)
    c_.ports.files.drop_cached(spec.save_path, copy->metadata->manifest, copy->wanted);
  // One that comes from another edition knows what was hashed so far.
  auto verifier = copy->verifier && !recheck
                      ? copy->verifier
                      : make_owned_verifier(c_.ports.files, spec.save_path, copy->metadata, copy->wanted);

  auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kFetch) return;
  // Meanwhile it may have moved to another edition, or out of reach: the next round begins anew.
  if (transfer->row.content.generation != spec.generation || transfer->row.refused) return;
  transfer->verifier = verifier;
  c_.events.set_verifier(id, verifier);
  if (transfer->row.clean) {  // from here on it is not, until the next orderly end
    transfer->row.clean = false;
    c_.book.save_or_log(*transfer);
  }
  if (const auto added = c_.ports.engine.add(spec); !added) {
    lock.unlock();
    return fail(id, added.error());
  }
  const auto now = c_.ports.clock.mono();
  transfer->in_engine = true;
  transfer->engine_generation = spec.generation;
  transfer->audience_shown = spec.audience;
  transfer->file_sizes = std::move(sizes);
  transfer->fresh = transfer->recheck = transfer->copied = false;
  if (copy->lost_writes) transfer->lost_writes = false;  // one that came meanwhile stays
  transfer->plan_due = transfer->snapshot_due = true;
  transfer->touch_due = transfer->saved_at = now;
  transfer->saved_verified = 0;
  if (!transfer->clock_runs) {
    transfer->clock_runs = true;
    transfer->fetching_since = now;
  }
  c_.ports.engine.set_rate_limit(id, receive_limit(*transfer), 0);
}

void GetFlow::start_save(Transfer& transfer) {
  if (transfer.saving) return;
  transfer.saving = c_.quick.post([this, id = transfer.row.id] { save_resume(id, false); });
}

/// The mark of its staging folder is the oldest file there, and nobody reads it: a purge of old files takes it first.
void GetFlow::start_touch(Transfer& transfer) {
  const bool posted =
      c_.quick.post([this, staging = staging_of(transfer.row, {})] { c_.ports.files.touch_mark(staging); });
  if (posted) transfer.touch_due = c_.ports.clock.mono() + kTouchEvery;
}

void GetFlow::save_resume(const TransferId& id, bool clean) {
  std::uint64_t verified = 0;
  {
    const auto lock = c_.book.lock();
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr) return;
    // After a failed sync the next one succeeds, and would name what is not on the disk.
    if (!transfer->in_engine || transfer->lost_writes) {
      transfer->saving = false;
      return;
    }
  }
  if (const auto snapshot = c_.ports.engine.snapshot(id)) verified = snapshot->verified_bytes;
  const auto data = c_.ports.engine.resume_data(id);
  // The system tells of a failed write once, and reads the lost bytes from memory afterwards.
  if (!data && data.error().code == Code::kDisk) note_lost_writes(id);
  const auto loss = copy_of(id);
  Status saved = !data                       ? Status(data.error())
                 : loss && loss->lost_writes ? Status(Error{Code::kDisk, "not all of it reached the disk"})
                                             : c_.ports.store.save_resume(id, *data);

  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  transfer->saving = false;
  const auto now = c_.ports.clock.mono();
  transfer->saved_at = now;
  if (!saved) {
    c_.log(NodeLogLevel::kWarning, "resume data of " + id.str() + ": " + saved.error().message);
    return;
  }
  transfer->saved_verified = verified;
  if (transfer->row.step != TransferStep::kFetch) return;
  if (clean) transfer->row.clean = true;
  note_counters(*transfer, now);
  c_.book.save_or_log(*transfer);
}

/// To the edition that the server named: what is verified is written down, so that nothing is hashed or fetched again.
void GetFlow::start_move(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) {
    c_.ports.engine.pause(id);
    save_resume(id, true);
    const auto lock = c_.book.lock();
    auto* found = c_.book.find(id);
    if (found == nullptr || !found->moving) return;
    const ContentInfo info = *found->moving;
    auto verifier = found->verifier;
    if (!found->row.clean) found->recheck = true;  // it could not be written down
    c_.take_out_of_engine(*found);
    if (!found->recheck) found->verifier = std::move(verifier);
    found->engine_paused = false;
    c_.take_over(*found, info);
  });
}

void GetFlow::start_discard(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) { discard(id); });
}

/// Its staging goes at once, its row when the server has confirmed that the claim is withdrawn.
void GetFlow::discard(const TransferId& id) {
  const auto copy = copy_of(id);
  if (!copy) return;
  std::optional<Result<RemovedFiles>> removed;
  if (copy->row.remove_files && !copy->discarded) {
    removed = remove_placed(copy->row, false);
    if (!*removed) c_.log(NodeLogLevel::kWarning, "files of " + id.str() + " stay: " + removed->error().message);
  }
  if (!copy->discarded) {
    if (const auto status = c_.ports.files.discard(staging_of(copy->row, {})); !status) {
      c_.log(NodeLogLevel::kWarning, "staging of " + id.str() + " stays: " + status.error().message);
    }
  }
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  transfer->discarded = true;
  if (removed) {
    transfer->removed = removed;
    // Once: what is put there afterwards is somebody else's, however long the server stays away.
    transfer->row.remove_files = false;
    c_.book.save_or_log(*transfer);
  }
  if (transfer->announce.claimed) return;
  if (const auto erased = c_.ports.store.erase_transfer(id); !erased) {
    c_.log(NodeLogLevel::kError, "transfer " + id.str() + " cannot be forgotten: " + erased.error().message);
    return;
  }
  transfer->row.step = TransferStep::kForgotten;
  transfer->forget_at = c_.ports.clock.mono() + kRefusedStays;
}

void GetFlow::fail(const TransferId& id, const Error& error) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step == TransferStep::kCancel) return;
  c_.log(NodeLogLevel::kError,
         "transfer " + id.str() + " (" + display_name(transfer->row) + ") failed: " + error.message);
  c_.fail(*transfer, error);
  c_.settle_siblings(transfer->row.content.id);
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

std::optional<GetFlow::Copy> GetFlow::copy_of(const TransferId& id) {
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return std::nullopt;
  return Copy{transfer->row,         transfer->metadata,  transfer->wanted, transfer->verifier,
              transfer->in_engine,   transfer->discarded, transfer->fresh,  transfer->recheck,
              transfer->lost_writes, transfer->copied,    transfer->asked};
}

std::optional<GetFlow::Copy> GetFlow::loaded(const TransferId& id) {
  auto copy = copy_of(id);
  if (!copy || copy->metadata) return copy;
  auto metadata = c_.metadata(copy->row);
  if (!metadata) {
    fail(id, metadata.error());
    return std::nullopt;
  }
  auto wanted = entries_to_fetch((*metadata)->manifest, copy->row);
  if (!wanted) {
    fail(id, wanted.error());
    return std::nullopt;
  }
  copy->metadata = *metadata;
  copy->wanted = *wanted;
  const auto lock = c_.book.lock();
  if (auto* transfer = c_.book.find(id)) {
    transfer->metadata = copy->metadata;
    transfer->wanted = copy->wanted;
  }
  return copy;
}

ProgressFn GetFlow::job_progress(const TransferId& id) {
  return [this, id](std::uint64_t done, std::uint64_t total) {
    const auto lock = c_.book.lock();
    if (auto* transfer = c_.book.find(id)) {
      transfer->job_done = done;
      transfer->job_total = total;
      c_.book.touch(*transfer);
    }
  };
}

}  // namespace gridtorrent::client
