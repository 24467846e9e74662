#pragma once

#include <string>

#include "client/core/node_ports.h"
#include "common/result.h"

namespace gridtorrent::client::app {

/// The core's lines go to the program's log.
NodeLogFn make_log();
/// Sets format and level; kInvalid names the choices.
Status configure_logging(const std::string& format, const std::string& level);

/// What an Error means to the shell (docs/exit-codes.md).
int exit_code(Code code);

}  // namespace gridtorrent::client::app
