#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "gridtorrent/v1/types.pb.h"

namespace gridtorrent::rpc {

/// "public", "private", or targets with commas between: "group:G", "user:U", "buddies". Empty: private. kInvalid names
/// what is wrong. Whether users and groups exist is the server's to say.
Result<v1::Access> parse_access(std::string_view text);

/// The same text again: "public", "group:lab,user:ann,buddies". "shared": with whom is not this reader's to know.
std::string access_text(const v1::Access& access);

}  // namespace gridtorrent::rpc
