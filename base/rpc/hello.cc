#include "base/rpc/hello.h"

#include <algorithm>
#include <string>

#include "common/units.h"
#include "common/version.h"

namespace gridtorrent::rpc {

v1::Hello make_hello(WallTime now) {
  v1::Hello hello;
  hello.set_program_version(std::string(kVersion));
  hello.set_protocol_min(kProtocolMin);
  hello.set_protocol_max(kProtocolMax);
  hello.set_time_ms(now.ms);
  return hello;
}

Status check_hello(const v1::Hello& theirs, WallTime now, std::string_view who, std::string_view whose) {
  const std::uint32_t low = std::max(theirs.protocol_min(), std::uint32_t{kProtocolMin});
  const std::uint32_t high = std::min(theirs.protocol_max(), std::uint32_t{kProtocolMax});
  if (theirs.protocol_max() == 0 || low > high) {
    return Error{Code::kUnsupported, std::string(who) + " (version " +
                                         (theirs.program_version().empty() ? "unknown" : theirs.program_version()) +
                                         ") speaks protocol " + std::to_string(theirs.protocol_min()) + " to " +
                                         std::to_string(theirs.protocol_max()) + ", this program (version " +
                                         std::string(kVersion) + ") " + std::to_string(kProtocolMin) + " to " +
                                         std::to_string(kProtocolMax) + ": upgrade the older one"};
  }
  if (theirs.time_ms() == 0) return {};
  // Nobody's clock stands before 1970; the difference of two times since then cannot overflow.
  const auto ahead = WallTime{std::max<std::int64_t>(theirs.time_ms(), 0)} - now;
  const auto apart = ahead < ahead.zero() ? -ahead : ahead;
  if (apart > kMaxClockSkew) {
    return Error{Code::kInvalid, "the clock of " + std::string(who) + " is " + format_duration(apart) +
                                     (ahead > ahead.zero() ? " ahead of " : " behind ") + std::string(whose) +
                                     ", more than 48 h: set the wrong one (timedatectl, NTP)"};
  }
  return {};
}

}  // namespace gridtorrent::rpc
