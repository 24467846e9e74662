#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/http2/offence.h"
#include "common/clock.h"

namespace gridtorrent::http2 {

/// What the unfinished messages of all connections hold in memory. Where an address or all together hold more than
/// their limit, the connection with the most bytes × time held ends, not the one whose bytes came last: who sends
/// messages whole holds them for milliseconds and is left alone. Thread-safe (private mutex); outlives its shares.
class MessageBudget {
 public:
  struct Limits {
    /// 16 chunks of an upload (256 KiB) at once on one connection.
    std::size_t connection_bytes = std::size_t{4} << 20;
    /// Two connections at their limit, so that colleagues behind one NAT have room.
    std::size_t address_bytes = std::size_t{8} << 20;
    /// An attack may add 64 MiB to the server's memory; 32 MiB held took 70 MiB of it, with gRPC's own share and what
    /// malloc does not give back (bench/hold.py).
    std::size_t all_bytes = std::size_t{16} << 20;
  };
  /// Tells a connection to end; called without the mutex, on any thread; must not block.
  using Evict = std::function<void(Offence)>;

 private:
  struct Holder {
    std::string address;
    Evict evict;
    std::size_t bytes = 0;
    MonoTime since{};
    std::optional<Offence> evicted;
  };
  using Holders = std::list<Holder>;

 public:
  /// One connection's part; gives back what it holds when it goes. Not thread-safe.
  class Share {
   public:
    Share(MessageBudget& budget, std::string address, Evict evict);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    /// The connection's unfinished messages now hold `bytes`, the oldest since then. An offence: this connection must
    /// end. Others that must are told by their Evict.
    std::optional<Offence> update(std::size_t bytes, MonoTime since, MonoTime now);

   private:
    MessageBudget& budget_;
    const Holders::iterator holder_;
    std::size_t told_ = 0;  ///< saves the mutex while nothing is held, as in most calls
  };

  explicit MessageBudget(Limits limits) : limits_(limits) {}
  std::size_t held_bytes() const;

 private:
  struct Victim {
    Holder* holder = nullptr;
    Offence offence{};
  };
  std::optional<Victim> choose_victim(Holder& changed, MonoTime now);
  void set_bytes(Holder& holder, std::size_t bytes);

  const Limits limits_;
  mutable std::mutex mutex_;
  Holders holders_;
  std::map<std::string, std::size_t> by_address_;
  std::size_t all_ = 0;
};

}  // namespace gridtorrent::http2
