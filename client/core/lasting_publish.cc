#include "client/core/lasting_publish.h"

#include <algorithm>
#include <utility>

#include "client/core/hash_pace.h"
#include "common/hex.h"
#include "common/shell_words.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

constexpr std::ptrdiff_t kAtOnce = 2;  ///< more would only share the disk

std::string trimmed(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

PublishRequest request_of(const PublishRow& row) {
  PublishRequest request;
  request.request_id = row.request_id;
  request.name = row.name;
  request.access = row.access;
  request.update = row.is_update();
  request.description = row.lasting->description;
  request.license = row.lasting->license;
  request.tags = row.lasting->tags;
  return request;
}

TransferRow transfer_of(const PublishRow& row, const std::string& owner) {
  TransferRow transfer;
  transfer.id = row.transfer;
  transfer.kind = TransferKind::kPublish;
  transfer.step = TransferStep::kHash;
  transfer.unpublished = true;
  transfer.content.name = row.is_update() ? name_in(row.name) : row.name;
  transfer.content.owner = owner;
  transfer.target = parent_folder(row.path);
  transfer.base_name = last_component(row.path);
  transfer.source = "published";
  transfer.created = row.created;
  return transfer;
}

/// Whether rules were given or are a habit, which asks for those of the version before, an older version did not note.
bool has_same_rules(const PublishRow& row, const PublishJob& job) {
  const PublishRow::Lasting& was = *row.lasting;
  const bool is_unknown = !was.as_before && was.rules != WalkRules();
  return was.rules == job.rules && (is_unknown || row.is_as_before() == job.as_before);
}

/// A new version keeps what is said of the content; an older program sent what its files said all the same.
bool says_the_same(const PublishRow& row, const PublishRequest& now) {
  const PublishRow::Lasting& was = *row.lasting;
  return row.is_update() || (was.description == now.description && was.license == now.license && was.tags == now.tags);
}

Error being_published(const std::string& name, const TransferRow& by) {
  const std::string id = by.id.str();
  return {Code::kConflict, escape_for_display(name) + " is being published from " +
                               escape_for_display(join_path(by.target, by.base_name)) + " by transfer " + id +
                               ": wait for it, or end it with `gridtorrent transfer cancel " + id +
                               "`, or choose another name"};
}

Error stopped_error(const PublishRow& row) {
  return {Code::kCancelled, "publishing " + row.name + " was stopped"};
}

}  // namespace

PublishMatch match_publish(const std::vector<PublishRow>& known, const PublishJob& job) {
  using Relation = PublishMatch::Relation;
  PublishMatch match;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const PublishRow& row = known[i];
    auto relation = Relation::kNew;
    if (row.request_id == job.request.request_id) {
      relation = Relation::kSameRequest;
    } else if (!row.done && row.name == job.request.name) {
      const bool same_rules = !row.lasting || has_same_rules(row, job);
      const bool same_work = row.path == job.path && row.access == kept_access(job.request) && same_rules;
      relation = same_work ? Relation::kSameWork : Relation::kSameName;
    }
    const bool better = match.relation == Relation::kNew || relation < match.relation;
    if (relation != Relation::kNew && better) match = {relation, i};
  }
  return match;
}

bool asks_the_same(const PublishRow& row, const PublishJob& job) {
  if (!row.lasting) return true;
  return row.path == job.path && row.name == job.request.name && row.access == kept_access(job.request) &&
         has_same_rules(row, job) && row.lasting->strict == job.strict && says_the_same(row, job.request);
}

Result<TransferView> LastingPublishFlow::start(const PublishJob& asked) {
  PublishJob job = asked;
  job.path = trimmed(job.path);
  if (!job.path.starts_with('/')) {
    return Error{Code::kInvalid, "'" + escape_for_display(job.path) + "' is no absolute path"};
  }
  const Status is_there = c_.ports.guard.find({job.path});
  if (is_there) GT_TRY(make_room(job));
  PublishRow row;
  {
    const auto lock = c_.book.lock();
    GT_ASSIGN(const std::vector<PublishRow> known, c_.ports.store.publishes());
    GT_ASSIGN(const auto joined, join(known, job, row));
    if (joined) return *joined;
    GT_TRY(is_there);
    GT_TRY(keep_request(job, row));
  }
  const Status asked_server = ask_at_once(row);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(row.transfer);
  if (transfer == nullptr) return stopped_error(row);
  transfer->job_running = false;
  if (!asked_server && transfer->row.step == TransferStep::kHash) {
    GT_TRY(c_.ports.store.erase_publish(row.request_id));
    c_.forget(row.transfer);
    return asked_server.error();
  }
  c_.book.touch(*transfer);
  c_.wake();
  return make_view(*transfer);
}

