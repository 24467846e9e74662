#include "client/core/transfer_loop.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "client/core/dialling.h"
#include "client/core/look_rule.h"
#include "client/core/plan_input.h"
#include "common/text.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr milliseconds kBusyRound{200};
constexpr minutes kSleepAfter{10};
constexpr int kSleepAtOnce = 20;  ///< in a round: each may be a transaction
constexpr seconds kSaveEvery{10}, kDiskRetry{3}, kPlanEvery{1}, kNoticeStays{300};
constexpr std::uint64_t kSaveBytes = std::uint64_t{48}
                                     << 20;  // below the promised 64 MiB: more comes while it is written
constexpr int kDiskAttempts = 3;
/// Who received nothing for so long has nobody to fetch from, whoever is in its swarm: it takes no slot from others.
constexpr seconds kNothingComes{30};
/// Then others are planned, and each turn lasts so long: a dial is given up after two seconds.
constexpr seconds kTurn{10};
constexpr char kNothingSent[] =
    "seeders are connected and send nothing: a process or a disk of theirs stands still, or large packets are lost on "
    "the way (MTU)";

/// Blocks were asked for over a lane that stands and answers.
bool awaits_blocks(const Transfer& transfer) {
  const auto asked = [](const LaneSnapshot& lane) {
    return lane.state == LaneState::kOpen && !lane.silent && lane.outstanding_blocks > 0;
  };
  return transfer.snapshot && std::ranges::any_of(transfer.snapshot->peers, [&](const auto& peer) {
           return std::ranges::any_of(peer.lanes, asked);
         });
}

/// All that it wanted is here.
bool has_fetched(TransferStep step) {
  return step == TransferStep::kVerify || step == TransferStep::kCommit || step == TransferStep::kHold;
}

int open_lanes(const TorrentSnapshot& snapshot) {
  int lanes = 0;
  for (const auto& peer : snapshot.peers) lanes += peer.lanes_in_use();
  return lanes;
}

/// Nothing that people see has moved: thousands that seed to idle peers are no news.
bool looks_alike(const TorrentSnapshot& one, const TorrentSnapshot& other) {
  const auto figures = [](const TorrentSnapshot& snapshot) {
    return std::tuple(snapshot.state, snapshot.verified_bytes, snapshot.received_payload_bytes,
                      snapshot.sent_payload_bytes, snapshot.receive_bits_per_s, snapshot.send_bits_per_s,
                      open_lanes(snapshot));
  };
  return figures(one) == figures(other) && one.problems == other.problems &&
         std::ranges::equal(one.peers, other.peers, {}, &PeerSnapshot::node, &PeerSnapshot::node);
}

}  // namespace

milliseconds TransferLoop::round(const EngineEvents::Batch& events, Own own, bool all) {
  const auto now = c_.ports.clock.mono();
  own_ = std::move(own);
  if (const bool serves = c_.rights.serves_public(c_.ports.clock.wall()); serves != serves_public_) {
    serves_public_ = serves;
    if (!serves && c_.rights.heard()) c_.log(NodeLogLevel::kWarning, kServerNotHeard);
    c_.settle_all();
    all = true;
  }
  take_news(events, now);
  fell_asleep_ = 0;
  if (all || now - all_looked_at_ >= kLookAtAll) {
    look_at_all(now, all || now - all_stepped_at_ >= kStepAll);
  } else {
    look_at_due(now);
  }
  forget_controlled();
  return any_moves() ? kBusyRound : std::chrono::ceil<milliseconds>(all_looked_at_ + kLookAtAll - now);
}

void TransferLoop::take_news(const EngineEvents::Batch& events, MonoTime now) {
  for (const auto& id : events.changed) {
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr) continue;
    transfer->snapshot_due = transfer->plan_due = true;
    look_soon(*transfer);
  }
  for (const auto& [id, message] : events.warnings) {
    auto* transfer = c_.book.find(id);
    c_.log(NodeLogLevel::kWarning, (transfer != nullptr ? display_name(transfer->row) + ": " : "") + message);
    if (transfer == nullptr) continue;
    transfer->notice = message;
    transfer->notice_at = now;
    c_.book.touch(*transfer);
  }
  for (const auto& id : c_.concerned) {
    if (auto* transfer = c_.book.find(id)) look_soon(*transfer);
  }
  c_.concerned.clear();
}

