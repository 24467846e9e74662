#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace gridtorrent::rpc {

/// Who is served first where a turn is dear (a password hash takes a third of a second).
enum class Rank : std::uint8_t {
  kKnown,     ///< has proven something: shows a token, or the secret of a device that logged in before
  kStranger,  ///< has only an address, which proves nothing
};

/// Work that waits for its turn: exactly one of the two functions runs.
struct Turn {
  Rank rank = Rank::kStranger;
  std::string key;  ///< whose places it takes: a user, an address
  std::function<void()> work;
  std::function<void()> refused;  ///< there was no place, or it was given to another key
};

/// The order of turns: known callers before strangers, but one stranger after kKnownInARow known ones; among each, keys
/// take turns. Places are bounded by rank and key. Where a rank is full, a key without a place displaces the newest
/// turn of the key that holds most: few addresses cannot keep out the others. A pure structure: no clock, no thread, no
/// lock.
class TurnQueue {
 public:
  struct Limits {
    std::size_t of_rank = 32;
    std::size_t of_key = 2;         ///< of a stranger: who shares an address has a little room
    std::size_t of_known_key = 16;  ///< of who has proven something: a script that adds accounts side by side
  };
  static constexpr int kKnownInARow = 3;

  explicit TurnQueue(Limits limits) : limits_(limits) {}

  /// Takes the turn in. What it gives back has no place (any more): the turn itself or the one that it displaced.
  std::optional<Turn> push(Turn turn);
  /// The next one; nothing where none waits.
  std::optional<Turn> pop();
  std::size_t size() const { return known_.size + strangers_.size; }

 private:
  struct Line {
    std::map<std::string, std::deque<Turn>> by_key;
    std::deque<std::string> order;  ///< each key of `by_key` once; the first is next
    std::size_t size = 0;
  };
  static std::optional<Turn> displace(Line& line);
  static Turn take_front(Line& line);

  const Limits limits_;
  Line known_, strangers_;
  int known_in_a_row_ = 0;
};

}  // namespace gridtorrent::rpc
