#include "client/core/target_told.h"

namespace gridtorrent::client {

std::optional<TargetTold::Line> TargetTold::look(MonoTime now, const std::optional<TargetState>& state) {
  if (!state) return std::nullopt;
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
