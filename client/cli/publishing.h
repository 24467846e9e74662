#pragma once

#include <string>

#include "client/cli/context.h"

namespace gridtorrent::client::cli {

/// `publish` without --node: this machine's node does the work, and goes on where the caller ends. Says who will be
/// able to get it, then how it goes, until it is published; --detach: only what the transfer is called. An interrupt
/// leaves it running (kCancelled). With a node that does not know StartPublish, publishing lasts as long as this call.
Status publish_here(Context& context);

/// Says what was published: its size and access, and of a new version how much did not change. `owner` may be empty
/// where nobody told it.
void tell_published(Context& context, const v1::Published& published, const std::string& owner);

}  // namespace gridtorrent::client::cli
