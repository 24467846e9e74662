#pragma once

#include <string>
#include <string_view>

namespace gridtorrent::client::cli {

/// One line as `sha256sum -c` reads it, newline included: a path with a backslash, newline or carriage return is
/// escaped and the line then starts with a backslash (coreutils manual, "cksum output modes"). The path's bytes stay as
/// they are.
std::string sha256sum_line(std::string_view digest_hex, std::string_view path);

}  // namespace gridtorrent::client::cli
