#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/core/node_ports.h"
#include "client/plan/controller.h"
#include "client/plan/findings.h"
#include "client/tuning/history.h"
#include "client/tuning/witness.h"
#include "common/clock.h"

namespace gridtorrent::client {

/// What a node remembers of the paths that its transfers used: records in the store, all of them in memory as well, and
/// what the transfers that fetch have found out so far. Guarded by the book's mutex, as the transfers are.
class PathHistory {
 public:
  PathHistory(NodeStore& store, NodeLogFn log) : store_(store), log_(std::move(log)) {}

  /// What the store has, without what is too old.
  Status restore(WallTime now);

  /// What is known of the paths from these peers: what another transfer has found out so far, else the records.
  std::vector<PathMemory> memories(const ControllerInput& input, WallTime now) const;
  /// The same for one node, before anything was heard from it.
  std::optional<PathMemory> memory(const NodeId& node, const std::string& network, bool long_transfer,
                                   const TransferId& except, WallTime now) const;

  void look(const ControllerInput& input, const Plan& plan, const Findings& findings);
  /// The transfer no longer fetches, `whole` where it has all that it wanted. Writes what is worth a record.
  void ended(const TransferId& transfer, bool whole, WallTime now);
  /// A get's files were compared with their roots, synced and moved. Not kept over a restart.
  void finished(std::uint64_t bytes, std::chrono::milliseconds time);
  /// Bytes a second, the mean of the last gets; 0: not known.
  double finish_bytes_per_s() const { return finish_bytes_per_s_; }
  /// How long that takes for so many bytes; 0: not known.
  std::chrono::milliseconds to_finish(std::uint64_t bytes) const;
  /// The best second that this node has had on one of its networks; 0: none is remembered.
  double best_bits_per_s(const std::string& network) const;

  /// The node ends: the same for all that fetch.
  void all_ended(WallTime now);

  /// The last ones first.
  std::vector<PathRecord> list() const;
  /// Of one node, or of all; returns what was forgotten. What transfers that fetch have found out so far goes as well.
  Result<std::vector<PathRecord>> forget(const std::optional<NodeId>& node);

 private:
  void remember(const PathFacts& facts, WallTime now);

  NodeStore& store_;
  NodeLogFn log_;
  tuning::PathRecords records_;
  std::map<TransferId, tuning::PathWitness> witnesses_;
  double finish_bytes_per_s_ = 0;
};

/// The network of an address with its port, as sockets show it: "198.18.0.1:50000" is in "198.18.0.0/24",
/// "[2001:db8::1]:50000" in "2001:db8::/64". Empty where it is none.
std::string network_of(const std::string& endpoint);

}  // namespace gridtorrent::client
