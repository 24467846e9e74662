#include "client/core/node_context.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "common/hex.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

Error unusable(const ContentInfo& content, const std::string& reason) {
  return {Code::kCorrupt, "the metadata of " + content.owner + "/" + content.name + " cannot be used (" + reason +
                              "): ask the server's operator to run `gridtorrent-server check`"};
}

std::string rate_or_none(std::uint64_t bits_per_s) {
  return bits_per_s == 0 ? "without a limit" : format_bits_per_s(bits_per_s);
}

/// A clock that is set, and a zone that changes, are noticed within this time.
constexpr std::chrono::milliseconds kLookAtHours = std::chrono::seconds(30);

}  // namespace

NodeContext::NodeContext(const NodePorts& node_ports, NodeOptions node_options, EngineEvents& engine_events)
    : ports(node_ports),
      options(std::move(node_options)),
      events(engine_events),
      book(node_ports.store, node_ports.log, make_request_id(node_ports.clock.wall(), node_ports.rng)),
      rights(options.list_lifetime),
      rates({node_ports.clock.mono(), node_ports.clock.wall()}),
      history(node_ports.store, node_ports.log),
      settings_(options.settings) {}

NodeSettings NodeContext::settings() const {
  const std::lock_guard lock(settings_mutex_);
  return settings_;
}

void NodeContext::set_settings(NodeSettings settings) {
  {
    const std::lock_guard lock(settings_mutex_);
    settings_ = std::move(settings);
    limits_.configure(settings_.limits, settings_.hours, ports.clock.wall());
    apply_limits();
  }
  wake();
}

void NodeContext::set_limits(const NodeLimits& limits) {
  const std::lock_guard lock(settings_mutex_);
  limits_.set_by_hand(limits, ports.clock.wall());
  apply_limits();
}

LimitsWhy NodeContext::limits_why() const {
  const std::lock_guard lock(settings_mutex_);
  return limits_.now().why;
}

std::pair<std::chrono::milliseconds, bool> NodeContext::follow_hours() {
  const WallTime now = ports.clock.wall();
  const std::lock_guard lock(settings_mutex_);
  if (settings_.hours.empty()) return {std::chrono::hours(1), false};
  const auto due_at = [&] { return limits_.now().why.until.value_or(now + kLookAtHours); };
  bool changed = false;
  if (now >= due_at() || now < looked_at_hours_ || now - looked_at_hours_ >= kLookAtHours) {
    looked_at_hours_ = now;
    changed = limits_.follow(now);
  }
  if (changed) {
    apply_limits();
    log(NodeLogLevel::kInfo, "limits by hours: send " + rate_or_none(settings_.limits.send_bits_per_s) + ", receive " +
                                 rate_or_none(settings_.limits.receive_bits_per_s));
  }
  return {std::clamp(due_at() - now, std::chrono::milliseconds(1), kLookAtHours), changed};
}

void NodeContext::apply_limits() {
  settings_.limits = limits_.now().limits;
  ports.engine.set_node_limit(settings_.limits.receive_bits_per_s, settings_.limits.send_bits_per_s);
}

void NodeContext::wake() {
  ring(/*concerns_all=*/true);
}

void NodeContext::wake_for(Transfer& transfer) {
  if (!std::exchange(transfer.look_due, true)) concerned.push_back(transfer.row.id);
  ring(/*concerns_all=*/false);
}

void NodeContext::ring(bool concerns_all) {
  {
    const std::lock_guard lock(bell_mutex_);
    rung_ = true;
    concerns_all_ = concerns_all_ || concerns_all;
  }
  bell_.notify_one();
}

bool NodeContext::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(bell_mutex_);
  bell_.wait_for(lock, timeout, [&] { return rung_; });
  rung_ = false;
  return std::exchange(concerns_all_, false);
}

std::chrono::milliseconds NodeContext::retry_pause(int failures) {
  const auto asked = ports.link.asked_pause();
  const auto spread = ports.rng.below(static_cast<std::uint64_t>(asked.count() / 4 + 1));
  return std::max(client::retry_pause(failures, ports.rng),
                  asked + std::chrono::milliseconds(static_cast<std::int64_t>(spread)));
}