void TransferLoop::look_soon(Transfer& transfer) {
  if (!std::exchange(transfer.quick, true)) quick_.push_back(transfer.row.id);
}

void TransferLoop::look_at_all(MonoTime now, bool each) {
  all_looked_at_ = now;
  if (each) all_stepped_at_ = now;
  survey();
  choose();
  std::vector<TransferId> gone;
  for (auto& [id, transfer] : c_.book.all()) {
    if (each || !sleeps_on(*transfer, now)) step(*transfer, now);
    if (look_due(*transfer, now + kLookAtAll)) look_soon(*transfer);
    if (forgotten(*transfer, now)) gone.push_back(id);
  }
  for (const auto& id : gone) {
    c_.book.erase(id);
    c_.rates.forget(id);
  }
}

void TransferLoop::look_at_due(MonoTime now) {
  choose();
  for (const auto& id : quick_) {
    auto* transfer = c_.book.find(id);
    if (transfer != nullptr && look_due(*transfer, now)) step(*transfer, now);
  }
}

void TransferLoop::survey() {
  quick_.clear();
  c_.held_in_engine = 0;
  for (auto& [id, transfer] : c_.book.all()) {
    const bool enters = transfer->in_engine || transfer->entering;
    if (enters && transfer->row.step == TransferStep::kHold) ++c_.held_in_engine;
    transfer->quick = false;
    if (rests(*transfer)) {
      transfer->active = false;
    } else {
      look_soon(*transfer);
    }
  }
}

bool TransferLoop::any_moves() {
  return std::ranges::any_of(quick_, [this](const auto& id) {
    const auto* transfer = c_.book.find(id);
    return transfer != nullptr && in_progress(transfer->row.step) && (transfer->active || transfer->job_running);
  });
}

bool TransferLoop::forgotten(const Transfer& transfer, MonoTime now) const {
  return transfer.row.step == TransferStep::kForgotten && now >= transfer.forget_at;
}

/// What rests is not among those that fetch.
void TransferLoop::choose() {
  std::vector<QueueEntry> entries;
  for (const auto& id : quick_) {
    auto* transfer = c_.book.find(id);
    if (transfer == nullptr) continue;
    if (transfer->row.step != TransferStep::kFetch || transfer->row.paused || transfer->held_back) {
      const bool ends = transfer->row.step == TransferStep::kVerify || transfer->row.step == TransferStep::kCommit;
      const bool hashes = transfer->row.step == TransferStep::kHash && transfer->job_running;
      transfer->active = (ends && !transfer->held_back) || hashes;
      continue;
    }
    entries.push_back({id, transfer->row.priority, transfer->row.created, transfer->stalled || transfer->row.refused});
  }
  if (entries.empty()) return;
  const auto chosen = choose_active(entries, c_.settings().max_fetching);
  for (const auto& entry : entries) {
    auto& transfer = *c_.book.find(entry.id);
    const bool active = std::find(chosen.begin(), chosen.end(), entry.id) != chosen.end();
    if (active != transfer.active) {
      transfer.came_at = c_.ports.clock.mono();
      c_.book.touch(transfer);
    }
    transfer.active = active;
  }
}