Status LastingPublishFlow::make_room(const PublishJob& job) {
  TransferId id;
  {
    const auto lock = c_.book.lock();
    GT_ASSIGN(const std::vector<PublishRow> known, c_.ports.store.publishes());
    const PublishMatch match = match_publish(known, job);
    if (match.relation == PublishMatch::Relation::kNew || match.relation == PublishMatch::Relation::kSameRequest)
      return {};
    const PublishRow& other = known[match.row];
    auto* failed = c_.book.find(other.transfer);
    if (failed == nullptr || !failed->row.unpublished || failed->row.step != TransferStep::kFailed) return {};
    if (failed->job_running || asks_the_same(other, job)) return {};
    failed->row.step = TransferStep::kCancel;
    GT_TRY(c_.book.save(*failed));
    failed->job_running = true;
    id = other.transfer;
  }
  give_up(id);
  const auto lock = c_.book.lock();
  if (auto* gone = c_.book.find(id)) {
    gone->job_running = false;
    c_.book.touch(*gone);
  }
  c_.wake();
  return {};
}

/// Lock held. The transfer that does it already; nothing: `row` is to be begun, as a new one or in place of what a
/// Publish call left.
Result<std::optional<TransferView>> LastingPublishFlow::join(const std::vector<PublishRow>& known,
                                                             const PublishJob& job, PublishRow& row) {
  using Relation = PublishMatch::Relation;
  const PublishMatch match = match_publish(known, job);
  if (match.relation != Relation::kNew) {
    const PublishRow& other = known[match.row];
    if (publishes_.is_running(other.request_id)) {
      return Error{Code::kConflict, escape_for_display(other.path) + " is being published as " + other.name +
                                        " already; watch it with `gridtorrent transfers`"};
    }
    if (other.done && c_.book.find(other.transfer) == nullptr) {
      return Error{Code::kConflict, other.name +
                                        " was published by this request before, and its transfer has ended: "
                                        "`gridtorrent seed --from " +
                                        shell_word(other.path) + " " + other.published.id.str() + "` seeds it again"};
    }
    if (c_.book.find(other.transfer) != nullptr) {
      GT_ASSIGN(TransferView view, join_lasting(other, match.relation));
      return std::optional(std::move(view));
    }
    if (match.relation != Relation::kSameName) row = other;
  }
  if (row.request_id.empty()) {
    row.request_id = job.request.request_id;
    row.created = c_.ports.clock.wall();
    row.transfer = TransferId::make(row.created, c_.ports.rng);
  }
  return std::optional<TransferView>();
}

Result<TransferView> LastingPublishFlow::join_lasting(const PublishRow& row, PublishMatch::Relation relation) {
  auto& transfer = *c_.book.find(row.transfer);
  const std::string id = row.transfer.str();
  if (transfer.row.step == TransferStep::kCancel && relation != PublishMatch::Relation::kSameRequest) {
    return Error{Code::kConflict, "transfer " + id + ", which was to publish " + row.name +
                                      ", is being cancelled: try again once it is gone"};
  }
  if (relation == PublishMatch::Relation::kSameName) {
    return being_published(row.name, transfer.row);
  }
  const bool rests = transfer.row.unpublished && (transfer.row.paused || transfer.row.step == TransferStep::kFailed);
  if (rests && transfer.row.step != TransferStep::kCancel) {
    transfer.row.paused = false;
    transfer.row.step = TransferStep::kHash;
    transfer.row.error.reset();
    transfer.retry_at = {};
    GT_TRY(c_.book.save(transfer));
    c_.book.touch(transfer);
    c_.wake();
  }
  return make_view(transfer);
}

/// Lock held. The row first: a transfer without its request could not go on.
Status LastingPublishFlow::keep_request(const PublishJob& job, PublishRow& row) {
  row.path = job.path;
  row.name = job.request.name;
  row.access = kept_access(job.request);
  row.rules = job.rules;
  row.lasting =
      PublishRow::Lasting{job.request.description, job.request.license, job.request.tags, job.strict, {}, job.rules};
  row.lasting->as_before = job.as_before;
  GT_TRY(c_.ports.store.put_publish(row));
  auto& transfer = c_.book.insert(transfer_of(row, c_.options.owner));
  transfer.publishing = PublishState{row.request_id, PublishPhase::kWait, 0, 0};
  transfer.job_running = true;  // until the server was asked
  if (const auto saved = c_.book.save(transfer); !saved) {
    c_.book.erase(row.transfer);
    GT_TRY(c_.ports.store.erase_publish(row.request_id));
    return saved.error();
  }
  return {};
}

