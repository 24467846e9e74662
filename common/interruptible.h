#pragma once

#include <functional>
#include <optional>

#include "common/result.h"

namespace gridtorrent {

/// While it lives, long work on this thread asks `stop` now and then, and ends with the error that it returns: reads of
/// the database do so about every millisecond. For work on behalf of a caller who has a deadline, or may go away. The
/// innermost scope counts. `stop` runs on this thread; it must be quick and must not read the database.
class Interruptible {
 public:
  using Stop = std::function<std::optional<Error>()>;
  explicit Interruptible(Stop stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// For the long work: why it should end now, if it should.
  static std::optional<Error> reason();

 private:
  const Stop stop_;
  const Interruptible* const outer_;
};

}  // namespace gridtorrent
