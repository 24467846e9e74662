#pragma once

#include <string>

#include "client/cli/context.h"

/// What commands that set passwords share.
namespace gridtorrent::client::cli {

options::Option password_file_option();
/// From --password-file, or asked for twice.
Result<std::string> new_password(Context& c, const std::string& user);

}  // namespace gridtorrent::client::cli