/// What the server refuses for good, while whoever asked still listens. Where it does not answer, the job asks again.
Status LastingPublishFlow::ask_at_once(const PublishRow& row) {
  if (!c_.ports.link.is_connected()) return {};
  const auto ticket = begin(row);
  if (ticket || may_pass(ticket.error())) return {};
  return ticket.error();
}

Status LastingPublishFlow::restore() {
  GT_ASSIGN(const std::vector<PublishRow> rows, c_.ports.store.publishes());
  const auto lock = c_.book.lock();
  for (PublishRow row : rows) {
    if (row.done || !row.lasting) continue;
    auto* transfer = c_.book.find(row.transfer);
    if (transfer == nullptr) {  // nobody was answered
      GT_TRY(c_.ports.store.erase_publish(row.request_id));
    } else if (transfer->row.unpublished) {
      transfer->publishing = PublishState{row.request_id, PublishPhase::kWait, 0, 0};
    } else {
      row.done = true;
      row.published = transfer->row.content;
      GT_TRY(c_.ports.store.put_publish(row));
    }
  }
  for (auto& [id, transfer] : c_.book.all()) {
    if (!transfer->row.unpublished) continue;
    transfer->announce.claimed = false;
    if (transfer->publishing || transfer->row.step != TransferStep::kHash) continue;
    c_.fail(*transfer, {Code::kCorrupt, "the node's database has lost what was to be published: cancel transfer " +
                                            id.str() + " and publish again"});
  }
  return {};
}

void LastingPublishFlow::step(Transfer& transfer, MonoTime now) {
  if (!transfer.publishing || transfer.row.paused || now < transfer.retry_at) return;
  const auto running = std::ranges::count_if(
      c_.book.all(), [](const auto& one) { return one.second->publishing && one.second->job_running; });
  if (running >= kAtOnce) return;
  c_.start_concluded_job(transfer, c_.publishing,
                         [this](const TransferId& id, const std::stop_token& stop) { return run(id, stop); });
  transfer.active = transfer.job_running;
}

std::optional<PublishRow> LastingPublishFlow::row_of(const TransferId& id) {
  const auto rows = c_.ports.store.publishes();
  if (!rows) return std::nullopt;
  const auto found = std::ranges::find(*rows, id, &PublishRow::transfer);
  return found == rows->end() ? std::nullopt : std::optional(*found);
}

std::optional<LastingPublishFlow::Work> LastingPublishFlow::work_of(const TransferId& id) {
  auto publish = row_of(id);
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (!publish || !publish->lasting || transfer == nullptr || transfer->row.step != TransferStep::kHash) {
    return std::nullopt;
  }
  return Work{transfer->row, *std::move(publish), transfer->ticket};
}

NodeContext::Conclusion LastingPublishFlow::run(const TransferId& id, const std::stop_token& stop) {
  auto work = work_of(id);
  if (!work) return nullptr;
  const auto done = publish(*work, stop);
  if (done) return nullptr;
  return [this, error = done.error(), stopped = stop.stop_requested()](Transfer& transfer) {
    if (transfer.row.step == TransferStep::kHash) not_done(transfer, error, stopped);
  };
}

Status LastingPublishFlow::publish(Work& work, const std::stop_token& stop) {
  const TransferId& id = work.transfer.id;
  if (!work.ticket) {
    GT_ASSIGN(work.ticket, begin(work.publish));
  }
  edit(id, [&](Transfer& transfer) { transfer.waiting_for.clear(); });
  GT_ASSIGN(const HashedTree tree, tree_of(work, stop));
  if (stop.stop_requested()) return stopped_error(work.publish);
  edit(id, [&](Transfer& transfer) {
    transfer.publishing->phase = PublishPhase::kUpload;
    transfer.job_done = transfer.job_total = tree.metadata.manifest.total_bytes();
  });
  GT_ASSIGN(const ContentInfo content, finish(work, tree));
  work.publish.lasting->unchanged = content.version < work.ticket->version;
  return publishes_.keep({}, work.publish, content, tree, work.transfer.verified, work.transfer.stamp);
}

Result<ContentInfo> LastingPublishFlow::finish(const Work& work, const HashedTree& tree) {
  auto content = c_.ports.link.finish_publish(work.publish.request_id, *work.ticket, tree.metadata);
  if (content || content.error().code != Code::kNotFound) return content;
  // The server has given up a draft that it did not hear of for two days.
  GT_ASSIGN(const PublishTicket ticket, begin(work.publish));
  return c_.ports.link.finish_publish(work.publish.request_id, ticket, tree.metadata);
}

