#include "client/tuning/path_meter.h"

#include <algorithm>

namespace gridtorrent::client::tuning {
namespace {

using std::chrono::duration;
using std::chrono::microseconds;

/// The best rate is that of so long: one second alone holds bursts.
constexpr double kBestSeconds = 2;
/// A smoothed round trip is a mean after so many samples (RFC 6298: each counts for an eighth). The first of all is
/// that of the handshake alone.
constexpr double kSmoothedBy = 32;
/// What it says now is of now after so many: what was before counts for (7/8)^8, a third.
constexpr double kRenewedBy = 8;

double grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? static_cast<double>(after - before) : 0;
}

double seconds(MonoTime from, MonoTime to) {
  return duration<double>(to - from).count();
}

double share(double part, double whole) {
  return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0;
}

}  // namespace

void PathMeter::look(MonoTime now, const PeerSample& peer) {
  if (now < looked_) *this = PathMeter();
  if (looked_ != MonoTime{} && now - looked_ < kLook) return;
  Slice slice;
  slice.at = now;
  slice.seconds = looked_ == MonoTime{} ? 0 : seconds(looked_, now);
  note_round_trips(slice, peer);
  std::map<int, Lane> lanes;
  double sent = 0;  // segments, over the lanes' lives
  for (const auto& lane : peer.lanes) {
    const auto known = lanes_.find(lane.number);
    add(slice, known == lanes_.end() ? Lane{} : known->second, lane);
    Lane& kept = lanes[lane.number];
    kept.received_bytes = lane.received_bytes;
    if (lane.theirs) {
      kept.theirs = *lane.theirs;
    } else if (known != lanes_.end()) {
      kept.theirs = known->second.theirs;
    }
    sent += static_cast<double>(kept.theirs.sent_segments);
  }
  if (looked_ == MonoTime{}) slice.bytes = 0;  // of a time that nobody measured
  if (anew_) {                                 // what came meanwhile counts for nothing
    slice = {};
    slice.at = now;
    anew_ = false;
  }
  slice.lane_us = slice.seconds * 1e6 * static_cast<double>(peer.lanes.size());
  const auto number = static_cast<double>(peer.lanes.size());
  if (slice.segments >= kRenewedBy * number && sent >= kSmoothedBy * number) note_mean(slice);
  lanes_ = std::move(lanes);
  slices_.push_back(std::move(slice));
  while (now - slices_.front().at > kBest) slices_.pop_front();
  looked_ = now;
}

void PathMeter::interrupted() {
  slices_.clear();
  anew_ = true;
}

void PathMeter::add(Slice& slice, const Lane& before, const LaneSample& lane) const {
  slice.bytes += grown(before.received_bytes, lane.received_bytes);
  if (!lane.theirs) return;
  const TcpFigures &was = before.theirs, &is = *lane.theirs;
  slice.segments += grown(was.sent_segments, is.sent_segments);
  slice.sent_bytes += grown(was.sent_bytes, is.sent_bytes);
  slice.resent_bytes += grown(was.resent_bytes, is.resent_bytes);
  slice.busy_us += grown(was.busy_us, is.busy_us);
  slice.empty_us += grown(was.empty_us, is.empty_us);
  slice.window_us += grown(was.window_limited_us, is.window_limited_us);
  slice.buffer_us += grown(was.buffer_limited_us, is.buffer_limited_us);
  const double events = grown(was.loss_events, is.loss_events);
  if (events <= 0) return;
  slice.events += events;
  const double round_trip = grown(was.loss_srtt_us, is.loss_srtt_us) / events;
  slice.losses.push_back({events, std::max(0.0, round_trip - static_cast<double>(least_us_))});
}

void PathMeter::note_round_trips(Slice& slice, const PeerSample& peer) {
  std::vector<std::uint32_t> round_trips;
  std::uint32_t least_us = 0;
  paced_bits_per_s_ = 0;
  bool is_unpaced = false;
  std::string oldest;
  for (const auto& lane : peer.lanes) {
    if (!lane.theirs) continue;
    const TcpFigures& theirs = *lane.theirs;
    if (oldest.empty()) oldest = theirs.congestion_control;
    paced_bits_per_s_ += static_cast<double>(theirs.paced_bytes_per_s) * 8;
    // A lane that carries nothing is told nothing: what it was told last may be long past.
    is_unpaced = is_unpaced || (theirs.paced_bytes_per_s == 0 && lane.receive_bits_per_s > 0);
    if (theirs.srtt_us == 0) continue;
    round_trips.push_back(theirs.srtt_us);
    const std::uint32_t least = theirs.min_rtt_us > 0 ? theirs.min_rtt_us : theirs.srtt_us;
    least_us = least_us == 0 ? least : std::min(least_us, least);
  }
  if (is_unpaced) paced_bits_per_s_ = 0;
  if (!oldest.empty()) congestion_control_ = oldest;
  if (round_trips.empty()) return;
  const auto middle = round_trips.begin() + static_cast<std::ptrdiff_t>(round_trips.size() / 2);
  std::ranges::nth_element(round_trips, middle);
  median_us_ = *middle;
  note_least(slice.at, least_us);
  slice.queue_us = static_cast<double>(*std::ranges::max_element(round_trips)) - static_cast<double>(least_us_);
}

