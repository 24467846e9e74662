#pragma once

#include "client/core/node.h"
#include "client/core/node_context.h"
#include "client/tuning/estimate.h"

namespace gridtorrent::client {

/// How long a get would take: by what is remembered of the paths from the seeders that are online, else by fetching for
/// some seconds. Stateless but for the context; called by people's threads, blocks for the server and the probe.
class EstimateFlow {
 public:
  /// From the get to the pause after it.
  static constexpr std::chrono::seconds kProbe{5};

  /// `node`: gets and pauses the transfer of a probe.
  EstimateFlow(NodeContext& context, Node& node) : c_(context), node_(node) {}

  Result<EstimateOutcome> estimate(const EstimateJob& job, const ProgressFn& probing, std::stop_token stop);

 private:
  /// What is asked about, and what this node has to do with it already.
  struct Subject {
    ContentInfo content;
    std::uint64_t bytes = 0;               ///< to come
    std::vector<NodeId> seeders;           ///< that are online
    std::optional<TransferId> transfer{};  ///< fetches it to the same place, or rests there
    bool fetches = false;
    std::uint64_t limit_bits_per_s = 0;    ///< of that transfer; 0: none
    std::vector<std::string> unmatched{};  ///< globs that mean no file
  };
  Result<Subject> look(const EstimateJob& job);
  Status look_at_transfers(const EstimateJob& job, const ChosenFiles& chosen, const metainfo::Manifest& manifest,
                           Subject& subject);
  Status ask_for_seeders(Subject& subject);

  Result<EstimateOutcome> judge_or_probe(const EstimateJob& job, const Subject& subject, const ProgressFn& probing,
                                         const std::stop_token& stop);
  std::optional<EstimateOutcome> by_history(const Subject& subject);
  Result<EstimateOutcome> by_transfer(const Subject& subject);
  Result<EstimateOutcome> by_probe(const EstimateJob& job, const Subject& subject, const ProgressFn& probing,
                                   const std::stop_token& stop);
  Result<EstimateOutcome> judge(const Subject& subject, const TransferView& view);
  EstimateOutcome outcome_of(const Subject& subject, const tuning::EstimateFacts& facts);
  /// Book locked.
  tuning::EstimateFacts facts_of(const Subject& subject, std::uint64_t bytes);

  NodeContext& c_;
  Node& node_;
};

}  // namespace gridtorrent::client
