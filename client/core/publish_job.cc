#include "client/core/publish_job.h"

#include <map>
#include <string_view>

#include "common/hex.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

/// As long may a filesystem's clock stand still between two writes to a file.
constexpr std::chrono::milliseconds kSettledFor{2000};
/// As long may the kernel's clock of files be behind the one that is read here: two of its ticks at 100 Hz.
constexpr std::chrono::milliseconds kClockGrain{20};

bool busy_with_traffic(TransferBook& book) {
  const auto lock = book.lock();
  for (const auto& [id, transfer] : book.all()) {
    if (!transfer->snapshot) continue;
    if (transfer->snapshot->receive_bits_per_s > 0 || transfer->snapshot->send_bits_per_s > 0) return true;
    if (transfer->row.step == TransferStep::kHash && transfer->job_running) return true;
  }
  return false;
}

}  // namespace

std::string name_in(const std::string& reference) {
  return reference.substr(reference.find('/') + 1);
}

std::string kept_access(const PublishRequest& request) {
  if (request.update) return {};
  return request.access.empty() ? "private" : request.access;
}

std::string checkpoint_file(const std::string& data_dir, const TransferId& transfer) {
  return data_dir + "/hashing/" + transfer.str();
}

Result<PublishOutcome> PublishFlow::publish(const PublishJob& job, const ProgressFn& hashing, std::stop_token stop) {
  if (job.path.empty() || job.path.front() != '/') {
    return Error{Code::kInvalid, "'" + escape_for_display(job.path) + "' is no absolute path"};
  }
  bool runs = false;
  auto begun = begin(job, runs);
  // One that was interrupted a moment ago may still be letting go of its files.
  for (int tries = 0; runs && tries < 30 && !stop.stop_requested(); ++tries) {
    c_.pause_for(std::chrono::milliseconds(100), stop);
    begun = begin(job, runs);
  }
  GT_ASSIGN(PublishRow row, std::move(begun));
  if (row.done) return outcome_of(row);
  auto outcome = run(job, row, hashing, stop);
  {
    const auto lock = c_.book.lock();
    running_.erase(row.request_id);
  }
  if (!outcome) drop_view(row.transfer);
  return outcome;
}

Result<PublishRow> PublishFlow::begin(const PublishJob& job, bool& runs) {
  runs = false;
  const auto lock = c_.book.lock();
  GT_ASSIGN(const std::vector<PublishRow> known, c_.ports.store.publishes());
  const std::string access = kept_access(job.request);
  PublishRow row;
  for (const auto& other : known) {
    const bool same_request = !job.request.request_id.empty() && other.request_id == job.request.request_id;
    const bool same_work =
        !other.done && other.path == job.path && other.name == job.request.name && other.access == access;
    if (same_request || (same_work && row.request_id.empty())) row = other;
    if (same_request) break;
  }
  if (row.done) return row;
  if (row.lasting) {
    return Error{Code::kConflict, escape_for_display(row.path) + " is being published as " + row.name +
                                      " by transfer " + row.transfer.str() + ": `gridtorrent transfer wait " +
                                      row.transfer.str() + "` waits for it"};
  }
  if (row.request_id.empty()) {
    row.created = c_.ports.clock.wall();
    row.request_id =
        job.request.request_id.empty() ? make_request_id(row.created, c_.ports.rng) : job.request.request_id;
    row.path = job.path;
    row.name = job.request.name;
    row.access = access;
    row.transfer = TransferId::make(row.created, c_.ports.rng);
    GT_TRY(c_.ports.store.put_publish(row));
  }
  row.rules = job.rules;
  runs = !running_.insert(row.request_id).second;
  if (runs) {
    return Error{Code::kConflict, escape_for_display(job.path) + " is being published as " + job.request.name +
                                      " already; watch it with `gridtorrent transfers`"};
  }
  return row;
}

