#include "client/cli/wishes.h"

#include <cmath>

#include "client/cli/moments.h"
#include "client/plan/tuners.h"
#include "client/plan/wish.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

constexpr char kDefaultWord[] = "default", kNone[] = "none";

std::vector<std::string> tuner_names() {
  std::vector<std::string> names;
  for (const TunerChoice& tuner : kTuners) names.emplace_back(tuner.name);
  return names;
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const TuningMode mode : kTuningModes) names.emplace_back(mode_name(mode));
  return names;
}

/// The node may know tuners that this program does not: it refuses what it does not know.
options::Option tuner_option() {
  return {.name = "tuner",
          .value = "NAME",
          .help = "what decides on lanes and seeders; `gridtorrent tune tuners` lists what there is",
          .suggestions = tuner_names(),
          .check = options::is_not_empty};
}

options::Option mode_option() {
  return {.name = "mode",
          .value = "MODE",
          .help =
              "how much to take where others use the path as well: balanced fills it, greedy takes more than its part, "
              "background what others leave",
          .choices = mode_names()};
}

options::Option rate_option(std::string name, std::string help) {
  return {.name = std::move(name), .value = "RATE", .help = std::move(help), .check = options::is_rate};
}

options::Option by_option() {
  return {.name = "by",
          .value = "TIME",
          .help =
              "be done by then, and take no more than that needs: 06:00 (the next time that a clock here shows it), "
              "+2h, or 2026-11-25T06:00:00Z",
          .check = is_moment};
}

constexpr char kTargetHelp[] = "hold this rate within 5 %, as in 30Mbit, also where others use the path";
constexpr char kFloorHelp[] = "leave room for others only as far as this rate is kept";

Status is_moment_or_none(std::string_view text) {
  return text == kNone ? Status() : is_moment(text);
}

std::string text_or_default(const options::Parsed& options, std::string_view name) {
  const std::string& text = options.str(name);
  return text == kDefaultWord ? "" : text;
}

WallTime time_of(std::int64_t ms) {
  return WallTime{ms};
}

std::string percent(double share) {
  // 0.4 % short is short.
  return std::to_string(std::max(1L, std::lround(100 * share))) + " %";
}

std::string deadline_words(const v1::Transfer& transfer, WallTime now) {
  const bool in_time = transfer.target().held();
  if (transfer.eta_s() < 0) return in_time ? "in time" : "NOT in time";
  const std::string end = clock_text(now + std::chrono::seconds(transfer.eta_s()), now);
  return in_time ? "in time: done by " + end : "NOT in time: " + end + " at what there is";
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(json_text(text));
}

}  // namespace

std::vector<options::Option> wish_options() {
  return {tuner_option(), mode_option(), rate_option("target-rate", kTargetHelp), rate_option("min-rate", kFloorHelp),
          by_option()};
}

std::vector<options::Option> wish_change_options() {
  options::Option tuner = tuner_option(), mode = mode_option(), by = by_option();
  tuner.help += "; default: the node's";
  tuner.suggestions.emplace_back(kDefaultWord);
  mode.help += "; default: the node's";
  mode.choices.emplace_back(kDefaultWord);
  by.help += "; none: whenever";
  by.check = is_moment_or_none;
  return {tuner, mode, rate_option("target-rate", std::string(kTargetHelp) + "; 0: none"),
          rate_option("min-rate", std::string(kFloorHelp) + "; 0: none"), by};
}

Result<v1::TuningWish> read_wish_change(const options::Parsed& options, WallTime now) {
  v1::TuningWish wish;
  if (options.has("tuner")) wish.set_tuner(text_or_default(options, "tuner"));
  if (options.has("mode")) wish.set_mode(text_or_default(options, "mode"));
  if (options.has("target-rate") && !options.gives_way("target-rate", "by"))
    wish.set_target_bits_per_s(options.bits_per_s("target-rate"));
  if (options.has("min-rate")) wish.set_floor_bits_per_s(options.bits_per_s("min-rate"));
  if (!options.has("by") || options.gives_way("by", "target-rate")) return wish;
  wish.set_by_ms(0);
  if (options.str("by") == kNone) return wish;
  const WallTime by = moment_of(options.str("by"), now);
  GT_TRY(check_deadline(by, now));
  wish.set_by_ms(by.ms);
  return wish;
}

Result<v1::TuningWish> read_wish(const options::Parsed& options, WallTime now) {
  GT_ASSIGN(v1::TuningWish wish, read_wish_change(options, now));
  TuningWish whole{wish.tuner(), mode_of(wish.mode()), wish.target_bits_per_s(), wish.floor_bits_per_s(), std::nullopt};
  if (wish.by_ms() != 0) whole.by = time_of(wish.by_ms());
  GT_TRY(check_wish(whole, options.bits_per_s("limit")));
  return wish;
}

bool is_empty(const v1::TuningWish& wish) {
  return wish.ByteSizeLong() == 0;
}

std::string wish_text(const v1::TuningWish& wish, WallTime now) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (!wish.tuner().empty()) add("tuner " + escape_for_display(wish.tuner()));
  if (!wish.mode().empty()) add("mode " + escape_for_display(wish.mode()));
  if (wish.target_bits_per_s() > 0) add(format_bits_per_s(wish.target_bits_per_s()) + " held");
  if (wish.floor_bits_per_s() > 0) add("at least " + format_bits_per_s(wish.floor_bits_per_s()));
  if (wish.by_ms() != 0) add("by " + clock_text(time_of(wish.by_ms()), now));
  return text;
}

std::string target_words(const v1::Transfer& transfer, WallTime now) {
  if (!transfer.has_target()) return "";
  const v1::TargetState& state = transfer.target();
  if (state.kind() == "deadline") return deadline_words(transfer, now);
  const std::string rate = format_bits_per_s(state.wanted_bits_per_s());
  if (!state.held() && state.shortfall() <= 0) return escape_for_display(state.text());  // "8 % above 30 Mbit/s"
  if (!state.held()) return percent(state.shortfall()) + " short of " + rate;
  return (state.kind() == "floor" ? "keeps at least " : "holds ") + rate;
}

std::string arrival_text(const v1::Transfer& transfer) {
  if (transfer.wish().by_ms() == 0 || transfer.fetched_ms() == 0) return "";
  const std::int64_t late = transfer.fetched_ms() - transfer.wish().by_ms();
  return late <= 0 ? ", in time" : ", " + format_duration(std::chrono::milliseconds(late)) + " late";
}

void add_wish(Json& json, const v1::TuningWish& wish) {
  json["tuner"] = text_or_null(wish.tuner());
  json["mode"] = text_or_null(wish.mode());
  json["target_bits_per_s"] = wish.target_bits_per_s();
  json["floor_bits_per_s"] = wish.floor_bits_per_s();
  json["by"] = json_time(wish.by_ms());
}

Json to_json(const v1::TargetState& state) {
  return {{"kind", state.kind()},
          {"held", state.held()},
          {"wanted_bits_per_s", state.wanted_bits_per_s()},
          {"shortfall", state.shortfall()},
          {"text", json_text(state.text())}};
}

Json target_json(const v1::Transfer& transfer) {
  return transfer.has_target() ? to_json(transfer.target()) : Json();
}

}  // namespace gridtorrent::client::cli