void TransferLoop::refresh(Transfer& transfer, MonoTime now) {
  if (!transfer.in_engine) return;
  const bool seeding = transfer.row.step == TransferStep::kHold;
  const auto every = seeding ? seconds(1) : milliseconds(kBusyRound);
  if (!transfer.snapshot_due && now - transfer.snapshot_at < every) return;
  auto snapshot = c_.ports.engine.snapshot(transfer.row.id);
  transfer.snapshot_due = false;
  const MonoTime before = std::exchange(transfer.snapshot_at, now);
  if (!snapshot) return;
  note_rates(transfer, *snapshot, transfer.snapshot ? before : now, now);
  transfer.problems = snapshot->problems;
  transfer.row.lanes_peak = std::max(transfer.row.lanes_peak, open_lanes(*snapshot));
  const bool quiet = seeding && transfer.snapshot && looks_alike(*transfer.snapshot, *snapshot);
  transfer.snapshot = std::move(snapshot);
  if (!quiet) c_.book.touch(transfer);
}

void TransferLoop::note_rates(const Transfer& transfer, const TorrentSnapshot& snapshot, MonoTime before,
                              MonoTime now) {
  const auto grown = [&](std::uint64_t TorrentSnapshot::* bytes) {
    const std::uint64_t was = transfer.snapshot ? *transfer.snapshot.*bytes : 0;
    return std::max(snapshot.*bytes, was) - was;
  };
  RateLook look;
  look.now = {now, c_.ports.clock.wall()};
  look.before = {before, look.now.wall - std::chrono::duration_cast<milliseconds>(now - before)};
  look.received_bytes = grown(&TorrentSnapshot::received_payload_bytes);
  look.sent_bytes = grown(&TorrentSnapshot::sent_payload_bytes);
  look.lanes = open_lanes(snapshot);
  look.sources = static_cast<int>(
      std::ranges::count_if(snapshot.peers, [](const auto& peer) { return peer.receive_bits_per_s > 0; }));
  c_.rates.note(transfer.row.id, transfer.row.created, look);
}

void TransferLoop::step(Transfer& transfer, MonoTime now) {
  transfer.look_due = false;
  // Whatever led here: what the row says is what may be served.
  if (transfer.row.step != TransferStep::kHold) {
    transfer.asleep = false;
    transfer.look_again.reset();
  }
  if (transfer.in_engine && transfer.engine_generation != transfer.row.content.generation && !transfer.job_running) {
    c_.take_out_of_engine(transfer);
  }
  refresh(transfer, now);
  if (!transfer.job_running) {
    switch (transfer.row.step) {
      case TransferStep::kHash:
        lasting_.step(transfer, now);
        break;
      case TransferStep::kCheckLocal:
        if (transfer.row.paused) break;
        if (transfer.held_back) {
          step_held_back(transfer, now);
        } else {
          gets_.start_check_local(transfer);
        }
        break;
      case TransferStep::kPrepare:
        gets_.start_prepare(transfer);
        break;
      case TransferStep::kFetch:
        step_fetch(transfer, now);
        break;
      case TransferStep::kVerify:
      case TransferStep::kCommit:
        if (transfer.held_back) {
          step_held_back(transfer, now);
        } else {
          gets_.start_finish(transfer);
        }
        break;
      case TransferStep::kAttach:
        if (!transfer.row.paused) seeding_.start_attach(transfer);
        break;
      case TransferStep::kHold:
        step_hold(transfer, now);
        break;
      case TransferStep::kCancel:
        step_cancelled(transfer, now);
        break;
      default:
        break;
    }
  }
  rights_.apply(transfer);
  announcer_.step(transfer, now);
  if (transfer.in_engine) update_plan(transfer, now);
  if (!transfer.notice.empty() && now - transfer.notice_at > kNoticeStays) {
    transfer.notice.clear();
    c_.book.touch(transfer);
  }
  say_what_is_missing(transfer);
  tell_state(transfer);
}

void TransferLoop::step_cancelled(Transfer& transfer, MonoTime now) {
  if (transfer.row.unpublished) return lasting_.step_cancelled(transfer, now);
  if (!transfer.discarded || !transfer.announce.claimed) gets_.start_discard(transfer);
}

/// What decides it is changed in many places.
void TransferLoop::tell_state(Transfer& transfer) {
  const auto state = visible_state(transfer.row, transfer.active, transfer.held_back, transfer.seeds());
  if (std::exchange(transfer.state_told, state) != state) c_.book.touch(transfer);
}

