#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "client/core/node_limits.h"

/// Limits of the whole node that hold at some hours only. Pure functions of values and of this machine's time zone
/// (TZ); days on which clocks are changed are as long as they are.
namespace gridtorrent::client {

/// One entry: from `from` to `to` by a clock here, on days that begin with one of `days`. Where `to` is not after
/// `from` it is that of the day after.
struct LimitHours {
  int from_minute = 0, to_minute = 24 * 60;      ///< since midnight
  std::bitset<7> days = std::bitset<7>().set();  ///< 0: Monday
  NodeLimits limits;                             ///< of which one at least is there
  std::string text;                              ///< "08:00-18:00 mon-fri", for people
  friend bool operator==(const LimitHours&, const LimitHours&) = default;
};

/// So many entries at most.
inline constexpr std::size_t kMostLimitHours = 32;

/// "from=08:00 to=18:00 days=mon-fri up=50Mbit down=100Mbit": `up` or `down` is needed, what else is left out stands
/// for all day and every day. kInvalid says what is wrong and how it is written.
Result<LimitHours> parse_limit_hours(std::string_view text);

struct LimitsNow {
  NodeLimits limits;
  LimitsWhy why;
};

/// Of `always` and those of the hours that hold at `now` the strictest, for each direction.
LimitsNow limits_at(const NodeLimits& always, const std::vector<LimitHours>& hours, WallTime now);

/// The limits in force: by the configuration and its hours, or as set by hand, which holds until the hours next change
/// them. Not thread-safe; its owner locks.
class HeldLimits {
 public:
  /// The same as before leave what was set by hand.
  void configure(const NodeLimits& always, std::vector<LimitHours> hours, WallTime now);
  void set_by_hand(const NodeLimits& limits, WallTime now);
  /// Looks at the clock; true where other limits hold now.
  bool follow(WallTime now);

  const LimitsNow& now() const { return now_; }

 private:
  void decide(WallTime now);

  NodeLimits always_;
  std::vector<LimitHours> hours_;
  std::optional<NodeLimits> by_hand_;
  NodeLimits planned_;  ///< what configuration and hours say, when last looked at
  LimitsNow now_;
};

}  // namespace gridtorrent::client
