#include "client/core/estimate_job.h"

#include <algorithm>

#include "client/core/plan_input.h"
#include "client/core/transfer.h"
#include "client/tuning/history.h"
#include "client/tuning/start.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{100};

std::string name_of(const ContentInfo& content) {
  return content.owner + "/" + content.name;
}

std::string count(std::size_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

bool same_content(const TransferRow& row, const ContentInfo& content) {
  return row.content.id == content.id && row.content.version == content.version;
}

/// The best two seconds on end: what the lanes carry once they are up.
double best_rate(const std::deque<TuningSample>& samples) {
  std::uint64_t best = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    best = std::max(best, samples[i - 1].bits_per_s / 2 + samples[i].bits_per_s / 2);
  }
  return static_cast<double>(best);
}

std::string range(const EstimateOutcome& outcome) {
  return "about " + tuning::about(outcome.likely) + " (" + tuning::about(outcome.least) + " to " +
         tuning::about(outcome.most) + "), " + format_bits_per_s(outcome.bits_per_s);
}

std::string where_from(const EstimateOutcome& outcome) {
  if (outcome.transfers == 0) return " As another transfer of this node finds it now.";
  return " From " + count(static_cast<std::size_t>(outcome.transfers), "transfer") + " over " +
         (outcome.known_seeders == 1 ? "this path" : "these paths") + ", the last " + tuning::age_text(outcome.age) +
         " ago.";
}

}  // namespace

std::string_view basis_name(EstimateBasis basis) {
  switch (basis) {
    case EstimateBasis::kHistory:
      return "history";
    case EstimateBasis::kProbe:
      return "probe";
    case EstimateBasis::kTransfer:
      return "transfer";
    case EstimateBasis::kFetched:
      return "fetched";
  }
  return "history";
}

std::string estimate_text(const EstimateOutcome& outcome) {
  const std::string what = format_bytes(outcome.bytes) + " from " + count(outcome.seeders, "seeder");
  std::string text;
  switch (outcome.basis) {
    case EstimateBasis::kHistory:
      text = what;
      if (outcome.known_seeders < outcome.seeders)
        text += ", of which " + std::to_string(outcome.known_seeders) + " known";
      text += ": " + range(outcome) + "." + where_from(outcome);
      break;
    case EstimateBasis::kProbe:
      text = what + " over " + (outcome.seeders == 1 ? "an unknown path" : "paths that are mostly unknown") +
             ": probed for " + tuning::about(outcome.probed) + " (" + format_bytes(outcome.kept_bytes) +
             ", kept for the get): " + range(outcome) + ".";
      break;
    case EstimateBasis::kTransfer:
      text = what + ": " + range(outcome) + ". It is being fetched, as " + outcome.transfer.str() + ".";
      break;
    case EstimateBasis::kFetched:
      return "all of it came within the probe: it is at " + escape_for_display(outcome.path) + ".";
  }
  if (outcome.limit != Limit::kUnknown) text += " Limited by " + std::string(limit_word(outcome.limit)) + ".";
  if (outcome.basis == EstimateBasis::kProbe) {
    text += " 'gridtorrent get' to the same folder goes on, 'gridtorrent transfer cancel " + outcome.transfer.str() +
            "' discards what is kept.";
  }
  return text;
}

Result<EstimateOutcome> EstimateFlow::estimate(const EstimateJob& job, const ProgressFn& probing,
                                               std::stop_token stop) {
  GT_ASSIGN(const Subject subject, look(job));
  auto outcome = judge_or_probe(job, subject, probing, stop);
  if (outcome) outcome->unmatched = subject.unmatched;
  return outcome;
}

Result<EstimateOutcome> EstimateFlow::judge_or_probe(const EstimateJob& job, const Subject& subject,
                                                     const ProgressFn& probing, const std::stop_token& stop) {
  if (subject.fetches) return by_transfer(subject);
  if (subject.seeders.empty()) {
    return Error{Code::kUnreachable, "no seeder of " + name_of(subject.content) +
                                         " is online, so nothing can be said: ask its owner to start a node that has "
                                         "it; 'gridtorrent get' waits for one"};
  }
  const auto known = by_history(subject);
  // What a few of many seeders brought says little of what all of them bring.
  const bool tells = known && 2 * known->known_seeders >= known->seeders;
  if (known && (tells || !job.may_probe)) return *known;
  if (job.may_probe) {
    auto probed = by_probe(job, subject, probing, stop);
    return !probed && known && !stop.stop_requested() ? Result<EstimateOutcome>(*known) : probed;
  }
  return Error{Code::kNotFound, "nothing is remembered of the paths from the " +
                                    count(subject.seeders.size(), "seeder") + " of " + name_of(subject.content) +
                                    ": leave out --no-probe, then it is fetched for 5 s, which are kept"};
}