void TransferLoop::set_engine_paused(Transfer& transfer, bool paused, MonoTime now) {
  if (!transfer.in_engine || transfer.engine_paused == paused) return;
  transfer.engine_paused = paused;
  if (paused) {
    c_.ports.engine.pause(transfer.row.id);
    gets_.start_save(transfer);
  } else {
    c_.ports.engine.resume(transfer.row.id);
  }
  transfer.snapshot_due = true;
  if (transfer.row.step == TransferStep::kFetch) {
    note_counters(transfer, now);
    transfer.clock_runs = !paused;
    transfer.fetching_since = now;
  }
  transfer.announce.soon(now);
}

void TransferLoop::step_fetch(Transfer& transfer, MonoTime now) {
  if (transfer.row.wanted_bytes == 0) return gets_.start_finish(transfer);
  if (transfer.row.paused) return set_engine_paused(transfer, true, now);
  if (transfer.held_back) return step_held_back(transfer, now);
  if (!transfer.active) return set_engine_paused(transfer, true, now);
  const bool checking = transfer.snapshot && transfer.snapshot->state == TorrentState::kChecking;
  if (transfer.moving && transfer.in_engine && !checking) return gets_.start_move(transfer);
  if (transfer.row.refused || (transfer.row.content.generation == 0 && !serves_public_)) {
    return set_engine_paused(transfer, true, now);
  }
  if (!transfer.in_engine) return gets_.start_begin(transfer);
  if (transfer.lost_writes) return start_over(transfer);
  if (transfer.engine_paused) return go_on(transfer);
  if (!transfer.snapshot) return;
  const auto& snapshot = *transfer.snapshot;
  if (snapshot.state == TorrentState::kError) return disk_trouble(transfer, now);
  if (snapshot.state == TorrentState::kChecking) return;
  if (snapshot.state == TorrentState::kComplete || snapshot.state == TorrentState::kSeeding) {
    return gets_.start_finish(transfer);
  }
  const bool news = snapshot.verified_bytes > transfer.saved_verified;
  const bool due =
      now - transfer.saved_at >= kSaveEvery || snapshot.verified_bytes >= transfer.saved_verified + kSaveBytes;
  if (news && due) gets_.start_save(transfer);
  if (now >= transfer.touch_due) gets_.start_touch(transfer);
}

/// The engine paused itself. Full: wait for room. Room enough, and still an error: try again a few times, then give up.
void TransferLoop::disk_trouble(Transfer& transfer, MonoTime now) {
  const Error error = transfer.snapshot->error;
  if (now < transfer.disk_retry) return;
  transfer.disk_retry = now + kDiskRetry;
  c_.start_job(transfer, c_.quick, [this, error](const TransferId& id, const std::stop_token&) {
    const auto check = gets_.look_at_space(id);
    const auto lock = c_.book.lock();
    auto* found = c_.book.find(id);
    if (found == nullptr || found->row.step != TransferStep::kFetch) return;
    if (check && check->verdict != DiskVerdict::kEnough) {
      found->held_back = true;
      if (check->away) goes_away(*found);
      note_counters(*found, c_.ports.clock.mono());
      found->clock_runs = false;
      found->row.error = check->error();
      c_.log(NodeLogLevel::kWarning, display_name(found->row) + ": " + found->row.error->message);
      found->announce.soon(c_.ports.clock.mono());
      return;
    }
    if (++found->disk_errors >= kDiskAttempts || !found->in_engine) return give_up_on_disk(*found, error);
    c_.ports.engine.resume(id);
  });
}

void TransferLoop::give_up_on_disk(Transfer& transfer, const Error& error) {
  const Error given_up = mend_the_disk(transfer.row.id, error);
  c_.log(NodeLogLevel::kError, display_name(transfer.row) + " failed: " + given_up.message);
  c_.fail(transfer, given_up);
  c_.settle_siblings(transfer.row.content.id);
  c_.book.save_or_log(transfer);
}

