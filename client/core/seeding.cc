#include "client/core/seeding.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

/// So often files that are not there are looked for: a disk may be mounted at any time. A look is one system call.
constexpr std::chrono::seconds kLookAgain{30};
/// The stamp of what is verified before it is seeded, whatever it looks like.
constexpr std::string_view kToVerify = "unknown";

std::string trimmed(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool names(const TransferRow& row, const std::string& reference) {
  return reference == row.content.id.str() || reference == row.content.name || reference == display_name(row);
}

}  // namespace

/// In the folder `place` under the name that was published, or `place` itself, whatever it is called.
Result<SeedingFlow::Found> SeedingFlow::find_files(const metainfo::Manifest& manifest, const Place& place) {
  const auto& base = manifest.base_name;
  if (c_.ports.guard.exists(below(place, base))) return Found{place, base};
  const Place parent = folder_of(place);
  metainfo::Manifest renamed = manifest;
  renamed.base_name = last_component(place.path);
  GT_ASSIGN(const PlaceReport report, c_.ports.files.look_at(parent, renamed, {}));
  const bool itself = c_.ports.guard.exists(place) && (report.files > 0 || (manifest.file_count() == 0));
  if (itself) return Found{parent, renamed.base_name};
  return Error{Code::kNotFound, "there is no '" + escape_for_display(base) + "' at " + escape_for_display(place.path) +
                                    ", and none of its files; give the folder that holds it, or its own path"};
}

/// Whether the files that a person named are all there only by way of links; nothing: they are not all there.
Result<std::optional<bool>> SeedingFlow::lie_behind_links(const metainfo::Manifest& manifest, const Found& found) {
  metainfo::Manifest renamed = manifest;
  renamed.base_name = found.base_name;
  const auto is_whole = [](const PlaceReport& report) { return report.missing == 0 && !report.difference; };
  GT_ASSIGN(const PlaceReport plain, c_.ports.files.look_at(found.parent, renamed, {}));
  if (is_whole(plain)) return std::optional(false);
  GT_ASSIGN(const PlaceReport followed, c_.ports.files.look_at({found.parent.path, "", true}, renamed, {}));
  return is_whole(followed) ? std::optional(true) : std::nullopt;
}

Result<TransferView> SeedingFlow::seed(const std::string& content, const Place& from) {
  if (!from.path.starts_with('/')) {
    return Error{Code::kInvalid, "'" + escape_for_display(from.path) + "' is no absolute path"};
  }
  GT_ASSIGN(const ContentInfo info, c_.ports.link.content(content));
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(info));
  GT_ASSIGN(const Found found, find_files(metadata->manifest, {trimmed(from.path), from.root}));
  std::optional<bool> behind_links = false;
  if (from.root.empty() && metadata->manifest.targets.empty()) {
    GT_ASSIGN(behind_links, lie_behind_links(metadata->manifest, found));
  }
  const auto& [parent, base] = found;

  const auto lock = c_.book.lock();
  for (auto& [id, transfer] : c_.book.all()) {
    auto& row = transfer->row;
    if (row.content.id != info.id || row.content.version != info.version) continue;
    const bool same_place = lies_at(row, parent.path, base);
    if (in_progress(row.step) && !(same_place && row.step == TransferStep::kAttach)) {
      return Error{Code::kConflict, display_name(row) + " is being fetched to " + escape_for_display(row.target) +
                                        " by transfer " + id.str() + ": wait for it, or cancel it"};
    }
    const bool again = same_place && (row.step == TransferStep::kHold || row.step == TransferStep::kFailed ||
                                      row.step == TransferStep::kAttach);
    if (!again || !row.globs.empty() || !row.lost.empty()) continue;
    row.step = TransferStep::kAttach;
    // What a person brought stays a person's, whoever has it seeded: no task may replace it.
    if (row.root.empty() && !parent.root.empty()) row.kind = TransferKind::kAttach;
    row.root = parent.root;
    row.follow_links = behind_links.value_or(row.follow_links);
    row.paused = false;
    row.error.reset();
    GT_TRY(c_.book.save(*transfer));
    c_.book.touch(*transfer);
    c_.wake();
    return make_view(*transfer);
  }
  TransferRow row;
  row.created = c_.ports.clock.wall();
  row.id = TransferId::make(row.created, c_.ports.rng);
  row.kind = TransferKind::kAttach;
  row.step = TransferStep::kAttach;
  row.content = info;
  row.base_name = base;
  row.target = parent.path;
  row.root = parent.root;
  row.follow_links = behind_links.value_or(false);
  row.source = "attached";
  row.wanted_bytes = metadata->manifest.total_bytes();
  auto& transfer = c_.book.insert(std::move(row));
  if (const auto saved = c_.book.save(transfer); !saved) {
    c_.book.erase(transfer.row.id);
    return saved.error();
  }
  c_.wake();
  return make_view(transfer);
}

