#include "client/plan/wish.h"

#include "client/plan/tuners.h"
#include "common/local_time.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client {
namespace {

/// Further ahead nobody waits; and no arithmetic on times overflows.
constexpr std::chrono::hours kFarthest{24 * 366};

Error invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}

std::string in_quotes(std::string_view text) {
  return "'" + escape_for_display(text.substr(0, 64)) + "'";
}

template <class Range, class Name>
std::string listed(const Range& range, Name name) {
  std::string text;
  for (const auto& one : range) text += (text.empty() ? "" : ", ") + std::string(name(one));
  return text;
}

Status check_order(const char* lower, std::uint64_t least, const char* upper, std::uint64_t most) {
  if (least == 0 || most == 0 || least <= most) return {};
  return invalid(std::string(lower) + " " + format_bits_per_s(least) + " is above " + upper + " " +
                 format_bits_per_s(most) + ": lower the one, or raise the other");
}

/// The options of what is asked in vain; "" where nothing is.
std::string unheeded(const TuningWish& wish, const Heeds& heeds) {
  std::string options;
  const auto add = [&](bool asked, bool heeded, const char* option) {
    if (asked && !heeded) options += (options.empty() ? "" : ", ") + std::string(option);
  };
  add(wish.mode.has_value(), heeds.mode, "--mode");
  add(wish.target_bits_per_s > 0, heeds.target, "--target-rate");
  add(wish.floor_bits_per_s > 0, heeds.floor, "--min-rate");
  add(wish.by.has_value(), heeds.deadline, "--by");
  return options;
}

std::string tuners_for(const TuningWish& wish) {
  std::string names;
  for (const TunerChoice& tuner : kTuners) {
    if (unheeded(wish, tuner.heeds).empty()) names += (names.empty() ? "" : " or ") + std::string(tuner.name);
  }
  return names;
}

}  // namespace

Result<TuningWish> changed(TuningWish wish, const WishChange& change) {
  if (change.mode && !change.mode->empty()) {
    wish.mode = mode_of(*change.mode);
    if (!wish.mode) {
      return invalid("--mode " + in_quotes(*change.mode) + " is not one of " + listed(kTuningModes, mode_name));
    }
  } else if (change.mode) {
    wish.mode.reset();
  }
  if (change.tuner) wish.tuner = *change.tuner;
  if (change.target_bits_per_s) wish.target_bits_per_s = *change.target_bits_per_s;
  if (change.floor_bits_per_s) wish.floor_bits_per_s = *change.floor_bits_per_s;
  if (change.by) wish.by = *change.by == WallTime{} ? std::nullopt : change.by;
  return wish;
}

Status check_wish(const TuningWish& wish, std::uint64_t limit_bits_per_s) {
  GT_TRY(check_order("--target-rate", wish.target_bits_per_s, "--limit", limit_bits_per_s));
  GT_TRY(check_order("--min-rate", wish.floor_bits_per_s, "--limit", limit_bits_per_s));
  GT_TRY(check_order("--min-rate", wish.floor_bits_per_s, "--target-rate", wish.target_bits_per_s));
  if (wish.target_bits_per_s > 0 && wish.by) {
    return invalid("--target-rate and --by exclude each other: the rate follows from the time; leave one of them out");
  }
  return {};
}

Status check_tuner(const TuningWish& wish, std::string_view usual) {
  const std::string_view name = wish.tuner.empty() ? usual : wish.tuner;
  const TunerChoice* tuner = find_tuner(name);
  if (tuner == nullptr) {
    return invalid("--tuner " + in_quotes(name) + " is not one of " +
                   listed(kTuners, [](const TunerChoice& one) { return one.name; }));
  }
  const std::string options = unheeded(wish, tuner->heeds);
  if (options.empty()) return {};
  return invalid("the tuner " + in_quotes(name) + (wish.tuner.empty() ? " of this node" : "") + " does not heed " +
                 options + ": choose --tuner " + tuners_for(wish) + ", or leave that out");
}

Result<TuningWish> changed_and_checked(const TuningWish& wish, const WishChange& change, std::uint64_t limit_bits_per_s,
                                       std::string_view usual) {
  GT_ASSIGN(TuningWish wanted, changed(wish, change));
  GT_TRY(check_wish(wanted, limit_bits_per_s));
  if (change != WishChange{}) GT_TRY(check_tuner(wanted, usual));
  return wanted;
}

Status check_deadline(WallTime by, WallTime now) {
  if (by <= now) return invalid("--by " + local_time_text(by) + " is past; it is " + local_time_text(now) + " now");
  if (by - now > kFarthest) return invalid("--by " + local_time_text(by) + " is more than a year ahead");
  return {};
}

}  // namespace gridtorrent::client