void PathMeter::note_least(MonoTime now, std::uint32_t least) {
  if (bases_.empty() || now - bases_.back().at >= std::chrono::minutes(1)) bases_.push_back({now, least, kNever});
  bases_.back().least_us = std::min(bases_.back().least_us, least);
  while (now - bases_.front().at > kBase) bases_.pop_front();
  least_us_ = std::ranges::min_element(bases_, {}, &Base::least_us)->least_us;
}

void PathMeter::note_mean(Slice& slice) {
  if (median_us_ == 0 || bases_.empty()) return;
  slice.mean_us = median_us_;
  bases_.back().mean_us = std::min(bases_.back().mean_us, median_us_);
  const std::uint32_t mean = std::ranges::min_element(bases_, {}, &Base::mean_us)->mean_us;
  delays_us_ = std::min(delays_us_, std::max(mean, least_us_) - least_us_);
}

void PathMeter::note_best(MonoTime now, PathFigures& figures) const {
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (now - slices_[i].at > kBest) continue;
    double length = 0, bytes = 0, lane_seconds = 0;
    for (std::size_t k = i; k < slices_.size() && length < kBestSeconds; ++k) {
      length += slices_[k].seconds;
      bytes += slices_[k].bytes;
      lane_seconds += slices_[k].lane_us / 1e6;
    }
    if (length < kBestSeconds) break;
    figures.best_bits_per_s = std::max(figures.best_bits_per_s, bytes * 8 / length);
    if (lane_seconds > 0)
      figures.best_lane_bits_per_s = std::max(figures.best_lane_bits_per_s, bytes * 8 / lane_seconds);
  }
}

std::uint32_t PathMeter::delays_us() const {
  constexpr auto kMost = static_cast<std::uint32_t>(microseconds(kDelays).count());
  return delays_us_ == kNever ? 0 : std::min(delays_us_, kMost);
}

std::uint32_t PathMeter::standing_us(MonoTime now) const {
  std::uint32_t mean = 0;
  for (const auto& slice : slices_) {
    if (now - slice.at > kStanding || slice.mean_us == 0) continue;
    mean = mean == 0 ? slice.mean_us : std::min(mean, slice.mean_us);
  }
  const std::uint32_t idle = least_us_ + delays_us();
  return mean > idle ? mean - idle : 0;
}

PathFigures PathMeter::figures(MonoTime now, std::chrono::milliseconds span) const {
  PathFigures figures;
  figures.lanes = static_cast<int>(lanes_.size());
  figures.round_trip = microseconds(median_us_);
  figures.least_round_trip = microseconds(least_us_);
  figures.congestion_control = congestion_control_;
  figures.paced_bits_per_s = paced_bits_per_s_;
  figures.standing_queue = microseconds(standing_us(now));
  figures.delays = microseconds(delays_us());
  note_best(now, figures);
  double bytes = 0, sent_bytes = 0, resent_bytes = 0, lane_us = 0, busy_us = 0, empty_us = 0, window_us = 0;
  double buffer_us = 0, full_us = 0;
  for (const auto& slice : slices_) full_us = std::max(full_us, slice.queue_us);
  for (const auto& slice : slices_) {
    if (now - slice.at > span) continue;
    figures.seconds += slice.seconds;
    figures.segments += slice.segments;
    figures.loss_events += slice.events;
    bytes += slice.bytes;
    sent_bytes += slice.sent_bytes;
    resent_bytes += slice.resent_bytes;
    lane_us += slice.lane_us;
    busy_us += slice.busy_us;
    empty_us += slice.empty_us;
    window_us += slice.window_us;
    buffer_us += slice.buffer_us;
    for (const auto& losses : slice.losses) full_us = std::max(full_us, losses.queue_us);
  }
  figures.full_queue = microseconds(static_cast<std::int64_t>(std::min(full_us, 1e9)));
  const auto late_us = static_cast<double>(figures.late().count());
  full_us -= late_us;
  const bool queues = figures.is_queue(figures.full_queue - figures.late());
  for (const auto& slice : slices_) {
    if (now - slice.at > span) continue;
    for (const auto& losses : slice.losses) {
      const double queue_us = losses.queue_us - late_us;
      if (!queues || queue_us < full_us / 2) {
        figures.random_events += losses.events;
      } else if (queue_us < full_us * 4 / 5) {
        figures.doubtful_events += losses.events;
      }
    }
  }
  if (figures.seconds > 0) figures.bits_per_s = bytes * 8 / figures.seconds;
  if (figures.segments > 0 && sent_bytes > 0) figures.segment_bytes = std::max(sent_bytes / figures.segments, 1.0);
  figures.resent = share(resent_bytes, sent_bytes);
  figures.busy = share(busy_us, lane_us);
  figures.empty = share(empty_us, lane_us);
  figures.window_limited = share(window_us, busy_us);
  figures.buffer_limited = share(buffer_us, busy_us);
  return figures;
}

}  // namespace gridtorrent::client::tuning
