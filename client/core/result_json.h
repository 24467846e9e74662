#pragma once

#include <string>
#include <vector>

#include "client/core/disk_guard.h"
#include "client/core/node.h"

/// Results of tasks, as the CLI's --json would print them (docs/interfaces.md). Names that are no UTF-8 stand escaped.
namespace gridtorrent::client {

std::string done_json(const TransferView& view, WallTime now);
std::string published_json(const PublishOutcome& outcome, WallTime now);
std::string folder_json(const std::string& root_path, const std::vector<FolderEntry>& entries);
std::string transfer_json(const TransferView& view);

}  // namespace gridtorrent::client
