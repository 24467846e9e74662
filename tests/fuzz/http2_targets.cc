#include <algorithm>
#include <chrono>
#include <string>

#include "base/http2/guard.h"
#include "common/result.h"
#include "tests/fuzz/targets.h"

namespace gridtorrent::fuzz {
namespace {

constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// One connection behind its preface. The first byte of the input is the size of the pieces in which it is given.
struct Run {
  explicit Run(http2::MessageBudget& budget) : guard({}, budget, "192.0.2.1", [](http2::Offence) {}, clock.mono()) {
    const std::string preface = kPreface;
    GT_CHECK(!guard.from_caller({reinterpret_cast<const std::uint8_t*>(preface.data()), preface.size()}, clock.mono()));
  }
  ManualClock clock;
  http2::Guard guard;
};

}  // namespace

/// Bytes of a caller: the verdict is the same however they are cut, no more is held than came (and what it cost), and
/// everything is given back. Every fourth piece is the server's, which may not break the guard either.
void http2_guard(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + input[0];
  input = input.subspan(1);
  http2::MessageBudget budget({});
  {
    Run whole(budget), cut(budget), both(budget);
    const auto expected = whole.guard.from_caller(input, whole.clock.mono());
    std::optional<http2::Offence> got;
    std::size_t count = 0;
    for (auto rest = input; !rest.empty(); ++count) {
      const auto part = rest.first(std::min(piece, rest.size()));
      rest = rest.subspan(part.size());
      if (!got) got = cut.guard.from_caller(part, cut.clock.mono());
      if (count % 4 == 3) {
        if (both.guard.from_server(part, both.clock.mono())) break;
        const std::string farewell = both.guard.farewell(http2::Offence::kResets);
        GT_CHECK(farewell.empty() || farewell.size() > http2::kFrameHeaderBytes);
      } else if (both.guard.from_caller(part, both.clock.mono())) {
        break;
      }
      GT_CHECK(both.guard.open_streams() <= http2::GuardLimits().open_streams);
      both.clock.advance(std::chrono::milliseconds(part[0]));
      if (both.guard.check_time(both.clock.mono())) break;
    }
    // Small pieces cost more than large ones: only there may the limit of what is held strike alone.
    if (expected) GT_CHECK(got.has_value());
    if (got && *got != http2::Offence::kUnfinishedHere) GT_CHECK(expected == got);
    const std::size_t each = http2::kPieceBytes + http2::kReadSliceBytes + 1;
    GT_CHECK(cut.guard.held_bytes() <= input.size() * each);
    GT_CHECK(budget.held_bytes() <= 3 * input.size() * each);
  }
  GT_CHECK(budget.held_bytes() == 0);
}

}  // namespace gridtorrent::fuzz
