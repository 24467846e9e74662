// The end of a get, and the short cut through what this node already has.
#include "client/core/get_job.h"
#include "client/core/plan_input.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {
constexpr int kMaxVerifyRounds = 2;
}

/// When all was at its place; and whether that was in time, where somebody asked for a time.
void GetFlow::note_arrival(Transfer& transfer) {
  auto& row = transfer.row;
  row.fetched = c_.ports.clock.wall();
  if (!row.wish.by) return;
  const auto late = row.fetched - *row.wish.by;
  const bool in_time = late <= std::chrono::milliseconds(0);
  c_.log(in_time ? NodeLogLevel::kInfo : NodeLogLevel::kWarning,
         display_name(row) + (in_time ? " is there in time" : " is there " + format_duration(late) + " late") +
             ": it was to be done by " + to_rfc3339(*row.wish.by));
}

void GetFlow::start_check_local(Transfer& transfer) {
  c_.start_job(transfer, c_.heavy,
               [this](const TransferId& id, const std::stop_token& stop) { check_local(id, stop); });
}

void GetFlow::check_local(const TransferId& id, std::stop_token stop) {
  const auto copy = loaded(id);
  if (!copy) return;
  if (const auto away = check_away(*copy)) return hold_back(id, *away);
  if (!copy->row.replaces.is_nil()) return stage_update(id, *copy, stop);
  if (copy->row.old_place == id) return check_same_place(id, *copy, stop);
  const auto old = copy_of(copy->row.old_place);
  if (!old) return fetch_instead(id, "the earlier transfer is gone");
  const MetadataPtr there = with_base_name(copy->metadata, old->row.base_name);
  const auto& manifest = there->manifest;
  const auto stamp = c_.ports.guard.stamp(old->row.place(), manifest, copy->wanted);
  const auto report = verify_at(id, old->row.place(), manifest, copy->wanted, stop);
  if (!report) return;
  const WallTime verified = c_.ports.clock.wall();
  if (report->fault_count == 0 && stamp) return copy_from_old(id, old->row, *stamp, verified, stop);
  const bool gone = c_.are_away(old->row, manifest, copy->wanted);
  {
    const auto lock = c_.book.lock();
    auto* other = c_.book.find(copy->row.old_place);
    if (gone && other != nullptr && other->row.step == TransferStep::kHold) {
      other->look_again = c_.ports.clock.mono();  // its disk may come back
      c_.settle_hold(*other);
    } else {
      c_.forget(copy->row.old_place);
    }
  }
  fetch_instead(id, describe_faults(*report));
}

/// Nothing where it was told to stop. What cannot be read at all is a fault like another.
std::optional<VerifyReport> GetFlow::verify_at(const TransferId& id, const Place& parent,
                                               const metainfo::Manifest& manifest, const std::vector<bool>& wanted,
                                               const std::stop_token& stop) {
  auto report = c_.ports.files.verify(parent, manifest, wanted, job_progress(id), stop);
  if (report) return *report;
  if (report.error().code == Code::kCancelled) return std::nullopt;
  VerifyReport faults;
  faults.fault_count = 1;
  faults.faults.push_back({join_path(parent.path, manifest.base_name), report.error().message});
  return faults;
}