Result<PublishOutcome> PublishFlow::run(const PublishJob& job, PublishRow row, const ProgressFn& hashing,
                                        std::stop_token stop) {
  const auto started = c_.ports.clock.mono();
  const auto ticket = begin_at_server(job, row, stop);
  if (!ticket) {
    const bool away = ticket.error().code == Code::kUnreachable || ticket.error().code == Code::kTimeout;
    if (!away) GT_TRY(c_.ports.store.erase_publish(row.request_id));
    return ticket.error();
  }
  {
    TransferRow view;
    view.id = row.transfer;
    view.kind = TransferKind::kPublish;
    view.step = TransferStep::kHash;
    view.content.id = ticket->content;
    view.content.version = ticket->version;
    view.content.name = job.request.update ? name_in(job.request.name) : job.request.name;
    view.content.owner = c_.options.owner;
    view.target = parent_folder(job.path);
    view.base_name = last_component(job.path);
    view.source = "published";
    view.created = row.created;
    const auto lock = c_.book.lock();
    auto& transfer = c_.book.insert(std::move(view));
    transfer.job_running = transfer.active = true;
  }
  const auto progress = [&](std::uint64_t done, std::uint64_t total) {
    {
      const auto lock = c_.book.lock();
      if (auto* transfer = c_.book.find(row.transfer)) {
        transfer->job_done = done;
        transfer->job_total = total;
        c_.book.touch(*transfer);
      }
    }
    if (hashing) hashing(done, total);
  };
  if (job.as_before) GT_TRY(take_rules_before(row, ticket->content));
  HashRequest hash_request{
      Place{job.path, job.root}, job.strict, checkpoint_file(c_.options.data_dir, row.transfer), row.rules, {}};
  note_known(hash_request, ticket->content);
  GT_ASSIGN(HashedTree tree, c_.ports.files.hash_tree(hash_request, progress, stop));
  restore_modes(tree, row.transfer, ticket->content);
  const WallTime hashed = c_.ports.clock.wall();
  const std::string stamp = stamp_of(job.root, row, tree);
  GT_ASSIGN(const ContentInfo content, finish_at_server(row, *ticket, tree, stop));
  GT_TRY(keep(job.root, row, content, tree, hashed, stamp));
  c_.wake();
  auto outcome = outcome_of(row);
  outcome.warnings = tree.warnings;
  outcome.unchanged_files = tree.unchanged_files;
  outcome.unchanged_bytes = tree.unchanged_bytes;
  outcome.read_bytes = tree.read_bytes;
  outcome.unchanged = content.version < ticket->version;
  if (job.as_before && row.rules != job.rules) outcome.rules_as_before = rules_text(row.rules);
  outcome.elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(c_.ports.clock.mono() - started);
  return outcome;
}

/// Whoever asked can wait for a busy server, but learns at once that there is none.
Result<PublishTicket> PublishFlow::begin_at_server(const PublishJob& job, const PublishRow& row,
                                                   const std::stop_token& stop) {
  PublishRequest request = job.request;
  request.request_id = row.request_id;
  for (int failures = 1;; ++failures) {
    auto ticket = c_.ports.link.begin_publish(request);
    if (ticket || ticket.error().code != Code::kBusy) return ticket;
    c_.pause_for(c_.retry_pause(failures), stop);
    if (stop.stop_requested()) return Error{Code::kCancelled, "publishing " + row.name + " was cancelled"};
  }
}

Result<ContentInfo> PublishFlow::finish_at_server(const PublishRow& row, const PublishTicket& ticket,
                                                  const HashedTree& tree, std::stop_token stop) {
  for (int failures = 1;; ++failures) {
    auto content = c_.ports.link.finish_publish(row.request_id, ticket, tree.metadata);
    if (content) return content;
    const auto code = content.error().code;
    if (!may_pass(content.error())) {
      const bool mendable = code == Code::kUnauthenticated || code == Code::kExhausted;
      if (!mendable) GT_TRY(c_.ports.store.erase_publish(row.request_id));
      return content.error();
    }
    {
      const auto lock = c_.book.lock();
      if (auto* transfer = c_.book.find(row.transfer)) {
        const std::string_view state = code == Code::kBusy ? "server busy" : "server down";
        transfer->waiting_for = std::string(state) + ", retrying: " + content.error().message;
        c_.book.touch(*transfer);
      }
    }
    c_.pause_for(c_.retry_pause(failures), stop);
    if (stop.stop_requested()) return Error{Code::kCancelled, "publishing " + row.name + " was cancelled"};
  }
}

std::string PublishFlow::stamp_of(const std::string& root, const PublishRow& row, const HashedTree& tree) {
  const Place parent{tree.parent, folder_of({row.path, root}).root, tree.follow_links};
  const auto stamp = c_.ports.guard.stamp(parent, tree.metadata.manifest, {});
  return stamp ? *stamp : "";
}

