// A get that puts a version in the place of an earlier one that this node holds.
#include "client/core/get_job.h"
#include "client/core/plan_input.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

std::string version_name(const ContentInfo& content) {
  return "version " + std::to_string(content.version) + " of " + content.owner + "/" + content.name;
}

/// What is held somewhere, be it that it is in doubt.
bool has_files(const TransferRow& row) {
  if (row.unpublished) return false;
  const bool in_doubt = row.step == TransferStep::kFailed || row.step == TransferStep::kAttach;
  return row.step == TransferStep::kHold || (in_doubt && !row.stamp.empty());
}

/// A task replaces what tasks brought below its root and nothing else: what a person fetched, published or had there
/// before is not the server's to take away.
bool may_give_way(const TransferRow& row, const GetJob& job) {
  if (job.root.empty()) return true;
  return row.root == job.root && row.kind == TransferKind::kGet &&
         std::ranges::find(row.adopted, true) == row.adopted.end();
}

/// It lies where the job says; what that leaves out may be anything.
bool is_meant(const TransferRow& row, const GetJob& job) {
  return (job.target.empty() || row.target == job.target) && (job.base_name.empty() || row.base_name == job.base_name);
}

Error changed_here(const TransferRow& before, const ContentInfo& next, const std::string& what) {
  return {Code::kConflict, what + ", since " + version_name(before.content) +
                               " came here, so nothing is replaced: put that right, or move " +
                               escape_for_display(join_path(before.target, before.base_name)) +
                               " away as a whole, and run the command again; or get version " +
                               std::to_string(next.version) + " to another folder with --to, without --update"};
}

}  // namespace

/// The transfer whose files give way, or that of the wished version where it is here already.
Result<TransferRow> GetFlow::earlier_at(const Request& request) {
  const auto lock = c_.book.lock();
  std::vector<const TransferRow*> earlier;
  const TransferRow* same = nullptr;
  for (const auto& [id, other] : c_.book.all()) {
    const TransferRow& row = other->row;
    if (row.content.id != request.content.id || !is_meant(row, request.job)) continue;
    if (row.content.version == request.content.version) {
      if (in_progress(row.step) || has_files(row)) same = &row;
    } else if (has_files(row) && may_give_way(row, request.job)) {
      earlier.push_back(&row);
    }
  }
  if (same != nullptr && (earlier.empty() || !same->replaces.is_nil())) return *same;
  const std::string name = request.content.owner + "/" + request.content.name;
  if (earlier.empty()) {
    return Error{Code::kNotFound, "this node holds no earlier version of " + name +
                                      (request.job.target.empty() ? std::string() : " in that folder") +
                                      (request.job.root.empty() ? std::string() : " that a task brought") +
                                      "; get it without --update"};
  }
  if (earlier.size() == 1) return *earlier.front();
  std::string places;
  for (const auto* row : earlier) {
    places += (places.empty() ? "" : ", ") + escape_for_display(join_path(row->target, row->base_name));
  }
  return Error{Code::kConflict, "earlier versions of " + name +
                                    " are in several places: say which with --to, or with --as by its name: " + places};
}

/// With the place come its name and the selection.
Status GetFlow::find_replaced(Request& request, const metainfo::Manifest& published) {
  if (!request.job.globs.empty())
    return Error{Code::kInvalid, "--update takes the files that are here; leave out --file"};
  GT_ASSIGN(const TransferRow row, earlier_at(request));
  request.job.target = row.target;
  if (request.job.root.empty()) request.job.root = row.root;
  request.job.base_name = row.base_name;
  request.job.globs = row.globs;
  if (row.content.version == request.content.version) {
    request.replaces = row.replaces;
    return {};
  }
  if (row.follow_links) {
    return Error{Code::kConflict, escape_for_display(join_path(row.target, row.base_name)) +
                                      " has files behind symbolic links, and those are not replaced; get the new "
                                      "version to another folder, with --to and without --update"};
  }
  GT_TRY(nobody_elses(row));
  request.replaces = row.id;
  // A name that somebody chose with --as stays; one that the publisher gave up does not stand for something else.
  GT_ASSIGN(const MetadataPtr before, c_.metadata(row.content));
  const bool as_published = row.base_name == before->manifest.base_name;
  if (!as_published || row.base_name == published.base_name) return {};
  return Error{Code::kConflict, version_name(request.content) + " is called '" +
                                    escape_for_display(published.base_name) + "', what is here '" +
                                    escape_for_display(row.base_name) + "'; get it without --update"};
}

