#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/cli/context.h"
#include "client/cli/interrupt.h"

namespace gridtorrent::client::cli {

/// What --timeout says, if it was given.
std::optional<std::chrono::milliseconds> time_limit(const options::Parsed& options);

/// Shows a transfer until it is done, as lines or events; what get, seed and transfer wait share. An interrupt leaves
/// the transfer running and says so (kCancelled); a node that goes away is waited for a while (then kUnreachable).
Status follow_transfer(Context& context, const v1::Transfer& first,
                       std::optional<std::chrono::milliseconds> time_limit = std::nullopt);

/// What the node answers to the call that begins a transfer. Ctrl-C meanwhile ends the wait and not the node's work,
/// and says so (kCancelled).
Result<v1::GetReply> begin_transfer(Context& context, const std::function<Result<v1::GetReply>(Interrupt&)>& call);

/// What --detach does instead: says what the transfer is called.
Status detach(Context& context, const v1::Transfer& transfer);

/// As follow_transfer without a word on how it goes: calls `show` with each state, and returns the last one, which is
/// an end. An error of `show` ends the watch with it.
Result<v1::Transfer> watch_to_end(Context& context, const v1::Transfer& first, Interrupt& interrupt,
                                  const std::function<Status(const v1::Transfer&)>& show);
/// Success where it seeds or is complete; else why not.
Status outcome_of(const v1::Transfer& transfer);

/// Waits until a task ended; the ended task. Failed, cancelled and unsupported ones are Errors with the node's code.
/// Shows how it goes, unless `quiet`.
Result<v1::Task> follow_task(Context& context, const v1::Task& first,
                             std::optional<std::chrono::milliseconds> time_limit = std::nullopt, bool quiet = false);

/// The check of a --node that takes several: names or ids with commas between, or "@all" alone.
Status are_nodes(std::string_view text);

/// For --node: gives the work to a node and waits for it, or with --detach only says what the task is called (nothing).
Result<std::optional<v1::Task>> run_on_node(Context& context, v1::TaskWork work,
                                            std::optional<std::chrono::milliseconds> time_limit = std::nullopt);

}  // namespace gridtorrent::client::cli
