#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "common/result.h"

namespace gridtorrent::net {

/// Counts connections by address and in all. Thread-safe (private mutex); outlives its places.
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

   private:
    friend class ConnectionLimits;
    Place(ConnectionLimits* limits, std::string bucket) : limits_(limits), bucket_(std::move(bucket)) {}
    ConnectionLimits* limits_ = nullptr;
    std::string bucket_;
  };

  explicit ConnectionLimits(Limits limits) : limits_(limits) {}
  /// kExhausted; the message is "address" or "all", whichever limit is reached.
  Result<Place> take(const std::string& bucket);
  std::size_t taken() const;

 private:
  void give_back(const std::string& bucket);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> by_address_;
  std::size_t all_ = 0;
};

}  // namespace gridtorrent::net