Result<EstimateFlow::Subject> EstimateFlow::look(const EstimateJob& job) {
  Subject subject;
  GT_ASSIGN(subject.content, c_.ports.link.content(job.content));
  if (subject.content.withdrawn) {
    return Error{Code::kNotFound, name_of(subject.content) + " was withdrawn by its owner and is no longer handed out"};
  }
  GT_ASSIGN(const MetadataPtr metadata, c_.metadata(subject.content));
  GT_ASSIGN(const ChosenFiles chosen, choose_files(metadata->manifest, job.globs));
  subject.bytes = wanted_bytes(metadata->manifest, chosen.wanted);
  subject.unmatched = chosen.unmatched;
  GT_TRY(look_at_transfers(job, chosen, metadata->manifest, subject));
  if (!subject.fetches) GT_TRY(ask_for_seeders(subject));
  return subject;
}

Status EstimateFlow::look_at_transfers(const EstimateJob& job, const ChosenFiles& chosen,
                                       const metainfo::Manifest& manifest, Subject& subject) {
  const auto lock = c_.book.lock();
  for (const auto& [id, transfer] : c_.book.all()) {
    const TransferRow& row = transfer->row;
    if (!same_content(row, subject.content)) continue;
    if (row.step == TransferStep::kHold) {
      const auto had = held_entries(manifest, row.globs, row.lost);
      if (!had || !covers(*had, chosen.wanted)) continue;
      return Error{Code::kConflict, name_of(subject.content) + " is here already, at " +
                                        escape_for_display(join_path(row.target, row.base_name)) +
                                        ": nothing is left to fetch"};
    }
    if (!in_progress(row.step) || row.target != job.target || !brings(manifest, row, chosen.wanted)) continue;
    const std::uint64_t here =
        transfer->snapshot ? verified_of_wanted(*transfer->snapshot, row.wanted_bytes) : row.verified_bytes;
    subject.transfer = id;
    subject.bytes = row.wanted_bytes - std::min(here, row.wanted_bytes);
    subject.fetches = competes(*transfer);
    subject.limit_bits_per_s = receive_limit(*transfer);
  }
  return {};
}

/// As a get does, but it leaves the swarm at once.
Status EstimateFlow::ask_for_seeders(Subject& subject) {
  AnnounceRequest request;
  request.content = subject.content.id;
  request.version = subject.content.version;
  request.total_bytes = subject.content.bytes;
  GT_ASSIGN(const AnnounceReply reply, c_.ports.link.announce(request));
  for (const PeerInfo& peer : reply.peers) {
    if (peer.complete && !peer.wants_data && peer.node != c_.options.node) subject.seeders.push_back(peer.node);
  }
  bool claimed = false;
  {
    const auto lock = c_.book.lock();
    for (auto& [id, transfer] : c_.book.all()) {
      if (transfer->row.content.id != subject.content.id) continue;
      claimed = true;
      transfer->announce.soon(c_.ports.clock.mono());  // what this node is in the swarm was overtaken
    }
  }
  if (claimed) {
    c_.wake();
    return {};
  }
  request.role = SwarmRole::kGone;
  if (const auto gone = c_.ports.link.announce(request); !gone) {
    c_.log(NodeLogLevel::kDebug, name_of(subject.content) + " is not left yet, it expires: " + gone.error().message);
  }
  return {};
}

tuning::EstimateFacts EstimateFlow::facts_of(const Subject& subject, std::uint64_t bytes) {
  const std::uint64_t node = c_.settings().limits.receive_bits_per_s, own = subject.limit_bits_per_s;
  tuning::EstimateFacts facts;
  facts.bytes = bytes;
  facts.limit_bits_per_s = static_cast<double>(node == 0 || own == 0 ? std::max(node, own) : std::min(node, own));
  facts.finish_bytes_per_s = c_.history.finish_bytes_per_s();
  return facts;
}

EstimateOutcome EstimateFlow::outcome_of(const Subject& subject, const tuning::EstimateFacts& facts) {
  const tuning::Estimate judged = tuning::estimate(facts);
  EstimateOutcome outcome;
  outcome.content = subject.content;
  outcome.bytes = facts.bytes;
  outcome.seeders = subject.seeders.size();
  outcome.known_seeders = facts.paths.size();
  outcome.likely = judged.likely;
  outcome.least = judged.least;
  outcome.most = judged.most;
  outcome.bits_per_s = static_cast<std::uint64_t>(judged.bits_per_s);
  outcome.limit = judged.limit;
  if (subject.transfer) outcome.transfer = *subject.transfer;
  return outcome;
}