void NodeContext::pause_for(std::chrono::milliseconds time, const std::stop_token& stop) {
  const auto until = ports.clock.mono() + time;
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  for (auto now = ports.clock.mono(); now < until && !stop.stop_requested(); now = ports.clock.mono()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now);
    never.wait_for(lock, stop, std::min(left, std::chrono::milliseconds(100)), [] { return false; });
  }
}

Result<MetadataPtr> NodeContext::metadata(const ContentInfo& content) {
  GT_ASSIGN(const std::optional<std::string> cached, ports.store.load_metadata(content.metadata_sha256));
  if (cached && hex_encode(crypto::sha256(as_bytes(*cached))) == content.metadata_sha256) {
    if (auto decoded = metainfo::decode(*cached)) {
      return std::make_shared<const metainfo::VersionMetadata>(std::move(decoded).value());
    }
  }
  auto fetched = ports.link.metadata(content.id, content.version);
  if (!fetched && fetched.error().code == Code::kCorrupt) return unusable(content, fetched.error().message);
  if (!fetched) return fetched.error();
  const std::string document = metainfo::encode(*fetched);
  if (hex_encode(crypto::sha256(as_bytes(document))) != content.metadata_sha256) {
    return unusable(content, "it is not what the server says it is");
  }
  GT_TRY(ports.store.save_metadata(content.metadata_sha256, document));
  return std::make_shared<const metainfo::VersionMetadata>(std::move(fetched).value());
}

Result<MetadataPtr> NodeContext::metadata(const TransferRow& row) {
  GT_ASSIGN(MetadataPtr found, metadata(row.content));
  return with_base_name(std::move(found), row.base_name);
}

void NodeContext::start_job(Transfer& transfer, WorkerPool& pool, Job job) {
  start_concluded_job(transfer, pool,
                      [run = std::move(job)](const TransferId& id, const std::stop_token& stop) -> Conclusion {
                        run(id, stop);
                        return nullptr;
                      });
}

void NodeContext::start_concluded_job(Transfer& transfer, WorkerPool& pool, ConcludedJob job) {
  if (transfer.job_running) return;
  transfer.job_running = true;
  transfer.stop = std::stop_source();
  transfer.job_done = transfer.job_total = 0;
  const bool posted = pool.post([this, id = transfer.row.id, stop = transfer.stop.get_token(), run = std::move(job)] {
    const Conclusion conclude = run(id, stop);
    const auto lock = book.lock();
    if (auto* done = book.find(id)) {
      if (conclude) conclude(*done);
      done->job_running = false;
      done->snapshot_due = true;
      book.touch(*done);
    }
    wake();
  });
  if (!posted) transfer.job_running = false;
}

void NodeContext::take_out_of_engine(Transfer& transfer) {
  events.set_verifier(transfer.row.id, nullptr);
  transfer.verifier.reset();
  transfer.asleep = false;
  if (!transfer.in_engine) return;
  if (auto last = ports.engine.snapshot(transfer.row.id)) transfer.snapshot = std::move(last);
  ports.engine.remove(transfer.row.id);
  transfer.audience_shown.reset();
  fold_counters(transfer, ports.clock.mono());
  transfer.plan = {};
  transfer.plan_due = true;
}

void NodeContext::fail(Transfer& transfer, const Error& error) {
  take_out_of_engine(transfer);
  mark_failed(transfer, error);
  transfer.announce.soon(ports.clock.mono());
}

void NodeContext::forget(const TransferId& id) {
  auto* transfer = book.find(id);
  if (transfer == nullptr) return;
  take_out_of_engine(*transfer);
  const ContentId content = transfer->row.content.id;
  if (const auto erased = ports.store.erase_transfer(id); !erased) {
    log(NodeLogLevel::kError, "transfer " + id.str() + " cannot be forgotten: " + erased.error().message);
  }
  book.erase(id);
  rates.forget(id);
  settle_siblings(content);
  wake();
}

