#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/clock.h"

namespace gridtorrent::rpc {

/// Counts what was refused, by reason, and says when to log it: at once, then at most once a minute a reason, so that a
/// flood does not fill the log. Thread-safe (private mutex).
class RefusalLog {
 public:
  /// How many of this reason to log now, this one included; nothing: not now.
  std::optional<std::uint64_t> add(std::string_view reason, MonoTime now);

 private:
  struct Entry {
    std::uint64_t unlogged = 0;
    std::optional<MonoTime> logged;
  };
  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace gridtorrent::rpc
