#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "client/engine/shared_rate.h"
#include "common/clock.h"

namespace gridtorrent::client::engine {

/// What one transfer holds back (requests.h).
class Asker {
 public:
  /// Whether its next block may be asked for by the transfer's own limit.
  virtual bool may_ask_next(MonoTime now) = 0;
  /// Asks for it. Returns its bytes.
  virtual std::uint64_t ask_next(MonoTime now) = 0;

 protected:
  ~Asker() = default;
};

/// The download limit of the whole node: at what rate all transfers together ask for blocks, in even parts for those
/// that want more. Network thread only, but for `set_rate` and `rate`.
class SharedAsking {
 public:
  /// Bytes a second; 0: no limit. Any thread.
  void set_rate(std::uint64_t bytes_per_s) { rate_ = bytes_per_s; }
  /// What the transfer may count on now, bytes a second; 0: no limit.
  std::uint64_t part_of(const Asker& asker) const;

  /// Whether it may ask for a block right away. If so, `asked` follows.
  bool may_ask(Asker& asker, MonoTime now);
  void asked(Asker& asker, std::uint64_t bytes, MonoTime now);
  /// Whether it holds requests back; true is said before `go_on`, and false before it is destroyed.
  void waits(Asker& asker, bool waits);
  /// Has those that wait ask for what is due.
  void go_on(MonoTime now);

 private:
  std::vector<Asker*> ready(MonoTime now) const;

  std::atomic<std::uint64_t> rate_ = 0;
  SharedRate<Asker*> shared_;
  std::vector<Asker*> waiting_;
};

}  // namespace gridtorrent::client::engine
