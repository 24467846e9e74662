#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/clock.h"

namespace gridtorrent::net {

/// Places for strangers: connections whose caller has not shown yet who it is. A TLS session and what stands behind it
/// take 100 KiB, for which anybody may ask; who finds no place waits with its socket alone. The address that has the
/// fewest places gets the next free one. Where others wait, who has been idle for longest loses its place; if nobody
/// is, the address with the most places loses its oldest. Thread-safe (private mutex); calls no function under it.
class StrangerPlaces {
  struct State;

 public:
  struct Limits {
    /// 256 cost 28 MiB, of the 64 MiB that an attack may add.
    std::size_t at_once = 256;
    /// A place is kept so long at least, also by who is idle: two round trips over 300 ms, and the first call.
    std::chrono::milliseconds least{1'000};
    /// No longer than that where others of the same address wait, too; as long as a TLS handshake may take.
    std::chrono::milliseconds most{10'000};
  };

  /// One place; given back when it goes. Thread-safe.
  class Place {
   public:
    Place(std::shared_ptr<State> state, std::uint64_t id) : state_(std::move(state)), id_(id) {}
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    /// Whether a call is under way, or the handshake; so it is at first.
    void set_busy(bool busy);
    /// The caller is no stranger any more. Idempotent.
    void leave();
    /// Who is told to end the connection, instead of who was before; at once if that is due already.
    void on_evicted(std::function<void()> evict);

   private:
    const std::shared_ptr<State> state_;
    const std::uint64_t id_;
    std::atomic<bool> busy_ = true, left_ = false;  ///< both save the mutex
  };
  using Admit = std::function<void(std::shared_ptr<Place>)>;

  StrangerPlaces(Limits limits, const Clock& clock);

  /// `admit` is called once: now, or later on any thread. Whoever has gone by then lets the place go. The number by
  /// which forget() knows it.
  std::uint64_t wait(const std::string& address, Admit admit);
  /// Who waited has gone; nothing happens if it was admitted.
  void forget(const std::string& address, std::uint64_t number);
  /// Looks for places that others wait for; once a second.
  void tick();
  /// Nobody is admitted any more; who waits is forgotten.
  void close();
  std::size_t taken() const;
  std::size_t waiting() const;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace gridtorrent::net
