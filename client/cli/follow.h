#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// Shows a transfer until it is done, as lines or events; what get, seed and transfer wait share. An interrupt leaves
/// the transfer running and says so (kCancelled); a node that goes away is waited for a while (then kUnreachable).
Status follow_transfer(Context& context, const v1::Transfer& first,
                       std::optional<std::chrono::milliseconds> time_limit = std::nullopt);

/// Waits until a task ended; the ended task. Failed, cancelled and unsupported ones are Errors with the node's code.
/// Shows how it goes, unless `quiet`.
Result<v1::Task> follow_task(Context& context, const v1::Task& first,
                             std::optional<std::chrono::milliseconds> time_limit = std::nullopt, bool quiet = false);

/// The check of a --node that takes several: names or ids with commas between, or "@all" alone.
Status are_nodes(std::string_view text);

/// For --node: gives the work to a node and waits for it, or with --detach only says what the task is called (nothing).
Result<std::optional<v1::Task>> run_on_node(Context& context, v1::TaskWork work);

}  // namespace gridtorrent::client::cli
