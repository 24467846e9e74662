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

std::span<const std::uint8_t> take(std::span<const std::uint8_t>& bytes, std::size_t count) {
  const auto taken = bytes.first(std::min(count, bytes.size()));
  bytes = bytes.subspan(taken.size());
  return taken;
}

void compare_cut_and_whole(http2::MessageBudget& budget, std::span<const std::uint8_t> input, std::size_t piece) {
  Run whole(budget), cut(budget);
  const auto expected = whole.guard.from_caller(input, whole.clock.mono());
  std::optional<http2::Offence> got;
  for (auto rest = input; !rest.empty() && !got;) got = cut.guard.from_caller(take(rest, piece), cut.clock.mono());
  // Small pieces cost more than large ones: only there may the limit of what is held strike alone.
  if (got != http2::Offence::kUnfinishedHere) GT_CHECK(expected == got);
  const std::size_t each = http2::kPieceBytes + http2::kReadSliceBytes + 1;
  GT_CHECK(cut.guard.held_bytes() <= input.size() * each);
  GT_CHECK(budget.held_bytes() <= 2 * input.size() * each);
}

void run_both_ways(http2::MessageBudget& budget, std::span<const std::uint8_t> input, std::size_t piece) {
  Run both(budget);
  for (std::size_t count = 0; !input.empty(); ++count) {
    const auto part = take(input, piece);
    const MonoTime now = both.clock.mono();
    if (count % 4 == 3 ? both.guard.from_server(part, now) : both.guard.from_caller(part, now)) return;
    const std::string farewell = both.guard.farewell(http2::Offence::kResets);
    GT_CHECK(farewell.empty() || farewell.size() > http2::kFrameHeaderBytes);
    GT_CHECK(both.guard.open_streams() <= http2::GuardLimits().open_streams);
    both.clock.advance(std::chrono::milliseconds(part[0]));
    if (both.guard.check_time(both.clock.mono())) return;
  }
}

}  // namespace

/// Bytes of a caller: the verdict is the same however they are cut, no more is held than came (and what it cost), and
/// everything is given back. In a second run every fourth piece is the server's, and time passes.
void http2_guard(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  const std::size_t piece = 1 + input[0];
  input = input.subspan(1);
  http2::MessageBudget budget({});
  compare_cut_and_whole(budget, input, piece);
  run_both_ways(budget, input, piece);
  GT_CHECK(budget.held_bytes() == 0);
}

}  // namespace gridtorrent::fuzz