/// What is still there has to be as it was published, what is missing is fetched, and nothing is ever replaced.
void GetFlow::check_same_place(const TransferId& id, const Copy& copy, const std::stop_token& stop) {
  const auto& manifest = copy.metadata->manifest;
  const auto base = join_path(copy.row.target, copy.row.base_name);
  const Place base_place = below(copy.row.place(), copy.row.base_name);
  if (!c_.ports.guard.exists(base_place)) return fetch_instead(id, "the files are gone");
  const auto held = held_entries(manifest, copy.row.globs, copy.row.lost);
  if (!held) return fail(id, held.error());
  std::vector<bool> there = held->empty() ? std::vector<bool>(manifest.entries.size(), true) : *held;
  std::vector<bool> lost = copy.row.lost;
  lost.resize(manifest.entries.size());
  bool more_lost = false;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    const auto path = full_path(manifest, manifest.entries[i]);
    if (!there[i] || c_.ports.guard.exists(below(copy.row.place(), path))) continue;
    there[i] = false;
    lost[i] = more_lost = true;
  }
  const auto stamp = c_.ports.guard.stamp(copy.row.place(), manifest, there);
  const auto report = verify_at(id, copy.row.place(), manifest, there, stop);
  if (!report) return;
  const bool adopts = copy.row.kind == TransferKind::kAttach && copy.row.stamp.empty();
  if (adopts && report->fault_count > 0) return refuse(id, differs_there(copy.row.place(), report->faults.front()));
  if (report->fault_count > 0 || !stamp) {
    return fail(id, {Code::kConflict, escape_for_display(base) + " was changed since it was fetched (" +
                                          (stamp ? describe_faults(*report) : stamp.error().message) +
                                          "); move away what differs and run the command again, or choose another " +
                                          "place with --to"});
  }
  if (more_lost) return fetch_lost(id, copy, lost, *stamp);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
  transfer->row.step = TransferStep::kHold;
  if (!adopts) transfer->row.source = "local";
  while (const auto* part = adopts ? held_beside(transfer->row) : nullptr) {  // it is among what was looked at
    const TransferId part_id = part->row.id;
    c_.forget(part_id);
  }
  transfer->row.stamp = *stamp;
  transfer->row.verified = transfer->row.fetched = c_.ports.clock.wall();
  c_.settle_hold(*transfer);
  c_.book.save_or_log(*transfer);
}

/// Lock held. What is whole becomes a transfer of its own.
Status GetFlow::keep_part(const Transfer& transfer, const metainfo::Manifest& manifest, const std::vector<bool>& lost,
                          const std::string& stamp) {
  TransferRow part = transfer.row;
  part.id = TransferId::make(c_.ports.clock.wall(), c_.ports.rng);
  part.step = TransferStep::kHold;
  part.unmarked = false;
  part.old_place = {};
  part.lost = lost;
  part.stamp = stamp;
  part.verified = c_.ports.clock.wall();
  part.checksums_due = false;
  part.peers.clear();  // they are the other's
  part.received_bytes = part.sent_bytes = part.redundant_bytes = 0;
  if (const auto held = held_entries(manifest, part.globs, lost); held) {
    part.wanted_bytes = part.verified_bytes = wanted_bytes(manifest, *held);
  }
  auto& kept = c_.book.insert(std::move(part));
  kept.barred = true;
  const Status saved = c_.book.save(kept);
  if (!saved) c_.book.erase(kept.row.id);
  return saved;
}

/// What is whole stays the list's, and this one adds what is missing to it, as any further get does. Of a folder that
/// somebody made for this get nothing stays: cancelled, it would leave a transfer behind that has no file.
void GetFlow::fetch_lost(const TransferId& id, const Copy& copy, const std::vector<bool>& lost,
                         const std::string& stamp) {
  const auto& manifest = copy.metadata->manifest;
  {
    const auto lock = c_.book.lock();
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
    while (const auto* earlier = held_beside(transfer->row)) {  // of a check that a crash cut off
      const TransferId earlier_id = earlier->row.id;
      c_.forget(earlier_id);
    }
    TransferRow after = transfer->row;
    after.kept_globs = after.globs;
    after.kept_lost = lost;
    const bool adopts = after.kind == TransferKind::kAttach && after.stamp.empty();
    if (!adopts || !fills_empty_folders(manifest, after)) {
      if (const auto kept = keep_part(*transfer, manifest, lost, stamp); !kept) {
        c_.fail(*transfer, kept.error());
        return;
      }
    }
    // What people are told at the end is of this fetch.
    c_.take_out_of_engine(*transfer);
    transfer->earlier_received = transfer->earlier_redundant = 0;
    auto& row = transfer->row;
    row.received_bytes = row.redundant_bytes = 0;
    row.fetch_time = {};
    row.kept_globs = row.globs;
    row.kept_lost = lost;
    row.lost.clear();
    row.stamp.clear();  // it is not known to be whole any more
    row.verified_bytes = 0;
    if (const auto wanted = entries_to_fetch(manifest, row); wanted) {
      transfer->wanted = *wanted;
      row.wanted_bytes = wanted_bytes(manifest, *wanted);
    }
  }
  fetch_instead(id, "some of it is gone");
}

