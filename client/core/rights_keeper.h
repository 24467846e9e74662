#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "client/core/node_context.h"

namespace gridtorrent::client {

/// Keeps what restricted content needs: lists of who may have it, on disk and in the engine, and this node's
/// certificates, renewed at half of their life.
class RightsKeeper {
 public:
  explicit RightsKeeper(NodeContext& context) : c_(context) {}

  /// What was there before the process; the engine gets the certificates.
  Status restore();

  // From the server's stream, on its thread.
  void learn(const AudienceList& list);
  void confirm(const std::vector<AudienceRef>& refs);

  /// Transfers' thread, each round, without the lock: asks for certificates, writes down what was confirmed, forgets
  /// lists that nobody uses.
  void step(MonoTime now);
  /// Writes down which list belongs to which transfer, where that changed. Also for the last time, at the end.
  void save_audiences();
  /// Lock held: the engine lets in who may have it now.
  void apply(Transfer& transfer);
  /// Why restricted content of this generation cannot move; empty: nothing is in the way.
  std::string missing_paper(std::uint32_t generation) const;

 private:
  void ask();
  void show_papers();
  void write_down(MonoTime now);
  std::vector<std::uint32_t> generations_in_use();

  NodeContext& c_;
  MonoTime papers_due_{}, saved_{}, written_{}, pruned_{};
  std::atomic<bool> asking_{false};
  mutable std::mutex mutex_;  ///< guards the rest
  int failures_ = 0;
  MonoTime not_before_{};
  std::vector<std::uint32_t> asked_for_;  ///< generations in use when it was last asked
  std::string trouble_;
  std::set<std::uint32_t> shown_;  ///< generations that the engine has a certificate for
};

}  // namespace gridtorrent::client