/// A sync failed: what was read back from memory and verified may not be on the disk. All is read from there, and what
/// was lost is fetched again.
void TransferLoop::start_over(Transfer& transfer) {
  const Error lost{Code::kDisk,
                   "what was written below " + escape_for_display(transfer.row.target) + " did not all reach the disk"};
  if (++transfer.disk_errors >= kDiskAttempts) return give_up_on_disk(transfer, lost);
  c_.log(NodeLogLevel::kWarning, display_name(transfer.row) + ": " + lost.message + ": checking what is there");
  c_.take_out_of_engine(transfer);
  transfer.recheck = true;
  transfer.notice = lost.message + ", and what was lost is fetched again";
  transfer.notice_at = c_.ports.clock.mono();
  c_.book.touch(transfer);
}

/// Meanwhile its disk may have been unmounted, and the engine would make its folders anew below the mount point.
void TransferLoop::go_on(Transfer& transfer) {
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) {
    const bool away = gets_.hold_back_if_away(id);
    const auto lock = c_.book.lock();
    auto* found = c_.book.find(id);
    if (away || found == nullptr || found->row.step != TransferStep::kFetch) return;
    const bool waits = found->row.paused || found->held_back || !found->active || found->row.refused;
    if (!waits) set_engine_paused(*found, false, c_.ports.clock.mono());
  });
}

/// It leaves the engine, or its file system could not be mounted anew. What was not synced may be lost.
void TransferLoop::goes_away(Transfer& transfer) {
  transfer.away = true;
  if (!transfer.in_engine) return;
  c_.take_out_of_engine(transfer);
  transfer.recheck = true;
}

void TransferLoop::step_held_back(Transfer& transfer, MonoTime now) {
  if (transfer.in_engine && transfer.snapshot && transfer.snapshot->state != TorrentState::kError) {
    set_engine_paused(transfer, true, now);
  }
  if (now < transfer.disk_retry) return;
  transfer.disk_retry = now + kDiskRetry;
  c_.start_job(transfer, c_.quick, [this](const TransferId& id, const std::stop_token&) {
    const auto check = gets_.look_at_space(id);
    const auto lock = c_.book.lock();
    auto* found = c_.book.find(id);
    if (found == nullptr || !found->held_back || !check || !waits_for_a_disk(found->row.step)) return;
    const bool looks = found->row.step == TransferStep::kCheckLocal;  // it is asked for room later
    if (check->away && found->anew) return gets_.begin_anew(*found);
    found->anew = false;
    if (check->away || (check->verdict != DiskVerdict::kEnough && !looks)) {
      found->away = false;
      if (check->away) goes_away(*found);
      found->row.error = check->error();
      return;
    }
    c_.log(NodeLogLevel::kInfo, display_name(found->row) + " goes on: its disk is there and has room");
    found->held_back = found->away = false;
    found->disk_errors = 0;
    found->row.error.reset();
    if (found->in_engine) {
      c_.ports.engine.resume(id);
      found->clock_runs = true;
      found->fetching_since = c_.ports.clock.mono();
    }
    found->engine_paused = false;
    found->announce.soon(c_.ports.clock.mono());
  });
}

void TransferLoop::step_hold(Transfer& transfer, MonoTime now) {
  if (transfer.look_again) {
    if (now >= *transfer.look_again) seeding_.start_look(transfer);
    return;
  }
  if (transfer.lost_writes && transfer.in_engine) {
    return seeding_.doubt(transfer, "what was written did not all reach the disk");
  }
  if (transfer.row.checksums_due && now >= transfer.sums_not_before && !transfer.row.paused) {
    publishes_.start_checksums(transfer);
  }
  if (transfer.barred || transfer.row.wanted_bytes == 0) return;
  if (transfer.enters_engine()) return seeding_.start_hold(transfer);
  if (!transfer.in_engine) return;
  set_engine_paused(transfer, transfer.row.paused, now);
  if (transfer.snapshot && transfer.snapshot->state == TorrentState::kError && !transfer.row.paused) {
    return seeding_.doubt(transfer, transfer.snapshot->error.message);
  }
  const bool in_use = transfer.wanted_by_others() || (transfer.snapshot && !transfer.snapshot->peers.empty());
  if (in_use || transfer.wanted_at == MonoTime{}) transfer.wanted_at = now;
  const bool may_sleep = c_.held_in_engine > c_.options.most_idle_torrents && fell_asleep_ < kSleepAtOnce;
  if (may_sleep && now - transfer.wanted_at >= kSleepAfter) send_to_sleep(transfer);
}