/// Lock held. One content can be meant by several words, and has one next version.
Status LastingPublishFlow::check_alone(const PublishRow& row, const ContentId& content) const {
  for (const auto& [id, other] : c_.book.all()) {
    const bool same = id != row.transfer && other->row.step == TransferStep::kHash && other->row.content.id == content;
    if (same) return being_published(display_name(other->row), other->row);
  }
  return {};
}

/// Once a process where all goes well: the server counts these calls.
Result<PublishTicket> LastingPublishFlow::begin(const PublishRow& row) {
  GT_ASSIGN(const PublishTicket ticket, c_.ports.link.begin_publish(request_of(row)));
  // Where people give an id, the name is the server's to tell.
  const bool by_id = row.is_update() && row.name == ticket.content.str();
  const Result<ContentInfo> info = by_id ? c_.ports.link.content(row.name, 0) : ContentInfo();
  const auto lock = c_.book.lock();
  auto* const transfer = c_.book.find(row.transfer);
  if (transfer != nullptr) transfer->row.content.id = ticket.content;
  if (row.is_update()) GT_TRY(check_alone(row, ticket.content));
  if (transfer != nullptr) {
    if (by_id && info) transfer->row.content.name = info->name;
    transfer->row.content.version = ticket.version;
    transfer->ticket = ticket;
  }
  return ticket;
}

Result<HashedTree> LastingPublishFlow::tree_of(Work& work, const std::stop_token& stop) {
  if (auto tree = hashed_before(work)) return *std::move(tree);
  GT_ASSIGN(HashedTree tree, hash(work, stop));
  GT_TRY(keep_hashed(work, tree));
  return tree;
}

std::optional<HashedTree> LastingPublishFlow::hashed_before(const Work& work) {
  const TransferRow& row = work.transfer;
  if (row.content.metadata_sha256.empty()) return std::nullopt;
  const auto document = c_.ports.store.load_metadata(row.content.metadata_sha256);
  if (!document || !*document) return std::nullopt;
  auto metadata = metainfo::decode(**document);
  if (!metadata) return std::nullopt;
  const auto stamp = c_.ports.guard.stamp(row.place(), metadata->manifest, {});
  if (!stamp || *stamp != row.stamp) return std::nullopt;  // changed since
  HashedTree tree;
  tree.metadata = *std::move(metadata);
  tree.parent = row.target;
  tree.follow_links = row.follow_links;
  tree.skipped = work.publish.skipped;
  tree.warnings = work.publish.lasting->warnings;
  if (auto known = c_.ports.store.load_known_files(row.id)) {
    tree.inodes = std::move(known->inodes);
    tree.sums = std::move(known->sums);
  }
  return tree;
}

Result<HashedTree> LastingPublishFlow::hash(Work& work, const std::stop_token& stop) {
  const TransferId& id = work.transfer.id;
  if (work.publish.is_as_before()) GT_TRY(publishes_.take_rules_before(work.publish, work.ticket->content));
  HashPace pace;
  const auto counting = [&](const ScanFigures& figures) {
    edit(id, [&](Transfer& transfer) {
      transfer.publishing->phase = PublishPhase::kScan;
      transfer.publishing->files = figures.files;
      transfer.job_total = figures.bytes;
    });
  };
  const auto hashing = [&](std::uint64_t done, std::uint64_t total) {
    edit(id, [&](Transfer& transfer) {
      transfer.publishing->phase = PublishPhase::kHash;
      transfer.publishing->bits_per_s = pace.note(c_.ports.clock.mono(), done);
      transfer.job_done = done;
      transfer.job_total = total;
    });
  };
  HashRequest request{Place{work.publish.path}, work.publish.lasting->strict, checkpoint_file(c_.options.data_dir, id),
                      work.publish.rules, counting};
  publishes_.note_known(request, work.ticket->content);
  GT_ASSIGN(HashedTree tree, c_.ports.files.hash_tree(request, hashing, stop));
  publishes_.restore_modes(tree, id, work.ticket->content);
  return tree;
}

