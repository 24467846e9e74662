#include "gui/session/convert.h"

#include <algorithm>
#include <iterator>

#include "client/api/server/server_api.h"

namespace gridtorrent::gui {

namespace {

LaneRow lane_row(const v1::LaneStats& lane) {
  return {.local = lane.local(),
          .remote = lane.remote(),
          .state = lane.state(),
          .down_bits_per_s = lane.receive_bits_per_s(),
          .up_bits_per_s = lane.send_bits_per_s(),
          .round_trip_us = lane.srtt_us(),
          .retransmits = lane.retransmits(),
          .congestion_control = lane.congestion_control()};
}

LaneDecision lane_decision(const v1::TuningDecision& decision, std::int64_t from_ms) {
  LaneDecision made{.at_ms = from_ms + static_cast<std::int64_t>(decision.at_ms()),
                    .lanes_before = decision.lanes_before(),
                    .lanes = decision.lanes(),
                    .brought_bits_per_s = {},
                    .reason = decision.reason()};
  if (decision.has_brought_bits_per_s()) made.brought_bits_per_s = decision.brought_bits_per_s();
  return made;
}

}  // namespace

TransferRow transfer_row(const v1::Transfer& transfer) {
  TransferRow row;
  row.id = transfer.transfer_id();
  row.name = transfer.name();
  row.owner = transfer.owner();
  row.state = transfer_state(transfer.state());
  row.verified_bytes = transfer.verified_bytes();
  row.total_bytes = transfer.total_bytes();
  row.down_bits_per_s = transfer.payload_bits_per_s();
  row.up_bits_per_s = transfer.upload_bits_per_s();
  row.lanes = transfer.lanes();
  row.seeders = transfer.seeders();
  if (transfer.eta_s() >= 0 && row.state == TransferState::kFetching) row.left = std::chrono::seconds(transfer.eta_s());
  row.limit_word = transfer.limit_word();
  row.message = transfer.message();
  row.path = transfer.path();
  return row;
}

std::vector<PeerRow> peer_rows(const v1::Transfer& transfer) {
  std::vector<PeerRow> rows;
  rows.reserve(static_cast<std::size_t>(transfer.peers_size()));
  for (const v1::PeerStats& peer : transfer.peers()) {
    PeerRow row{.node_id = peer.node_id(),
                .name = {},
                .address = peer.address(),
                .down_bits_per_s = peer.bits_per_s(),
                .up_bits_per_s = peer.upload_bits_per_s(),
                .received_bytes = peer.received_bytes(),
                .sent_bytes = peer.sent_bytes(),
                .complete = peer.complete(),
                .lanes = {}};
    std::transform(peer.lane_stats().begin(), peer.lane_stats().end(), std::back_inserter(row.lanes), lane_row);
    rows.push_back(std::move(row));
  }
  return rows;
}

FoundRow found_row(const v1::Content& content, bool here) {
  return {.id = content.content_id(),
          .name = content.name(),
          .owner = content.owner(),
          .bytes = content.bytes(),
          .files = content.files(),
          .access = client::api::access_text(content.access()),
          .seeders = content.seeders(),
          .here = here,
          .published_ms = content.published_ms(),
          .tags = {content.tags().begin(), content.tags().end()}};
}

ReplicaFacts replica_facts(const v1::Replica& replica) {
  return {.node = replica.node_name(),
          .owner = replica.owner(),
          .complete = replica.complete(),
          .served = replica.served(),
          .online = replica.online()};
}

ContentFacts content_facts(const v1::Content& content) {
  return {.id = content.content_id(),
          .description = content.description(),
          .tags = {content.tags().begin(), content.tags().end()},
          .license = content.license(),
          .access = client::api::access_text(content.access()),
          .version = content.version(),
          .replicas = {}};
}

v1::SearchRequest search_request(const SearchQuery& query, std::int64_t now_ms) {
  v1::SearchRequest request;
  request.set_query(query.text);
  request.set_owner(query.owner);
  request.set_tag(query.tag);
  request.set_access(query.access);
  request.set_group(query.group);
  request.set_min_bytes(query.min_bytes);
  if (query.within) request.set_since_ms(now_ms - std::chrono::milliseconds(*query.within).count());
  return request;
}

v1::PublishRequest publish_request(const PublishDraft& draft) {
  v1::PublishRequest request;
  request.set_path(draft.path);
  request.set_name(draft.name);
  request.set_access(access_of(draft));
  request.set_description(draft.description);
  for (const std::string& tag : draft.tags) request.add_tags(tag);
  request.set_license(draft.license);
  request.set_strict(draft.strict);
  return request;
}

PublishScan publish_scan(const v1::ScannedFiles& scanned, bool complete) {
  return {.files = scanned.files(),
          .bytes = scanned.bytes(),
          .skipped = scanned.skipped(),
          .warnings = {scanned.warnings().begin(), scanned.warnings().end()},
          .name = scanned.name(),
          .complete = complete};
}

FileTree file_tree(const std::vector<client::api::FileEntry>& entries) {
  std::vector<FileRow> files;
  files.reserve(entries.size());
  for (const client::api::FileEntry& entry : entries)
    if (!entry.folder) files.push_back({entry.path.substr(entry.path.find('/') + 1), entry.bytes, entry.index});
  return FileTree(std::move(files));
}

Explanation explanation(const v1::Tuning& tuning, std::uint32_t lanes_now, const std::string& plan) {
  Explanation told{.limit_word = tuning.limit_word(),
                   .limit_detail = tuning.limit_detail(),
                   .advice = tuning.advice(),
                   .advice_command = tuning.advice_command(),
                   .plan = plan,
                   .curve = {.points = {}, .lanes_now = lanes_now}};
  for (const v1::LanesPoint& point : tuning.curve())
    told.curve.points.push_back(
        {point.lanes(), point.seconds(), point.least_bits_per_s(), point.median_bits_per_s(), point.most_bits_per_s()});
  return told;
}

void merge_tuning(v1::Tuning& known, const v1::Tuning& news) {
  v1::Tuning merged = news;
  merged.mutable_samples()->Swap(known.mutable_samples());
  merged.mutable_samples()->MergeFrom(news.samples());
  merged.mutable_decisions()->Swap(known.mutable_decisions());
  auto& decisions = *merged.mutable_decisions();
  for (const v1::TuningDecision& decision : news.decisions()) {
    const auto same = std::find_if(decisions.begin(), decisions.end(), [&](const v1::TuningDecision& earlier) {
      return earlier.number() == decision.number();
    });
    if (same != decisions.end())
      *same = decision;
    else
      *decisions.Add() = decision;
  }
  known.Swap(&merged);
}

RateHistory tuning_history(const v1::Tuning& tuning, std::int64_t now_ms) {
  const std::int64_t from_ms = now_ms - static_cast<std::int64_t>(tuning.elapsed_ms());
  RateHistory history;
  for (const v1::TuningSample& sample : tuning.samples())
    history.points.push_back({.at_ms = from_ms + static_cast<std::int64_t>(sample.at_ms()),
                              .span_ms = 1000,
                              .bits_per_s = sample.bits_per_s(),
                              .lanes = sample.lanes()});
  for (const v1::TuningDecision& decision : tuning.decisions())
    history.decisions.push_back(lane_decision(decision, from_ms));
  return history;
}

RateHistory rate_history(const v1::RateHistoryReply& reply) {
  RateHistory history;
  for (const v1::RatePoint& point : reply.points())
    history.points.push_back({.at_ms = point.at_ms(),
                              .span_ms = point.span_ms(),
                              .bits_per_s = point.down_bits_per_s(),
                              .lanes = point.lanes(),
                              .sent_bits_per_s = point.up_bits_per_s()});
  for (const v1::TuningDecision& decision : reply.decisions())
    history.decisions.push_back(lane_decision(decision, reply.decisions_from_ms()));
  return history;
}

void merge_rates(RateHistory& known, const RateHistory& news) {
  constexpr std::int64_t kDayMs = 24 * 60 * 60 * 1000;
  const auto rests = [](const RatePoint& point) { return point.bits_per_s == 0 && point.sent_bits_per_s == 0; };
  for (const RatePoint& point : news.points) {
    RatePoint* last = known.points.empty() ? nullptr : &known.points.back();
    const bool both_rest = last != nullptr && rests(*last) && rests(point);
    if (both_rest && last->lanes == point.lanes && point.at_ms - point.span_ms == last->at_ms) {
      last->at_ms = point.at_ms;
      last->span_ms += point.span_ms;
    } else {
      known.points.push_back(point);
    }
  }
  known.decisions.insert(known.decisions.end(), news.decisions.begin(), news.decisions.end());
  if (known.points.empty()) return;
  const std::int64_t oldest = known.points.back().at_ms - kDayMs;
  const auto first = std::ranges::upper_bound(known.points, oldest, {}, &RatePoint::at_ms);
  known.points.erase(known.points.begin(), first);
}

}  // namespace gridtorrent::gui