void TransferLoop::send_to_sleep(Transfer& transfer) {
  const auto before = transfer.row.received_bytes + transfer.row.sent_bytes;
  c_.take_out_of_engine(transfer);
  if (transfer.row.received_bytes + transfer.row.sent_bytes != before) c_.book.save_or_log(transfer);
  transfer.asleep = true;
  --c_.held_in_engine;
  ++fell_asleep_;
}

/// Of the controller, in the dialling rule's form.
LanePlan TransferLoop::wished_plan(Transfer& transfer, const DialFacts& facts, MonoTime now) {
  if (!facts.wants_data) return make_lane_plan(facts, {});
  ControllerInput input = controller_input(c_.options, transfer, c_.settings().limits, {now, c_.ports.clock.wall()});
  input.load = c_.options.load(now);
  for (const auto& id : quick_) {
    const auto* other = c_.book.find(id);
    if (id != transfer.row.id && other != nullptr && competes(*other)) input.others.push_back(as_other(*other));
  }
  input.part_bits_per_s = limit_beside(transfer.row.limit_bits_per_s, c_.settings().limits.receive_bits_per_s, input);
  input.memories = c_.history.memories(input, c_.ports.clock.wall());
  input.to_finish = c_.history.to_finish(input.total_bytes);
  controlled_.insert(transfer.row.id);
  note_limit(transfer, c_.ports.watcher.look(input));
  const Plan plan = c_.ports.controller.plan(input);
  c_.history.look(input, plan, *transfer.findings);
  if (const auto* decision =
          c_.tuning.look(display_name(transfer.row), input, plan, *transfer.findings, c_.ports.clock.wall())) {
    c_.log(NodeLogLevel::kInfo, display_name(transfer.row) + ": " + decision_text(*decision));
  }
  if (plan.limit_bits_per_s != transfer.tuner_limit) {
    transfer.tuner_limit = plan.limit_bits_per_s;
    c_.ports.engine.set_rate_limit(transfer.row.id, receive_limit(transfer), 0);
  }
  return make_lane_plan(facts, plan);
}

void TransferLoop::note_limit(Transfer& transfer, Findings findings) {
  if (findings.limit != transfer.limit_told && findings.limit != Limit::kUnknown) {
    transfer.limit_told = findings.limit;
    c_.log(NodeLogLevel::kInfo, display_name(transfer.row) + ": limited by " + std::string(limit_word(findings.limit)) +
                                    ": " + findings.detail);
  }
  if (const auto line = transfer.target_told.look(c_.ports.clock.mono(), findings.target)) {
    c_.log(line->held ? NodeLogLevel::kInfo : NodeLogLevel::kWarning,
           display_name(transfer.row) +
               (line->held ? " keeps what was asked for again: " : " misses what was asked for: ") + line->text);
  }
  transfer.findings = std::move(findings);
}

/// What is to be done is said once: this node's ports are the same for all peers.
void TransferLoop::note_no_paths(Transfer& transfer, const DialFacts& facts) {
  transfer.no_paths.clear();
  const ClosedNode self{own_.name, own_.listeners(transfer.row.content.generation).endpoints};
  for (const auto& peer : facts.peers) {
    const PairFacts pair{facts.self,           peer.info.node,          facts.wants_data,
                         peer.info.wants_data, facts.self_reachability, peer.info.reachability};
    if (!without_path(pair) || peer.incoming || peer.outgoing || peer.nothing_for < kFallbackAfter) continue;
    const std::string id = peer.info.node.str();
    transfer.no_paths.push_back({peer.info.node, transfer.no_paths.empty()
                                                     ? no_path_message(self, {id, peer.info.endpoints})
                                                     : "no path to " + id + " either"});
  }
}

