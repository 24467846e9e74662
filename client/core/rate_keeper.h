#pragma once

#include <string>
#include <vector>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Keeps the context's rates across restarts. Each half minute what is new of them goes to the store from the pool
/// `quick`, some hundred transfers in a transaction; a kill loses what came since. Rates are worth no trouble: what
/// cannot be written is told in the log, and the node works on.
class RateKeeper {
 public:
  explicit RateKeeper(NodeContext& context) : c_(context) {}

  /// Transfers' thread, book locked. Never blocks.
  void step(Moment now);
  /// All that is not written down yet, at the end, when the pools have stopped.
  void finish();

  /// Any thread; reads the store. kNotFound where there is no such transfer.
  Result<RateHistory> history(const TransferId& id, WallTime from);

 private:
  void begin_pass(Moment now);
  /// Book locked. Of the transfers that are still to be written in this pass.
  std::vector<RateBlock> next_blocks();
  void write(const std::vector<RateBlock>& blocks);

  NodeContext& c_;
  // Book locked:
  bool writing_ = false;
  MonoTime next_pass_{};
  std::vector<TransferId> to_write_;  ///< in this pass
  std::string trouble_;               ///< the last one in the log
};

}  // namespace gridtorrent::client