Status PublishFlow::keep(const std::string& root, PublishRow& row, const ContentInfo& content, const HashedTree& tree,
                         WallTime hashed, const std::string& as_hashed) {
  const std::string document = metainfo::encode(tree.metadata);
  if (hex_encode(crypto::sha256(as_bytes(document))) != content.metadata_sha256) {
    return Error{Code::kCorrupt, "the server keeps other metadata of " + row.name +
                                     " than this node sent; ask its operator to run `gridtorrent-server check`"};
  }
  GT_TRY(c_.ports.store.save_metadata(content.metadata_sha256, document));
  const Place parent{tree.parent, folder_of({row.path, root}).root, tree.follow_links};
  // The server may have been away for hours meanwhile.
  const bool changed = stamp_of(root, row, tree) != as_hashed;
  TorrentSpec spec;
  if (!tree.metadata.segments.empty()) {  // no byte, no torrent
    TransferRow spec_row;
    spec_row.id = row.transfer;
    spec_row.content = content;
    spec = c_.torrent_spec(spec_row, tree.metadata, {});
    spec.save_path = parent;
    spec.trust = DiskTrust::kComplete;
  }

  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(row.transfer);
  if (transfer == nullptr || transfer->row.step != TransferStep::kHash) {
    return Error{Code::kCancelled, "publishing " + row.name + " was cancelled"};
  }
  transfer->row.kind = TransferKind::kPublish;
  transfer->row.step = changed ? TransferStep::kAttach : TransferStep::kHold;
  transfer->row.content = content;
  transfer->row.target = parent.path;
  transfer->row.root = parent.root;
  transfer->row.follow_links = parent.follow_links;
  transfer->row.base_name = tree.metadata.manifest.base_name;
  transfer->row.wanted_bytes = tree.metadata.manifest.total_bytes();
  transfer->row.stamp = as_hashed;
  transfer->row.verified = hashed;
  transfer->row.checksums_due = transfer->row.wanted_bytes > 0;
  transfer->row.unpublished = false;
  transfer->publishing.reset();
  transfer->waiting_for.clear();
  // A publish that goes on by itself is a job, which is not over yet: another one beside it would be one too many.
  if (!row.lasting) transfer->job_running = false;
  if (changed) {
    c_.log(NodeLogLevel::kWarning, row.name + " was changed after it was hashed: verifying before it is seeded");
  } else {
    c_.settle_hold(*transfer);
  }
  GT_TRY(c_.book.save(*transfer));
  if (const auto noted = c_.ports.store.save_known_files(row.transfer, {tree.inodes, tree.sums}); !noted) {
    c_.log(NodeLogLevel::kWarning, "the next version of " + row.name + " will be read whole: " + noted.error().message);
  }
  row.done = true;
  row.published = content;
  row.skipped = tree.skipped;
  GT_TRY(c_.ports.store.put_publish(row));
  if (!changed && !transfer->barred && !transfer->row.paused && transfer->row.wanted_bytes > 0) {
    if (const auto added = c_.ports.engine.add(spec); added) {
      transfer->in_engine = true;
      transfer->engine_generation = spec.generation;
      transfer->audience_shown = spec.audience;
    } else {
      transfer->notice = "not seeded yet: " + added.error().message;
      transfer->notice_at = c_.ports.clock.mono();
      c_.log(NodeLogLevel::kError, row.name + " is " + transfer->notice);
    }
  }
  c_.forget_given_way(transfer->row.id);
  transfer->announce.soon(c_.ports.clock.mono());
  transfer->sums_not_before = c_.ports.clock.mono() + std::chrono::seconds(5);
  c_.book.touch(*transfer);
  return {};
}

void PublishFlow::note_known(HashRequest& request, const ContentId& content) {
  request.known = known_tree(content);
  request.settled_before_ns = (c_.ports.clock.wall().ms - kSettledFor.count()) * 1'000'000;
}

void PublishFlow::restore_modes(HashedTree& tree, const TransferId& transfer, const ContentId& content) {
  auto& manifest = tree.metadata.manifest;
  std::optional<TransferRow> masked;
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, other] : c_.book.all()) {
      const TransferRow& row = other->row;
      const bool is_one = id != transfer && row.content.id == content && row.umask != 0 && !row.unpublished &&
                          lies_at(row, tree.parent, manifest.base_name);
      if (is_one && (!masked || masked->content.version < row.content.version)) masked = row;
    }
    auto* own = c_.book.find(transfer);
    if (masked && own != nullptr) own->row.umask = masked->umask;
  }
  if (!masked) return;
  const auto before = c_.metadata(masked->content);
  if (!before) return;
  std::map<std::string_view, std::uint32_t> published;
  for (const auto& entry : (*before)->manifest.entries) published.emplace(entry.path, entry.mode);
  for (auto& entry : manifest.entries) {
    const auto found = published.find(entry.path);
    if (found == published.end()) continue;
    // It has nothing that was not published, and lacks nothing but what the umask takes.
    const bool adds = (entry.mode & ~found->second) != 0;
    const bool same = left_by_umask(masked->umask, entry.mode) == left_by_umask(masked->umask, found->second);
    if (!adds && same) entry.mode = found->second;
  }
}

