#pragma once

#include <string_view>

#include "common/result.h"

namespace gridtorrent {

/// What the caller of a mutation names it by: 1 to 64 printable ASCII characters. Errors: kInvalid.
Status check_request_id(std::string_view request_id);

}  // namespace gridtorrent
