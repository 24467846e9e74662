#pragma once

#include <string_view>

#include "common/result.h"

namespace gridtorrent::tracker::authority {

/// Whether a password may be set: 12 to 256 bytes, no NUL, none of the usual ones, not the user's name. kInvalid says
/// why not.
Status check_new_password(std::string_view user_name, std::string_view password);

}  // namespace gridtorrent::tracker::authority
