#pragma once

#include <string>
#include <string_view>

namespace gridtorrent {

/// For terminals, logs and JSON: valid, printable UTF-8 stays; every other byte, the backslash, and control, bidi
/// and invisible characters become C escapes (\n, \\, \xNN, \u202e, \U000e0041). The result is always valid UTF-8 and a
/// single line.
std::string escape_for_display(std::string_view bytes);

bool is_valid_utf8(std::string_view text);

std::string to_lower_ascii(std::string_view text);

/// What an errno means, as in "No space left on device".
std::string errno_text(int error_number);

}  // namespace gridtorrent
