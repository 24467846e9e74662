#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "common/clock.h"
#include "common/ids.h"

namespace gridtorrent::tracker {

struct DialLimits {
  /// A descriptor each. With unanswering addresses alone this is at_once / timeout = 128 dials a second.
  std::size_t at_once = 256;
  /// A node has 64 dials a minute: one user's node with all of them unanswered holds a quarter.
  std::size_t at_once_of_user = 64;
  std::size_t waiting_of_user = 512;
  /// An answer takes at most `patience` and `timeout` together; nodes wait 15 s for it.
  std::chrono::milliseconds patience{2000};
  std::chrono::milliseconds timeout{2000};  ///< of one dial, then the verdict is "unreachable"
};

/// One endpoint of one update.
struct Dial {
  std::uint64_t update = 0;
  std::size_t endpoint = 0;
  friend auto operator<=>(const Dial&, const Dial&) = default;
};

/// Whose dial begins next: users take turns, each within its own places, so that nobody waits for another's addresses
/// that do not answer. A value without I/O; not thread-safe.
class DialTurns {
 public:
  explicit DialTurns(const DialLimits& limits) : limits_(limits) {}

  /// False where too many of the user wait already.
  [[nodiscard]] bool add(const UserId& user, const Dial& dial, MonoTime now);
  struct Turn {
    UserId user;
    Dial dial;
  };
  /// The next to begin, whose place is taken until ended(); nothing while there is none, or no place.
  std::optional<Turn> next();
  void ended(const UserId& user);
  /// Takes out those that waited for `patience`.
  std::vector<Dial> expire(MonoTime now);
  /// When expire() has something to do, unless next() takes it before.
  std::optional<MonoTime> next_expiry() const;

 private:
  struct Waiting {
    Dial dial;
    MonoTime until;
  };
  struct Line {
    std::deque<Waiting> waiting;  ///< in the order in which they expire
    std::size_t running = 0;
  };
  void forget_empty(std::map<UserId, Line>::iterator line);

  const DialLimits limits_;
  std::size_t running_ = 0;
  std::map<UserId, Line> lines_;
  UserId last_;  ///< whose turn it was
};

}  // namespace gridtorrent::tracker