Status NodeContext::give_up(Transfer& transfer, bool may_have_staging) {
  transfer.stop.request_stop();
  transfer.sums_stop.request_stop();
  take_out_of_engine(transfer);
  transfer.swarm.clear();
  transfer.row.step = TransferStep::kCancel;
  transfer.row.error.reset();
  transfer.discarded = !may_have_staging;
  transfer.announce.soon(ports.clock.mono());
  GT_TRY(book.save(transfer));
  book.touch(transfer);
  settle_siblings(transfer.row.content.id);
  return {};
}

void NodeContext::forget_given_way(const TransferId& newest) {
  using Key = std::tuple<ContentId, std::string_view, std::string_view>;
  std::map<Key, const TransferRow*> newest_at;
  std::vector<TransferId> gone;
  for (const auto& [id, transfer] : book.all()) {
    const TransferRow& row = transfer->row;
    if (row.step != TransferStep::kHold) continue;
    const auto [slot, is_first] = newest_at.try_emplace({row.content.id, row.target, row.base_name}, &row);
    const bool same = slot->second->content.version == row.content.version;
    const bool published_again = row.kind == TransferKind::kPublish && slot->second->kind == row.kind;
    if (is_first || (same && !published_again)) continue;
    const auto age = [&](const TransferRow& one) {
      return std::tuple(one.id == newest, one.created, one.content.version);
    };
    const bool later = age(*slot->second) < age(row);
    gone.push_back(later ? slot->second->id : id);
    if (later) slot->second = &row;
  }
  for (const TransferId& id : gone) {
    auto* old = book.find(id);
    log(NodeLogLevel::kInfo, "version " + std::to_string(old->row.content.version) + " of " + display_name(old->row) +
                                 " gave way to what was published or fetched since, at " +
                                 escape_for_display(old->row.target));
    if (const auto ended = give_up(*old, /*may_have_staging=*/false); !ended) {
      log(NodeLogLevel::kError, "transfer " + id.str() + " cannot be ended: " + ended.error().message);
    }
  }
}

void NodeContext::settle_siblings(const std::set<ContentId>& contents) {
  for (auto& [id, other] : book.all()) {
    if (other->row.step == TransferStep::kHold && contents.contains(other->row.content.id)) settle_hold(*other);
  }
}

void NodeContext::take_over(Transfer& transfer, const ContentInfo& info) {
  auto& known = transfer.row.content;
  const bool moves = known.generation != info.generation;
  const bool changed = moves || known.access_level != info.access_level || known.withdrawn != info.withdrawn;
  if (!changed) return;
  if (moves && transfer.in_engine && transfer.row.step == TransferStep::kFetch) {
    transfer.moving = info;
    return wake();
  }
  // What is being verified or committed moves when that is done.
  if (moves && transfer.in_engine && !transfer.holds()) return;
  known.access_level = info.access_level;
  known.withdrawn = info.withdrawn;
  if (moves) {
    take_out_of_engine(transfer);
    known.generation = info.generation;
    known.ca_pem = info.ca_pem;
    known.audience.clear();
    transfer.moving.reset();
    transfer.swarm.clear();
    transfer.announce.soon(ports.clock.mono());
    log(NodeLogLevel::kInfo, display_name(transfer.row) + " is " + info.access_level + " now: going on over " +
                                 (info.generation == 0 ? "plain" : "encrypted") + " lanes");
  }
  if (info.withdrawn && transfer.row.step == TransferStep::kFetch) {
    fail(transfer, {Code::kNotFound, display_name(transfer.row) + " was withdrawn by its owner"});
    settle_siblings(known.id);
  }
  if (transfer.row.step == TransferStep::kHold) settle_hold(transfer);
  book.save_or_log(transfer);
  book.touch(transfer);
  wake();
}

void NodeContext::settle_all() {
  std::map<ContentId, int> transfers_of;
  for (auto& [id, transfer] : book.all()) ++transfers_of[transfer->row.content.id];
  for (auto& [id, transfer] : book.all()) {
    if (transfer->row.step == TransferStep::kHold && transfers_of[transfer->row.content.id] > 1) {
      settle_hold(*transfer);
    } else if (transfer->holds()) {
      settle_only(*transfer);
    }
  }
}

