#include "client/cli/tuning_view.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "client/cli/text_view.h"
#include "client/cli/wishes.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

bool is_known(const std::string& word) {
  return !word.empty() && word != "unknown";
}

std::string word_or_dash(const std::string& word) {
  return is_known(word) ? escape_for_display(word) : "-";
}

std::string rate_or_dash(std::uint64_t bits_per_s) {
  return bits_per_s == 0 ? "-" : format_bits_per_s(bits_per_s);
}

std::string round_trip(std::uint64_t us) {
  if (us == 0) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f ms", static_cast<double>(us) / 1000);
  return text.data();
}

std::string share(double of_one) {
  if (of_one <= 0) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2g %%", of_one * 100);
  return text.data();
}

std::string time_of(std::uint64_t ms) {
  return format_duration(std::chrono::milliseconds(ms));
}

/// One number of lanes compares with nothing.
std::string lanes_table(const v1::Tuning& tuning) {
  if (tuning.curve_size() < 2) return "";
  Table table({">LANES", ">SECONDS", ">LEAST", ">MEDIAN", ">MOST"});
  for (const v1::LanesPoint& p : tuning.curve()) {
    table.row({std::to_string(p.lanes()), std::to_string(p.seconds()), format_bits_per_s(p.least_bits_per_s()),
               format_bits_per_s(p.median_bits_per_s()), format_bits_per_s(p.most_bits_per_s())});
  }
  return "\nRATE BY LANES\n" + table.text("");
}

std::string padded(std::string text, std::size_t columns) {
  return text.insert(0, text.size() < columns ? columns - text.size() : 0, ' ');
}

std::string sources_table(const v1::Tuning& tuning) {
  Table table(
      {"SEEDER", ">RTT", ">LANES", ">RATE", ">A LANE", ">IN THE LONG RUN", ">LOSS EVENTS", "CONTROL", "HELD BY"});
  for (const v1::TuningSource& s : tuning.sources()) {
    const std::string a_lane = s.lanes() == 0 ? "-" : format_bits_per_s(s.bits_per_s() / s.lanes());
    table.row({escape_for_display(s.node_id()), round_trip(s.rtt_us()), std::to_string(s.lanes()),
               format_bits_per_s(s.bits_per_s()), a_lane, rate_or_dash(s.long_run_lane_bits_per_s()),
               share(s.loss_events_per_segment()), word_or_dash(s.congestion_control()), word_or_dash(s.held_by())});
  }
  return tuning.sources_size() == 0 ? "" : table.text("");
}

Json json_of(const v1::TuningSource& s) {
  return {{"node_id", s.node_id()},
          {"lanes", s.lanes()},
          {"rtt_us", s.rtt_us()},
          {"least_rtt_us", s.least_rtt_us()},
          {"bits_per_s", s.bits_per_s()},
          {"long_run_lane_bits_per_s", s.long_run_lane_bits_per_s()},
          {"loss_events_per_segment", s.loss_events_per_segment()},
          {"window_limited", s.window_limited()},
          {"buffer_limited", s.buffer_limited()},
          {"paced_bits_per_s", s.paced_bits_per_s()},
          {"congestion_control", json_text(s.congestion_control())},
          {"held_by", s.held_by()}};
}

Json json_of(const v1::TuningSample& s) {
  return {{"at_ms", s.at_ms()},
          {"bits_per_s", s.bits_per_s()},
          {"lanes", s.lanes()},
          {"sources", s.sources()},
          {"limit_word", s.limit_word()},
          {"limit_bits_per_s", s.limit_bits_per_s()},
          {"target_bits_per_s", s.target_bits_per_s()}};
}

Json json_of(const v1::TuningDecision& d) {
  return {{"number", d.number()},
          {"at_ms", d.at_ms()},
          {"lanes_before", d.lanes_before()},
          {"lanes", d.lanes()},
          {"bits_per_s", d.bits_per_s()},
          {"brought_bits_per_s", d.has_brought_bits_per_s() ? Json(d.brought_bits_per_s()) : Json()},
          {"limit_word", d.limit_word()},
          {"reason", json_text(d.reason())}};
}

Json json_of(const v1::LanesPoint& p) {
  return {{"lanes", p.lanes()},
          {"seconds", p.seconds()},
          {"least_bits_per_s", p.least_bits_per_s()},
          {"median_bits_per_s", p.median_bits_per_s()},
          {"most_bits_per_s", p.most_bits_per_s()}};
}