/// More nodes may have it than are planned at a time, and those that are planned may not be reached.
void TransferLoop::give_others_a_turn(Transfer& transfer, const LanePlan& plan, MonoTime now) {
  transfer.turned_at = now;
  for (const auto& peer : plan.peers) {
    const auto known = transfer.swarm.find(peer.node);
    if (known != transfer.swarm.end()) ++known->second.in_vain;
  }
}

void TransferLoop::update_plan(Transfer& transfer, MonoTime now) {
  if (!transfer.plan_due && (transfer.swarm.empty() || now - transfer.plan_at < kPlanEvery)) return;
  transfer.plan_due = false;
  transfer.plan_at = now;
  const bool idle = transfer.engine_paused || transfer.row.paused || transfer.held_back;
  const DialFacts facts =
      dial_facts(c_.options.node, own_.listeners(transfer.row.content.generation).reachability, transfer, now);
  transfer.findings.reset();
  LanePlan plan = idle ? LanePlan{0, "paused", {}} : wished_plan(transfer, facts, now);
  const std::uint64_t came = transfer.snapshot ? transfer.snapshot->received_payload_bytes : 0;
  if (came != transfer.came) transfer.came_at = now;
  transfer.came = came;
  const bool brings = !plan.peers.empty() && now - transfer.came_at < kNothingComes;
  transfer.stalled = facts.wants_data && transfer.announce.heard && !brings;
  if (transfer.stalled && now - transfer.turned_at >= kTurn) give_others_a_turn(transfer, plan, now);
  note_no_paths(transfer, facts);
  plan.revision = transfer.plan.revision;
  if (plan == transfer.plan) return;
  ++plan.revision;
  transfer.plan = plan;
  c_.ports.engine.set_plan(transfer.row.id, plan);
  c_.book.touch(transfer);
}

void TransferLoop::forget_controlled() {
  for (auto id = controlled_.begin(); id != controlled_.end();) {
    const auto* transfer = c_.book.find(*id);
    if (transfer != nullptr && transfer->row.step == TransferStep::kFetch) {
      ++id;
      continue;
    }
    c_.ports.controller.removed(*id);
    c_.ports.watcher.removed(*id);
    c_.tuning.ended(*id);
    c_.history.ended(*id, transfer != nullptr && has_fetched(transfer->row.step), c_.ports.clock.wall());
    id = controlled_.erase(id);
  }
}

void TransferLoop::say_what_is_missing(Transfer& transfer) {
  if (!swarm_role(transfer)) return;
  const std::uint32_t generation = transfer.row.content.generation;
  std::string text;
  if (!serves_public_) text = kServerNotHeard;
  if (text.empty()) text = transfer.announce.trouble;
  if (text.empty() && c_.server_lost) text = "server down, retrying";
  if (text.empty()) text = rights_.missing_paper(generation);
  if (text.empty() && generation != 0 && transfer.in_engine && !transfer.audience_shown) {
    text = "waits for the server's list of who may have it";
  }
  if (text.empty() && transfer.row.step == TransferStep::kFetch && transfer.active && transfer.stalled) {
    text = awaits_blocks(transfer) ? kNothingSent : "no seeders online";
  }
  const bool may_fetch = transfer.active || transfer.row.paused || transfer.held_back;
  if (text.empty() && transfer.row.step == TransferStep::kFetch && !may_fetch) {
    text = turn_text(transfer.row, c_.settings().max_fetching, c_.ports.clock.wall());
  }
  if (text == transfer.waiting_for) return;
  transfer.waiting_for = text;
  c_.book.touch(transfer);
}

}  // namespace gridtorrent::client
