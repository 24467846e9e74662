#include "client/core/target_told.h"

namespace gridtorrent::client {

/// What a deadline takes changes by itself.
void TargetTold::begin_anew_where_another(MonoTime now, const TargetState& state) {
  const bool rated = state.kind != TargetState::Kind::kDeadline;
  const bool other = state.kind != kind_ || (rated && state.wanted_bits_per_s != wanted_);
  if (other) told_missed_ = false;
  if (other) told_.reset();
  if (other || now - looked_ > kPause) missed_since_.reset();
  kind_ = state.kind;
  wanted_ = state.wanted_bits_per_s;
  looked_ = now;
}

std::optional<TargetTold::Line> TargetTold::look(MonoTime now, const std::optional<TargetState>& state) {
  if (!state) return std::nullopt;
  begin_anew_where_another(now, *state);
  if (state->held) {
    missed_since_.reset();
    if (!told_missed_) return std::nullopt;
    told_missed_ = false;
    return Line{true, state->text};
  }
  if (!missed_since_) missed_since_ = now;
  const bool just_told = told_ && now - *told_ < kAgain;
  if (told_missed_ || just_told || now - *missed_since_ < kMissedFor) return std::nullopt;
  told_ = now;
  told_missed_ = true;
  return Line{false, state->text};
}

}  // namespace gridtorrent::client