void NodeContext::settle_only(Transfer& transfer) {
  const auto& content = transfer.row.content;
  transfer.barred_reason.clear();
  if (content.withdrawn) {
    transfer.barred_reason = "withdrawn by its owner: not seeded";
  } else if (transfer.row.refused) {
    transfer.barred_reason = kNotYours;
  } else if (transfer.exchanges) {
    transfer.barred_reason = "an update takes its place: not seeded";
  } else if (transfer.look_again) {
    transfer.barred_reason = "its files are not at " +
                             escape_for_display(join_path(transfer.row.target, transfer.row.base_name)) +
                             ": is the disk mounted? They are looked for every half minute";
  } else if (content.generation == 0 && !rights.serves_public(ports.clock.wall())) {
    transfer.barred_reason = kServerNotHeard;
  }
  transfer.barred = !transfer.barred_reason.empty();
  if (!transfer.barred) return;
  take_out_of_engine(transfer);
}

void NodeContext::settle_hold(Transfer& transfer) {
  settle_only(transfer);
  if (transfer.barred || transfer.serves()) return;
  for (const auto& [id, other] : book.all()) {
    const bool same = id != transfer.row.id && other->row.content.id == transfer.row.content.id &&
                      other->row.content.version == transfer.row.content.version;
    const bool seeds = other->row.step == TransferStep::kHold && !other->barred;
    if (other->row.step == TransferStep::kCheckLocal && other->held_back)
      continue;  // it may wait for its disk for long
    if (same && (other->serves() || seeds || in_progress(other->row.step))) transfer.barred = true;
  }
}

bool NodeContext::is_missing(const Place& place) const {
  const Status found = ports.guard.find(place);
  return !found && found.error().code == Code::kNotFound;
}

bool NodeContext::are_away(const TransferRow& row, const metainfo::Manifest& manifest,
                           const std::vector<bool>& wanted) const {
  if (is_missing(below(row.place(), row.base_name))) return true;
  const auto report = ports.files.look_at(row.place(), manifest, wanted);
  return report && report->files == 0 && report->missing > 0;
}

TorrentSpec NodeContext::torrent_spec(const TransferRow& row, const metainfo::VersionMetadata& metadata,
                                      const std::vector<bool>& wanted) const {
  TorrentSpec spec;
  spec.id = row.id;
  const metainfo::EditionKey key{row.content.id, row.content.version, 0, row.content.generation};
  spec.info_dict = metainfo::build_info_dict(key, metadata, row.content.generation == 0 ? "" : row.content.ca_pem);
  spec.generation = row.content.generation;
  if (spec.generation != 0) spec.audience = rights.audience(row.content.audience, ports.clock.wall());
  spec.file_paths = torrent_files(metadata.manifest);
  spec.wanted = torrent_wanted(metadata.manifest, wanted);
  return spec;
}

std::chrono::milliseconds retry_pause(int failures, Rng& rng) {
  const std::int64_t whole = std::min<std::int64_t>(60'000, std::int64_t{1000} << std::clamp(failures - 1, 0, 6));
  const auto random = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(whole / 2 + 1)));
  return std::chrono::milliseconds(whole / 2 + random);
}

MetadataPtr with_base_name(MetadataPtr metadata, const std::string& base_name) {
  if (base_name.empty() || metadata->manifest.base_name == base_name) return metadata;
  auto renamed = std::make_shared<metainfo::VersionMetadata>(*metadata);
  renamed->manifest.base_name = base_name;
  return renamed;
}

std::shared_ptr<RootVerifier> make_owned_verifier(FileWork& files, const Place& folder, MetadataPtr metadata,
                                                  const std::vector<bool>& wanted) {
  struct Owned {
    MetadataPtr metadata;
    std::unique_ptr<RootVerifier> verifier;
  };
  auto owned = std::make_shared<Owned>();
  owned->metadata = std::move(metadata);
  owned->verifier = files.make_root_verifier(folder, *owned->metadata, wanted);
  return {owned, owned->verifier.get()};
}

}  // namespace gridtorrent::client