Result<TransferView> GetFlow::decide_update(const Request& request, bool& joined) {
  const auto lock = c_.book.lock();
  GT_ASSIGN(const std::optional<TransferView> existing, join_or_refuse(request, joined));
  if (existing) return *existing;
  GT_TRY(check_seeded(request.content, request.job));
  if (request.content.withdrawn) {
    return Error{Code::kNotFound, request.content.owner + "/" + request.content.name +
                                      " was withdrawn by its owner and is no longer handed out"};
  }
  for (const auto& [id, other] : c_.book.all()) {
    if (other->row.replaces != request.replaces || !in_progress(other->row.step)) continue;
    return Error{Code::kConflict, version_name(other->row.content) + " is about to take that place by transfer " +
                                      id.str() + ": wait for it, or cancel it with `gridtorrent transfer cancel " +
                                      id.str() + "`"};
  }
  auto row = new_row(request);
  row.step = TransferStep::kCheckLocal;
  row.replaces = row.old_place = request.replaces;
  // Who could get at the version before can get at this one, and nobody else.
  const auto* earlier = c_.book.find(request.replaces);
  if (earlier != nullptr) row.umask = earlier->row.umask;
  const TransferId id = row.id;
  auto& transfer = c_.book.insert(std::move(row));
  transfer.metadata = request.metadata;
  transfer.wanted = request.wanted;
  transfer.asked = true;
  if (const auto saved = c_.book.save(transfer); !saved) {
    c_.book.erase(id);
    return saved.error();
  }
  return make_view(transfer);
}

/// What a person did to the files of an earlier version at `place`; nothing where they are as they came.
std::optional<Error> GetFlow::local_change(const TransferId& id, const Copy& copy, const Earlier& earlier,
                                           const Place& place, const std::stop_token& stop) {
  const auto& manifest = earlier.metadata->manifest;
  const auto foreign = c_.ports.files.foreign_path({place, manifest, earlier.held}, true);
  if (!foreign) return foreign.error();
  if (!foreign->empty()) {
    return changed_here(earlier.row, copy.row.content,
                        escape_for_display(join_path(place.path, *foreign)) + " was added");
  }
  const auto stamp = c_.ports.guard.stamp(place, manifest, earlier.held);
  if (stamp && *stamp == earlier.row.stamp) return std::nullopt;
  const auto report = verify_at(id, place, manifest, earlier.held, stop);
  if (!report) return Error{Code::kCancelled, "stopped on request"};
  if (report->fault_count == 0) return std::nullopt;
  return changed_here(earlier.row, copy.row.content, "something was changed (" + describe_faults(*report) + ")");
}

Result<GetFlow::Earlier> GetFlow::earlier_of(const TransferRow& row) {
  const auto old = copy_of(row.replaces);
  if (!old || !has_files(old->row)) {
    return Error{Code::kConflict, "the version that " + version_name(row.content) +
                                      " was to replace is not held by this node any more; get it without --update"};
  }
  Earlier earlier;
  earlier.row = old->row;
  GT_ASSIGN(earlier.metadata, c_.metadata(old->row));
  GT_ASSIGN(earlier.held, held_entries(earlier.metadata->manifest, old->row.globs, old->row.lost));
  return earlier;
}

/// The exchange was done by an attempt that failed or was cut off after it: what is left is the end of the commit.
void GetFlow::end_exchange(const TransferId& id) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
  rest_others(*transfer);
  transfer->row.step = TransferStep::kCommit;
  transfer->row.old_place = {};
  transfer->recheck = true;
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

/// Somebody moved all of it away: the version comes as by any other get.
void GetFlow::replace_nothing(const TransferId& id) {
  {
    const auto lock = c_.book.lock();
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
    c_.forget(std::exchange(transfer->row.replaces, {}));
  }
  fetch_instead(id, "the files of the version before are gone");
}

/// Pool thread: what is the same is taken over, and hashing tells what is left to fetch.
void GetFlow::stage_update(const TransferId& id, const Copy& copy, const std::stop_token& stop) {
  const StagingPlan staging = staging_of(copy.row, copy.wanted);
  const bool is_new = !c_.ports.guard.exists(staging.staging_folder());
  bool begun = !is_new;
  const auto give_up = [&](const Error& error) {
    if (error.code == Code::kCancelled) return;
    if (begun) return fail(id, error);
    refuse(id, error);
  };
  if (c_.ports.files.has_replaced(staging, copy.metadata->manifest)) return end_exchange(id);
  if (c_.is_missing(below(copy.row.place(), copy.row.base_name))) {
    if (!c_.is_missing(copy.row.place())) return replace_nothing(id);
    return give_up({Code::kDisk, escape_for_display(copy.row.target) +
                                     " is not there: is its disk mounted? Run the command again once it is"});
  }
  const auto earlier = earlier_of(copy.row);
  if (!earlier) return give_up(earlier.error());
  const Place place = earlier->row.place();
  if (const auto change = local_change(id, copy, *earlier, place, stop)) return give_up(*change);
  const auto before = c_.ports.guard.stamp(place, earlier->metadata->manifest, earlier->held);
  const auto& manifest = copy.metadata->manifest;
  begun = true;
  if (const auto prepared = c_.ports.files.prepare(staging, manifest); !prepared) return give_up(prepared.error());
  const auto taken = c_.ports.files.stage_local({place, earlier->metadata->manifest, earlier->held}, staging, manifest,
                                                job_progress(id), stop);
  if (!taken) return give_up(taken.error());
  const auto after = c_.ports.guard.stamp(place, earlier->metadata->manifest, earlier->held);
  if (!before || !after || *before != *after) {
    return give_up({Code::kConflict, escape_for_display(join_path(place.path, earlier->row.base_name)) +
                                         " changed while it was copied; run the command again"});
  }
  const auto check = look_at_space(id);
  if (check && check->verdict == DiskVerdict::kNever) return give_up(check->error());
  c_.log(NodeLogLevel::kInfo,
         version_name(copy.row.content) + " takes " + std::to_string(*taken) + " bytes from what is here");
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kCheckLocal) return;
  rest_others(*transfer);
  transfer->row.step = TransferStep::kFetch;
  transfer->row.old_place = {};
  transfer->fresh = false;
  transfer->recheck = true;
  transfer->copied = is_new;  // what an earlier attempt fetched or copied may have been lost
  if (check && check->verdict != DiskVerdict::kEnough) {
    transfer->held_back = true;
    transfer->row.error = check->error();
  }
  c_.book.save_or_log(*transfer);
  c_.book.touch(*transfer);
}

