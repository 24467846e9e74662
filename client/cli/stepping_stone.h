#pragma once

#include <string>
#include <vector>

#include "client/api/server/server_api.h"

namespace gridtorrent::client::cli {

/// Where a content cannot come here, since neither side can be dialled: the line that names one of the person's own
/// nodes which both can dial, and the command that fetches it there; it comes here from there by itself. The first by
/// name that is online, can be reached and has a download root; where none has one, how it gets that. Empty: there is
/// none. Pure.
std::string stepping_stone(const std::vector<v1::Node>& own, const std::string& content);

}  // namespace gridtorrent::client::cli
