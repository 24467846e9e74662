#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gridtorrent::rpc {

/// Jobs that wait by key (a user). Keys take turns, one job each, in the order in which they came; jobs of one key run
/// in their own order, and only so many at once. Bounded for each key and in all. Pure; not thread-safe.
template <class Job>
class FairQueue {
 public:
  struct Limits {
    std::size_t waiting_of_key = 1;
    std::size_t waiting = 1;
    std::size_t running_of_key = 1;  ///< at least 1
  };
  enum class Put : std::uint8_t { kTaken, kKeyIsFull, kIsFull };
  struct Turn {
    std::string key;
    Job job;
  };

  explicit FairQueue(Limits limits) : limits_(limits) {}

  Put put(const std::string& key, Job job) {
    const auto found = lines_.find(key);
    if (found != lines_.end() && found->second.waiting.size() >= limits_.waiting_of_key) return Put::kKeyIsFull;
    if (waiting_ >= limits_.waiting) return Put::kIsFull;
    Line& line = lines_[key];
    line.waiting.push_back(std::move(job));
    ++waiting_;
    line_up(key, line);
    return Put::kTaken;
  }

  /// The next job that may run now, if there is one; done() with its key is due.
  std::optional<Turn> take() {
    if (turns_.empty()) return std::nullopt;
    Turn turn{std::move(turns_.front()), {}};
    turns_.pop_front();
    Line& line = lines_.at(turn.key);
    turn.job = std::move(line.waiting.front());
    line.waiting.pop_front();
    line.in_turn = false;
    ++line.running;
    --waiting_;
    line_up(turn.key, line);
    return turn;
  }

  void done(const std::string& key) {
    const auto found = lines_.find(key);
    Line& line = found->second;
    --line.running;
    line_up(key, line);
    if (line.running == 0 && line.waiting.empty()) lines_.erase(found);
  }

  std::size_t waiting() const { return waiting_; }

 private:
  struct Line {
    std::deque<Job> waiting;
    std::size_t running = 0;
    bool in_turn = false;
  };
  /// A key stands in line at most once, and only while it has a job that may run.
  void line_up(const std::string& key, Line& line) {
    if (line.in_turn || line.waiting.empty() || line.running >= limits_.running_of_key) return;
    line.in_turn = true;
    turns_.push_back(key);
  }

  const Limits limits_;
  std::map<std::string, Line> lines_;
  std::deque<std::string> turns_;
  std::size_t waiting_ = 0;
};

}  // namespace gridtorrent::rpc