/// The engine knows a version once: the same one elsewhere rests until this one is done.
void GetFlow::rest_others(const Transfer& transfer) {
  for (const auto& [id, other] : c_.book.all()) {
    const auto& row = other->row;
    const bool same = row.content.id == transfer.row.content.id && row.content.version == transfer.row.content.version;
    if (!same || row.step != TransferStep::kHold || id == transfer.row.id) continue;
    c_.take_out_of_engine(*other);
    c_.settle_hold(*other);
  }
}

GetFlow::Exchange::Exchange(TransferBook& book, const TransferRow& update)
    : book_(book), update_(update.id), earlier_(update.replaces) {
  const auto lock = book_.lock();
  const auto* transfer = book_.find(update_);
  begun_ = transfer != nullptr && transfer->row.step == TransferStep::kCommit;
  if (begun_) mark(true);
}

GetFlow::Exchange::~Exchange() {
  const auto lock = book_.lock();
  end();
}

void GetFlow::Exchange::end() {
  if (std::exchange(begun_, false)) mark(false);
}

void GetFlow::Exchange::mark(bool exchanges) {
  for (const TransferId& id : {update_, earlier_}) {
    if (auto* transfer = book_.find(id)) transfer->exchanges = exchanges;
  }
}

/// The exchange came to nothing: it is held again, as far as its files are there.
void GetFlow::settle_earlier(const TransferRow& update) {
  const auto lock = c_.book.lock();
  auto* old = c_.book.find(update.replaces);
  if (old == nullptr || old->row.step != TransferStep::kHold) return;
  old->exchanges = false;
  c_.settle_hold(*old);
}

/// Pool thread: the exchange, which is undone where somebody changed the files of the earlier version meanwhile. What
/// was done before a crash is not done again.
Status GetFlow::exchange_update(const TransferId& id, const Copy& copy, const std::stop_token& stop) {
  const auto& manifest = copy.metadata->manifest;
  StagingPlan staging = staging_of(copy.row, copy.wanted);
  const Place staged = staging.staging_folder();
  if (!c_.ports.guard.exists(staged)) return c_.ports.files.commit(staging, manifest);  // all was done but the row
  GT_ASSIGN(const Earlier earlier, earlier_of(copy.row));
  staging.replaced_mode = left_by_umask(earlier.row.umask, earlier.metadata->manifest.entries.front().mode);
  {
    const auto lock = c_.book.lock();
    if (auto* old = c_.book.find(earlier.row.id)) c_.settle_only(*old);
  }
  if (!c_.ports.files.has_replaced(staging, manifest)) {
    std::optional<Error> trouble;
    if (const Status own = nobody_elses(earlier.row); !own) trouble = own.error();
    if (!trouble) trouble = local_change(id, copy, earlier, earlier.row.place(), stop);
    if (!trouble) {
      if (const auto done = c_.ports.files.commit(staging, manifest); !done) trouble = done.error();
    }
    if (trouble) return *trouble;
  } else {  // a crash came between the exchange and its end
    GT_TRY(c_.ports.files.commit(staging, manifest));
  }
  if (const auto change = local_change(id, copy, earlier, staged, stop)) {
    GT_TRY(c_.ports.files.put_back(staging, manifest));
    return *change;
  }
  // All is in its place: what cannot be removed takes room, no more.
  if (const auto removed = c_.ports.files.discard(staging); !removed) {
    c_.log(NodeLogLevel::kWarning,
           "what gave way to " + version_name(copy.row.content) + " stays behind: " + removed.error().message);
  }
  return {};
}

}  // namespace gridtorrent::client
