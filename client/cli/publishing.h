#pragma once

#include <cstdint>
#include <string>

#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// `publish` without --node: this machine's node does the work, and goes on where the caller ends. Says who will be
/// able to get it, then how it goes, until it is published; --detach: only what the transfer is called. An interrupt
/// leaves it running (kCancelled). With a node that does not know StartPublish, publishing lasts as long as this call.
Status publish_here(Context& context);

/// What is said of a new version that would have been as the newest one, `version`.
std::string nothing_changed(std::uint32_t version, const std::string& name, const std::string& content_id);

}  // namespace gridtorrent::client::cli