std::optional<TransferRow> SeedingFlow::row_of(const TransferId& id) {
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return std::nullopt;
  return transfer->row;
}

void SeedingFlow::fail(const TransferId& id, const Error& error) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step == TransferStep::kCancel) return;
  c_.log(NodeLogLevel::kError, display_name(transfer->row) + " is not seeded: " + error.message);
  c_.fail(*transfer, error);
  c_.settle_siblings(transfer->row.content.id);
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

void SeedingFlow::start_hold(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) { hold(id); });
}

bool SeedingFlow::sibling_is_busy(const TransferId& id, const ContentId& content) {
  return std::ranges::any_of(c_.book.all(), [&](const auto& other) {
    return other.first != id && other.second->row.content.id == content && other.second->job_running;
  });
}

void SeedingFlow::hold(const TransferId& id) {
  const auto row = row_of(id);
  if (!row) return;
  const auto metadata = c_.metadata(*row);
  if (!metadata) return fail(id, metadata.error());
  const auto wanted = held_entries((*metadata)->manifest, row->globs, row->lost);
  if (!wanted) return fail(id, wanted.error());
  const auto stamp = c_.ports.guard.stamp(row->place(), (*metadata)->manifest, *wanted);
  const bool away = !stamp && c_.are_away(*row, (*metadata)->manifest, *wanted);
  auto spec = c_.torrent_spec(*row, **metadata, *wanted);
  spec.save_path = row->place();
  spec.trust = DiskTrust::kComplete;

  // Null: it is not to be held any more, or under another edition, with which the next round begins anew.
  const auto still_wanted = [&]() -> Transfer* {
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step != TransferStep::kHold || transfer->in_engine || transfer->barred)
      return nullptr;
    return transfer->row.content.generation == spec.generation ? transfer : nullptr;
  };
  auto lock = c_.book.lock();
  auto* transfer = still_wanted();
  if (transfer == nullptr) return;
  transfer->wanted = *wanted;
  if (away) return wait_for_files(*transfer);
  if (!stamp || *stamp != row->stamp) {
    transfer->asleep = false;
    transfer->row.step = TransferStep::kAttach;
    transfer->announce.soon(c_.ports.clock.mono());
    c_.book.save_or_log(*transfer);
    c_.log(NodeLogLevel::kInfo, display_name(transfer->row) + " changed on disk while the node was away: verifying");
    return;
  }
  if (c_.held_in_engine >= c_.options.most_idle_torrents && !transfer->wanted_by_others()) {
    if (!std::exchange(transfer->asleep, true)) transfer->announce.soon(c_.ports.clock.mono());
    return;
  }
  transfer->entering = true;  // others are being decided upon meanwhile
  ++c_.held_in_engine;
  lock.unlock();  // with many TLS editions the engine takes milliseconds for each
  const auto added = c_.ports.engine.add(spec);
  lock.lock();
  if (auto* entered = c_.book.find(id)) entered->entering = false;
  transfer = added ? still_wanted() : nullptr;
  if (transfer == nullptr && c_.held_in_engine > 0) --c_.held_in_engine;
  if (!added) {
    // Another transfer of the same content is just being taken out.
    const bool passes = added.error().code == Code::kConflict && sibling_is_busy(id, row->content.id);
    lock.unlock();
    return passes ? void() : fail(id, added.error());
  }
  if (transfer == nullptr) return c_.ports.engine.remove(id);
  transfer->in_engine = true;
  transfer->asleep = false;
  transfer->wanted_at = c_.ports.clock.mono();
  transfer->engine_generation = spec.generation;
  transfer->audience_shown = spec.audience;
  transfer->plan_due = true;
  transfer->announce.soon(c_.ports.clock.mono());
  if (transfer->row.limit_bits_per_s > 0) {
    c_.ports.engine.set_rate_limit(id, 0, transfer->row.limit_bits_per_s);
  }
}

void SeedingFlow::start_look(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) { look(id); });
}

void SeedingFlow::look(const TransferId& id) {
  const auto row = row_of(id);
  if (!row) return;
  const bool away = is_still_away(*row);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || !transfer->look_again) return;
  if (away) {
    transfer->look_again = c_.ports.clock.mono() + kLookAgain;
    return;
  }
  c_.log(NodeLogLevel::kInfo, "the files of " + display_name(transfer->row) + " are there again");
  transfer->look_again.reset();
  c_.settle_siblings(transfer->row.content.id);
  c_.book.touch(*transfer);
}