template <class Strings>
std::string joined(const Strings& strings) {
  std::string text;
  for (const std::string& one : strings) text += (text.empty() ? "" : ", ") + escape_for_display(one);
  return text;
}

template <class Strings>
Json texts(const Strings& strings) {
  Json array = Json::array();
  for (const std::string& one : strings) array.push_back(json_text(one));
  return array;
}

Json json_of(const v1::RememberedPath& p) {
  return {{"node_id", p.node_id()},
          {"network", json_text(p.network())},
          {"rtt_us", p.rtt_us()},
          {"loss_events_per_segment", p.loss_events_per_segment()},
          {"congestion_control", json_text(p.congestion_control())},
          {"long_transfer", p.long_transfer()},
          {"lanes", p.lanes()},
          {"sources", p.sources()},
          {"bits_per_s", p.bits_per_s()},
          {"total_bits_per_s", p.total_bits_per_s()},
          {"best_bits_per_s", p.best_bits_per_s()},
          {"long_run_lane_bits_per_s", p.long_run_lane_bits_per_s()},
          {"limit_word", p.limit_word()},
          {"transfers", p.transfers()},
          {"last", to_rfc3339(WallTime{p.last_ms()})}};
}

template <class Messages>
Json array_of(const Messages& messages) {
  Json array = Json::array();
  for (const auto& message : messages) array.push_back(json_of(message));
  return array;
}

}  // namespace

std::string decision_line(const v1::TuningDecision& decision) {
  std::string line = padded(std::to_string(decision.number()), 3) + "  " + padded(time_of(decision.at_ms()), 10) +
                     "  " + escape_for_display(decision.text());
  if (decision.has_brought_bits_per_s()) line += "; brought " + format_bits_per_s(decision.brought_bits_per_s());
  return line + "\n";
}

std::string limit_line(const v1::Tuning& tuning) {
  if (!is_known(tuning.limit_word())) return "";
  return "limited by " + tuning.limit_word() +
         (tuning.limit_detail().empty() ? "" : ": " + escape_for_display(tuning.limit_detail())) + "\n";
}

std::string tuning_text(const v1::Tuning& tuning) {
  const std::string mode = tuning.mode().empty() ? "" : " (" + escape_for_display(tuning.mode()) + ")";
  std::string text = escape_for_display(tuning.name()) + " (" + tuning.transfer_id() + "), tuner " +
                     escape_for_display(tuning.tuner()) + mode + ", " + time_of(tuning.elapsed_ms()) +
                     (tuning.running() ? "" : ", ended") + "\n";
  const std::string limit = limit_line(tuning);
  text += limit.empty() ? "nothing measured says what limits it\n" : limit;
  if (tuning.has_target()) text += escape_for_display(tuning.target().text()) + "\n";
  if (!tuning.advice().empty()) text += "  better: " + escape_for_display(tuning.advice()) + "\n";
  if (!tuning.advice_command().empty()) text += "  " + escape_for_display(tuning.advice_command()) + "\n";
  const std::string sources = sources_table(tuning);
  if (!sources.empty()) text += "\n" + sources;
  text += lanes_table(tuning) + "\nDECISIONS\n";  // last, since more of them follow where it is followed
  for (const v1::TuningDecision& decision : tuning.decisions()) text += decision_line(decision);
  return text;
}

std::string tunings_table(const v1::ListTuningsReply& reply) {
  Table table({"ID", "NAME", "TUNER", "STATE", ">FOR", ">LANES", ">RATE", "LIMITED BY", "LAST DECISION"});
  for (const v1::Tuning& t : reply.tunings()) {
    const bool sampled = t.running() && t.samples_size() > 0;
    const std::string last =
        t.decisions_size() == 0 ? "-" : escape_for_display(t.decisions(t.decisions_size() - 1).reason());
    table.row({t.transfer_id(), escape_for_display(t.name()), escape_for_display(t.tuner()),
               t.running() ? "running" : "ended", time_of(t.elapsed_ms()),
               sampled ? std::to_string(t.samples(t.samples_size() - 1).lanes()) : "-",
               sampled ? format_bits_per_s(t.samples(t.samples_size() - 1).bits_per_s()) : "-",
               word_or_dash(t.limit_word()), last});
  }
  return table.text("nothing has been fetched yet; 'gridtorrent get CONTENT' does");
}

