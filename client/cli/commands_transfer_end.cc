#include "client/cli/context.h"
#include "client/cli/transfer_names.h"
#include "client/cli/transfer_steps.h"
#include "common/codes.h"
#include "common/text.h"
#include "common/units.h"

namespace gridtorrent::client::cli {

namespace {

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string name_of(const v1::Transfer& transfer) {
  return escape_for_display(transfer.owner() + "/" + transfer.name());
}

v1::ChangeTransfersRequest request_for(const char* step) {
  v1::ChangeTransfersRequest request;
  request.set_step(step);
  return request;
}

Status end_each(Context& c, const char* step, std::string_view what_happened) {
  GT_ASSIGN(const std::vector<std::string> ids, chosen_transfers(c));
  if (c.options.list("ID").size() > 1) return take_step_and_tell(c, request_for(step), ids, what_happened);
  const std::string& id = ids.front();
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::Transfer transfer, node->get_transfer(id));
  GT_ASSIGN(const StepOutcome outcome, take_step(*node, request_for(step), ids));
  if (!outcome.failures.empty()) {
    const v1::TransferFailure& failure = outcome.failures.front();
    return Error{parse_code(failure.error_code()).value_or(Code::kInternal), failure.message()};
  }
  if (c.json) {
    c.print({{"transfer_id", id}, {"name", json_text(transfer.name())}, {"path", json_text(transfer.path())}});
  } else {
    c.terminal.message(std::string(what_happened) + " " + name_of(transfer) + "; its files stay at " +
                       escape_for_display(transfer.path()));
  }
  return {};
}

Status stop_seeding(Context& c) {
  return end_each(c, "stop-seeding", "no longer seeding");
}

Status forget(Context& c) {
  return end_each(c, "forget", "forgot");
}

Status clear(Context& c) {
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::ListTransfersReply all, node->list_transfers());
  std::vector<std::string> ids;
  for (const v1::Transfer& transfer : all.transfers())
    if (may_be_cleared(transfer, c.options.flag("failed"))) ids.push_back(transfer.transfer_id());
  StepOutcome outcome;
  if (!ids.empty()) {
    GT_ASSIGN(outcome, take_step(*node, request_for("forget"), ids));
  }
  if (c.json) {
    c.print({{"cleared", outcome.changed},
             {"left", static_cast<std::uint64_t>(all.transfers_size()) - outcome.changed},
             {"failed", outcome.failed},
             {"failures", failures_json(outcome)}});
  } else {
    c.terminal.message(ids.empty() ? "nothing to clear" : "cleared " + plural(outcome.changed, "transfer"));
  }
  return refusals(outcome);
}

std::string what_goes(const v1::RemoveFilesReply& files) {
  std::string text = plural(files.files(), "file") + " (" + format_bytes(files.bytes()) + ")";
  if (files.kept() > 0)
    text += "; " + plural(files.kept(), "file") + (files.kept() == 1 ? " was" : " were") + " changed since and stay" +
            (files.kept() == 1 ? "s" : "") + ": " + escape_for_display(files.first_kept()) +
            (files.kept() > 1 ? " and others" : "");
  return text;
}

Status remove(Context& c) {
  v1::RemoveFilesRequest request;
  GT_ASSIGN(*request.mutable_transfer_id(), transfer_named(c, c.options.str("ID")));
  GT_ASSIGN(api::NodeApi* const node, c.node());
  GT_ASSIGN(const v1::Transfer transfer, node->get_transfer(request.transfer_id()));
  if (!c.options.flag("yes")) {
    request.set_look_only(true);
    GT_ASSIGN(const v1::RemoveFilesReply found, node->remove_files(request));
    GT_TRY(ask_yes("From " + escape_for_display(transfer.path()) + ", of " + name_of(transfer) + ": " +
                   what_goes(found) + ". Remove them?"));
    request.set_look_only(false);
  }
  GT_ASSIGN(const v1::RemoveFilesReply removed, node->remove_files(request));
  if (c.json) {
    c.print({{"transfer_id", request.transfer_id()},
             {"path", json_text(transfer.path())},
             {"files", removed.files()},
             {"bytes", removed.bytes()},
             {"kept", removed.kept()},
             {"first_kept", removed.kept() == 0 ? Json() : Json(json_text(removed.first_kept()))}});
  } else {
    c.terminal.message("removed " + what_goes(removed));
  }
  return {};
}

}  // namespace

bool may_be_cleared(const v1::Transfer& transfer, bool failed_only) {
  if (transfer.state() == "failed") return true;
  return !failed_only && transfer.state() == "complete" && !transfer.seeds_later();
}

std::vector<CommandEntry> transfer_end_commands() {
  const std::string group = "Transfers of this node";
  const std::vector<options::Positional> id{{.name = "ID", .help = kTransferHelp}};
  const std::vector<options::Positional> ids{transfers_positional(false)};
  return {
      {{.name = "transfer stop-seeding",
        .summary = "end one that is done and take it off the list; its files stay",
        .positionals = ids,
        .group = group},
       stop_seeding},
      {{.name = "transfer forget",
        .summary = "take one that is done or has failed off the list; its files stay",
        .description = "What a failed get had staged goes, as with cancel.",
        .positionals = ids,
        .group = group},
       forget},
      {{.name = "transfer clear",
        .summary = "take those off the list that have failed, or are complete and seed nothing; files stay",
        .description = "Those that seed, or will again by themselves, are left. What failed gets had staged goes.",
        .options = {{.name = "failed", .help = "only those that have failed"}},
        .group = group},
       clear},
      {{.name = "transfer remove",
        .summary = "take a finished get off the list and remove the files that it brought",
        .description =
            "Only files that this node fetched, and that are as it left them: what was published from here, lay there "
            "before, or was changed since, stays. Asks first.",
        .positionals = id,
        .options = {{.name = "yes", .help = "do not ask"}},
        .examples = {{"gridtorrent transfer remove run42 --yes", "in a script, when a job is done with its input"}},
        .group = group},
       remove}};
}

}  // namespace gridtorrent::client::cli