bool SeedingFlow::is_still_away(const TransferRow& row) {
  if (c_.is_missing(below(row.place(), row.base_name))) return true;
  const auto metadata = c_.metadata(row);
  const auto wanted =
      metadata ? held_entries((*metadata)->manifest, row.globs, row.lost) : Result<std::vector<bool>>(metadata.error());
  return wanted && c_.are_away(row, (*metadata)->manifest, *wanted);
}

void SeedingFlow::wait_to_verify(const TransferId& id) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kAttach) return;
  transfer->row.step = TransferStep::kHold;
  transfer->row.stamp = kToVerify;
  wait_for_files(*transfer);
}

void SeedingFlow::wait_for_files(Transfer& transfer) {
  transfer.look_again = c_.ports.clock.mono() + kLookAgain;
  c_.settle_only(transfer);
  c_.settle_siblings(transfer.row.content.id);
  c_.log(NodeLogLevel::kWarning, display_name(transfer.row) + " is not seeded: " + transfer.barred_reason);
  transfer.announce.soon(c_.ports.clock.mono());
  c_.book.save_or_log(transfer);
  c_.book.touch(transfer);
}

bool SeedingFlow::has_lost_writes(const TransferId& id) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  return transfer != nullptr && std::exchange(transfer->lost_writes, false);
}

void SeedingFlow::start_attach(Transfer& transfer) {
  c_.start_job(transfer, c_.heavy, [this](const TransferId& id, const std::stop_token& stop) { attach(id, stop); });
}

void SeedingFlow::doubt(Transfer& transfer, const std::string& why) {
  c_.log(NodeLogLevel::kWarning, display_name(transfer.row) + " cannot be seeded (" + why + "): verifying its files");
  c_.take_out_of_engine(transfer);
  transfer.row.step = TransferStep::kAttach;
  transfer.announce.soon(c_.ports.clock.mono());
  c_.book.save_or_log(transfer);
  c_.book.touch(transfer);
}

void SeedingFlow::attach(const TransferId& id, std::stop_token stop) {
  const auto row = row_of(id);
  if (!row) return;
  const auto metadata = c_.metadata(*row);
  if (!metadata) return fail(id, metadata.error());
  const auto wanted = held_entries((*metadata)->manifest, row->globs, row->lost);
  if (!wanted) return fail(id, wanted.error());
  const auto path = join_path(row->target, row->base_name);
  const auto stamp = c_.ports.guard.stamp(row->place(), (*metadata)->manifest, *wanted);
  const auto goes_away = [&] { return !row->stamp.empty() && c_.are_away(*row, (*metadata)->manifest, *wanted); };
  if (!stamp && goes_away()) return wait_to_verify(id);
  if (!stamp) return fail(id, stamp.error());
  if (has_lost_writes(id)) c_.ports.files.drop_cached(row->place(), (*metadata)->manifest, *wanted);
  const auto progress = [this, id](std::uint64_t done, std::uint64_t total) {
    const auto lock = c_.book.lock();
    if (auto* transfer = c_.book.find(id)) {
      transfer->job_done = done;
      transfer->job_total = total;
      c_.book.touch(*transfer);
    }
  };
  const auto report = c_.ports.files.verify(row->place(), (*metadata)->manifest, *wanted, progress, stop);
  if (!report) {
    if (report.error().code == Code::kCancelled) return;
    return fail(id, report.error());
  }
  if (report->fault_count > 0 && goes_away()) return wait_to_verify(id);
  if (report->fault_count > 0) {
    return fail(
        id, {Code::kCorrupt, escape_for_display(path) + " is not what was published as " + display_name(*row) + " (" +
                                 describe_faults(*report) + "); put the files right and `gridtorrent seed --from " +
                                 shell_word(path) + " " + shell_arguments({display_name(*row)}) +
                                 "`, or move away what differs and get it again to the same place"});
  }
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kAttach) return;
  transfer->wanted = *wanted;
  transfer->row.step = TransferStep::kHold;
  transfer->row.stamp = *stamp;
  transfer->row.verified = c_.ports.clock.wall();
  transfer->row.error.reset();
  c_.settle_hold(*transfer);
  c_.book.save_or_log(*transfer);
}