void GetFlow::copy_from_old(const TransferId& id, const TransferRow& old, const std::string& stamp, WallTime verified,
                            std::stop_token stop) {
  const auto copy = loaded(id);
  if (!copy) return;
  const auto& manifest = copy->metadata->manifest;
  StagingPlan staging = staging_of(copy->row, copy->wanted);
  staging.copied_base = old.base_name;
  if (const auto prepared = c_.ports.files.prepare(staging, manifest); !prepared) return fail(id, prepared.error());
  const auto copied = c_.ports.files.copy_into_staging(old.place(), staging, manifest, job_progress(id), stop);
  if (!copied) {
    if (copied.error().code != Code::kCancelled) fail(id, copied.error());
    return;
  }
  const MetadataPtr there = with_base_name(copy->metadata, old.base_name);
  const auto stamp_after = c_.ports.guard.stamp(old.place(), there->manifest, copy->wanted);
  if (!stamp_after || *stamp_after != stamp) {
    return fail(id, {Code::kConflict, escape_for_display(join_path(old.target, old.base_name)) +
                                          " changed while it was copied; run the command again"});
  }
  {
    const auto lock = c_.book.lock();
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
    transfer->row.step = TransferStep::kCommit;
    transfer->row.source = "local";
    transfer->row.verified = verified;
    c_.book.save_or_log(*transfer);
  }
  commit(id, stop);
}

void GetFlow::fetch_instead(const TransferId& id, const std::string& why) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
  c_.log(NodeLogLevel::kInfo, display_name(transfer->row) + " is fetched again: " + why);
  if (transfer->row.content.withdrawn) {
    c_.fail(*transfer, {Code::kNotFound, display_name(transfer->row) + " was withdrawn by its owner"});
    c_.settle_siblings(transfer->row.content.id);
  } else {
    c_.take_out_of_engine(*transfer);
    transfer->row.step = TransferStep::kPrepare;
    transfer->row.old_place = {};
    transfer->row.source.clear();
    transfer->row.kind = TransferKind::kGet;
    if (!transfer->row.adds()) transfer->row.follow_links = false;
    transfer->announce.soon(c_.ports.clock.mono());
  }
  c_.book.save_or_log(*transfer);
}

void GetFlow::start_finish(Transfer& transfer) {
  if (transfer.row.step == TransferStep::kFetch) {
    transfer.row.step = TransferStep::kVerify;
    c_.book.touch(transfer);
  }
  c_.start_job(transfer, c_.heavy, [this](const TransferId& id, const std::stop_token& stop) { finish(id, stop); });
}

void GetFlow::finish(const TransferId& id, std::stop_token stop) {
  const MonoTime begun = c_.ports.clock.mono();
  const auto copy = copy_of(id);
  if (!copy) return;
  if (copy->row.step == TransferStep::kVerify && !verify_roots(id, stop)) return;
  // By the engine's own descriptor, which is told of failed writes that somebody else's sync saw first.
  if (copy->in_engine) save_resume(id, false);
  commit(id, stop);
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kHold) return;
  c_.history.finished(transfer->row.wanted_bytes,
                      std::chrono::duration_cast<std::chrono::milliseconds>(c_.ports.clock.mono() - begun));
}

bool GetFlow::verify_roots(const TransferId& id, std::stop_token stop) {
  const auto copy = loaded(id);
  if (!copy) return false;
  auto verifier = copy->verifier;
  if (!verifier) {
    verifier = make_owned_verifier(c_.ports.files, staging_of(copy->row, copy->wanted).staging_folder(), copy->metadata,
                                   copy->wanted);
  }
  const auto report = verifier->finish(stop, job_progress(id));
  if (!report) {
    if (report.error().code != Code::kCancelled) fail(id, report.error());
    return false;
  }
  if (report->fault_count > 0) {
    roots_differ(id, *report);
    return false;
  }
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kVerify) return false;
  transfer->row.step = TransferStep::kCommit;
  transfer->row.verified = c_.ports.clock.wall();
  if (transfer->row.source.empty()) transfer->row.source = "swarm";
  note_counters(*transfer, c_.ports.clock.mono());
  transfer->clock_runs = false;
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
  return true;
}

