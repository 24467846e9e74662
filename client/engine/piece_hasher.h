#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <libtorrent/io_context.hpp>
#include <libtorrent/sha1_hash.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "client/engine/piece_memory.h"

namespace gridtorrent::client::engine {

/// SHA-1 of whole pieces from memory, up to 16 of them side by side, which gives one core about five times the rate of
/// one after the other (libtorrent-facts, "Multi-buffer hashing"). Has one thread of its own; `hash` is called in the
/// network thread, and so are the results.
class PieceHasher {
 public:
  /// Gets the piece back.
  using Done = std::function<void(PieceBuffer, const lt::sha1_hash&)>;

  /// False where this CPU hashes one after the other just as fast.
  static bool worthwhile();

  explicit PieceHasher(lt::io_context& network);
  /// What is queued is dropped; its `Done` is destroyed in the calling thread.
  ~PieceHasher();
  PieceHasher(const PieceHasher&) = delete;
  PieceHasher& operator=(const PieceHasher&) = delete;

  /// `piece` is whole. Keeps the network thread's loop running until `done` was called. Pieces that come shortly after
  /// each other are waited for, for 30 ms at most, to be hashed together.
  void hash(PieceBuffer piece, Done done);

 private:
  struct Job {
    PieceBuffer piece;
    Done done;
    lt::executor_work_guard<lt::io_context::executor_type> network_stays;
  };
  void run(const std::stop_token& stop);
  std::vector<Job> next_batch(const std::stop_token& stop);
  bool batch_is_full() const;

  lt::io_context& network_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> queue_;
  std::jthread thread_;  ///< last: uses all of the above
};

}  // namespace gridtorrent::client::engine