Result<SeedingFlow::Held> SeedingFlow::what_to_verify(const std::string& content, const std::string& path) {
  const auto place = trimmed(path);
  {
    std::optional<Held> known, doubtful;
    const auto lock = c_.book.lock();
    for (const auto& [id, transfer] : c_.book.all()) {
      const auto& row = transfer->row;
      const bool has_files =
          row.step == TransferStep::kHold || row.step == TransferStep::kAttach || row.step == TransferStep::kFailed;
      if (!has_files || row.unpublished) continue;
      const bool by_name = !content.empty() && place.empty() && names(row, content);
      const bool by_path = content.empty() && place == join_path(row.target, row.base_name);
      if (!by_name && !by_path) continue;
      // Another content may have the name of one that was withdrawn.
      const bool sure = row.step == TransferStep::kHold && !(by_name && row.content.withdrawn);
      // Where a get brought a later version to the place of one, what lies there is the later one.
      auto& found = sure ? known : doubtful;
      const bool later = found && found->content.id == row.content.id && found->content.version < row.content.version;
      if (!found || later) found = Held{row.content, row.place(), row.base_name};
    }
    if (known) return *known;
    if (doubtful) return *doubtful;
  }
  if (content.empty()) {
    return Error{Code::kNotFound, "this node holds nothing at " + escape_for_display(place) +
                                      "; `gridtorrent transfers` lists what it has"};
  }
  GT_ASSIGN(const ContentInfo info, c_.ports.link.content(content));
  if (place.empty()) {
    const std::string name = info.owner + "/" + info.name;
    return Error{Code::kNotFound, "this node holds no " + name + "; where its files lie here, `gridtorrent seed " +
                                      shell_word(name) + " --from PATH` verifies and serves them"};
  }
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(info));
  const auto& base = metadata->manifest.base_name;
  const bool in_it = c_.ports.guard.exists(join_path(place, base));
  const Held held = in_it ? Held{info, place, base} : Held{info, parent_folder(place), last_component(place)};
  const auto lock = c_.book.lock();
  for (const auto& [id, transfer] : c_.book.all()) {
    const auto& row = transfer->row;
    const bool is_there = row.content.id == info.id && lies_at(row, held.parent.path, held.base_name);
    if (is_there) return Held{info, row.place(), row.base_name};
  }
  return held;
}

void SeedingFlow::note_verified(const Held& held) {
  const auto lock = c_.book.lock();
  for (auto& [id, transfer] : c_.book.all()) {
    auto& row = transfer->row;
    const bool here = row.content.id == held.content.id && lies_at(row, held.parent.path, held.base_name);
    if (!here || row.step != TransferStep::kHold) continue;
    row.verified = c_.ports.clock.wall();
    c_.book.save_or_log(*transfer);
    transfer->announce.soon(c_.ports.clock.mono());
  }
  c_.wake();
}

Result<VerifyOutcome> SeedingFlow::verify(const std::string& content, const std::string& path, bool sha256,
                                          const ProgressFn& progress, std::stop_token stop) {
  GT_ASSIGN(const Held held, what_to_verify(content, path));
  GT_ASSIGN(const MetadataPtr published, c_.metadata(held.content));
  const MetadataPtr metadata = with_base_name(published, held.base_name);
  VerifyOutcome outcome;
  outcome.content = held.content.id;
  outcome.name = held.content.owner + "/" + held.content.name;
  std::vector<std::string> globs;
  {
    const auto lock = c_.book.lock();
    const TransferRow* there = nullptr;  // what is being added is not there yet
    for (const auto& [id, transfer] : c_.book.all()) {
      const auto& row = transfer->row;
      if (row.content.id != held.content.id || !lies_at(row, held.parent.path, held.base_name)) continue;
      if (there == nullptr || row.step == TransferStep::kHold) there = &row;
    }
    if (there != nullptr) globs = there->globs;
  }
  GT_ASSIGN(const std::vector<bool> wanted, wanted_entries(metadata->manifest, globs));
  GT_ASSIGN(outcome.report, c_.ports.files.verify(held.parent, metadata->manifest, wanted, progress, stop));
  if (outcome.report.fault_count > 0) {
    const auto lock = c_.book.lock();
    for (auto& [id, transfer] : c_.book.all()) {
      const auto& row = transfer->row;
      const bool here = row.content.id == held.content.id && lies_at(row, held.parent.path, held.base_name);
      if (here && transfer->row.step == TransferStep::kHold) doubt(*transfer, describe_faults(outcome.report));
    }
    c_.wake();
    return outcome;
  }
  note_verified(held);
  if (!sha256) return outcome;
  GT_ASSIGN(const auto digests, c_.ports.files.flat_sha256(held.parent, metadata->manifest, {}, progress, stop));
  for (std::size_t i = 0; i < digests.size() && i < metadata->manifest.entries.size(); ++i) {
    if (!digests[i]) continue;
    outcome.digests.emplace_back(metainfo::full_path(metadata->manifest, metadata->manifest.entries[i]), *digests[i]);
  }
  return outcome;
}

}  // namespace gridtorrent::client