/// The pieces had the right SHA-1 when they came, so the disk lost something since, or the manifest contradicts its
/// pieces. Hash what is there again and fetch what is wrong; where that does not help, say so.
void GetFlow::roots_differ(const TransferId& id, const VerifyReport& report) {
  {
    const auto lock = c_.book.lock();
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step != TransferStep::kVerify) return;
    if (++transfer->verify_rounds < kMaxVerifyRounds) {
      c_.log(NodeLogLevel::kWarning,
             display_name(transfer->row) + " differs from its roots, checking again: " + describe_faults(report));
      c_.take_out_of_engine(*transfer);
      transfer->recheck = true;
      transfer->row.step = TransferStep::kFetch;
      transfer->notice = "some files did not verify and are fetched again";
      transfer->notice_at = c_.ports.clock.mono();
      c_.book.save_or_log(*transfer);
      return;
    }
  }
  const auto copy = copy_of(id);
  if (!copy) return;
  fail(id, {Code::kCorrupt, display_name(copy->row) + " failed verification: " + describe_faults(report) +
                                "; cancel the transfer and get it again, or tell its publisher"});
}

/// Whether what an addition found in place is as it was when it was last known to be whole. True where it is no
/// addition.
bool GetFlow::kept_is_untouched(const TransferId& id, const metainfo::Manifest& manifest) {
  TransferRow part;
  {
    const auto lock = c_.book.lock();
    const auto* transfer = c_.book.find(id);
    if (transfer == nullptr || !transfer->row.adds()) return true;
    const auto* held = held_beside(transfer->row);
    if (held == nullptr) return fills_empty_folders(manifest, transfer->row);
    part = held->row;
  }
  const auto wanted = held_entries(manifest, part.globs, part.lost);
  if (!wanted) return false;
  const auto stamp = c_.ports.guard.stamp(part.place(), manifest, *wanted);
  return stamp && *stamp == part.stamp;
}

void GetFlow::fetch_again(const TransferId& id) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCommit) return;
  transfer->row.step = TransferStep::kFetch;
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

void GetFlow::note_lost_writes(const TransferId& id) {
  const auto lock = c_.book.lock();
  if (auto* transfer = c_.book.find(id)) transfer->lost_writes = true;
}

