#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "common/result.h"

namespace gridtorrent::net {

/// Counts connections by address and in all. Where all places are taken, a connection that only waits ends for one of
/// an address that has fewer, so that a few addresses cannot keep all others out. Thread-safe (private mutex; calls no
/// function under it); outlives its places.
class ConnectionLimits {
 public:
  struct Limits {
    std::size_t by_address = 512;
    std::size_t in_all = 20'000;
  };
  /// One connection's place; given back when it goes. Movable.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();
    /// The connection only waits from now on: `end`, which may be called on any thread, once, has it closed.
    void wait(std::function<void()> end);
    /// It waits no more. False: it was ended meanwhile.
    bool stay();

   private:
    friend class ConnectionLimits;
    Place(ConnectionLimits* limits, std::uint64_t id) : limits_(limits), id_(id) {}
    ConnectionLimits* limits_ = nullptr;
    std::uint64_t id_ = 0;
  };

  explicit ConnectionLimits(Limits limits) : limits_(limits) {}
  /// kExhausted; the message is "address" or "all", whichever limit is reached.
  Result<Place> take(const std::string& bucket);
  std::size_t taken() const;

 private:
  struct Address {
    std::size_t connections = 0;
    std::set<std::uint64_t> waiting;  ///< those that may be ended, by number
  };
  struct Connection {
    std::string bucket;
    std::function<void()> end;  ///< none: it does not wait
  };
  void set_waiting(std::uint64_t id, bool waiting);
  std::function<void()> end_for(std::size_t connections);
  void remove(std::uint64_t id);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Connection> connections_;
  std::map<std::string, Address> by_address_;
  std::set<std::pair<std::size_t, std::string>> by_waiting_;  ///< addresses by how many of theirs wait; none without
  std::uint64_t last_id_ = 0;
};

}  // namespace gridtorrent::net
