#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace gridtorrent::rpc {

/// Between the door, which finds out who calls, and the port, which has places for strangers' connections: a connection
/// over which a good credential came is no stranger's any more. Thread-safe (private mutex); calls no function under
/// it.
class KnownConnections {
 public:
  /// `known` is called once at most, on any thread. The entry goes with what is given back, which this must outlive.
  std::shared_ptr<void> add(std::uint64_t connection, std::function<void()> known);
  /// Unknown numbers, and those that were told already, are ignored.
  void tell(std::uint64_t connection);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::function<void()>> strangers_;
};

}  // namespace gridtorrent::rpc
