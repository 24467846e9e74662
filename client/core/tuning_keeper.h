#pragma once

#include <string>
#include <vector>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Keeps the context's tuning log across restarts. What is new of it goes to the store from the pool `quick`, a
/// transaction for each transfer: at once when it ended, each five seconds while it runs. Explanations are worth no
/// trouble: what cannot be read or written is told in the log, and the node works on.
class TuningKeeper {
 public:
  explicit TuningKeeper(NodeContext& context) : c_(context) {}

  /// What an earlier process kept. Before the first round, when the book holds its transfers.
  void restore();
  /// Transfers' thread, book locked. Never blocks.
  void step(MonoTime now);
  /// All that is not written down yet, at the end, when the pools have stopped.
  void finish();

 private:
  void write(const std::vector<TuningRecord>& records, MonoTime asked_at);

  NodeContext& c_;
  bool writing_ = false;  ///< book locked
  MonoTime not_before_{};
  std::string trouble_;  ///< the last one in the log
};

}  // namespace gridtorrent::client