/// From here on an end of the process costs no hashing.
Status LastingPublishFlow::keep_hashed(Work& work, const HashedTree& tree) {
  const auto& manifest = tree.metadata.manifest;
  const std::string document = metainfo::encode(tree.metadata);
  const std::string name = hex_encode(crypto::sha256(as_bytes(document)));
  GT_TRY(c_.ports.store.save_metadata(name, document));
  work.publish.skipped = tree.skipped;
  work.publish.lasting->warnings = tree.warnings;
  work.publish.lasting->unchanged_files = tree.unchanged_files;
  work.publish.lasting->unchanged_bytes = tree.unchanged_bytes;
  work.publish.lasting->read_bytes = tree.read_bytes;
  GT_TRY(c_.ports.store.save_known_files(work.transfer.id, {tree.inodes, tree.sums}));
  GT_TRY(c_.ports.store.put_publish(work.publish));
  const auto stamp = c_.ports.guard.stamp(Place{tree.parent, "", tree.follow_links}, manifest, {});
  work.transfer.stamp = stamp ? *stamp : "";
  work.transfer.verified = c_.ports.clock.wall();
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(work.transfer.id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kHash) return stopped_error(work.publish);
  transfer->row.content.metadata_sha256 = name;
  transfer->row.target = tree.parent;
  transfer->row.follow_links = tree.follow_links;
  transfer->row.base_name = manifest.base_name;
  transfer->row.wanted_bytes = transfer->row.verified_bytes = manifest.total_bytes();
  transfer->row.stamp = work.transfer.stamp;
  transfer->row.verified = work.transfer.verified;
  transfer->publishing->files = manifest.file_count();
  return c_.book.save(*transfer);
}

void LastingPublishFlow::edit(const TransferId& id, const std::function<void(Transfer&)>& change) {
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.step != TransferStep::kHash) return;
  change(*transfer);
  c_.book.touch(*transfer);
}

void LastingPublishFlow::not_done(Transfer& transfer, const Error& error, bool stopped) {
  transfer.publishing->bits_per_s = 0;
  transfer.active = false;
  if (stopped) return;  // paused, or the node ends: it goes on from there
  if (may_pass(error)) {
    transfer.publishing->phase = PublishPhase::kWait;
    transfer.retry_at = c_.ports.clock.mono() + c_.retry_pause(++transfer.failures);
    const std::string_view state = error.code == Code::kBusy ? "server busy" : "server down";
    transfer.waiting_for = std::string(state) + ", retrying: " + error.message;
    return;
  }
  transfer.ticket.reset();
  c_.log(NodeLogLevel::kError, display_name(transfer.row) + " is not published: " + error.message);
  c_.fail(transfer, error);
  c_.book.save_or_log(transfer);
}

void LastingPublishFlow::step_cancelled(Transfer& transfer, MonoTime now) {
  if (now < transfer.retry_at) return;
  c_.start_job(transfer, c_.calls, [this](const TransferId& id, const std::stop_token&) { give_up(id); });
}

/// The server made one draft for both: what gives up the one would take it from the other.
bool LastingPublishFlow::shares_draft(const TransferId& id) const {
  const auto lock = c_.book.lock();
  const auto* transfer = c_.book.find(id);
  if (transfer == nullptr || transfer->row.content.id.is_nil()) return false;
  return std::ranges::any_of(c_.book.all(), [&](const auto& one) {
    const TransferRow& other = one.second->row;
    return one.first != id && other.step == TransferStep::kHash && other.content.id == transfer->row.content.id;
  });
}

void LastingPublishFlow::give_up(const TransferId& id) {
  const auto row = row_of(id);
  const auto told = row && !shares_draft(id) ? c_.ports.link.give_up_publish(row->request_id) : Status();
  if (!told && may_pass(told.error())) {
    const auto lock = c_.book.lock();
    if (auto* transfer = c_.book.find(id)) {
      transfer->retry_at = c_.ports.clock.mono() + c_.retry_pause(++transfer->failures);
    }
    return;
  }
  if (!told) {
    c_.log(NodeLogLevel::kWarning, "the server does not give up publishing " + row->name +
                                       ", so that the name may stay taken for two days: " + told.error().message);
  }
  erase(id, row ? row->request_id : "");
}

void LastingPublishFlow::erase(const TransferId& id, const std::string& request_id) {
  c_.ports.files.forget_hashed(checkpoint_file(c_.options.data_dir, id));
  Status erased = request_id.empty() ? Status() : c_.ports.store.erase_publish(request_id);
  if (erased) erased = c_.ports.store.erase_transfer(id);
  const auto lock = c_.book.lock();
  auto* transfer = c_.book.find(id);
  if (transfer == nullptr) return;
  if (!erased) {
    c_.log(NodeLogLevel::kError, "transfer " + id.str() + " cannot be forgotten: " + erased.error().message);
    transfer->retry_at = c_.ports.clock.mono() + c_.retry_pause(++transfer->failures);
    return;
  }
  transfer->row.step = TransferStep::kForgotten;
  transfer->forget_at = c_.ports.clock.mono() + std::chrono::minutes(1);
}

}  // namespace gridtorrent::client