Json to_json(const v1::Tuning& t) {
  return {{"transfer_id", t.transfer_id()},
          {"name", json_text(t.name())},
          {"tuner", t.tuner()},
          {"mode", t.mode().empty() ? Json() : Json(json_text(t.mode()))},
          {"running", t.running()},
          {"elapsed_ms", t.elapsed_ms()},
          {"limit_word", t.limit_word()},
          {"limit_detail", json_text(t.limit_detail())},
          {"advice", json_text(t.advice())},
          {"advice_command", json_text(t.advice_command())},
          {"bits_per_s", t.bits_per_s()},
          {"best_bits_per_s", t.best_bits_per_s()},
          {"sources", array_of(t.sources())},
          {"target", t.has_target() ? to_json(t.target()) : Json()},
          {"samples", array_of(t.samples())},
          {"decisions", array_of(t.decisions())},
          {"curve", array_of(t.curve())}};
}

std::string history_table(const v1::History& history, WallTime now) {
  Table table(
      {"SEEDER", "NETWORK", ">RTT", ">LOSS EVENTS", "CONTROL", ">LANES", ">RATE", "LIMITED BY", ">TRANSFERS", ">LAST"});
  for (const v1::RememberedPath& p : history.paths()) {
    const auto age = std::max(now - WallTime{p.last_ms()}, std::chrono::milliseconds(0));
    table.row({p.node_id(), p.network().empty() ? "-" : escape_for_display(p.network()), round_trip(p.rtt_us()),
               share(p.loss_events_per_segment()), word_or_dash(p.congestion_control()), std::to_string(p.lanes()),
               format_bits_per_s(p.bits_per_s()), word_or_dash(p.limit_word()), std::to_string(p.transfers()),
               format_duration(age) + " ago"});
  }
  return table.text("nothing is remembered of any path; a get that fetches for half a minute is");
}

Json to_json(const v1::History& history) {
  Json paths = Json::array();
  for (const v1::RememberedPath& p : history.paths()) paths.push_back(json_of(p));
  return {{"paths", std::move(paths)}};
}

Json to_json(const v1::EstimateResult& r) {
  return {{"content_id", r.content_id()},
          {"name", json_text(r.name())},
          {"basis", r.basis()},
          {"bytes", r.bytes()},
          {"seeders", r.seeders()},
          {"known_seeders", r.known_seeders()},
          {"likely_ms", r.likely_ms()},
          {"least_ms", r.least_ms()},
          {"most_ms", r.most_ms()},
          {"bits_per_s", r.bits_per_s()},
          {"limit_word", r.limit_word()},
          {"transfers", r.transfers()},
          {"age_ms", r.age_ms()},
          {"transfer_id", r.transfer_id().empty() ? Json() : Json(r.transfer_id())},
          {"probed_ms", r.probed_ms()},
          {"kept_bytes", r.kept_bytes()},
          {"path", r.path().empty() ? Json() : Json(json_text(r.path()))},
          {"text", json_text(r.text())}};
}

Json to_json(const v1::ListTuningsReply& reply) {
  Json array = Json::array();
  for (const v1::Tuning& tuning : reply.tunings()) array.push_back(to_json(tuning));
  return {{"tunings", std::move(array)}};
}

std::string tuners_text(const v1::ListTunersReply& reply) {
  Table table({"TUNER", "HEEDS", "DECIDES"});
  for (const v1::Tuner& tuner : reply.tuners())
    table.row({escape_for_display(tuner.name()), tuner.heeds_size() == 0 ? "-" : joined(tuner.heeds()),
               escape_for_display(tuner.help())});
  return table.text("this node has none") + "\nmodes: " + joined(reply.modes()) +
         "\nwhere nobody asks: " + escape_for_display(reply.tuner()) + ", " + escape_for_display(reply.mode()) + "\n";
}

Json to_json(const v1::ListTunersReply& reply) {
  Json tuners = Json::array();
  for (const v1::Tuner& tuner : reply.tuners())
    tuners.push_back(
        {{"name", json_text(tuner.name())}, {"help", json_text(tuner.help())}, {"heeds", texts(tuner.heeds())}});
  return {{"tuners", std::move(tuners)},
          {"modes", texts(reply.modes())},
          {"tuner", json_text(reply.tuner())},
          {"mode", json_text(reply.mode())}};
}

}  // namespace gridtorrent::client::cli