std::shared_ptr<const KnownTree> PublishFlow::known_tree(const ContentId& content) {
  std::optional<TransferRow> newest;
  {
    const auto lock = c_.book.lock();
    for (const auto& [id, other] : c_.book.all()) {
      const TransferRow& row = other->row;
      const bool is_published = row.kind == TransferKind::kPublish && row.step != TransferStep::kHash &&
                                !row.unpublished && row.step != TransferStep::kCancel &&
                                row.step != TransferStep::kForgotten;
      if (row.content.id != content || !is_published) continue;
      if (!newest || newest->content.version < row.content.version) newest = row;
    }
  }
  if (!newest) return nullptr;
  auto files = c_.ports.store.load_known_files(newest->id);
  const auto metadata = c_.metadata(newest->content);
  if (!files || !metadata) return nullptr;
  const std::int64_t hashed_ns = (newest->verified.ms - kClockGrain.count()) * 1'000'000;
  return std::make_shared<const KnownTree>(
      KnownTree{*metadata, std::move(files->inodes), std::move(files->sums), hashed_ns});
}

Result<WalkRules> PublishFlow::rules_before(const ContentId& content) const {
  GT_ASSIGN(const std::vector<PublishRow> rows, c_.ports.store.publishes());
  const PublishRow* newest = nullptr;
  for (const PublishRow& row : rows) {
    if (!row.done || row.published.id != content) continue;
    if (newest == nullptr || newest->published.version <= row.published.version) newest = &row;
  }
  return newest == nullptr ? WalkRules() : newest->rules;
}

Status PublishFlow::take_rules_before(PublishRow& row, const ContentId& content) const {
  GT_ASSIGN(const WalkRules before, rules_before(content));
  if (before != WalkRules()) row.rules = before;
  return {};
}

void PublishFlow::drop_view(const TransferId& id) {
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer != nullptr && transfer->row.step == TransferStep::kHash) c_.book.erase(id);
}

PublishOutcome PublishFlow::outcome_of(const PublishRow& row) const {
  PublishOutcome outcome;
  outcome.content = row.published;
  outcome.transfer = row.transfer;
  outcome.skipped = row.skipped;
  if (!row.lasting) return outcome;
  outcome.warnings = row.lasting->warnings;
  outcome.unchanged_files = row.lasting->unchanged_files;
  outcome.unchanged_bytes = row.lasting->unchanged_bytes;
  outcome.read_bytes = row.lasting->read_bytes;
  outcome.unchanged = row.lasting->unchanged;
  if (row.is_as_before() && row.rules != row.lasting->rules) outcome.rules_as_before = rules_text(row.rules);
  return outcome;
}

void PublishFlow::start_checksums(Transfer& transfer) {
  if (!summing_.insert(transfer.row.id).second) return;
  const auto id = transfer.row.id;
  transfer.sums_stop = std::stop_source();
  if (!c_.background.post([this, id, stop = transfer.sums_stop.get_token()] { checksums(id, stop); })) {
    summing_.erase(id);
  }
}

void PublishFlow::checksums(const TransferId& id, std::stop_token stop) {
  std::optional<TransferRow> row;
  {
    const auto lock = c_.book.lock();
    if (const auto* transfer = c_.book.find(id)) row = transfer->row;
  }
  const auto done = [&](bool for_good) {
    const auto lock = c_.book.lock();
    summing_.erase(id);
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr) return;
    transfer->sums_not_before = c_.ports.clock.mono() + std::chrono::minutes(1);
    if (!for_good) return;
    transfer->row.checksums_due = false;
    c_.book.save_or_log(*transfer);
  };
  if (!row) return done(false);
  const auto metadata = c_.metadata(row->content);
  if (!metadata) return done(false);
  const auto give_way = [&](std::uint64_t, std::uint64_t) {
    while (!stop.stop_requested() && busy_with_traffic(c_.book)) c_.pause_for(std::chrono::milliseconds(500), stop);
  };
  auto known = c_.ports.store.load_known_files(id);
  const auto sums = c_.ports.files.flat_sha256(row->place(), (*metadata)->manifest, known ? known->sums : std::string(),
                                               give_way, stop);
  if (!sums) {
    c_.log(NodeLogLevel::kWarning, "SHA-256 sums of " + display_name(*row) + ": " + sums.error().message);
    // Files that changed or went away will not come to match by trying again.
    return done(sums.error().code != Code::kCancelled && sums.error().code != Code::kDisk);
  }
  std::string packed;
  for (const auto& sum : *sums) {
    const crypto::Sha256Digest digest = sum.value_or(crypto::Sha256Digest{});
    packed.append(digest.begin(), digest.end());
  }
  if (known && !known->inodes.empty()) {
    known->sums = packed;
    if (const auto noted = c_.ports.store.save_known_files(id, *known); !noted) {
      c_.log(NodeLogLevel::kWarning, "SHA-256 sums of " + display_name(*row) + ": " + noted.error().message);
    }
  }
  const auto sent = c_.ports.link.add_checksums(row->content.id, row->content.version, packed);
  if (!sent) c_.log(NodeLogLevel::kWarning, "SHA-256 sums of " + display_name(*row) + ": " + sent.error().message);
  done(sent.ok() || !may_pass(sent.error()));
}

}  // namespace gridtorrent::client
