#include "client/cli/transfer_steps.h"

#include <algorithm>
#include <utility>

#include "client/cli/transfer_names.h"
#include "common/codes.h"
#include "common/text.h"

namespace gridtorrent::client::cli {

namespace {

constexpr std::size_t kAtOnce = 10'000;  ///< ids a call: it answers within a second
constexpr std::size_t kMostFailures = 10;

std::string transfers_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " transfer" : " transfers");
}

}  // namespace

Result<StepOutcome> take_step(api::NodeApi& node, const v1::ChangeTransfersRequest& request,
                              const std::vector<std::string>& ids) {
  StepOutcome outcome;
  for (std::size_t from = 0; from < ids.size(); from += kAtOnce) {
    v1::ChangeTransfersRequest part = request;
    for (std::size_t i = from; i < std::min(ids.size(), from + kAtOnce); ++i) part.add_transfer_ids(ids[i]);
    GT_ASSIGN(const v1::ChangeTransfersReply reply, node.change_transfers(std::move(part)));
    outcome.changed += reply.changed();
    outcome.failed += reply.failed();
    for (const v1::TransferFailure& failure : reply.failures())
      if (outcome.failures.size() < kMostFailures) outcome.failures.push_back(failure);
  }
  return outcome;
}

Result<std::vector<std::string>> chosen_transfers(Context& c, const std::function<bool(const v1::Transfer&)>& wanted) {
  const std::vector<std::string>& named = c.options.list("ID");
  const bool all = wanted && c.options.flag("all") && !c.options.gives_way("all", "ID");
  if (all && !named.empty()) return Error{Code::kInvalid, "--all is instead of an ID; leave out one of both"};
  if (!all && named.empty()) return Error{Code::kInvalid, "ID is missing; --all means every transfer"};
  std::vector<std::string> ids;
  if (all) {
    GT_ASSIGN(api::NodeApi* const node, c.node());
    GT_ASSIGN(const v1::ListTransfersReply list, node->list_transfers());
    for (const v1::Transfer& transfer : list.transfers())
      if (wanted(transfer)) ids.push_back(transfer.transfer_id());
    return ids;
  }
  for (const std::string& text : named) {
    GT_ASSIGN(std::string id, transfer_named(c, text));
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  }
  return ids;
}

Status take_step_and_tell(Context& c, const v1::ChangeTransfersRequest& request, const std::vector<std::string>& ids,
                          std::string_view what_happened) {
  StepOutcome outcome;
  if (!ids.empty()) {
    GT_ASSIGN(api::NodeApi* const node, c.node());
    GT_ASSIGN(outcome, take_step(*node, request, ids));
  }
  if (c.json) {
    c.print({{"changed", outcome.changed}, {"failed", outcome.failed}, {"failures", failures_json(outcome)}});
  } else {
    c.terminal.message(std::string(what_happened) + " " + transfers_text(outcome.changed));
  }
  return refusals(outcome);
}

Json failures_json(const StepOutcome& outcome) {
  Json failures = Json::array();
  for (const v1::TransferFailure& failure : outcome.failures)
    failures.push_back({{"transfer_id", failure.transfer_id()},
                        {"code", failure.error_code()},
                        {"message", json_text(failure.message())}});
  return failures;
}

Status refusals(const StepOutcome& outcome) {
  if (outcome.failed == 0) return {};
  std::string refused;
  for (const v1::TransferFailure& failure : outcome.failures)
    refused += (refused.empty() ? "" : "; ") + failure.transfer_id() + ": " + escape_for_display(failure.message());
  if (outcome.failed > outcome.failures.size())
    refused += "; and " + std::to_string(outcome.failed - outcome.failures.size()) + " more";
  const Code code = outcome.failures.empty()
                        ? Code::kInternal
                        : parse_code(outcome.failures.front().error_code()).value_or(Code::kInternal);
  return Error{code, std::to_string(outcome.failed) + " of " + transfers_text(outcome.changed + outcome.failed) +
                         " refused it: " + refused};
}

options::Positional transfers_positional(bool may_be_all) {
  return {.name = "ID", .help = kTransferHelp, .required = !may_be_all, .repeatable = true};
}

options::Option all_option(const std::string& help) {
  return {.name = "all", .help = help};
}

}  // namespace gridtorrent::client::cli
