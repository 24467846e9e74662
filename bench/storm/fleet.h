#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/storm/connection.h"

namespace gridtorrent::storm {

/// When tasks arrived at nodes' streams. Thread-safe.
class Arrivals {
 public:
  void note(const std::string& task) {
    const std::lock_guard lock(mutex_);
    at_.emplace(task, std::chrono::steady_clock::now());
  }
  std::map<std::string, Moment> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(at_, {});
  }
  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return at_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Moment> at_;
};

/// Many connections, kept open by one thread with epoll as nodes and people's programs keep theirs: each on its own,
/// with a growing, random pause after a loss (1 s doubling to 60 s, any part of it). The methods are thread-safe.
class Fleet {
 public:
  struct Options {
    std::uint16_t port = 0;
    std::string ca_file;
    std::vector<std::string> nodes, people;  ///< tokens
    unsigned per_second = 500;               ///< first connects
  };
  Fleet(const Options& options, Arrivals& arrivals);
  ~Fleet();

  struct State {
    std::size_t nodes_up = 0, people_up = 0;
    std::map<std::string, std::size_t> losses;  ///< by reason
  };
  State state() const;
  // Each returns once it is begun: state() no longer counts what was cut.
  /// All connect, a few at a time.
  void gather();
  /// All connections break at once, and come back each by itself.
  void cut();
  /// All connections break at once, and stay away.
  void leave();

 private:
  struct Member;
  enum class Order { kNone, kGather, kCut, kLeave };

  void give(Order order);
  void run(const std::stop_token& stop);
  void obey(Order order, Moment now);
  void begin_what_is_due(Moment now);
  void begin(Member& member, Moment now);
  void lost(Member& member, Moment now);
  void watch(Member& member, bool is_new);

  const Options options_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> tls_;
  std::vector<std::unique_ptr<Member>> members_;  ///< of the thread
  std::mt19937_64 random_{7};
  int epoll_ = -1;
  std::atomic<Order> order_ = Order::kNone;  ///< until it is obeyed
  std::atomic<std::size_t> nodes_up_ = 0, people_up_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> losses_;
  std::jthread thread_;
};

}  // namespace gridtorrent::storm