std::optional<EstimateOutcome> EstimateFlow::by_history(const Subject& subject) {
  const auto lock = c_.book.lock();
  const WallTime now = c_.ports.clock.wall();
  tuning::EstimateFacts facts = facts_of(subject, subject.bytes);
  int transfers = 0;
  std::optional<milliseconds> age;
  for (const NodeId& seeder : subject.seeders) {
    const auto memory = c_.history.memory(seeder, "", subject.bytes >= tuning::kLongBytes, TransferId(), now);
    if (!memory) continue;
    facts.paths.push_back(tuning::path_of(*memory, subject.seeders.size()));
    facts.link_bits_per_s = std::max(facts.link_bits_per_s, c_.history.best_bits_per_s(memory->facts.network));
    transfers = std::max(transfers, memory->transfers);
    age = std::min(age.value_or(memory->age), memory->age);
  }
  if (facts.paths.empty()) return std::nullopt;
  EstimateOutcome outcome = outcome_of(subject, facts);
  outcome.basis = EstimateBasis::kHistory;
  outcome.transfers = transfers;
  outcome.age = *age;
  return outcome;
}

Result<EstimateOutcome> EstimateFlow::by_transfer(const Subject& subject) {
  GT_ASSIGN(const TransferView view, node_.transfer(*subject.transfer));
  GT_ASSIGN(EstimateOutcome outcome, judge(subject, view));
  outcome.basis = EstimateBasis::kTransfer;
  return outcome;
}

/// By what a transfer has shown so far.
Result<EstimateOutcome> EstimateFlow::judge(const Subject& subject, const TransferView& view) {
  std::deque<TuningSample> samples;
  tuning::EstimateFacts facts;
  {
    const auto lock = c_.book.lock();
    if (const auto record = c_.tuning.find(view.id)) samples = record->samples;
    facts = facts_of(subject, view.total_bytes - std::min(view.verified_bytes, view.total_bytes));
  }
  const double rate = best_rate(samples), found = view.findings ? static_cast<double>(view.findings->bits_per_s) : 0;
  if (rate <= 0 || found <= 0) {
    return Error{Code::kUnreachable, "no data has come from the " + count(subject.seeders.size(), "seeder") + " of " +
                                         name_of(subject.content) + " so far" +
                                         (view.waiting_for.empty() ? "" : " (" + view.waiting_for + ")") +
                                         ", so nothing can be said: 'gridtorrent transfer show " + view.id.str() +
                                         "' shows its lanes"};
  }
  Subject now = subject;
  now.seeders.clear();
  for (const SourceFindings& source : view.findings->sources) {
    if (source.bits_per_s == 0) continue;
    // Each source's part of the best seconds is its part of the last ones.
    facts.paths.push_back(tuning::path_of(source, static_cast<double>(source.bits_per_s) * rate / found));
    now.seeders.push_back(source.node);
  }
  now.transfer = view.id;
  return outcome_of(now, facts);
}

Result<EstimateOutcome> EstimateFlow::by_probe(const EstimateJob& job, const Subject& subject,
                                               const ProgressFn& probing, const std::stop_token& stop) {
  GetJob get;
  get.content = subject.content.id.str();
  get.target = job.target;
  get.globs = job.globs;
  get.may_widen = false;
  bool joined = false;
  GT_ASSIGN(TransferView view, node_.get(get, joined));
  const MonoTime begun = c_.ports.clock.mono();
  const std::uint64_t before = view.verified_bytes;
  const auto ended = [&] {
    return view.state == TransferState::kFailed || view.state == TransferState::kSeeding ||
           view.state == TransferState::kComplete;
  };
  while (!ended() && !stop.stop_requested() && c_.ports.clock.mono() - begun < kProbe) {
    GT_ASSIGN(view, node_.wait_for_change(view.id, view.revision, kPoll));
    probing(view.verified_bytes, view.total_bytes);
  }
  if (view.state == TransferState::kFailed && view.error) return *view.error;
  if (ended()) {
    EstimateOutcome outcome;
    outcome.basis = EstimateBasis::kFetched;
    outcome.content = subject.content;
    outcome.bytes = subject.bytes;
    outcome.seeders = subject.seeders.size();
    outcome.transfer = view.id;
    outcome.path = view.path;
    return outcome;
  }
  auto judged = judge(subject, view);
  GT_TRY(node_.pause(view.id));
  if (stop.stop_requested()) {
    return Error{Code::kCancelled,
                 "the probe was stopped; what it fetched is kept for a get: 'gridtorrent transfer "
                 "cancel " +
                     view.id.str() + "' discards it"};
  }
  if (!judged) return judged;
  judged->basis = EstimateBasis::kProbe;
  judged->probed = std::chrono::duration_cast<milliseconds>(c_.ports.clock.mono() - begun);
  judged->kept_bytes = view.verified_bytes - std::min(before, view.verified_bytes);
  return judged;
}

}  // namespace gridtorrent::client