void GetFlow::commit(const TransferId& id, const std::stop_token& stop) {
  const auto copy = loaded(id);
  if (!copy) return;
  const auto& manifest = copy->metadata->manifest;
  const auto staging = staging_of(copy->row, copy->wanted);
  // A commit that was begun is ended first, and what it placed is verified.
  if (copy->lost_writes && !copy->recheck) return fetch_again(id);
  if (const auto away = commit_away(copy->row)) return hold_back(id, *away);
  const bool kept_untouched = kept_is_untouched(id, manifest);
  std::optional<Exchange> exchange;
  if (staging.replaces && !exchange.emplace(c_.book, copy->row)) return;
  if (staging.beside) {
    // It is added to the engine anew afterwards, with what was there before; until then no file of it may be open.
    const auto lock = c_.book.lock();
    if (auto* transfer = c_.book.find(id)) c_.take_out_of_engine(*transfer);
  }
  const auto committed = staging.replaces ? exchange_update(id, *copy, stop) : c_.ports.files.commit(staging, manifest);
  if (!committed) {
    if (staging.replaces) settle_earlier(copy->row);
    if (committed.error().code == Code::kDisk) {
      note_lost_writes(id);
      return fail(id, mend_the_disk(id, committed.error()));
    }
    if (committed.error().code != Code::kCancelled) fail(id, committed.error());
    return;
  }
  // What was changed meanwhile is not answered for.
  const bool joins = staging.beside && kept_untouched;
  const auto globs = joins ? joined_globs(copy->row.kept_globs, copy->row.globs) : copy->row.globs;
  auto lost = Result<std::vector<bool>>(std::vector<bool>());
  if (joins) {
    const auto kept = held_entries(manifest, copy->row.kept_globs, copy->row.kept_lost);
    if (!kept) return fail(id, kept.error());
    lost = entries_beyond(manifest, globs, *kept, copy->wanted);
    if (!lost) return fail(id, lost.error());
  }
  const auto all = staging.beside ? held_entries(manifest, globs, *lost) : copy->wanted;
  if (!all) return fail(id, all.error());
  if (copy->in_engine && !staging.beside) {
    if (const auto moved = c_.ports.engine.set_save_path(id, copy->row.place()); !moved) {
      c_.log(NodeLogLevel::kWarning, "seeding " + display_name(copy->row) + ": " + moved.error().message);
      const auto lock = c_.book.lock();
      if (auto* transfer = c_.book.find(id)) c_.take_out_of_engine(*transfer);
    }
  }
  const auto stamp = c_.ports.guard.stamp(copy->row.place(), manifest, *all);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCommit) return;
  if (exchange) exchange->end();
  if (staging.beside) {
    // What lay there before stays somebody's own, also where it was changed meanwhile.
    for (const auto& [other_id, other] : c_.book.all()) {
      const TransferRow& own = transfer->row;
      const bool beside = other_id != id && is_same_there(other->row, own.content, own.target, own.base_name);
      if (beside && !other->row.stamp.empty()) note_adopted(transfer->row, other->row, manifest);
    }
    while (const auto* part = joins ? held_beside(transfer->row) : nullptr) {
      const TransferId part_id = part->row.id;
      transfer->row.verified = std::min(transfer->row.verified, part->row.verified);
      c_.forget(part_id);
    }
    transfer->row.globs = globs;
    transfer->row.lost = *lost;
    transfer->row.kept_globs.clear();
    transfer->row.kept_lost.clear();
    transfer->row.wanted_bytes = transfer->row.verified_bytes = wanted_bytes(manifest, *all);
    transfer->wanted = *all;
  }
  // After a crash, or a sync that failed meanwhile, what stands there is not known to be what was moved.
  const bool in_doubt = transfer->recheck || transfer->lost_writes || !kept_untouched;
  transfer->row.step = in_doubt ? TransferStep::kAttach : TransferStep::kHold;
  transfer->row.unmarked = false;  // it has no staging folder any more
  transfer->recheck = false;
  const TransferId replaced = std::exchange(transfer->row.replaces, {});
  if (const auto* old = replaced.is_nil() ? nullptr : c_.book.find(replaced)) note_owner(transfer->row, old->row);
  transfer->row.stamp = stamp ? *stamp : "unknown";  // never empty: what was moved is not fetched again
  transfer->row.error.reset();
  if (receive_limit(*transfer) > 0 && transfer->in_engine) c_.ports.engine.set_rate_limit(id, 0, 0);
  transfer->row.limit_bits_per_s = transfer->tuner_limit = 0;  // the fetch's; a seeding transfer gets its own
  transfer->row.wish.target_bits_per_s = transfer->row.wish.floor_bits_per_s = 0;
  note_arrival(*transfer);
  transfer->notice.clear();
  transfer->waiting_for.clear();
  c_.events.set_verifier(id, nullptr);
  transfer->verifier.reset();
  transfer->metadata.reset();
  transfer->file_sizes.reset();
  transfer->announce.soon(c_.ports.clock.mono());
  transfer->plan_due = true;
  note_counters(*transfer, c_.ports.clock.mono());
  transfer->clock_runs = false;
  if (transfer->row.step == TransferStep::kHold) c_.settle_hold(*transfer);
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
  if (auto* old = replaced.is_nil() ? nullptr : c_.book.find(replaced)) {
    if (const auto ended = c_.give_up(*old, /*may_have_staging=*/false); !ended) {
      c_.log(NodeLogLevel::kError, "transfer " + replaced.str() + " cannot be ended: " + ended.error().message);
    }
  }
  c_.log(NodeLogLevel::kInfo, display_name(transfer->row) + " is complete at " +
                                  escape_for_display(join_path(transfer->row.target, transfer->row.base_name)));
}

}  // namespace gridtorrent::client
