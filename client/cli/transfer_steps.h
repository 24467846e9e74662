#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/context.h"

/// The same step for one transfer or many.
namespace gridtorrent::client::cli {

/// What ChangeTransfers said, over as many calls as it took.
struct StepOutcome {
  std::uint64_t changed = 0, failed = 0;
  std::vector<v1::TransferFailure> failures;  ///< some of those that failed
};
/// `request` has all but the ids. Blocks for the node.
Result<StepOutcome> take_step(api::NodeApi& node, const v1::ChangeTransfersRequest& request,
                              const std::vector<std::string>& ids);

/// The ids of the transfers that ID... names, each once; where one means none, that is the error. With --all instead:
/// of all that `wanted` takes.
Result<std::vector<std::string>> chosen_transfers(Context& context,
                                                  const std::function<bool(const v1::Transfer&)>& wanted = {});
/// Takes the step for each of `ids`, and says how many took it; the error names those that did not, and has the code of
/// the first of them.
Status take_step_and_tell(Context& context, const v1::ChangeTransfersRequest& request,
                          const std::vector<std::string>& ids, std::string_view what_happened);
/// Names those that did not take it, with the code of the first of them; no error where all did.
Status refusals(const StepOutcome& outcome);
Json failures_json(const StepOutcome& outcome);

/// ID..., and --all, as the commands above take them.
options::Positional transfers_positional(bool may_be_all);
options::Option all_option(const std::string& help);

}  // namespace gridtorrent::client::cli
