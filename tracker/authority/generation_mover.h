#pragma once

#include <cstddef>

#include "ccm/domain/ports.h"
#include "common/clock.h"
#include "common/result.h"
#include "tracker/authority/data_authority.h"
#include "tracker/core/ports.h"

namespace gridtorrent::tracker::authority {

/// After a rotation of the data CA: moves contents to the current generation, a few at a time so that nodes are not all
/// busy at once, and ends generations that nothing is under any more (docs/security.md). It keeps nothing of its
/// own: where it was interrupted, it goes on. One thread at a time; blocks on the store.
class GenerationMover {
 public:
  struct Deps {
    Store& store;
    DataAuthority& data_ca;
    ccm::NodeWaker& nodes;
    const Clock& clock;
  };
  explicit GenerationMover(Deps deps) : d_(deps) {}

  static constexpr std::size_t kBatch = 500;

  /// Moves at most `kBatch` contents, with an audit record in the same transaction, and tells the nodes that have them.
  /// Returns how many; where the data CA cannot sign, none. Errors: of the store.
  Result<std::size_t> step();

 private:
  Status end_unused();

  Deps d_;
};

}  // namespace gridtorrent::tracker::authority
