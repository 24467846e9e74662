// What a get asks for, and what is there already: before anything is begun.
#include <algorithm>
#include <array>
#include <string_view>

#include "client/core/get_job.h"
#include "client/core/plan_input.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

std::string shown_place(const Place& parent, const std::string& path) {
  return "'" + escape_for_display(path.starts_with('/') ? path : join_path(parent.path, path)) + "'";
}

/// What programs look for in a home folder though it has no dot: shells' start-up files put `bin` in front of the PATH,
/// R loads packages from below `R`, web servers show `public_html`. What a person has to open first is not among them.
constexpr std::array<std::string_view, 3> kUsedAtHome{"bin", "R", "public_html"};

/// Whether programs may use what is called so without being asked. Who asks for a content by that name knows of it.
bool is_used_unasked(const std::string& base, const ContentInfo& content) {
  if (base.starts_with('.')) return true;
  return base != content.name && std::ranges::find(kUsedAtHome, base) != kUsedAtHome.end();
}

constexpr char kOutOfTheWay[] = "; move it away, choose another folder with --to, or another name with --as";

}  // namespace

Error differs_there(const Place& parent, const EntryFault& fault) {
  return {Code::kConflict,
          shown_place(parent, fault.path) + " already exists and is not right: " + fault.reason + kOutOfTheWay};
}

Result<GetFlow::Request> GetFlow::make_request(const GetJob& job) {
  const bool anywhere = job.update && job.target.empty();
  if (!anywhere && !job.target.starts_with('/')) {
    return Error{Code::kInvalid, "the target '" + escape_for_display(job.target) + "' is no absolute path"};
  }
  if (!job.base_name.empty()) {
    const Status valid = metainfo::validate_component(job.base_name);
    if (!valid) return valid.error().with_context("--as");
  }
  Request request;
  request.job = job;
  GT_ASSIGN(request.wish, changed_and_checked({}, job.wish, job.limit_bits_per_s, c_.options.tuning.tuner));
  while (request.job.target.size() > 1 && request.job.target.ends_with('/')) request.job.target.pop_back();
  GT_ASSIGN(request.content, c_.ports.link.content(job.content, job.version));
  GT_ASSIGN(const MetadataPtr published, c_.metadata(request.content));
  if (job.update) GT_TRY(find_replaced(request, published->manifest));
  GT_ASSIGN(ChosenFiles chosen, choose_files(published->manifest, request.job.globs));
  request.metadata = with_base_name(published, request.job.base_name);
  request.wanted = std::move(chosen.wanted);
  request.job.globs = std::move(chosen.globs);
  request.unmatched = std::move(chosen.unmatched);
  return request;
}

/// It is the publisher who chose the name. In a folder that this get makes nothing looks for it.
Status GetFlow::check_hidden(const Request& request) {
  const auto& base = request.base_name();
  if (request.job.allow_hidden || !request.job.base_name.empty()) return {};
  if (!is_used_unasked(base, request.content)) return {};
  const Place target{request.job.target, request.job.root};
  if (!c_.ports.guard.exists(target)) return {};
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, transfer] : c_.book.all()) {  // allowed before: the same get again
      const auto& row = transfer->row;
      const bool same = row.content.id == request.content.id && lies_at(row, target.path, base);
      if (same && row.step != TransferStep::kCancel && row.step != TransferStep::kForgotten) return {};
    }
  }
  return Error{Code::kDenied, request.content.owner + "/" + request.content.name + " would land as " +
                                  (base.starts_with('.') ? "the hidden " : "") +
                                  escape_for_display(join_path(target.path, base)) +
                                  ", which programs may read unasked: name a folder with --to that is not there yet" +
                                  (target.root.empty() ? ", or allow it with --allow-hidden" : "")};
}

/// What is held of a content at a place, but by the transfer `except`; lock held.
const Transfer* GetFlow::held_at(const ContentInfo& content, const std::string& target, const std::string& base_name,
                                 const TransferId& except) {
  for (const auto& [id, other] : c_.book.all()) {
    const auto& row = other->row;
    if (id != except && row.step == TransferStep::kHold && is_same_there(row, content, target, base_name)) {
      return other.get();
    }
  }
  return nullptr;
}

/// Whether what an earlier transfer brought to the wished place is as it was when it was known to be whole. Without the
/// lock: looks at every file.
void GetFlow::look_at_part(Request& request) {
  const Place target{request.job.target, request.job.root};
  request.part_is_gone = !c_.ports.guard.exists(below(target, request.base_name()));
  TransferRow part;
  {
    const auto lock = c_.book.lock();
    const auto* held = held_at(request.content, request.job.target, request.base_name(), TransferId());
    if (held == nullptr) return;
    part = held->row;
  }
  request.part = part.id;
  request.part_globs = part.globs;
  request.part_lost = part.lost;
  request.part_came = part.kind == TransferKind::kGet && std::ranges::find(part.adopted, true) == part.adopted.end();
  const auto& manifest = request.metadata->manifest;
  const auto wanted = held_entries(manifest, part.globs, part.lost);
  const auto stamp =
      wanted ? c_.ports.guard.stamp(part.place(), manifest, *wanted) : Result<std::string>(wanted.error());
  request.part_is_whole = stamp && *stamp == part.stamp;
}

/// What is no transfer's is adopted where it is right, and is in the way where it is not. Without the lock: looks at
/// every file.
Status GetFlow::look_for_others(Request& request) {
  if (request.part_is_gone || request.job.refetch) return {};
  const bool known = is_known_at(request);
  if (known && !request.part_is_whole) return {};
  TransferRow row;
  row.target = request.job.target;
  row.root = request.job.root;
  row.globs = request.job.globs;
  if (known) {
    row.kept_globs = request.part_globs;
    row.kept_lost = request.part_lost;
    if (!row.adds()) return {};  // all of it is held
  }
  const auto& manifest = request.metadata->manifest;
  GT_ASSIGN(const std::vector<bool> wanted, entries_to_fetch(manifest, row));
  GT_ASSIGN(const PlaceReport found, c_.ports.files.look_at(row.place(), manifest, wanted));
  if (found.difference) return differs_there(row.place(), *found.difference);
  const bool is_new = found.files == 0 && !known;
  if (is_new && !is_empty_folder(request, row)) {
    return Error{Code::kConflict, shown_place(row.place(), request.base_name()) +
                                      " already exists and is not from this transfer" + kOutOfTheWay};
  }
  const bool adds = found.missing + found.missing_others > 0, came = known && request.part_came;
  if (adds && !came && !is_under_way_at(request)) GT_TRY(nothing_foreign(request, row));
  if (found.files > 0 || is_new) request.found = found;
  return {};
}

/// Some make the folder first, as for rsync and scp. With nothing in it, but for folders of the content, it endangers
/// nobody, and is adopted as something of which all was lost. In somebody else's, files would be that person's to
/// change.
bool GetFlow::is_empty_folder(const Request& request, const TransferRow& row) {
  const auto& manifest = request.metadata->manifest;
  std::vector<bool> folders;
  for (const auto& entry : manifest.entries) folders.push_back(entry.kind == metainfo::EntryKind::kFolder);
  const auto other = c_.ports.files.foreign_path({row.place(), manifest, folders}, true);
  return other && other->empty() && c_.ports.files.is_own_folder(row.place(), request.base_name());
}

/// A transfer adds to that place already, or has failed to: it was looked at when it began.
bool GetFlow::is_under_way_at(const Request& request) {
  const auto lock = c_.book.lock();
  return std::ranges::any_of(c_.book.all(), [&](const auto& one) {
    const TransferRow& row = one.second->row;
    const bool begun = in_progress(row.step) || row.step == TransferStep::kFailed;
    return begun && is_same_there(row, request.content, request.job.target, request.base_name());
  });
}

/// A folder with things that are not of the content is somebody's own, whatever of the content lies in it too: who
/// publishes must not put files there by naming one that many such folders have.
Status GetFlow::nothing_foreign(const Request& request, const TransferRow& row) {
  GT_ASSIGN(const std::string foreign,
            c_.ports.files.foreign_path({row.place(), request.metadata->manifest, {}}, false));
  if (foreign.empty()) return {};
  return Error{Code::kConflict, shown_place(row.place(), foreign) + " is not of " + request.content.owner + "/" +
                                    request.content.name + ", so nothing is added to that folder" + kOutOfTheWay};
}

/// A transfer of this content knows what lies there, or is about to bring it. One that failed to fill an empty folder
/// knows of nothing: what lies there by now is looked at as if for the first time.
bool GetFlow::is_known_at(const Request& request) {
  const auto& manifest = request.metadata->manifest;
  const auto lock = c_.book.lock();
  return std::ranges::any_of(c_.book.all(), [&](const auto& one) {
    const TransferRow& row = one.second->row;
    if (!is_same_there(row, request.content, request.job.target, request.base_name())) return false;
    if (row.step == TransferStep::kFailed) return !row.stamp.empty() || !fills_empty_folders(manifest, row);
    return in_progress(row.step) || row.step == TransferStep::kHold;
  });
}

void GetFlow::refuse(const TransferId& id, const Error& error) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step == TransferStep::kCancel) return;
  c_.log(NodeLogLevel::kWarning, display_name(transfer->row) + " is refused: " + error.message);
  refuse_locked(*transfer, error);
}

/// Nothing of it stays but, where the server may have been told of it, until that is taken back. The error stays for
/// those who watch it.
void GetFlow::refuse_locked(Transfer& transfer, const Error& error) {
  const ContentId content = transfer.row.content.id;
  c_.take_out_of_engine(transfer);
  transfer.row.error = error;
  transfer.discarded = true;
  transfer.swarm.clear();
  if (transfer.announce.claimed) {
    transfer.row.step = TransferStep::kCancel;
    transfer.announce.soon(c_.ports.clock.mono());
    c_.book.save_or_log(transfer);
  } else {
    if (const auto erased = c_.ports.store.erase_transfer(transfer.row.id); !erased)
      c_.log(NodeLogLevel::kError,
             "transfer " + transfer.row.id.str() + " cannot be forgotten: " + erased.error().message);
    transfer.row.step = TransferStep::kForgotten;
    transfer.forget_at = c_.ports.clock.mono() + kRefusedStays;
  }
  c_.book.touch(transfer);
  c_.settle_siblings(content);
  c_.wake();
}

}  // namespace gridtorrent::client
